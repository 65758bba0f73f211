// Stream compaction: vcompress of values and of their indices, a stable partition, and expansion by viota
// and a masked gather (the inverse of vcompress).
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE size_t keep_below_rvv(const i32 *from, i32 limit, i32 *to, u32 *at, size_t n) {
    size_t kept = 0;
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vint32m4_t v = __riscv_vle32_v_i32m4(from + i, vl);
        vbool8_t keep = __riscv_vmslt_vx_i32m4_b8(v, limit, vl);
        size_t count = __riscv_vcpop_m_b8(keep, vl);
        vuint32m4_t id = __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), (u32)i, vl);
        __riscv_vse32_v_i32m4(to + kept, __riscv_vcompress_vm_i32m4(v, keep, vl), count);
        __riscv_vse32_v_u32m4(at + kept, __riscv_vcompress_vm_u32m4(id, keep, vl), count);
        kept += count;
    }
    return kept;
}
// Bytes that are not blank to the front of `to`, the others to its back, in order from the end.
static NOINLINE size_t partition_rvv(const u8 *from, u8 *to, size_t n) {
    size_t front = 0, back = n;
    while (n) {
        size_t vl = __riscv_vsetvl_e8m4(n);
        vuint8m4_t v = __riscv_vle8_v_u8m4(from, vl);
        vbool2_t ink = __riscv_vmsgtu_vx_u8m4_b2(v, ' ', vl), blank = __riscv_vmnot_m_b2(ink, vl);
        size_t count = __riscv_vcpop_m_b2(ink, vl);
        __riscv_vse8_v_u8m4(to + front, __riscv_vcompress_vm_u8m4(v, ink, vl), count);
        if (vl > count)
            __riscv_vsse8_v_u8m4(to + back - 1, -1, __riscv_vcompress_vm_u8m4(v, blank, vl), vl - count);
        front += count, back -= vl - count, from += vl, n -= vl;
    }
    return front;
}
// to[i] = flags[i] ? next of packed : 0
static NOINLINE size_t expand_rvv(const u16 *packed, const u8 *flags, u16 *to, size_t n) {
    size_t used = 0;
    while (n) {
        size_t vl = __riscv_vsetvl_e16m2(n);
        vbool8_t flag = __riscv_vmsne_vx_u8m1_b8(__riscv_vle8_v_u8m1(flags, vl), 0, vl);
        size_t count = __riscv_vcpop_m_b8(flag, vl);
        vuint16m2_t rank = __riscv_viota_m_u16m2(flag, vl);
        vuint16m2_t v = __riscv_vle16_v_u16m2(packed + used, count);
        vuint16m2_t zero = __riscv_vmv_v_x_u16m2(0, vl);
        __riscv_vse16_v_u16m2(to, __riscv_vrgather_vv_u16m2_mu(flag, zero, v, rank, vl), vl);
        used += count, flags += vl, to += vl, n -= vl;
    }
    return used;
}

static NOINLINE size_t keep_below_scalar(const i32 *from, i32 limit, i32 *to, u32 *at, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (from[i] < limit) to[kept] = from[i], at[kept++] = (u32)i;
    return kept;
}
static NOINLINE size_t partition_scalar(const u8 *from, u8 *to, size_t n) {
    size_t front = 0, back = n;
    for (size_t i = 0; i < n; i++)
        if (from[i] > ' ')
            to[front++] = from[i];
        else
            to[--back] = from[i];
    return front;
}
static NOINLINE size_t expand_scalar(const u16 *packed, const u8 *flags, u16 *to, size_t n) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++) to[i] = flags[i] ? packed[used++] : 0;
    return used;
}

static i32 a[4096], b[4096], c[4096];
static u32 d[4096], e[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), 4000) {
        rt_seed(n);
        rt_fill(a, n * 4);
        memset(b, 0, sizeof b), memset(c, 0, sizeof c), memset(d, 0, sizeof d), memset(e, 0, sizeof e);
        i32 limit = n % 5 == 0 ? INT32_MAX : n % 5 == 1 ? INT32_MIN : (i32)rt_random() / 2;
        size_t x = keep_below_rvv(a, limit, b, d, n), y = keep_below_scalar(a, limit, c, e, n);
        if (x != y) rt_fail("kept", n, x);
        rt_check("values", n, b, c, sizeof b);
        rt_check("indices", n, d, e, sizeof d);
        rt_report("compact", i, n, rt_hash(b, x * 4) + rt_hash(d, x * 4));
        for (size_t j = 0; j < n; j++) ((u8 *)a)[j] &= 63;
        RT_BARRIER();
        x = partition_rvv((u8 *)a, (u8 *)b, n), y = partition_scalar((u8 *)a, (u8 *)c, n);
        if (x != y) rt_fail("ink", n, x);
        rt_check("partition", n, b, c, sizeof b);
        rt_report("partition", i, n, rt_hash(b, n));
        for (size_t j = 0; j < n; j++) ((u8 *)a)[j] &= 1;
        RT_BARRIER();
        x = expand_rvv((u16 *)d, (u8 *)a, (u16 *)b, n), y = expand_scalar((u16 *)d, (u8 *)a, (u16 *)c, n);
        if (x != y) rt_fail("used", n, x);
        rt_check("expand", n, b, c, sizeof b);
        rt_report("expand", i, n, rt_hash(b, n * 2));
    }
    return 0;
}
