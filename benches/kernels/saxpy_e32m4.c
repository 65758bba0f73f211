// e32m4 y += a·x (vfmacc.vf).
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 20000
#endif

static f32 x[N] ALIGNED, y[N] ALIGNED;

static NOINLINE void saxpy(f32 a, const f32 *from, f32 *to, size_t n) {
    for (size_t vl; n; n -= vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vfloat32m4_t v = __riscv_vle32_v_f32m4(to, vl);
        __riscv_vse32_v_f32m4(to, __riscv_vfmacc_vf_f32m4(v, a, __riscv_vle32_v_f32m4(from, vl), vl), vl);
    }
}

int main(void) {
    for (size_t i = 0; i < N; i++) x[i] = rt_f32(), y[i] = rt_f32();
    RT_BARRIER();
    for (int r = 0; r < REPEAT; r++) saxpy(r & 1 ? -0.5f : 0.5000001f, x, y, N);
    bench_result("saxpy_e32m4", rt_hash(y, sizeof y));
    return 0;
}
