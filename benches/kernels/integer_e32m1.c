// e32m1 add, multiply, xor, shift, max.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 10000
#endif

static i32 x[N] ALIGNED, y[N] ALIGNED;

static NOINLINE void mix(const i32 *from, i32 *to, i32 k, size_t n) {
    for (size_t vl; n; n -= vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e32m1(n);
        vint32m1_t a = __riscv_vle32_v_i32m1(from, vl), b = __riscv_vle32_v_i32m1(to, vl);
        vint32m1_t c = __riscv_vadd_vv_i32m1(a, b, vl);
        c = __riscv_vmul_vx_i32m1(c, k, vl);
        c = __riscv_vxor_vv_i32m1(c, a, vl);
        c = __riscv_vadd_vv_i32m1(c, __riscv_vsra_vx_i32m1(c, 7, vl), vl);
        c = __riscv_vmax_vv_i32m1(c, b, vl);
        __riscv_vse32_v_i32m1(to, c, vl);
    }
}

int main(void) {
    rt_fill(x, sizeof x);
    for (int r = 0; r < REPEAT; r++) {
        if (r % 64 == 0)
            for (size_t i = 0; i < N; i++) y[i] = -x[i];
        RT_BARRIER();
        mix(x, y, 2 * r + 1, N);
    }
    bench_result("integer_e32m1", rt_hash(y, sizeof y));
    return 0;
}
