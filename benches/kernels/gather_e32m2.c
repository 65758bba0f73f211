// e32m2 indexed load and vrgather.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 5000
#endif

static u32 x[N] ALIGNED, at[N] ALIGNED, y[N] ALIGNED;

// Neighbours change places by vrgather: a permutation that is the same at every VLEN.
static NOINLINE void pick(const u32 *from, const u32 *where, u32 *to, size_t n) {
    for (size_t vl; n; n -= vl, where += vl, to += vl) {
        vl = __riscv_vsetvl_e32m2(n);
        vuint32m2_t v = __riscv_vluxei32_v_u32m2(from, __riscv_vle32_v_u32m2(where, vl), vl);
        vuint32m2_t other = __riscv_vxor_vx_u32m2(__riscv_vid_v_u32m2(vl), 1, vl);
        v = __riscv_vadd_vv_u32m2(v, __riscv_vrgather_vv_u32m2(v, other, vl), vl);
        __riscv_vse32_v_u32m2(to, v, vl);
    }
}

int main(void) {
    rt_fill(x, sizeof x);
    for (size_t i = 0; i < N; i++) at[i] = (u32)(rt_random() % N) * 4;
    for (int r = 0; r < REPEAT; r++) {
        x[r % N] += y[r % 7];
        RT_BARRIER();
        pick(x, at, y, N);
    }
    bench_result("gather_e32m2", rt_hash(y, sizeof y));
    return 0;
}
