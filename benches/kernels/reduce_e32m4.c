// e32m4 widening reduction into 64 bits.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 20000
#endif

static i32 x[N] ALIGNED;

static NOINLINE i64 sum_of(const i32 *from, size_t n) {
    vint64m1_t sum = __riscv_vmv_s_x_i64m1(0, 1);
    for (size_t vl; n; n -= vl, from += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        sum = __riscv_vwredsum_vs_i32m4_i64m1(__riscv_vle32_v_i32m4(from, vl), sum, vl);
    }
    return __riscv_vmv_x_s_i64m1_i64(sum);
}

int main(void) {
    u64 total = 0;
    rt_fill(x, sizeof x);
    for (int r = 0; r < REPEAT; r++) {
        x[r % N] ^= r;
        RT_BARRIER();
        total = total * 3 + (u64)sum_of(x, N);
    }
    bench_result("reduce_e32m4", total);
    return 0;
}
