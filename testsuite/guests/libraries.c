/* Shared libraries: lazily bound calls, a library opened at run time, constructors, thread-local data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int counter = 3;
static int constructed;

__attribute__((constructor)) static void construct(void) { constructed = 1; }
__attribute__((destructor)) static void destruct(void) { puts("destructed"); }
static void at_exit(void) { puts("at exit"); }

static int count(struct dl_phdr_info *info, size_t size, void *data) {
    if (info->dlpi_phnum > 0) ++*(int *)data;
    return 0;
}

int main(void) {
    atexit(at_exit);
    void *libm = dlopen("libm.so.6", RTLD_NOW);
    printf("libm %s\n", libm ? "open" : dlerror());
    double (*cube_root)(double) = libm ? (double (*)(double))dlsym(libm, "cbrt") : NULL;
    printf("cbrt %g, missing %s\n", cube_root ? cube_root(27) : 0, libm && dlsym(libm, "no_such") ? "found" : "absent");
    printf("none %s\n", dlopen("libnone.so.9", RTLD_NOW) ? "open" : "refused");
    int objects = 0;
    dl_iterate_phdr(count, &objects);
    printf("objects %d, constructed %d, counter %d\n", objects >= 3, constructed, ++counter);
    Dl_info info;
    printf("puts is in %s\n", dladdr((void *)puts, &info) && strstr(info.dli_fname, "libc") ? "libc" : "the program");
    return 0;
}
