// Complex arithmetic and a radix-2 FFT: segment loads of pairs, strided and indexed ones for the bit reversal.
#include "rt.h"
#include <riscv_vector.h>

typedef vfloat32m2_t vf;

// c = a · conj(b), interleaved
static NOINLINE void times_conj_rvv(const f32 *a, const f32 *b, f32 *c, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e32m2(n);
        vfloat32m2x2_t x = __riscv_vlseg2e32_v_f32m2x2(a, vl), y = __riscv_vlseg2e32_v_f32m2x2(b, vl);
        vf xr = __riscv_vget_v_f32m2x2_f32m2(x, 0), xi = __riscv_vget_v_f32m2x2_f32m2(x, 1);
        vf yr = __riscv_vget_v_f32m2x2_f32m2(y, 0), yi = __riscv_vget_v_f32m2x2_f32m2(y, 1);
        vf re = __riscv_vfmacc_vv_f32m2(__riscv_vfmul_vv_f32m2(xr, yr, vl), xi, yi, vl);
        vf im = __riscv_vfnmsac_vv_f32m2(__riscv_vfmul_vv_f32m2(xi, yr, vl), xr, yi, vl);
        __riscv_vsseg2e32_v_f32m2x2(c, __riscv_vcreate_v_f32m2x2(re, im), vl);
        a += 2 * vl, b += 2 * vl, c += 2 * vl, n -= vl;
    }
}
// |a|, by a square root
static NOINLINE void modulus_rvv(const f32 *a, f32 *out, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e32m4(n);
        vfloat32m4x2_t x = __riscv_vlseg2e32_v_f32m4x2(a, vl);
        vfloat32m4_t r = __riscv_vget_v_f32m4x2_f32m4(x, 0), i = __riscv_vget_v_f32m4x2_f32m4(x, 1);
        vfloat32m4_t s = __riscv_vfmadd_vv_f32m4(r, r, __riscv_vfmul_vv_f32m4(i, i, vl), vl);
        __riscv_vse32_v_f32m4(out, __riscv_vfsqrt_v_f32m4(s, vl), vl);
        a += 2 * vl, out += vl, n -= vl;
    }
}

#define MOST 1024
static f32 twiddle[2 * MOST];  // cos, -sin of 2πk/MOST
static u32 reversed[MOST];

// One stage of n/2 butterflies; `half` is the distance.
static NOINLINE void stage_rvv(f32 *a, size_t n, size_t half) {
    for (size_t base = 0; base < n; base += 2 * half)
        for (size_t k = 0, vl; k < half; k += vl) {
            vl = __riscv_vsetvl_e32m2(half - k);
            f32 *lo = a + 2 * (base + k), *hi = lo + 2 * half;
            ptrdiff_t stride = (ptrdiff_t)(8 * (MOST / (2 * half)));
            vfloat32m2x2_t w = __riscv_vlsseg2e32_v_f32m2x2(twiddle + 2 * k * (MOST / (2 * half)), stride, vl);
            vfloat32m2x2_t x = __riscv_vlseg2e32_v_f32m2x2(lo, vl), y = __riscv_vlseg2e32_v_f32m2x2(hi, vl);
            vf wr = __riscv_vget_v_f32m2x2_f32m2(w, 0), wi = __riscv_vget_v_f32m2x2_f32m2(w, 1);
            vf yr = __riscv_vget_v_f32m2x2_f32m2(y, 0), yi = __riscv_vget_v_f32m2x2_f32m2(y, 1);
            vf tr = __riscv_vfnmsac_vv_f32m2(__riscv_vfmul_vv_f32m2(yr, wr, vl), yi, wi, vl);
            vf ti = __riscv_vfmacc_vv_f32m2(__riscv_vfmul_vv_f32m2(yr, wi, vl), yi, wr, vl);
            vf xr = __riscv_vget_v_f32m2x2_f32m2(x, 0), xi = __riscv_vget_v_f32m2x2_f32m2(x, 1);
            __riscv_vsseg2e32_v_f32m2x2(
                lo, __riscv_vcreate_v_f32m2x2(__riscv_vfadd_vv_f32m2(xr, tr, vl), __riscv_vfadd_vv_f32m2(xi, ti, vl)), vl);
            __riscv_vsseg2e32_v_f32m2x2(
                hi, __riscv_vcreate_v_f32m2x2(__riscv_vfsub_vv_f32m2(xr, tr, vl), __riscv_vfsub_vv_f32m2(xi, ti, vl)), vl);
        }
}
static NOINLINE void fft_rvv(const f32 *in, f32 *out, size_t n) {
    // Indexed segment loads: element i comes from place reversed[i].
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t at = __riscv_vle32_v_u32m2(reversed + i, vl);
        at = __riscv_vdivu_vx_u32m2(at, (u32)(MOST / n), vl);
        vfloat32m2x2_t x = __riscv_vluxseg2ei32_v_f32m2x2(in, __riscv_vsll_vx_u32m2(at, 3, vl), vl);
        __riscv_vsseg2e32_v_f32m2x2(out + 2 * i, x, vl);
    }
    for (size_t half = 1; half < n; half *= 2) stage_rvv(out, n, half);
}

