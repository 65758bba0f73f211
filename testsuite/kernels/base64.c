// Base64: three fields in, four out (vlseg3/vsseg4), the alphabet in a register group; and back by ranges.
#include "rt.h"
#include <riscv_vector.h>

static const u8 alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static NOINLINE size_t encode_scalar(const u8 *from, size_t n, u8 *to) {
    u8 *start = to;
    for (; n >= 3; n -= 3, from += 3) {
        u32 v = (u32)from[0] << 16 | (u32)from[1] << 8 | from[2];
        for (int i = 18; i >= 0; i -= 6) *to++ = alphabet[(v >> i) & 63];
    }
    if (n) {
        u32 v = (u32)from[0] << 16 | (n == 2 ? (u32)from[1] << 8 : 0);
        *to++ = alphabet[v >> 18];
        *to++ = alphabet[(v >> 12) & 63];
        *to++ = n == 2 ? alphabet[(v >> 6) & 63] : '=';
        *to++ = '=';
    }
    return (size_t)(to - start);
}

static inline vuint8m2_t letter(vuint8m4_t table, vuint8m2_t six, size_t vl) {
    // The table fills a group of four at VLEN 128, so the lookup is done at that size.
    vuint8m4_t wide = __riscv_vlmul_ext_v_u8m2_u8m4(six);
    return __riscv_vlmul_trunc_v_u8m4_u8m2(__riscv_vrgather_vv_u8m4(table, wide, vl));
}
static NOINLINE size_t encode_rvv(const u8 *from, size_t n, u8 *to) {
    size_t groups = n / 3, done = 0;
    vuint8m4_t table = __riscv_vle8_v_u8m4(alphabet, 64);
    while (groups) {
        size_t vl = __riscv_vsetvl_e8m2(groups);
        vuint8m2x3_t t = __riscv_vlseg3e8_v_u8m2x3(from, vl);
        vuint8m2_t a = __riscv_vget_v_u8m2x3_u8m2(t, 0), b = __riscv_vget_v_u8m2x3_u8m2(t, 1);
        vuint8m2_t c = __riscv_vget_v_u8m2x3_u8m2(t, 2);
        vuint8m2_t w = __riscv_vsrl_vx_u8m2(a, 2, vl);
        vuint8m2_t x = __riscv_vor_vv_u8m2(__riscv_vsll_vx_u8m2(__riscv_vand_vx_u8m2(a, 3, vl), 4, vl),
                                           __riscv_vsrl_vx_u8m2(b, 4, vl), vl);
        vuint8m2_t y = __riscv_vor_vv_u8m2(__riscv_vsll_vx_u8m2(__riscv_vand_vx_u8m2(b, 15, vl), 2, vl),
                                           __riscv_vsrl_vx_u8m2(c, 6, vl), vl);
        vuint8m2_t z = __riscv_vand_vx_u8m2(c, 63, vl);
        vuint8m2x4_t out = __riscv_vcreate_v_u8m2x4(letter(table, w, vl), letter(table, x, vl), letter(table, y, vl),
                                                    letter(table, z, vl));
        __riscv_vsseg4e8_v_u8m2x4(to + done, out, vl);
        from += 3 * vl, groups -= vl, done += 4 * vl;
    }
    return done + encode_scalar(from, n % 3, to + done);
}

