// Conversions between floating point and integers at the edges, under every rounding mode, with the flags:
// widening, narrowing, round-to-odd, classification, min and max with NaNs, sign injection, estimates.
#include "rt.h"
#include <riscv_vector.h>

static inline void clear_flags(void) { __asm__ volatile("csrw fflags, zero" ::: "memory"); }
static inline u32 read_flags(void) {
    u64 v;
    __asm__ volatile("csrr %0, fflags" : "=r"(v)::"memory");
    return (u32)v;
}

#define TO_INT(name, mode) \
    static NOINLINE void name(const f32 *x, i32 *y, u32 *z, size_t n) { \
        for (size_t i = 0, vl; i < n; i += vl) { \
            vl = __riscv_vsetvl_e32m4(n - i); \
            vfloat32m4_t v = __riscv_vle32_v_f32m4(x + i, vl); \
            __riscv_vse32_v_i32m4(y + i, __riscv_vfcvt_x_f_v_i32m4_rm(v, mode, vl), vl); \
            __riscv_vse32_v_u32m4(z + i, __riscv_vfcvt_xu_f_v_u32m4_rm(v, mode, vl), vl); \
        } \
    }
TO_INT(to_int_rne, __RISCV_FRM_RNE)
TO_INT(to_int_rtz, __RISCV_FRM_RTZ)
TO_INT(to_int_rdn, __RISCV_FRM_RDN)
TO_INT(to_int_rup, __RISCV_FRM_RUP)
TO_INT(to_int_rmm, __RISCV_FRM_RMM)

// Narrow to 16-bit integers, widen to 64, to double and back with round-to-odd
static NOINLINE void widths_rvv(const f32 *x, i16 *h, i64 *d, f32 *o, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vfloat32m2_t v = __riscv_vle32_v_f32m2(x + i, vl);
        __riscv_vse16_v_i16m1(h + i, __riscv_vfncvt_x_f_w_i16m1(v, vl), vl);
        __riscv_vse64_v_i64m4(d + i, __riscv_vfwcvt_x_f_v_i64m4(v, vl), vl);
        vfloat64m4_t wide = __riscv_vfmul_vf_f64m4(__riscv_vfwcvt_f_f_v_f64m4(v, vl), 1.1, vl);
        __riscv_vse32_v_f32m2(o + i, __riscv_vfncvt_rod_f_f_w_f32m2(wide, vl), vl);
    }
}
static NOINLINE void edges_rvv(const f32 *x, const f32 *y, u32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m1(n - i);
        vfloat32m1_t a = __riscv_vle32_v_f32m1(x + i, vl), b = __riscv_vle32_v_f32m1(y + i, vl);
        vuint32m1_t zero = __riscv_vmv_v_x_u32m1(0, vl);
        vuint32m1_t less = __riscv_vmerge_vxm_u32m1(zero, 1, __riscv_vmflt_vv_f32m1_b32(a, b, vl), vl);
        vuint32m1_t equal = __riscv_vmerge_vxm_u32m1(less, 2, __riscv_vmfeq_vv_f32m1_b32(a, b, vl), vl);
        vuint32m1x8_t t = __riscv_vcreate_v_u32m1x8(
            __riscv_vfclass_v_u32m1(a, vl), __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfmin_vv_f32m1(a, b, vl)),
            __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfmax_vv_f32m1(a, b, vl)),
            __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfsgnjn_vv_f32m1(a, b, vl)),
            __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfsgnjx_vv_f32m1(a, b, vl)), equal,
            __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfrec7_v_f32m1(a, vl)),
            __riscv_vreinterpret_v_f32m1_u32m1(__riscv_vfrsqrt7_v_f32m1(a, vl)));
        __riscv_vsseg8e32_v_u32m1x8(out + 8 * i, t, vl);
    }
}
static NOINLINE void to_float_rvv(const i32 *x, f32 *y, f32 *z, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vint32m4_t v = __riscv_vle32_v_i32m4(x + i, vl);
        __riscv_vse32_v_f32m4(y + i, __riscv_vfcvt_f_x_v_f32m4_rm(v, __RISCV_FRM_RUP, vl), vl);
        __riscv_vse32_v_f32m4(z + i, __riscv_vfcvt_f_xu_v_f32m4_rm(__riscv_vreinterpret_v_i32m4_u32m4(v), __RISCV_FRM_RDN, vl), vl);
    }
}

