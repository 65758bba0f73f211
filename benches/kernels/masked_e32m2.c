// e32m2 compare, masked add, merge, saturating add, masked store.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 10000
#endif

static i32 x[N] ALIGNED, y[N] ALIGNED;

static NOINLINE void step(const i32 *from, i32 *to, i32 k, size_t n) {
    for (size_t vl; n; n -= vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e32m2(n);
        vint32m2_t a = __riscv_vle32_v_i32m2(from, vl), b = __riscv_vle32_v_i32m2(to, vl);
        vbool16_t less = __riscv_vmslt_vv_i32m2_b16(a, b, vl);
        vint32m2_t c = __riscv_vadd_vx_i32m2_mu(less, b, a, k, vl);
        vint32m2_t d = __riscv_vmerge_vvm_i32m2(a, c, less, vl);
        d = __riscv_vsadd_vv_i32m2(d, a, vl);
        __riscv_vse32_v_i32m2_m(__riscv_vmsgt_vx_i32m2_b16(d, k, vl), to, d, vl);
    }
}

int main(void) {
    rt_fill(x, sizeof x);
    rt_fill(y, sizeof y);
    for (int r = 0; r < REPEAT; r++) {
        step(x, y, (i32)((u32)r * 2654435761u), N);
        RT_BARRIER();
    }
    bench_result("masked_e32m2", rt_hash(y, sizeof y));
    return 0;
}
