// e32m4 divide and square root.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 3000
#endif

static f32 x[N] ALIGNED, y[N] ALIGNED;

static NOINLINE void step(const f32 *from, f32 *to, size_t n) {
    for (size_t vl; n; n -= vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vfloat32m4_t a = __riscv_vle32_v_f32m4(from, vl), b = __riscv_vle32_v_f32m4(to, vl);
        __riscv_vse32_v_f32m4(to, __riscv_vfsqrt_v_f32m4(__riscv_vfdiv_vv_f32m4(a, b, vl), vl), vl);
    }
}

int main(void) {
    for (size_t i = 0; i < N; i++) x[i] = 2 + rt_f32(), y[i] = 3 + rt_f32();
    RT_BARRIER();
    for (int r = 0; r < REPEAT; r++) step(x, y, N);
    bench_result("divide_e32m4", rt_hash(y, sizeof y));
    return 0;
}
