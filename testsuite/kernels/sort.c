// Sorting networks: sixteen-row columns by Batcher's odd-even merge sort across registers (one column per
// lane), and eight elements within one register group by a bitonic network of vrgather and vmerge.
#include "rt.h"
#include <riscv_vector.h>

#define ROWS 16

// Batcher's network, from the arithmetic of its comparators.
static NOINLINE void columns_rvv(u32 *a, size_t n) {
    for (size_t j = 0, vl; j < n; j += vl) {
        vl = __riscv_vsetvl_e32m4(n - j);
        for (size_t p = 1; p < ROWS; p *= 2)
            for (size_t k = p; k >= 1; k /= 2)
                for (size_t o = k % p; o + k < ROWS; o += 2 * k)
                    for (size_t i = 0; i < k && o + i + k < ROWS; i++) {
                        size_t lo = o + i, hi = o + i + k;
                        if (lo / (2 * p) != hi / (2 * p)) continue;
                        vuint32m4_t x = __riscv_vle32_v_u32m4(a + lo * n + j, vl);
                        vuint32m4_t y = __riscv_vle32_v_u32m4(a + hi * n + j, vl);
                        __riscv_vse32_v_u32m4(a + lo * n + j, __riscv_vminu_vv_u32m4(x, y, vl), vl);
                        __riscv_vse32_v_u32m4(a + hi * n + j, __riscv_vmaxu_vv_u32m4(x, y, vl), vl);
                    }
    }
}

// One step of a bitonic network: lane i meets lane i^j and keeps the smaller or the larger one.
static inline vint32m2_t step(vint32m2_t v, u32 j, u32 k) {
    vuint32m2_t id = __riscv_vid_v_u32m2(8);
    vint32m2_t other = __riscv_vrgather_vv_i32m2(v, __riscv_vxor_vx_u32m2(id, j, 8), 8);
    vbool16_t lower = __riscv_vmseq_vx_u32m2_b16(__riscv_vand_vx_u32m2(id, j, 8), 0, 8);
    vbool16_t up = __riscv_vmseq_vx_u32m2_b16(__riscv_vand_vx_u32m2(id, k, 8), 0, 8);
    vbool16_t least = __riscv_vmxnor_mm_b16(lower, up, 8);
    return __riscv_vmerge_vvm_i32m2(__riscv_vmax_vv_i32m2(v, other, 8), __riscv_vmin_vv_i32m2(v, other, 8), least, 8);
}
static NOINLINE void eights_rvv(i32 *a, size_t n) {
    for (; n >= 8; a += 8, n -= 8) {
        vint32m2_t v = __riscv_vle32_v_i32m2(a, 8);
        for (u32 k = 2; k <= 8; k *= 2)
            for (u32 j = k / 2; j; j /= 2) v = step(v, j, k);
        __riscv_vse32_v_i32m2(a, v, 8);
    }
}

static NOINLINE void columns_scalar(u32 *a, size_t n) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 1; i < ROWS; i++)
            for (size_t k = i; k && a[(k - 1) * n + j] > a[k * n + j]; k--) {
                u32 t = a[k * n + j];
                a[k * n + j] = a[(k - 1) * n + j];
                a[(k - 1) * n + j] = t;
            }
}
static NOINLINE void eights_scalar(i32 *a, size_t n) {
    for (; n >= 8; a += 8, n -= 8)
        for (size_t i = 1; i < 8; i++)
            for (size_t k = i; k && a[k - 1] > a[k]; k--) {
                i32 t = a[k];
                a[k] = a[k - 1];
                a[k - 1] = t;
            }
}

#define MOST 520
static u32 a[ROWS * MOST], b[ROWS * MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), MOST) {
        rt_seed(n);
        rt_fill(a, sizeof a);
        for (size_t j = 0; j < n; j++) a[3 * n + j] = a[9 * n + j]; // some are equal
        memcpy(b, a, sizeof b);
        columns_rvv(a, n);
        columns_scalar(b, n);
        rt_check("columns", n, a, b, sizeof a);
        rt_report("columns", i, n, rt_hash(a, ROWS * n * 4));
        rt_fill(a, sizeof a);
        memcpy(b, a, sizeof b);
        eights_rvv((i32 *)a, n);
        eights_scalar((i32 *)b, n);
        rt_check("eights", n, a, b, sizeof a);
        rt_report("eights", i, n, rt_hash(a, n * 4));
    }
    return 0;
}