static NOINLINE void times_conj_scalar(const f32 *a, const f32 *b, f32 *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        f32 re = rt_fmaf(a[2 * i + 1], b[2 * i + 1], a[2 * i] * b[2 * i]);
        f32 im = rt_fmaf(-a[2 * i], b[2 * i + 1], a[2 * i + 1] * b[2 * i]);
        c[2 * i] = re, c[2 * i + 1] = im;
    }
}
static NOINLINE void modulus_scalar(const f32 *a, f32 *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        f32 s = rt_fmaf(a[2 * i], a[2 * i], a[2 * i + 1] * a[2 * i + 1]);
        __asm__("fsqrt.s %0, %1" : "=f"(out[i]) : "f"(s));
    }
}
static NOINLINE void fft_scalar(const f32 *in, f32 *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t at = reversed[i] / (MOST / n);
        out[2 * i] = in[2 * at], out[2 * i + 1] = in[2 * at + 1];
    }
    for (size_t half = 1; half < n; half *= 2)
        for (size_t base = 0; base < n; base += 2 * half)
            for (size_t k = 0; k < half; k++) {
                f32 *x = out + 2 * (base + k), *y = x + 2 * half, *w = twiddle + 2 * k * (MOST / (2 * half));
                f32 tr = rt_fmaf(-y[1], w[1], y[0] * w[0]), ti = rt_fmaf(y[1], w[0], y[0] * w[1]);
                f32 xr = x[0], xi = x[1];
                x[0] = xr + tr, x[1] = xi + ti;
                y[0] = xr - tr, y[1] = xi - ti;
            }
}

static void set_up(void) {
    // A rotation by 2π/MOST, repeated in double precision.
    f64 c = 1, s = 0, dc = 0x1.fffd8858e8a92p-1, ds = 0x1.921f0fe670071p-8;
    for (size_t k = 0; k < MOST; k++) {
        twiddle[2 * k] = (f32)c, twiddle[2 * k + 1] = (f32)-s;
        f64 t = c * dc - s * ds;
        s = s * dc + c * ds, c = t;
        u32 r = 0;
        for (u32 bit = 1; bit < MOST; bit *= 2) r = r * 2 + ((k & bit) != 0);
        reversed[k] = r;
    }
    RT_BARRIER();
}

static f32 a[2 * MOST + 64], b[2 * MOST + 64], c[2 * MOST + 64];

int main(void) {
    set_up();
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), MOST) {
        rt_seed(n);
        for (size_t j = 0; j < 2 * n; j++) a[j] = rt_f32();
        RT_BARRIER();
        times_conj_rvv(a, a + n / 2 * 2, b, n - n / 2);
        times_conj_scalar(a, a + n / 2 * 2, c, n - n / 2);
        rt_check("times", n, b, c, (n - n / 2) * 8);
        u64 sum = rt_hash(b, (n - n / 2) * 8);
        modulus_rvv(a, b, n);
        modulus_scalar(a, c, n);
        rt_check("modulus", n, b, c, n * 4);
        rt_report("complex", i, n, sum + rt_hash(b, n * 4));
    }
    for (size_t n = 1; n <= MOST; n *= 2) {
        rt_seed(n);
        for (size_t j = 0; j < 2 * n; j++) a[j] = rt_f32();
        RT_BARRIER();
        fft_rvv(a, b, n);
        fft_scalar(a, c, n);
        rt_check("fft", n, b, c, n * 8);
        rt_report("fft", 0, n, rt_hash(b, n * 8));
    }
    return 0;
}
