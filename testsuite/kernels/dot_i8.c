// Dot products of signed and of mixed-sign bytes: widening multiplies, wide accumulators, one reduction.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE i32 dot_rvv(const i8 *a, const i8 *b, size_t n) {
    size_t most = __riscv_vsetvlmax_e32m8();
    vint32m8_t sum = __riscv_vmv_v_x_i32m8(0, most);
    while (n) {
        size_t vl = __riscv_vsetvl_e8m2(n);
        vint16m4_t product = __riscv_vwmul_vv_i16m4(__riscv_vle8_v_i8m2(a, vl), __riscv_vle8_v_i8m2(b, vl), vl);
        sum = __riscv_vwadd_wv_i32m8_tu(sum, sum, product, vl);
        a += vl, b += vl, n -= vl;
    }
    vint32m1_t zero = __riscv_vmv_s_x_i32m1(0, 1);
    return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m8_i32m1(sum, zero, most));
}

// Unsigned activations, signed weights, a reduction per strip.
static NOINLINE i32 dot_mixed_rvv(const u8 *a, const i8 *b, size_t n) {
    vint32m1_t sum = __riscv_vmv_s_x_i32m1(0, 1);
    while (n) {
        size_t vl = __riscv_vsetvl_e8m4(n);
        vint16m8_t product = __riscv_vwmulsu_vv_i16m8(__riscv_vle8_v_i8m4(b, vl), __riscv_vle8_v_u8m4(a, vl), vl);
        sum = __riscv_vwredsum_vs_i16m8_i32m1(product, sum, vl);
        a += vl, b += vl, n -= vl;
    }
    return __riscv_vmv_x_s_i32m1_i32(sum);
}

static NOINLINE i32 dot_scalar(const i8 *a, const i8 *b, size_t n) {
    i32 sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
static NOINLINE i32 dot_mixed_scalar(const u8 *a, const i8 *b, size_t n) {
    i32 sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static i8 a[8192], b[8192];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m4(), 8000) {
        rt_seed(n);
        rt_fill(a, n);
        rt_fill(b, n);
        i32 dot = dot_rvv(a, b, n), mixed = dot_mixed_rvv((u8 *)a, b, n);
        if (dot != dot_scalar(a, b, n)) rt_fail("dot", n, (u32)dot);
        if (mixed != dot_mixed_scalar((u8 *)a, b, n)) rt_fail("mixed dot", n, (u32)mixed);
        rt_report("dot", i, n, ((u64)(u32)dot << 32) | (u32)mixed);
    }
    for (size_t j = 0; j < 8000; j++) a[j] = b[j] = -128;
    RT_BARRIER();
    rt_report("dot of -128", 0, 8000, (u64)dot_rvv(a, b, 8000));
    return 0;
}
