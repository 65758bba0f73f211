// Tables and indices: bilinear lookup by indexed loads of several widths, a permutation by vrgatherei16,
// records by indexed segments, an ordered scatter of segments, reversal of a whole register group.
#include "rt.h"
#include <riscv_vector.h>

// out[i] = table[k] + (table[k+1] - table[k]) · fraction, where in[i] = k.fraction as 8.8
static NOINLINE void lookup_rvv(const u16 *in, const i32 *table, i32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e16m2(n - i);
        vuint16m2_t v = __riscv_vle16_v_u16m2(in + i, vl);
        vuint16m2_t at = __riscv_vsll_vx_u16m2(__riscv_vsrl_vx_u16m2(v, 8, vl), 2, vl);
        vint32m4_t lo = __riscv_vluxei16_v_i32m4(table, at, vl), hi = __riscv_vluxei16_v_i32m4(table + 1, at, vl);
        vint32m4_t f = __riscv_vreinterpret_v_u32m4_i32m4(__riscv_vzext_vf2_u32m4(__riscv_vand_vx_u16m2(v, 255, vl), vl));
        vint32m4_t step = __riscv_vsra_vx_i32m4(__riscv_vmul_vv_i32m4(__riscv_vsub_vv_i32m4(hi, lo, vl), f, vl), 8, vl);
        __riscv_vse32_v_i32m4(out + i, __riscv_vadd_vv_i32m4(lo, step, vl), vl);
    }
}
// Rows of 8 bytes, permuted by 16-bit indices within two registers of one row each
static NOINLINE void shuffle_rvv(const u8 *in, const u16 *order, u8 *out, size_t rows) {
    vuint16m1_t by = __riscv_vle16_v_u16m1(order, 8);
    for (; rows; rows--, in += 8, out += 8) {
        vuint8mf2_t v = __riscv_vle8_v_u8mf2(in, 8);
        __riscv_vse8_v_u8mf2(out, __riscv_vrgatherei16_vv_u8mf2(v, by, 8), 8);
    }
}
struct record {
    u32 x, y, z;
};
// Records by number: out[i] = in[at[i]]; then back to their places with an ordered indexed segment store.
static NOINLINE void records_rvv(const struct record *in, const u32 *at, struct record *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t offset = __riscv_vmul_vx_u32m2(__riscv_vle32_v_u32m2(at + i, vl), sizeof *in, vl);
        vuint32m2x3_t r = __riscv_vluxseg3ei32_v_u32m2x3((const u32 *)in, offset, vl);
        __riscv_vsseg3e32_v_u32m2x3((u32 *)(out + i), r, vl);
    }
}
static NOINLINE void put_back_rvv(const struct record *in, const u32 *at, struct record *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t offset = __riscv_vmul_vx_u32m2(__riscv_vle32_v_u32m2(at + i, vl), sizeof *in, vl);
        __riscv_vsoxseg3ei32_v_u32m2x3((u32 *)out, offset, __riscv_vlseg3e32_v_u32m2x3((const u32 *)(in + i), vl), vl);
    }
}
// Backwards: each strip by vrgather with descending indices
static NOINLINE void reverse_rvv(const u16 *in, u16 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e16m8(n - i);
        vuint16m8_t down = __riscv_vrsub_vx_u16m8(__riscv_vid_v_u16m8(vl), (u16)(vl - 1), vl);
        __riscv_vse16_v_u16m8(out + n - i - vl, __riscv_vrgather_vv_u16m8(__riscv_vle16_v_u16m8(in + i, vl), down, vl), vl);
    }
}

#define MOST 1100
static u32 a[4 * MOST] ALIGNED, b[4 * MOST] ALIGNED, c[4 * MOST] ALIGNED;
static u32 at[MOST];
static i32 table[257];

int main(void) {
    rt_fill(table, sizeof table);
    for (int j = 0; j < 257; j++) table[j] >>= 9;
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), MOST) {
        u64 sum = 0;
        rt_seed(n);
        rt_fill(a, sizeof a);
        lookup_rvv((u16 *)a, table, (i32 *)b, n);
        for (size_t j = 0; j < n; j++) {
            u16 v = ((u16 *)a)[j];
            i32 lo = table[v >> 8], hi = table[(v >> 8) + 1];
            ((i32 *)c)[j] = lo + (((hi - lo) * (v & 255)) >> 8);
        }
        rt_check("lookup", n, b, c, 4 * n);
        sum += rt_hash(b, 4 * n);
        static const u16 order[8] = {3, 0, 7, 7, 2, 1, 6, 5};
        shuffle_rvv((u8 *)a, order, (u8 *)b, n);
        for (size_t j = 0; j < 8 * n; j++) ((u8 *)c)[j] = ((u8 *)a)[j / 8 * 8 + order[j % 8]];
        rt_check("shuffle", n, b, c, 8 * n);
        sum += rt_hash(b, 8 * n);
        for (size_t j = 0; j < n; j++) at[j] = (u32)(rt_random() % n);
        RT_BARRIER();
        struct record *in = (struct record *)a, *x = (struct record *)b, *y = (struct record *)c;
        records_rvv(in, at, x, n);
        for (size_t j = 0; j < n; j++) y[j] = in[at[j]];
        rt_check("records", n, x, y, 12 * n);
        sum += rt_hash(x, 12 * n);
        put_back_rvv(in, at, x, n);
        for (size_t j = 0; j < n; j++) y[at[j]] = in[j];
        rt_check("put back", n, x, y, 12 * n);
        sum += rt_hash(x, 12 * n);
        reverse_rvv((u16 *)a, (u16 *)b, n);
        for (size_t j = 0; j < n; j++) ((u16 *)c)[j] = ((u16 *)a)[n - 1 - j];
        rt_check("reverse", n, b, c, 2 * n);
        rt_report("gather", i, n, sum + rt_hash(b, 2 * n));
    }
    return 0;
}
