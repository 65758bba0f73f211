// C += A·B in single precision: rows of B are vectors, four rows of C at a time stay in registers.
// Each element of C is one chain of fused multiply-adds, so its bits do not depend on vl.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void sgemm_rvv(size_t m, size_t n, size_t k, const f32 *a, const f32 *b, f32 *c) {
    for (size_t j = 0, vl; j < n; j += vl) {
        vl = __riscv_vsetvl_e32m4(n - j);
        size_t i = 0;
        for (; i + 4 <= m; i += 4) {
            vfloat32m4_t c0 = __riscv_vle32_v_f32m4(c + (i + 0) * n + j, vl);
            vfloat32m4_t c1 = __riscv_vle32_v_f32m4(c + (i + 1) * n + j, vl);
            vfloat32m4_t c2 = __riscv_vle32_v_f32m4(c + (i + 2) * n + j, vl);
            vfloat32m4_t c3 = __riscv_vle32_v_f32m4(c + (i + 3) * n + j, vl);
            for (size_t l = 0; l < k; l++) {
                vfloat32m4_t row = __riscv_vle32_v_f32m4(b + l * n + j, vl);
                c0 = __riscv_vfmacc_vf_f32m4(c0, a[(i + 0) * k + l], row, vl);
                c1 = __riscv_vfmacc_vf_f32m4(c1, a[(i + 1) * k + l], row, vl);
                c2 = __riscv_vfmacc_vf_f32m4(c2, a[(i + 2) * k + l], row, vl);
                c3 = __riscv_vfmacc_vf_f32m4(c3, a[(i + 3) * k + l], row, vl);
            }
            __riscv_vse32_v_f32m4(c + (i + 0) * n + j, c0, vl);
            __riscv_vse32_v_f32m4(c + (i + 1) * n + j, c1, vl);
            __riscv_vse32_v_f32m4(c + (i + 2) * n + j, c2, vl);
            __riscv_vse32_v_f32m4(c + (i + 3) * n + j, c3, vl);
        }
        for (; i < m; i++) {
            vfloat32m4_t c0 = __riscv_vle32_v_f32m4(c + i * n + j, vl);
            for (size_t l = 0; l < k; l++)
                c0 = __riscv_vfmacc_vf_f32m4(c0, a[i * k + l], __riscv_vle32_v_f32m4(b + l * n + j, vl), vl);
            __riscv_vse32_v_f32m4(c + i * n + j, c0, vl);
        }
    }
}

static NOINLINE void sgemm_scalar(size_t m, size_t n, size_t k, const f32 *a, const f32 *b, f32 *c) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            f32 sum = c[i * n + j];
            for (size_t l = 0; l < k; l++) sum = rt_fmaf(a[i * k + l], b[l * n + j], sum);
            c[i * n + j] = sum;
        }
}

#define MOST (600 * 8)
static f32 a[MOST], b[MOST], c[MOST], d[MOST];

static u64 run(size_t m, size_t n, size_t k) {
    for (size_t i = 0; i < m * k; i++) a[i] = rt_f32();
    for (size_t i = 0; i < k * n; i++) b[i] = rt_f32();
    for (size_t i = 0; i < m * n; i++) c[i] = d[i] = rt_f32();
    RT_BARRIER();
    sgemm_rvv(m, n, k, a, b, c);
    sgemm_scalar(m, n, k, a, b, d);
    rt_check("sgemm", n, c, d, m * n * sizeof *c);
    return rt_hash(c, m * n * sizeof *c);
}

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), 600) {
        rt_seed(n);
        rt_report("sgemm 7xnx5", i, n, run(7, n, 5));
    }
    for (size_t n = 8; n <= 48; n += 20) {
        rt_seed(n);
        rt_report("sgemm nxnxn", 0, n, run(n, n, n));
    }
    return 0;
}
