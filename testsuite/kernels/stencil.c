// Stencils: five points on a grid from neighbouring rows, three points in a row by slides with carried-in
// neighbours, and a 3×3 box sum of bytes by widening adds.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void five_rvv(const f32 *in, f32 *out, size_t rows, size_t n) {
    for (size_t i = 1; i + 1 < rows; i++)
        for (size_t j = 1, vl; j + 1 < n; j += vl) {
            vl = __riscv_vsetvl_e32m4(n - 1 - j);
            const f32 *p = in + i * n + j;
            vfloat32m4_t c = __riscv_vle32_v_f32m4(p, vl);
            vfloat32m4_t s = __riscv_vfadd_vv_f32m4(__riscv_vle32_v_f32m4(p - n, vl), __riscv_vle32_v_f32m4(p + n, vl), vl);
            s = __riscv_vfadd_vv_f32m4(s, __riscv_vle32_v_f32m4(p - 1, vl), vl);
            s = __riscv_vfadd_vv_f32m4(s, __riscv_vle32_v_f32m4(p + 1, vl), vl);
            s = __riscv_vfnmsac_vf_f32m4(s, 4.f, c, vl);
            __riscv_vse32_v_f32m4(out + i * n + j, __riscv_vfmacc_vf_f32m4(c, 0.2f, s, vl), vl);
        }
}
// out[j] = in[j-1] - 2·in[j] + in[j+1], zero outside
static NOINLINE void three_rvv(const f32 *in, f32 *out, size_t n) {
    f32 before = 0;
    for (size_t j = 0, vl; j < n; j += vl) {
        vl = __riscv_vsetvl_e32m2(n - j);
        f32 after = j + vl < n ? in[j + vl] : 0;
        vfloat32m2_t c = __riscv_vle32_v_f32m2(in + j, vl);
        vfloat32m2_t l = __riscv_vfslide1up_vf_f32m2(c, before, vl), r = __riscv_vfslide1down_vf_f32m2(c, after, vl);
        vfloat32m2_t v = __riscv_vfadd_vv_f32m2(__riscv_vfsub_vv_f32m2(l, __riscv_vfadd_vv_f32m2(c, c, vl), vl), r, vl);
        before = in[j + vl - 1];
        __riscv_vse32_v_f32m2(out + j, v, vl);
    }
}
static NOINLINE void box_rvv(const u8 *in, u8 *out, size_t rows, size_t n) {
    for (size_t i = 1; i + 1 < rows; i++)
        for (size_t j = 1, vl; j + 1 < n; j += vl) {
            vl = __riscv_vsetvl_e8m2(n - 1 - j);
            const u8 *p = in + (i - 1) * n + j - 1;
            vuint16m4_t s = __riscv_vmv_v_x_u16m4(0, vl);
            for (int r = 0; r < 3; r++, p += n) {
                s = __riscv_vwaddu_wv_u16m4(s, __riscv_vle8_v_u8m2(p, vl), vl);
                s = __riscv_vwaddu_wv_u16m4(s, __riscv_vle8_v_u8m2(p + 1, vl), vl);
                s = __riscv_vwaddu_wv_u16m4(s, __riscv_vle8_v_u8m2(p + 2, vl), vl);
            }
            // /9, rounded to nearest
            vuint16m4_t q = __riscv_vdivu_vx_u16m4(__riscv_vadd_vx_u16m4(s, 4, vl), 9, vl);
            __riscv_vse8_v_u8m2(out + i * n + j, __riscv_vncvt_x_x_w_u8m2(q, vl), vl);
        }
}

static NOINLINE void five_scalar(const f32 *in, f32 *out, size_t rows, size_t n) {
    for (size_t i = 1; i + 1 < rows; i++)
        for (size_t j = 1; j + 1 < n; j++) {
            const f32 *p = in + i * n + j;
            f32 s = p[-(ptrdiff_t)n] + p[n];
            s = s + p[-1];
            s = s + p[1];
            s = rt_fmaf(-4.f, p[0], s);
            out[i * n + j] = rt_fmaf(0.2f, s, p[0]);
        }
}
static NOINLINE void three_scalar(const f32 *in, f32 *out, size_t n) {
    for (size_t j = 0; j < n; j++) {
        f32 l = j ? in[j - 1] : 0, r = j + 1 < n ? in[j + 1] : 0;
        out[j] = (l - (in[j] + in[j])) + r;
    }
}
static NOINLINE void box_scalar(const u8 *in, u8 *out, size_t rows, size_t n) {
    for (size_t i = 1; i + 1 < rows; i++)
        for (size_t j = 1; j + 1 < n; j++) {
            u32 s = 4;
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++) s += in[(i + r - 1) * n + j + c - 1];
            out[i * n + j] = (u8)(s / 9);
        }
}

#define ROWS 6
#define MOST 1100
static f32 a[ROWS * MOST], b[ROWS * MOST], c[ROWS * MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), MOST) {
        rt_seed(n);
        for (size_t j = 0; j < ROWS * n; j++) a[j] = rt_f32(), b[j] = c[j] = 0;
        RT_BARRIER();
        five_rvv(a, b, ROWS, n);
        five_scalar(a, c, ROWS, n);
        rt_check("five", n, b, c, ROWS * n * 4);
        rt_report("five", i, n, rt_hash(b, ROWS * n * 4));
        three_rvv(a, b, n);
        three_scalar(a, c, n);
        rt_check("three", n, b, c, ROWS * n * 4);
        rt_report("three", i, n, rt_hash(b, n * 4));
        rt_fill(a, ROWS * n);
        box_rvv((u8 *)a, (u8 *)b, ROWS, n);
        box_scalar((u8 *)a, (u8 *)c, ROWS, n);
        rt_check("box", n, b, c, ROWS * n);
        rt_report("box", i, n, rt_hash(b, ROWS * n));
    }
    return 0;
}
