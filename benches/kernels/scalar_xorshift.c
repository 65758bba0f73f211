// Scalar: xorshift and a modulo. 390 M instructions at the usual REPEAT.
#include "bench.h"
#ifndef REPEAT
#define REPEAT 30000000
#endif

int main(void) {
    u64 x = 88172645463325252u, sum = 0;
    for (u64 i = 0; i < REPEAT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sum += x % 1000003;
    }
    bench_result("scalar_xorshift", sum);
    return 0;
}
