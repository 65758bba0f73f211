// Inclusive prefix sums by slides in log steps, exclusive ones of flags by viota.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void inclusive_rvv(const u32 *from, u32 *to, size_t n) {
    u32 carry = 0;
    while (n) {
        size_t vl = __riscv_vsetvl_e32m4(n);
        vuint32m4_t v = __riscv_vle32_v_u32m4(from, vl);
        vuint32m4_t zero = __riscv_vmv_v_x_u32m4(0, vl);
        for (size_t by = 1; by < vl; by *= 2)
            v = __riscv_vadd_vv_u32m4(v, __riscv_vslideup_vx_u32m4(zero, v, by, vl), vl);
        v = __riscv_vadd_vx_u32m4(v, carry, vl);
        __riscv_vse32_v_u32m4(to, v, vl);
        carry = to[vl - 1];
        from += vl, to += vl, n -= vl;
    }
}

// to[i] = how many of the elements before i are odd
static NOINLINE u32 odd_before_rvv(const u16 *from, u32 *to, size_t n) {
    u32 before = 0;
    while (n) {
        size_t vl = __riscv_vsetvl_e16m2(n);
        vuint16m2_t v = __riscv_vle16_v_u16m2(from, vl);
        vbool8_t odd = __riscv_vmsne_vx_u16m2_b8(__riscv_vand_vx_u16m2(v, 1, vl), 0, vl);
        __riscv_vse32_v_u32m4(to, __riscv_vadd_vx_u32m4(__riscv_viota_m_u32m4(odd, vl), before, vl), vl);
        before += (u32)__riscv_vcpop_m_b8(odd, vl);
        from += vl, to += vl, n -= vl;
    }
    return before;
}

static NOINLINE void inclusive_scalar(const u32 *from, u32 *to, size_t n) {
    u32 sum = 0;
    for (size_t i = 0; i < n; i++) to[i] = sum += from[i];
}
static NOINLINE u32 odd_before_scalar(const u16 *from, u32 *to, size_t n) {
    u32 before = 0;
    for (size_t i = 0; i < n; i++) to[i] = before, before += from[i] & 1;
    return before;
}

static u32 a[4096], b[4096], c[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), 4000) {
        rt_seed(n);
        rt_fill(a, n * 4);
        for (size_t j = 0; j < n + 8; j++) b[j] = c[j] = 7;
        RT_BARRIER();
        inclusive_rvv(a, b, n);
        inclusive_scalar(a, c, n);
        rt_check("inclusive", n, b, c, (n + 8) * 4);
        rt_report("inclusive", i, n, rt_hash(b, n * 4));
        u32 x = odd_before_rvv((u16 *)a, b, n), y = odd_before_scalar((u16 *)a, c, n);
        if (x != y) rt_fail("count", n, x);
        rt_check("odd before", n, b, c, (n + 8) * 4);
        rt_report("odd before", i, n, rt_hash(b, n * 4));
    }
    return 0;
}
