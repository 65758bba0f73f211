// Many big numbers at once, one per lane: additions with carry masks (vadc, vmadc), subtraction with borrow,
// products by vmul and vmulhu.
#include "rt.h"
#include <riscv_vector.h>

#define LIMBS 6

// Limb j of number i is at [j * n + i].
static NOINLINE void add_rvv(const u64 *a, const u64 *b, u64 *c, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e64m4(n - i);
        vbool16_t carry = __riscv_vmclr_m_b16(vl);
        for (size_t j = 0; j < LIMBS; j++) {
            vuint64m4_t x = __riscv_vle64_v_u64m4(a + j * n + i, vl), y = __riscv_vle64_v_u64m4(b + j * n + i, vl);
            __riscv_vse64_v_u64m4(c + j * n + i, __riscv_vadc_vvm_u64m4(x, y, carry, vl), vl);
            carry = __riscv_vmadc_vvm_u64m4_b16(x, y, carry, vl);
        }
        vuint64m4_t zero = __riscv_vmv_v_x_u64m4(0, vl);
        __riscv_vse64_v_u64m4(c + LIMBS * n + i, __riscv_vadc_vxm_u64m4(zero, 0, carry, vl), vl);
    }
}
static NOINLINE void sub_rvv(const u64 *a, const u64 *b, u64 *c, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e64m4(n - i);
        vbool16_t borrow = __riscv_vmclr_m_b16(vl);
        for (size_t j = 0; j < LIMBS; j++) {
            vuint64m4_t x = __riscv_vle64_v_u64m4(a + j * n + i, vl), y = __riscv_vle64_v_u64m4(b + j * n + i, vl);
            __riscv_vse64_v_u64m4(c + j * n + i, __riscv_vsbc_vvm_u64m4(x, y, borrow, vl), vl);
            borrow = __riscv_vmsbc_vvm_u64m4_b16(x, y, borrow, vl);
        }
        vuint64m4_t zero = __riscv_vmv_v_x_u64m4(0, vl);
        __riscv_vse64_v_u64m4(c + LIMBS * n + i, __riscv_vsbc_vxm_u64m4(zero, 0, borrow, vl), vl);
    }
}
// c = a · k
static NOINLINE void times_rvv(const u64 *a, u64 k, u64 *c, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e64m2(n - i);
        vuint64m2_t high = __riscv_vmv_v_x_u64m2(0, vl);
        for (size_t j = 0; j < LIMBS; j++) {
            vuint64m2_t x = __riscv_vle64_v_u64m2(a + j * n + i, vl);
            vuint64m2_t low = __riscv_vmul_vx_u64m2(x, k, vl);
            vbool32_t carry = __riscv_vmadc_vv_u64m2_b32(low, high, vl);
            __riscv_vse64_v_u64m2(c + j * n + i, __riscv_vadd_vv_u64m2(low, high, vl), vl);
            high = __riscv_vadc_vxm_u64m2(__riscv_vmulhu_vx_u64m2(x, k, vl), 0, carry, vl);
        }
        __riscv_vse64_v_u64m2(c + LIMBS * n + i, high, vl);
    }
}

typedef unsigned __int128 u128;
static NOINLINE void add_scalar(const u64 *a, const u64 *b, u64 *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        u128 t = 0;
        for (size_t j = 0; j < LIMBS; j++, t >>= 64) c[j * n + i] = (u64)(t += (u128)a[j * n + i] + b[j * n + i]);
        c[LIMBS * n + i] = (u64)t;
    }
}
static NOINLINE void sub_scalar(const u64 *a, const u64 *b, u64 *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        u64 borrow = 0;
        for (size_t j = 0; j < LIMBS; j++) {
            u128 t = (u128)a[j * n + i] - b[j * n + i] - borrow;
            c[j * n + i] = (u64)t;
            borrow = (u64)(t >> 64) & 1;
        }
        c[LIMBS * n + i] = 0 - borrow;
    }
}
static NOINLINE void times_scalar(const u64 *a, u64 k, u64 *c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        u128 t = 0;
        for (size_t j = 0; j < LIMBS; j++, t >>= 64) c[j * n + i] = (u64)(t += (u128)a[j * n + i] * k);
        c[LIMBS * n + i] = (u64)t;
    }
}

#define MOST 520
static u64 a[LIMBS * MOST], b[LIMBS * MOST], c[(LIMBS + 1) * MOST], d[(LIMBS + 1) * MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e64m4(), MOST) {
        u64 sum = 0;
        rt_seed(n);
        for (size_t j = 0; j < LIMBS * n; j++) {
            u64 r = rt_random();
            a[j] = r % 3 ? rt_random() : ~0ull; // long carries
            b[j] = r % 5 ? rt_random() : r % 7 == 0;
        }
        RT_BARRIER();
        add_rvv(a, b, c, n);
        add_scalar(a, b, d, n);
        rt_check("add", n, c, d, (LIMBS + 1) * n * 8);
        sum += rt_hash(c, (LIMBS + 1) * n * 8);
        sub_rvv(a, b, c, n);
        sub_scalar(a, b, d, n);
        rt_check("sub", n, c, d, (LIMBS + 1) * n * 8);
        sum += rt_hash(c, (LIMBS + 1) * n * 8);
        u64 k = rt_random();
        times_rvv(a, k, c, n);
        times_scalar(a, k, d, n);
        rt_check("times", n, c, d, (LIMBS + 1) * n * 8);
        sum += rt_hash(c, (LIMBS + 1) * n * 8);
        rt_report("bignum", i, n, sum);
    }
    return 0;
}
