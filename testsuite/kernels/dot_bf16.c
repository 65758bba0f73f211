// bfloat16 with Zvfbfwma: a dot product whose sums are exact (small integers, so their order is free), an
// axpy of arbitrary values into singles, and the conversion back with rounding.
// needs: zvfbfmin zvfbfwma
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE f32 dot_rvv(const u16 *a, const u16 *b, size_t n) {
    size_t most = __riscv_vsetvlmax_e32m8();
    vfloat32m8_t sum = __riscv_vfmv_v_f_f32m8(0, most);
    while (n) {
        size_t vl = __riscv_vsetvl_e16m4(n);
        vbfloat16m4_t x = __riscv_vreinterpret_v_u16m4_bf16m4(__riscv_vle16_v_u16m4(a, vl));
        vbfloat16m4_t y = __riscv_vreinterpret_v_u16m4_bf16m4(__riscv_vle16_v_u16m4(b, vl));
        sum = __riscv_vfwmaccbf16_vv_f32m8_tu(sum, x, y, vl);
        a += vl, b += vl, n -= vl;
    }
    vfloat32m1_t zero = __riscv_vfmv_s_f_f32m1(0, 1);
    return __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sum, zero, most));
}
// y += a·x, and z = y rounded to bfloat16
static NOINLINE void axpy_rvv(u16 a, const u16 *x, f32 *y, u16 *z, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e16m2(n);
        vbfloat16m2_t by = __riscv_vreinterpret_v_u16m2_bf16m2(__riscv_vmv_v_x_u16m2(a, vl));
        vbfloat16m2_t v = __riscv_vreinterpret_v_u16m2_bf16m2(__riscv_vle16_v_u16m2(x, vl));
        vfloat32m4_t sum = __riscv_vfwmaccbf16_vv_f32m4(__riscv_vle32_v_f32m4(y, vl), by, v, vl);
        __riscv_vse32_v_f32m4(y, sum, vl);
        vbfloat16m2_t back = __riscv_vfncvtbf16_f_f_w_bf16m2(sum, vl);
        __riscv_vse16_v_u16m2(z, __riscv_vreinterpret_v_bf16m2_u16m2(back), vl);
        x += vl, y += vl, z += vl, n -= vl;
    }
}
static NOINLINE void widen_rvv(const u16 *x, f32 *y, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e16m4(n);
        vbfloat16m4_t v = __riscv_vreinterpret_v_u16m4_bf16m4(__riscv_vle16_v_u16m4(x, vl));
        __riscv_vse32_v_f32m8(y, __riscv_vfwcvtbf16_f_f_v_f32m8(v, vl), vl);
        x += vl, y += vl, n -= vl;
    }
}

static f32 widen(u16 v) {
    union {
        u32 u;
        f32 f;
    } c = {(u32)v << 16};
    return c.f;
}
// To nearest, ties to even; no NaN here.
static u16 narrow(f32 v) {
    u32 u = rt_bits32(v);
    return (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static u16 a[4096], b[4096], r[4096], s[4096];
static f32 c[4096], d[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e16m4(), 4000) {
        rt_seed(n);
        f32 want = 0;
        for (size_t j = 0; j < n; j++) {
            a[j] = narrow((f32)((i32)(rt_random() & 31) - 16));
            b[j] = narrow((f32)((i32)(rt_random() & 31) - 15));
            want += widen(a[j]) * widen(b[j]);
        }
        RT_BARRIER();
        f32 dot = dot_rvv(a, b, n);
        if (dot != want) rt_fail("dot", n, rt_bits32(dot));
        u16 by = narrow(rt_f32() * 3.f);
        for (size_t j = 0; j < n; j++) {
            a[j] = narrow(rt_f32() * (j % 9 == 4 ? 0x1p60f : j % 5 == 1 ? 0x1p-60f : 2.f));
            c[j] = d[j] = rt_f32() * (j % 7 == 3 ? 0x1p62f : 1.f);
        }
        RT_BARRIER();
        axpy_rvv(by, a, c, r, n);
        for (size_t j = 0; j < n; j++) d[j] = rt_fmaf(widen(by), widen(a[j]), d[j]), s[j] = narrow(d[j]);
        rt_check("axpy", n, c, d, n * 4);
        rt_check("narrow", n, r, s, n * 2);
        u64 sum = rt_hash(c, n * 4) + rt_hash(r, n * 2);
        widen_rvv(a, c, n);
        for (size_t j = 0; j < n; j++) d[j] = widen(a[j]);
        rt_check("widen", n, c, d, n * 4);
        rt_report("bf16", i, n, sum ^ ((u64)rt_bits32(dot) << 32));
    }
    return 0;
}
