/* Formatted output, floating-point printing and parsing, malloc, sorting, time, standard input. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void formats(void) {
    printf("%d %5d|%-5d|%05d %x %X %o %#x %c %s %.3s %%\n", -1, 42, 42, 42, 255, 255, 8, 255, 'c', "text", "abcdef");
    printf("%" PRId64 " %" PRIu64 " %zu %p\n", INT64_MIN, UINT64_MAX, sizeof(long), (void *)0);
    double values[] = {0.0, -0.0, 1.0, -1.5, 0.1, 1e-310, 5e-324, DBL_MAX, DBL_MIN, M_PI, 1e21, 123456789.125};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        printf("%g %e %f %a %.17g\n", values[i], values[i], values[i], values[i], values[i]);
    printf("%g %g %g %Lf\n", INFINITY, -INFINITY, NAN, 1.25L);
    float f = 16777217.0f;
    printf("%.9g %d %.20Lg\n", f, (int)f, 1.0L / 3);
    char *end;
    printf("%.17g %.17g %.17g\n", strtod("0x1.8p3xyz", &end), strtod("1e400", NULL), strtod("4.9e-324", NULL));
    printf("rest %s errno %d\n", end, errno == ERANGE);
    printf("%ld %lu %d\n", strtol("-0x7f", NULL, 0), strtoul("777", NULL, 8), atoi("12monkeys"));
    int a, n;
    char word[20];
    double d;
    n = sscanf("17 words 2.5e3", "%d %19s %lf", &a, word, &d);
    printf("%d: %d %s %g\n", n, a, word, d);
}

static void heap(void) {
    enum { N = 500 };
    char *blocks[N];
    uint32_t seed = 1, sum = 0;
    memset(blocks, 0, sizeof blocks);
    for (int round = 0; round < 20000; round++) {
        seed = seed * 1664525 + 1013904223;
        int i = seed >> 8 & 255;
        size_t size = (seed >> 16) % 3000 + (round % 1000 == 0 ? 300000 : 1);
        if (blocks[i] && (seed & 1)) {
            sum += (unsigned char)blocks[i][0];
            free(blocks[i]);
            blocks[i] = NULL;
        } else {
            blocks[i] = realloc(blocks[i], size);
            memset(blocks[i], i, size);
        }
    }
    for (int i = 0; i < N; i++) free(blocks[i]);
    printf("heap %u\n", sum);
    void *huge = malloc((size_t)1 << 46);
    printf("huge %s errno %d\n", huge ? "given" : "refused", errno == ENOMEM);
    double *x = aligned_alloc(64, 1000 * sizeof *x);
    for (int i = 0; i < 1000; i++) x[i] = sin(i * 1.7) * pow(1.01, i % 50);
    qsort(x, 1000, sizeof *x, by_value);
    double total = 0;
    for (int i = 0; i < 1000; i++) total += x[i] * i;
    printf("sorted %.12g %.12g %.12g\n", x[0], x[999], total);
    free(x);
}

static void times(void) {
    time_t when = 1700000000;
    struct tm tm;
    gmtime_r(&when, &tm);
    char text[100];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %j %A", &tm);
    puts(text);
    struct timespec a, b, nap = {0, 3000000};
    clock_gettime(CLOCK_MONOTONIC, &a);
    nanosleep(&nap, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    long long passed = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
    printf("slept %s, clock %s, date %s\n", passed >= 3000000 ? "enough" : "too short",
           clock() != (clock_t)-1 ? "runs" : "stands", time(NULL) > 1700000000 ? "plausible" : "odd");
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) printf("arg %d: %s\n", i, argv[i]);
    const char *value = getenv("GUEST_VARIABLE");
    printf("variable %s\n", value ? value : "(none)");
    formats();
    heap();
    times();
    char line[100];
    int lines = 0;
    while (fgets(line, sizeof line, stdin)) {
        for (char *p = line; *p; p++) *p = toupper((unsigned char)*p);
        printf("line %d: %s", ++lines, line);
    }
    fprintf(stderr, "to stderr\n");
    printf("page %ld, processors %d, uid %s\n", sysconf(_SC_PAGESIZE), sysconf(_SC_NPROCESSORS_ONLN) >= 1,
           getuid() == geteuid() ? "same" : "differs");
    return 7;
}