#define TWIN(mode) \
    { \
        __asm__ volatile("fcvt.w.s %0, %1, " mode : "=r"(r) : "f"(x[j])); \
        __asm__ volatile("fcvt.wu.s %0, %1, " mode : "=r"(u) : "f"(x[j])); \
    }

#define MOST 1100
static f32 x[MOST], y[MOST], o[MOST];
static i32 a[MOST], ta[MOST];
static u32 b[MOST], tb[MOST];
static i16 h[MOST];
static i64 d[MOST];
static u32 out[8 * MOST];

static const u32 special[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00000,
                              0x00000001, 0x807fffff, 0x4f000000, 0x4effffff, 0xcf000000, 0xcf000001, 0x4f800000, 0x4f7fffff,
                              0x3f000000, 0x3fc00000, 0x40200000, 0xbf000000, 0xbf7fffff, 0x7f7fffff, 0x46fffe00, 0xc7000080,
                              0x5f000000, 0xdf000000, 0x00800000, 0x7e800000, 0x7f000000, 0x00400000, 0x00200000, 0x3effffff};

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), MOST) {
        rt_seed(n);
        for (size_t j = 0; j < n; j++) {
            u64 r = rt_random();
            u32 p = j < 32 ? special[j] : r % 3 == 0 ? special[r >> 32 & 31] : r % 3 == 1 ? (u32)(r >> 32) : rt_bits32((f32)(i32)r / 64);
            u32 q = r >> 16 & 1 ? special[r >> 40 & 31] : (u32)rt_random();
            ((u32 *)x)[j] = p, ((u32 *)y)[j] = q;
        }
        RT_BARRIER();
        u64 sum = 0, flags = 0;
        for (int mode = 0; mode < 5; mode++) {
            clear_flags();
            (mode == 0 ? to_int_rne : mode == 1 ? to_int_rtz : mode == 2 ? to_int_rdn : mode == 3 ? to_int_rup : to_int_rmm)(x, a, b, n);
            u32 seen = read_flags();
            clear_flags();
            for (size_t j = 0; j < n; j++) {
                i64 r;
                u64 u;
                switch (mode) {
                case 0: TWIN("rne") break;
                case 1: TWIN("rtz") break;
                case 2: TWIN("rdn") break;
                case 3: TWIN("rup") break;
                default: TWIN("rmm") break;
                }
                ta[j] = (i32)r, tb[j] = (u32)u;
            }
            if (seen != read_flags()) rt_fail("flags", n, (u64)mode);
            rt_check("to int", n, a, ta, 4 * n);
            rt_check("to unsigned", n, b, tb, 4 * n);
            sum = sum * 31 + rt_hash(a, 4 * n) + rt_hash(b, 4 * n);
            flags = flags << 5 | seen;
        }
        clear_flags();
        widths_rvv(x, h, d, o, n);
        flags = flags << 5 | read_flags();
        sum = sum * 31 + rt_hash(h, 2 * n) + rt_hash(d, 8 * n) + rt_hash(o, 4 * n);
        clear_flags();
        edges_rvv(x, y, out, n);
        flags = flags << 5 | read_flags();
        sum = sum * 31 + rt_hash(out, 32 * n);
        clear_flags();
        to_float_rvv((i32 *)x, (f32 *)a, (f32 *)b, n);
        flags = flags << 5 | read_flags();
        sum = sum * 31 + rt_hash(a, 4 * n) + rt_hash(b, 4 * n);
        rt_report("flags", i, n, flags);
        rt_report("convert", i, n, sum);
    }
    return 0;
}
