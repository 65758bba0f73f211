// Matrix times vector in double precision, both ways: rows by ordered sums (vfredosum keeps the order of a
// plain loop whatever vl is), columns by chains of vfmacc with strided loads.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void rows_rvv(const f64 *a, const f64 *x, f64 *y, size_t m, size_t n) {
    for (size_t i = 0; i < m; i++, a += n) {
        vfloat64m1_t sum = __riscv_vfmv_s_f_f64m1(0, 1);
        for (size_t j = 0, vl; j < n; j += vl) {
            vl = __riscv_vsetvl_e64m8(n - j);
            vfloat64m8_t p = __riscv_vfmul_vv_f64m8(__riscv_vle64_v_f64m8(a + j, vl), __riscv_vle64_v_f64m8(x + j, vl), vl);
            sum = __riscv_vfredosum_vs_f64m8_f64m1(p, sum, vl);
        }
        y[i] = __riscv_vfmv_f_s_f64m1_f64(sum);
    }
}
// y = a·x for an m×n matrix, one lane per row
static NOINLINE void columns_rvv(const f64 *a, const f64 *x, f64 *y, size_t m, size_t n) {
    for (size_t i = 0, vl; i < m; i += vl) {
        vl = __riscv_vsetvl_e64m4(m - i);
        vfloat64m4_t sum = __riscv_vfmv_v_f_f64m4(0, vl);
        for (size_t j = 0; j < n; j++)
            sum = __riscv_vfmacc_vf_f64m4(sum, x[j], __riscv_vlse64_v_f64m4(a + i * n + j, (ptrdiff_t)(8 * n), vl), vl);
        __riscv_vse64_v_f64m4(y + i, sum, vl);
    }
}

static NOINLINE void rows_scalar(const f64 *a, const f64 *x, f64 *y, size_t m, size_t n) {
    for (size_t i = 0; i < m; i++) {
        f64 sum = 0;
        for (size_t j = 0; j < n; j++) sum += a[i * n + j] * x[j];
        y[i] = sum;
    }
}
static NOINLINE void columns_scalar(const f64 *a, const f64 *x, f64 *y, size_t m, size_t n) {
    for (size_t i = 0; i < m; i++) {
        f64 sum = 0;
        for (size_t j = 0; j < n; j++) sum = rt_fma(x[j], a[i * n + j], sum);
        y[i] = sum;
    }
}

#define MOST 1100
static f64 a[MOST * 6], x[MOST], y[MOST], z[MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e64m8(), MOST) {
        rt_seed(n);
        for (size_t j = 0; j < n * 6; j++) a[j] = rt_f64() * (j % 13 ? 1 : 1e6);
        for (size_t j = 0; j < n + 6; j++) x[j] = rt_f64();
        RT_BARRIER();
        rows_rvv(a, x, y, 6, n);
        rows_scalar(a, x, z, 6, n);
        rt_check("rows", n, y, z, 6 * 8);
        rt_report("rows", i, n, rt_hash(y, 6 * 8));
        columns_rvv(a, x, y, n, 6);
        columns_scalar(a, x, z, n, 6);
        rt_check("columns", n, y, z, n * 8);
        rt_report("columns", i, n, rt_hash(y, n * 8));
    }
    return 0;
}
