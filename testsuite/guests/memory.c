/* Games with mappings: fixed, moved, grown, shrunk, protected, advised, executed. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static const char *failure(void *p) { return p == MAP_FAILED ? strerror(errno) : "fine"; }

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    char *a = mmap(NULL, 16 * PAGE, RW, ANON, -1, 0);
    for (int i = 0; i < 16; i++) a[i * PAGE] = 'a' + i;
    printf("fixed: %s\n", failure(mmap(a + 4 * PAGE, 2 * PAGE, RW, ANON | MAP_FIXED, -1, 0)));
    printf("%d %d %c %c\n", a[4 * PAGE], a[5 * PAGE], a[3 * PAGE], a[6 * PAGE]);
    printf("noreplace: %s\n", failure(mmap(a, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0)));
    printf("munmap hole: %d\n", munmap(a + 8 * PAGE, 2 * PAGE));
    printf("mprotect over hole: %d %s\n", mprotect(a + 7 * PAGE, 4 * PAGE, PROT_READ), strerror(errno));
    printf("refill: %d\n", mmap(a + 8 * PAGE, 2 * PAGE, RW, ANON | MAP_FIXED, -1, 0) == a + 8 * PAGE);
    printf("%d %c\n", a[8 * PAGE], a[10 * PAGE]);

    a = mmap(NULL, 16 * PAGE, RW, ANON, -1, 0);
    for (int i = 0; i < 16; i++) a[i * PAGE] = 'a' + i;
    char *b = mremap(a, 16 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
    printf("grown: %s\n", failure(b));
    b = mremap(b, 64 * PAGE, 3 * PAGE, 0);
    printf("shrunk: %s %c%c%c\n", failure(b), b[0], b[PAGE], b[2 * PAGE]);
    char *c = mmap(NULL, 8 * PAGE, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    char *d = mremap(b, 3 * PAGE, 5 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, c + PAGE);
    printf("moved: %d %c%c%c %d\n", d == c + PAGE, d[0], d[PAGE], d[2 * PAGE], d[3 * PAGE]);
    printf("old place: %d %s\n", msync(b, PAGE, MS_ASYNC), strerror(errno));

    memset(d, 7, 2 * PAGE);
    printf("dontneed: %d\n", madvise(d, PAGE, MADV_DONTNEED));
    printf("%d %d\n", d[0], d[PAGE]);

    printf("bad length: %s\n", failure(mmap(NULL, 0, RW, ANON, -1, 0)));
    printf("bad flags: %s\n", failure(mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0)));
    printf("bad file: %s\n", failure(mmap(NULL, PAGE, RW, MAP_PRIVATE, 77, 0)));
    printf("bad unmap: %d %s\n", munmap(d + 1, PAGE), strerror(errno));
    size_t large = (size_t)1 << 32;
    char *reserve = mmap(NULL, large, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
    printf("reserve 4 GiB: %s\n", failure(reserve));
    printf("use a page: %d\n", mprotect(reserve + large / 2, PAGE, RW));
    reserve[large / 2] = 1;
    printf("release: %d\n", munmap(reserve, large));

    char *start = sbrk(0);
    printf("sbrk: %d\n", sbrk(3 * PAGE) == start);
    memset(start, 1, 3 * PAGE);
    printf("back: %d\n", sbrk(-2 * PAGE) == start + 3 * PAGE);
    printf("again zero: %d %d\n", sbrk(2 * PAGE) == start + PAGE, start[2 * PAGE + 5000 % PAGE]);

    /* Code made at run time, and made anew at the same place: li a0, n; ret. */
    uint32_t *code = mmap(NULL, PAGE, RW | PROT_EXEC, ANON, -1, 0);
    int (*f)(void) = (int (*)(void))code;
    int sum = 0;
    for (int n = 0; n < 100; n++) {
        code[0] = 0x513 | (uint32_t)n << 20;
        code[1] = 0x8067;
        __builtin___clear_cache((char *)code, (char *)(code + 2));
        sum += f();
    }
    printf("generated code: %d\n", sum);
    for (int n = 0; n < 10; n++) {
        munmap(code, PAGE);
        code = mmap(code, PAGE, RW, ANON, -1, 0);
        code[0] = 0x513 | (uint32_t)(n * 7) << 20;
        code[1] = 0x8067;
        mprotect(code, PAGE, PROT_READ | PROT_EXEC);
        __builtin___clear_cache((char *)code, (char *)(code + 2));
        sum += ((int (*)(void))code)();
    }
    printf("mapped anew: %d\n", sum);

    char *many[2000];
    for (int i = 0; i < 2000; i++) {
        many[i] = mmap(NULL, PAGE * (1 + i % 3), i % 2 ? RW : PROT_READ, ANON, -1, 0);
        if (i % 2) many[i][0] = i;
    }
    long total = 0;
    for (int i = 0; i < 2000; i++) {
        total += many[i][0];
        munmap(many[i], PAGE * (1 + i % 3));
    }
    printf("many: %ld\n", total);
    return 0;
}
