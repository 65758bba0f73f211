// y += a·x in half precision, and the mixed form that accumulates halves into singles.
// needs: zfh zvfh
#include "rt.h"
#include <riscv_vector.h>

typedef _Float16 f16;

static NOINLINE void axpy_rvv(f16 a, const f16 *x, f16 *y, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e16m8(n);
        vfloat16m8_t v = __riscv_vfmacc_vf_f16m8(__riscv_vle16_v_f16m8(y, vl), a, __riscv_vle16_v_f16m8(x, vl), vl);
        __riscv_vse16_v_f16m8(y, v, vl);
        x += vl, y += vl, n -= vl;
    }
}
static NOINLINE void axpy_wide_rvv(f16 a, const f16 *x, f32 *y, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e16m4(n);
        vfloat32m8_t v = __riscv_vfwmacc_vf_f32m8(__riscv_vle32_v_f32m8(y, vl), a, __riscv_vle16_v_f16m4(x, vl), vl);
        __riscv_vse32_v_f32m8(y, v, vl);
        x += vl, y += vl, n -= vl;
    }
}

static inline f16 fma_h(f16 a, f16 b, f16 c) {
    f16 d;
    __asm__("fmadd.h %0, %1, %2, %3" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}
static NOINLINE void axpy_scalar(f16 a, const f16 *x, f16 *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = fma_h(a, x[i], y[i]);
}
static NOINLINE void axpy_wide_scalar(f16 a, const f16 *x, f32 *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = rt_fmaf((f32)a, (f32)x[i], y[i]);
}

static f16 x[4096], y[4096], z[4096];
static f32 u[4096], w[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e16m8(), 4000) {
        rt_seed(n);
        f16 a = (f16)rt_f32();
        for (size_t j = 0; j < n + 16; j++) {
            x[j] = (f16)(rt_f32() * (j % 11 == 3 ? 60000.f : j % 7 == 2 ? 0x1p-18f : 4.f));
            y[j] = z[j] = (f16)(rt_f32() * (j % 5 ? 2.f : 50000.f));
            u[j] = w[j] = rt_f32();
        }
        RT_BARRIER();
        axpy_rvv(a, x, y, n);
        axpy_scalar(a, x, z, n);
        rt_check("axpy", n, y, z, (n + 16) * sizeof *y);
        axpy_wide_rvv(a, x, u, n);
        axpy_wide_scalar(a, x, w, n);
        rt_check("widening axpy", n, u, w, (n + 16) * sizeof *u);
        rt_report("axpy", i, n, rt_hash(y, n * sizeof *y));
        rt_report("widening axpy", i, n, rt_hash(u, n * sizeof *u));
    }
    return 0;
}
