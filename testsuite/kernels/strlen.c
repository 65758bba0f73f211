// strlen with fault-only-first loads, at every alignment and up to the last byte before an unmapped page.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE size_t strlen_rvv(const u8 *s) {
    const u8 *p = s;
    for (;;) {
        size_t vl = __riscv_vsetvlmax_e8m8();
        vuint8m8_t v = __riscv_vle8ff_v_u8m8(p, &vl, vl);
        long at = __riscv_vfirst_m_b1(__riscv_vmseq_vx_u8m8_b1(v, 0, vl), vl);
        if (at >= 0) return (size_t)(p - s) + (size_t)at;
        p += vl;
    }
}

static NOINLINE size_t strlen_scalar(const u8 *s) {
    const u8 *p = s;
    while (*(volatile const u8 *)p) p++;
    return (size_t)(p - s);
}

static u8 text[8192 + 64];

int main(void) {
    u8 *end = rt_guarded_end(8192);
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m8(), 8000) {
        for (size_t offset = 0; offset < 9; offset++) {
            rt_fill(text, sizeof text);
            for (size_t j = 0; j < sizeof text; j++) text[j] |= 1;
            text[offset + n] = 0;
            if (strlen_rvv(text + offset) != strlen_scalar(text + offset)) rt_fail("strlen", n, offset);
        }
        // The terminator is the last byte that can be read.
        u8 *s = end - n - 1;
        for (size_t j = 0; j < n; j++) s[j] = (u8)(1 + j % 255);
        s[n] = 0;
        RT_BARRIER();
        size_t length = strlen_rvv(s);
        if (length != n) rt_fail("strlen before a hole", n, length);
        rt_report("strlen", i, n, length);
    }
    return 0;
}
