// strcmp, strchr and strcpy on two fault-only-first streams that end at unmapped pages.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE int strcmp_rvv(const u8 *a, const u8 *b) {
    for (;;) {
        size_t most = __riscv_vsetvlmax_e8m4(), va, vb;
        vuint8m4_t x = __riscv_vle8ff_v_u8m4(a, &va, most);
        vuint8m4_t y = __riscv_vle8ff_v_u8m4(b, &vb, va);
        vbool2_t stop = __riscv_vmseq_vx_u8m4_b2(x, 0, vb);
        stop = __riscv_vmor_mm_b2(stop, __riscv_vmsne_vv_u8m4_b2(x, y, vb), vb);
        long at = __riscv_vfirst_m_b2(stop, vb);
        if (at >= 0) return a[at] - b[at];
        a += vb, b += vb;
    }
}
static NOINLINE const u8 *strchr_rvv(const u8 *s, u8 c) {
    for (;;) {
        size_t vl = __riscv_vsetvlmax_e8m2();
        vuint8m2_t v = __riscv_vle8ff_v_u8m2(s, &vl, vl);
        long end = __riscv_vfirst_m_b4(__riscv_vmseq_vx_u8m2_b4(v, 0, vl), vl);
        long hit = __riscv_vfirst_m_b4(__riscv_vmseq_vx_u8m2_b4(v, c, vl), vl);
        if (hit >= 0 && (end < 0 || hit <= end)) return s + hit;
        if (end >= 0) return 0;
        s += vl;
    }
}
// Stores under "set including first": nothing past the terminator is written.
static NOINLINE void strcpy_rvv(u8 *to, const u8 *from) {
    for (;;) {
        size_t vl = __riscv_vsetvlmax_e8m8();
        vuint8m8_t v = __riscv_vle8ff_v_u8m8(from, &vl, vl);
        vbool1_t end = __riscv_vmseq_vx_u8m8_b1(v, 0, vl);
        __riscv_vse8_v_u8m8_m(__riscv_vmsif_m_b1(end, vl), to, v, vl);
        if (__riscv_vfirst_m_b1(end, vl) >= 0) return;
        to += vl, from += vl;
    }
}

static int strcmp_scalar(const volatile u8 *a, const volatile u8 *b) {
    while (*a && *a == *b) a++, b++;
    return *a - *b;
}

int main(void) {
    u8 *end_a = rt_guarded_end(8192);
#ifdef HTIF
    u8 *end_b = end_a - 32768;
#else
    u8 *end_b = rt_guarded_end(8192);
#endif
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m4(), 4000) {
        u64 sum = 0;
        for (size_t k = 0; k < 6; k++) {
            // Equal, or different at some place; the two end at different distances from their holes.
            u8 *a = end_a - n - 1 - k % 3, *b = end_b - n - 1 - k / 2 * 5;
            rt_seed(n * 8 + k);
            for (size_t j = 0; j < n; j++) a[j] = b[j] = (u8)(1 + rt_random() % 250);
            a[n] = b[n] = 0;
            if (k >= 3 && n) b[rt_random() % n] = k == 5 ? 0 : 255;
            RT_BARRIER();
            int x = strcmp_rvv(a, b), y = strcmp_scalar(a, b);
            if (x != y) rt_fail("strcmp", n, k);
            sum = sum * 1000003 + (u64)(u32)x;
            const u8 *hit = strchr_rvv(a, (u8)(100 + k));
            size_t want = 0;
            while (a[want] && a[want] != 100 + k) want++;
            if (hit ? hit != a + want : a[want] != 0) rt_fail("strchr", n, k);
            if (strchr_rvv(a, 0) != a + n) rt_fail("strchr 0", n, k);
            sum = sum * 31 + (hit ? (u64)(hit - a) : 9999);
            memset(b - 64, 0x55, n + 65);
            strcpy_rvv(b - 64, a);
            rt_check("strcpy", n, b - 64, a, n + 1);
            for (size_t j = n + 1 - 64 < n + 1 ? n + 1 - 64 : 0; j <= n; j++)
                if (b[j] != 0x55) rt_fail("strcpy writes on", n, j);
        }
        rt_report("strcmp", i, n, sum);
    }
    return 0;
}