// The value of each letter, and whether any was none.
static inline vuint8m2_t value(vuint8m2_t c, vbool4_t *bad, size_t vl) {
    vuint8m2_t upper = __riscv_vsub_vx_u8m2(c, 'A', vl), lower = __riscv_vsub_vx_u8m2(c, 'a', vl);
    vuint8m2_t digit = __riscv_vsub_vx_u8m2(c, '0', vl);
    vbool4_t is_upper = __riscv_vmsltu_vx_u8m2_b4(upper, 26, vl), is_lower = __riscv_vmsltu_vx_u8m2_b4(lower, 26, vl);
    vbool4_t is_digit = __riscv_vmsltu_vx_u8m2_b4(digit, 10, vl), is_plus = __riscv_vmseq_vx_u8m2_b4(c, '+', vl);
    vbool4_t is_slash = __riscv_vmseq_vx_u8m2_b4(c, '/', vl);
    vuint8m2_t v = __riscv_vadd_vx_u8m2(lower, 26, vl);
    v = __riscv_vmerge_vvm_u8m2(v, upper, is_upper, vl);
    v = __riscv_vadd_vx_u8m2_mu(is_digit, v, digit, 52, vl);
    v = __riscv_vmerge_vxm_u8m2(v, 62, is_plus, vl);
    v = __riscv_vmerge_vxm_u8m2(v, 63, is_slash, vl);
    vbool4_t good = __riscv_vmor_mm_b4(__riscv_vmor_mm_b4(is_upper, is_lower, vl), __riscv_vmor_mm_b4(is_digit, is_plus, vl), vl);
    *bad = __riscv_vmorn_mm_b4(*bad, __riscv_vmor_mm_b4(good, is_slash, vl), vl);
    return v;
}
// Whole quadruples without padding; -1 if a byte is no letter of the alphabet.
static NOINLINE long decode_rvv(const u8 *from, size_t n, u8 *to) {
    long done = 0;
    for (size_t groups = n / 4; groups;) {
        size_t vl = __riscv_vsetvl_e8m2(groups);
        vbool4_t bad = __riscv_vmclr_m_b4(vl);
        vuint8m2x4_t t = __riscv_vlseg4e8_v_u8m2x4(from, vl);
        vuint8m2_t a = value(__riscv_vget_v_u8m2x4_u8m2(t, 0), &bad, vl), b = value(__riscv_vget_v_u8m2x4_u8m2(t, 1), &bad, vl);
        vuint8m2_t c = value(__riscv_vget_v_u8m2x4_u8m2(t, 2), &bad, vl), d = value(__riscv_vget_v_u8m2x4_u8m2(t, 3), &bad, vl);
        if (__riscv_vcpop_m_b4(bad, vl)) return -1;
        vuint8m2_t x = __riscv_vor_vv_u8m2(__riscv_vsll_vx_u8m2(a, 2, vl), __riscv_vsrl_vx_u8m2(b, 4, vl), vl);
        vuint8m2_t y = __riscv_vor_vv_u8m2(__riscv_vsll_vx_u8m2(b, 4, vl), __riscv_vsrl_vx_u8m2(c, 2, vl), vl);
        vuint8m2_t z = __riscv_vor_vv_u8m2(__riscv_vsll_vx_u8m2(c, 6, vl), d, vl);
        __riscv_vsseg3e8_v_u8m2x3(to + done, __riscv_vcreate_v_u8m2x3(x, y, z), vl);
        from += 4 * vl, groups -= vl, done += 3 * (long)vl;
    }
    return done;
}

static u8 a[4096], b[8192], c[8192], d[4096];

int main(void) {
    rt_puts("Many hands make light work. -> ");
    size_t m = encode_rvv((const u8 *)"Many hands make light work.", 27, b);
    for (size_t j = 0; j < m; j++) rt_putc((char)b[j]);
    rt_putc('\n');
    RT_SIZES(i, n, 3 * __riscv_vsetvlmax_e8m2(), 4000) {
        rt_seed(n);
        rt_fill(a, sizeof a);
        memset(b, 7, sizeof b);
        memset(c, 7, sizeof c);
        size_t x = encode_rvv(a, n, b), y = encode_scalar(a, n, c);
        if (x != y) rt_fail("length", n, x);
        rt_check("encode", n, b, c, sizeof b);
        long back = decode_rvv(b, n / 3 * 4, d);
        if (back != (long)(n / 3 * 3)) rt_fail("decoded length", n, (u64)back);
        rt_check("decode", n, d, a, n / 3 * 3);
        if (n >= 6) {
            b[n / 3 * 2] = '-';
            RT_BARRIER();
            if (decode_rvv(b, n / 3 * 4, d) != -1) rt_fail("bad letter", n, 0);
        }
        rt_report("base64", i, n, rt_hash(c, y));
    }
    return 0;
}
