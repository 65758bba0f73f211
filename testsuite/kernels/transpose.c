// Transposition: n×4 and n×8 by segment loads and stores, squares by strided ones, planes by vlseg3/vsseg3.
#include "rt.h"
#include <riscv_vector.h>

// n rows of 4 words -> 4 rows of n words
static NOINLINE void split4_rvv(const u32 *from, u32 *to, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2x4_t t = __riscv_vlseg4e32_v_u32m2x4(from + 4 * i, vl);
        __riscv_vse32_v_u32m2(to + 0 * n + i, __riscv_vget_v_u32m2x4_u32m2(t, 0), vl);
        __riscv_vse32_v_u32m2(to + 1 * n + i, __riscv_vget_v_u32m2x4_u32m2(t, 1), vl);
        __riscv_vse32_v_u32m2(to + 2 * n + i, __riscv_vget_v_u32m2x4_u32m2(t, 2), vl);
        __riscv_vse32_v_u32m2(to + 3 * n + i, __riscv_vget_v_u32m2x4_u32m2(t, 3), vl);
    }
}
// 8 rows of n bytes -> n rows of 8 bytes
static NOINLINE void join8_rvv(const u8 *from, u8 *to, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e8m1(n - i);
        vuint8m1x8_t t = __riscv_vcreate_v_u8m1x8(
            __riscv_vle8_v_u8m1(from + 0 * n + i, vl), __riscv_vle8_v_u8m1(from + 1 * n + i, vl),
            __riscv_vle8_v_u8m1(from + 2 * n + i, vl), __riscv_vle8_v_u8m1(from + 3 * n + i, vl),
            __riscv_vle8_v_u8m1(from + 4 * n + i, vl), __riscv_vle8_v_u8m1(from + 5 * n + i, vl),
            __riscv_vle8_v_u8m1(from + 6 * n + i, vl), __riscv_vle8_v_u8m1(from + 7 * n + i, vl));
        __riscv_vsseg8e8_v_u8m1x8(to + 8 * i, t, vl);
    }
}
// Red and blue change places, and green is halved where red is above blue (a masked segment store).
static NOINLINE void swap_rb_rvv(u8 *rgb, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e8m2(n);
        vuint8m2x3_t t = __riscv_vlseg3e8_v_u8m2x3(rgb, vl);
        vuint8m2_t r = __riscv_vget_v_u8m2x3_u8m2(t, 0), g = __riscv_vget_v_u8m2x3_u8m2(t, 1);
        vuint8m2_t b = __riscv_vget_v_u8m2x3_u8m2(t, 2);
        __riscv_vsseg3e8_v_u8m2x3(rgb, __riscv_vcreate_v_u8m2x3(b, g, r), vl);
        vbool4_t above = __riscv_vmsgtu_vv_u8m2_b4(r, b, vl);
        __riscv_vsseg3e8_v_u8m2x3_m(above, rgb, __riscv_vcreate_v_u8m2x3(b, __riscv_vsrl_vx_u8m2(g, 1, vl), r), vl);
        rgb += 3 * vl, n -= vl;
    }
}
// n×n of 16 bits, columns by strided loads
static NOINLINE void square_rvv(const u16 *from, u16 *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0, vl; j < n; j += vl) {
            vl = __riscv_vsetvl_e16m4(n - j);
            __riscv_vse16_v_u16m4(to + i * n + j, __riscv_vlse16_v_u16m4(from + j * n + i, (ptrdiff_t)(2 * n), vl), vl);
        }
}
// Backwards, by a negative stride
static NOINLINE void reverse_rvv(const u64 *from, u64 *to, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e64m4(n - i);
        __riscv_vse64_v_u64m4(to + i, __riscv_vlse64_v_u64m4(from + (n - 1 - i), -8, vl), vl);
    }
}

#define MOST 1100
static u8 a[MOST * 16] ALIGNED, b[MOST * 16] ALIGNED, c[MOST * 16] ALIGNED;

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), MOST) {
        u64 sum = 0;
        rt_seed(n);
        rt_fill(a, sizeof a);
        memset(b, 1, sizeof b);
        memset(c, 1, sizeof c);
        split4_rvv((u32 *)a, (u32 *)b, n);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < 4; k++) ((u32 *)c)[k * n + j] = ((u32 *)a)[4 * j + k];
        rt_check("split4", n, b, c, sizeof b);
        sum += rt_hash(b, 16 * n);
        join8_rvv(a, b, n);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < 8; k++) c[8 * j + k] = a[k * n + j];
        rt_check("join8", n, b, c, sizeof b);
        sum += rt_hash(b, 8 * n);
        swap_rb_rvv(b, n);
        for (size_t j = 0; j < n; j++) {
            u8 r = c[3 * j], bl = c[3 * j + 2];
            c[3 * j] = bl, c[3 * j + 2] = r;
            if (r > bl) c[3 * j + 1] /= 2;
        }
        rt_check("swap_rb", n, b, c, sizeof b);
        sum += rt_hash(b, 3 * n);
        reverse_rvv((u64 *)a, (u64 *)b, n);
        for (size_t j = 0; j < n; j++) ((u64 *)c)[j] = ((u64 *)a)[n - 1 - j];
        rt_check("reverse", n, b, c, sizeof b);
        sum += rt_hash(b, 8 * n);
        if (n <= 90) {
            square_rvv((u16 *)a, (u16 *)b, n);
            for (size_t j = 0; j < n; j++)
                for (size_t k = 0; k < n; k++) ((u16 *)c)[j * n + k] = ((u16 *)a)[k * n + j];
            rt_check("square", n, b, c, sizeof b);
            sum += rt_hash(b, 2 * n * n);
        }
        rt_report("transpose", i, n, sum);
    }
    return 0;
}
