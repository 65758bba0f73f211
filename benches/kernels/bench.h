// What the bench kernels share. Each is one program: REPEAT times over arrays of N elements, then one line of
// output, a checksum. It runs as a Linux process, or with -DHTIF on bare metal (link with htif.ld of
// testsuite/kernels).
#ifndef BENCH_H
#define BENCH_H
#include "../../testsuite/kernels/rt.h"

#ifndef N
#define N 4096
#endif

// The line that every emulator has to print.
static inline void bench_result(const char *name, u64 value) {
    rt_puts(name);
    rt_putc(' ');
    rt_hex(value, 16);
    rt_putc('\n');
}
#endif
