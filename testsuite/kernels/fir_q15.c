// Fixed point: a Q15 filter with vsmul and saturating adds, requantisation by vnclip under each rounding mode,
// averages, scaling shifts; vxsat is read as the overflow flag that it is.
#include "rt.h"
#include <riscv_vector.h>

static inline void clear_vxsat(void) { __asm__ volatile("csrw vxsat, zero" ::: "memory"); }
static inline u32 read_vxsat(void) {
    u64 v;
    __asm__ volatile("csrr %0, vxsat" : "=r"(v)::"memory");
    return (u32)v;
}

#define TAPS 5
static NOINLINE void fir_rvv(const i16 *x, const i16 *taps, i16 *y, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e16m4(n - i);
        vint16m4_t sum = __riscv_vmv_v_x_i16m4(0, vl);
        for (int t = 0; t < TAPS; t++) {
            vint16m4_t p = __riscv_vsmul_vx_i16m4(__riscv_vle16_v_i16m4(x + i + t, vl), taps[t], __RISCV_VXRM_RNU, vl);
            sum = __riscv_vsadd_vv_i16m4(sum, p, vl);
        }
        __riscv_vse16_v_i16m4(y + i, sum, vl);
    }
}
// 32 bits to 8, twice narrowed, once in each rounding mode
#define REQUANTISE(name, mode) \
    static NOINLINE void name(const i32 *x, i8 *y, size_t by, size_t n) { \
        for (size_t i = 0, vl; i < n; i += vl) { \
            vl = __riscv_vsetvl_e32m8(n - i); \
            vint16m4_t h = __riscv_vnclip_wx_i16m4(__riscv_vle32_v_i32m8(x + i, vl), by, mode, vl); \
            __riscv_vse8_v_i8m2(y + i, __riscv_vnclip_wx_i8m2(h, 3, mode, vl), vl); \
        } \
    }
REQUANTISE(requantise_rnu, __RISCV_VXRM_RNU)
REQUANTISE(requantise_rne, __RISCV_VXRM_RNE)
REQUANTISE(requantise_rdn, __RISCV_VXRM_RDN)
REQUANTISE(requantise_rod, __RISCV_VXRM_ROD)
// The mean of two bytes up and down, their saturated difference, a rounded shift
static NOINLINE void blend_rvv(const u8 *a, const u8 *b, u8 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e8m2(n - i);
        vuint8m2_t x = __riscv_vle8_v_u8m2(a + i, vl), y = __riscv_vle8_v_u8m2(b + i, vl);
        vuint8m2_t up = __riscv_vaaddu_vv_u8m2(x, y, __RISCV_VXRM_RNU, vl);
        vuint8m2_t down = __riscv_vaaddu_vv_u8m2(x, y, __RISCV_VXRM_RDN, vl);
        vuint8m2_t apart = __riscv_vssubu_vv_u8m2(x, y, vl);
        vuint8m2_t third = __riscv_vssrl_vx_u8m2(y, 3, __RISCV_VXRM_RNE, vl);
        __riscv_vsseg4e8_v_u8m2x4(out + 4 * i, __riscv_vcreate_v_u8m2x4(up, down, apart, third), vl);
    }
}

static i64 rounded(i64 v, u64 by, int mode) {
    if (!by) return v;
    i64 low = v & ((1ll << by) - 1), half = 1ll << (by - 1), q = v >> by;
    switch (mode) {
    case 0: return q + (low >= half);
    case 1: return q + (low > half || (low == half && (q & 1)));
    case 2: return q;
    default: return q | (low != 0);
    }
}
static i64 clamp(i64 v, i64 lo, i64 hi, u32 *sat) {
    if (v < lo) return *sat = 1, lo;
    if (v > hi) return *sat = 1, hi;
    return v;
}
static NOINLINE u32 fir_scalar(const i16 *x, const i16 *taps, i16 *y, size_t n) {
    u32 sat = 0;
    for (size_t i = 0; i < n; i++) {
        i64 sum = 0;
        for (int t = 0; t < TAPS; t++)
            sum = clamp(sum + clamp(rounded((i64)x[i + (size_t)t] * taps[t], 15, 0), -32768, 32767, &sat), -32768, 32767, &sat);
        y[i] = (i16)sum;
    }
    return sat;
}
static NOINLINE u32 requantise_scalar(const i32 *x, i8 *y, size_t by, size_t n, int mode) {
    u32 sat = 0;
    for (size_t i = 0; i < n; i++)
        y[i] = (i8)clamp(rounded(clamp(rounded(x[i], by, mode), -32768, 32767, &sat), 3, mode), -128, 127, &sat);
    return sat;
}
static NOINLINE u32 blend_scalar(const u8 *a, const u8 *b, u8 *out, size_t n) {
    u32 sat = 0;
    for (size_t i = 0; i < n; i++) {
        out[4 * i] = (u8)((a[i] + b[i] + 1) >> 1);
        out[4 * i + 1] = (u8)((a[i] + b[i]) >> 1);
        out[4 * i + 2] = (u8)clamp(a[i] - b[i], 0, 255, &sat);
        out[4 * i + 3] = (u8)rounded(b[i], 3, 1);
    }
    return sat;
}

static i32 x[4096], y[4096], z[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e16m4(), 4000) {
        u32 sat, sats = 0;
        u64 sum = 0;
        i16 taps[TAPS];
        rt_seed(n);
        rt_fill(taps, sizeof taps);
        rt_fill(x, sizeof x);
        if (n % 2 == 0)
            for (size_t j = 0; j < n; j++) x[j] >>= n % 4 ? 17 : 9; // no overflow in some, a little in others
        if (n % 8 == 1 && n > 1) taps[1] = -32768, ((i16 *)x)[n / 2] = -32768; // -1 · -1
        RT_BARRIER();
        clear_vxsat();
        fir_rvv((i16 *)x, taps, (i16 *)y, n);
        sat = read_vxsat();
        if (sat != fir_scalar((i16 *)x, taps, (i16 *)z, n)) rt_fail("fir vxsat", n, sat);
        rt_check("fir", n, y, z, n * 2);
        sum += rt_hash(y, n * 2), sats = sat;
        for (int mode = 0; mode < 4; mode++) {
            clear_vxsat();
            size_t by = (size_t)(mode * 5 + n % 3);
            (mode == 0 ? requantise_rnu : mode == 1 ? requantise_rne : mode == 2 ? requantise_rdn : requantise_rod)(x, (i8 *)y, by, n);
            sat = read_vxsat();
            if (sat != requantise_scalar(x, (i8 *)z, by, n, mode)) rt_fail("requantise vxsat", n, (u64)mode);
            rt_check("requantise", n, y, z, n);
            sum += rt_hash(y, n), sats = sats << 1 | sat;
        }
        clear_vxsat();
        blend_rvv((u8 *)x, (u8 *)x + n, (u8 *)y, n);
        sat = read_vxsat();
        if (sat != blend_scalar((u8 *)x, (u8 *)x + n, (u8 *)z, n)) rt_fail("blend vxsat", n, sat);
        rt_check("blend", n, y, z, n * 4);
        sum += rt_hash(y, n * 4), sats = sats << 1 | sat;
        rt_report("fixed point", i, n, (sum & ~(u64)255) | sats);
    }
    return 0;
}
