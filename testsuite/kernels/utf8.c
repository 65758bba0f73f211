// UTF-8: code points, UTF-16 length and maximum byte of a text, by compares and mask counts.
#include "rt.h"
#include <riscv_vector.h>

// Code points: bytes that are no continuation (10xxxxxx), which as signed bytes are those above -65.
static NOINLINE size_t count_rvv(const u8 *s, size_t n) {
    size_t count = 0;
    while (n) {
        size_t vl = __riscv_vsetvl_e8m8(n);
        vint8m8_t v = __riscv_vle8_v_i8m8((const i8 *)s, vl);
        count += __riscv_vcpop_m_b1(__riscv_vmsgt_vx_i8m8_b1(v, -65, vl), vl);
        s += vl, n -= vl;
    }
    return count;
}
// Two units for each lead byte of four.
static NOINLINE size_t utf16_rvv(const u8 *s, size_t n) {
    size_t count = 0;
    while (n) {
        size_t vl = __riscv_vsetvl_e8m4(n);
        vuint8m4_t v = __riscv_vle8_v_u8m4(s, vl);
        vbool2_t lead = __riscv_vmsne_vx_u8m4_b2(__riscv_vand_vx_u8m4(v, 0xc0, vl), 0x80, vl);
        vbool2_t four = __riscv_vmsgeu_vx_u8m4_b2_m(lead, v, 0xf0, vl);
        count += __riscv_vcpop_m_b2(lead, vl) + __riscv_vcpop_m_b2_m(lead, four, vl);
        s += vl, n -= vl;
    }
    return count;
}
static NOINLINE u8 greatest_rvv(const u8 *s, size_t n) {
    vuint8m1_t most = __riscv_vmv_s_x_u8m1(0, 1);
    while (n) {
        size_t vl = __riscv_vsetvl_e8m8(n);
        most = __riscv_vredmaxu_vs_u8m8_u8m1(__riscv_vle8_v_u8m8(s, vl), most, vl);
        s += vl, n -= vl;
    }
    return __riscv_vmv_x_s_u8m1_u8(most);
}

static NOINLINE size_t count_scalar(const u8 *s, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += (s[i] & 0xc0) != 0x80;
    return count;
}
static NOINLINE size_t utf16_scalar(const u8 *s, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += ((s[i] & 0xc0) != 0x80) + (s[i] >= 0xf0);
    return count;
}
static NOINLINE u8 greatest_scalar(const u8 *s, size_t n) {
    u8 most = 0;
    for (size_t i = 0; i < n; i++) most = s[i] > most ? s[i] : most;
    return most;
}

static u8 text[8192];

// Valid UTF-8 of any planes, cut off at n.
static void write_text(size_t n) {
    size_t at = 0;
    while (at < n) {
        u32 r = (u32)rt_random(), kind = r & 3, c = r >> 8;
        u8 out[4];
        int len = (int)kind + 1;
        if (kind == 0) out[0] = (u8)(32 + c % 95);
        if (kind == 1) out[0] = (u8)(0xc2 + c % 30);
        if (kind == 2) out[0] = (u8)(0xe1 + c % 12);
        if (kind == 3) out[0] = (u8)(0xf1 + c % 3);
        for (int i = 1; i < len; i++) out[i] = (u8)(0x80 | ((c >> (6 * i)) & 63));
        for (int i = 0; i < len && at < n; i++) text[at++] = out[i];
    }
    RT_BARRIER();
}

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m8(), 8000) {
        rt_seed(n);
        write_text(n);
        size_t points = count_rvv(text, n), units = utf16_rvv(text, n);
        u8 most = greatest_rvv(text, n);
        if (points != count_scalar(text, n)) rt_fail("code points", n, points);
        if (units != utf16_scalar(text, n)) rt_fail("UTF-16 units", n, units);
        if (most != greatest_scalar(text, n)) rt_fail("greatest byte", n, most);
        rt_report("utf8", i, n, (points << 32) | (units << 8) | most);
    }
    return 0;
}
