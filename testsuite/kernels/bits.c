// Bit manipulation with Zvbb: population counts, leading and trailing zeros, reversals, rotations, and-not,
// the widening shift. Each result is one of four fields of the output.
// needs: zvbb
#include "rt.h"
#include <riscv_vector.h>

// gcc has all of these intrinsics but this one (14 to 16).
#if defined(__GNUC__) && !defined(__clang__)
static inline vuint32m2_t cpop(vuint32m2_t v, size_t vl) {
    vuint32m2_t r;
    __asm__("vsetvli zero, %2, e32, m2, ta, ma\n\tvcpop.v %0, %1" : "=vr"(r) : "vr"(v), "r"(vl) : "vl", "vtype");
    return r;
}
#else
#define cpop(v, vl) __riscv_vcpop_v_u32m2(v, vl)
#endif

static NOINLINE void counts_rvv(const u32 *in, u32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t v = __riscv_vle32_v_u32m2(in + i, vl);
        vuint32m2x4_t t = __riscv_vcreate_v_u32m2x4(cpop(v, vl), __riscv_vclz_v_u32m2(v, vl),
                                                    __riscv_vctz_v_u32m2(v, vl), __riscv_vbrev_v_u32m2(v, vl));
        __riscv_vsseg4e32_v_u32m2x4(out + 4 * i, t, vl);
    }
}
static NOINLINE void turns_rvv(const u64 *in, u64 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e64m2(n - i);
        vuint64m2_t v = __riscv_vle64_v_u64m2(in + i, vl), id = __riscv_vadd_vx_u64m2(__riscv_vid_v_u64m2(vl), i, vl);
        vuint64m2x4_t t = __riscv_vcreate_v_u64m2x4(
            __riscv_vrol_vv_u64m2(v, id, vl), __riscv_vror_vx_u64m2(v, 41, vl),
            __riscv_vbrev8_v_u64m2(__riscv_vrev8_v_u64m2(v, vl), vl), __riscv_vandn_vv_u64m2(id, v, vl));
        __riscv_vsseg4e64_v_u64m2x4(out + 4 * i, t, vl);
    }
}
// Bytes to halfwords, shifted by 0..15 on the way
static NOINLINE void widen_rvv(const u8 *in, u16 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e8m4(n - i);
        vuint8m4_t v = __riscv_vle8_v_u8m4(in + i, vl);
        __riscv_vse16_v_u16m8(out + i, __riscv_vwsll_vv_u16m8(v, __riscv_vsrl_vx_u8m4(v, 4, vl), vl), vl);
    }
}

static NOINLINE void counts_scalar(const u32 *in, u32 *out, size_t n) {
    for (size_t i = 0; i < n; i++, out += 4) {
        u32 ones = 0, lead = 0, trail = 0, back = 0;
        for (int k = 0; k < 32; k++) ones += in[i] >> k & 1, back = back << 1 | (in[i] >> k & 1);
        for (int k = 31; k >= 0 && !(in[i] >> k & 1); k--) lead++;
        for (int k = 0; k < 32 && !(in[i] >> k & 1); k++) trail++;
        out[0] = ones, out[1] = lead, out[2] = trail, out[3] = back;
    }
}
static NOINLINE void turns_scalar(const u64 *in, u64 *out, size_t n) {
    for (size_t i = 0; i < n; i++, out += 4) {
        u64 v = in[i], back = 0, by = i & 63;
        for (int k = 0; k < 64; k++) back = back << 1 | (v >> k & 1);
        out[0] = v << by | v >> ((64 - by) & 63);
        out[1] = v >> 41 | v << 23;
        out[2] = back;
        out[3] = i & ~v;
    }
}
static NOINLINE void widen_scalar(const u8 *in, u16 *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = (u16)(in[i] << (in[i] >> 4));
}

#define MOST 1100
static u64 a[MOST], b[4 * MOST], c[4 * MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), MOST) {
        u64 sum = 0;
        rt_seed(n);
        for (size_t j = 0; j < n; j++) a[j] = rt_random() << (j % 67 % 64) >> (j % 31);
        RT_BARRIER();
        counts_rvv((u32 *)a, (u32 *)b, n);
        counts_scalar((u32 *)a, (u32 *)c, n);
        rt_check("counts", n, b, c, 16 * n);
        sum += rt_hash(b, 16 * n);
        turns_rvv(a, b, n);
        turns_scalar(a, c, n);
        rt_check("turns", n, b, c, 32 * n);
        sum += rt_hash(b, 32 * n);
        widen_rvv((u8 *)a, (u16 *)b, n);
        widen_scalar((u8 *)a, (u16 *)c, n);
        rt_check("widen", n, b, c, 2 * n);
        rt_report("bits", i, n, sum + rt_hash(b, 2 * n));
    }
    return 0;
}
