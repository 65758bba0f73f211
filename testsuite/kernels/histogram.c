// Histogram of bytes: a table per lane, so that no two lanes of an indexed read-modify-write meet; then
// the tables are added up. And a histogram by scatter of weights at 16 bits with indexed accesses.
#include "rt.h"
#include <riscv_vector.h>

#define LANES 2048 // of e32m1 at VLEN 65536
static u32 tables[LANES * 256];

static NOINLINE void histogram_rvv(const u8 *s, size_t n, u32 bins[256]) {
    size_t lanes = __riscv_vsetvlmax_e32m1();
    u32 *t = tables;
    for (size_t left = lanes * 256; left;) {
        size_t vl = __riscv_vsetvl_e32m8(left);
        __riscv_vse32_v_u32m8(t, __riscv_vmv_v_x_u32m8(0, vl), vl);
        t += vl, left -= vl;
    }
    while (n) {
        size_t vl = __riscv_vsetvl_e32m1(n);
        vuint32m1_t bin = __riscv_vzext_vf4_u32m1(__riscv_vle8_v_u8mf4(s, vl), vl);
        vuint32m1_t lane = __riscv_vsll_vx_u32m1(__riscv_vid_v_u32m1(vl), 10, vl);
        vuint32m1_t at = __riscv_vadd_vv_u32m1(lane, __riscv_vsll_vx_u32m1(bin, 2, vl), vl);
        vuint32m1_t count = __riscv_vluxei32_v_u32m1(tables, at, vl);
        __riscv_vsuxei32_v_u32m1(tables, at, __riscv_vadd_vx_u32m1(count, 1, vl), vl);
        s += vl, n -= vl;
    }
    for (size_t j = 0, vl; j < 256; j += vl) {
        vl = __riscv_vsetvl_e32m4(256 - j);
        vuint32m4_t sum = __riscv_vle32_v_u32m4(tables + j, vl);
        for (size_t lane = 1; lane < lanes; lane++)
            sum = __riscv_vadd_vv_u32m4(sum, __riscv_vle32_v_u32m4(tables + lane * 256 + j, vl), vl);
        __riscv_vse32_v_u32m4(bins + j, sum, vl);
    }
}

// to[where[i]] = from[i], in order: of equal places the last one wins.
static NOINLINE void scatter_rvv(u32 *to, const u16 *where, const u32 *from, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e32m8(n);
        vuint16m4_t at = __riscv_vsll_vx_u16m4(__riscv_vle16_v_u16m4(where, vl), 2, vl);
        __riscv_vsoxei16_v_u32m8(to, at, __riscv_vle32_v_u32m8(from, vl), vl);
        where += vl, from += vl, n -= vl;
    }
}

static NOINLINE void histogram_scalar(const u8 *s, size_t n, u32 bins[256]) {
    for (int i = 0; i < 256; i++) bins[i] = 0;
    for (size_t i = 0; i < n; i++) bins[s[i]]++;
}
static NOINLINE void scatter_scalar(u32 *to, const u16 *where, const u32 *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[where[i]] = from[i];
}

static u8 data[4096];
static u32 got[256], want[256];
static u16 where[4096];
static u32 from[4096], to[1024], twin[1024];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m1(), 4000) {
        rt_seed(n);
        rt_fill(data, n);
        for (size_t j = 0; j < n; j++) data[j] &= rt_random() & 1 ? 0xff : 0x0f;
        RT_BARRIER();
        histogram_rvv(data, n, got);
        histogram_scalar(data, n, want);
        rt_check("histogram", n, got, want, sizeof got);
        rt_report("histogram", i, n, rt_hash(got, sizeof got));
    }
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m8(), 4000) {
        rt_seed(n);
        rt_fill(from, n * 4);
        rt_fill(where, n * 2);
        for (size_t j = 0; j < n; j++) where[j] &= 1023;
        for (size_t j = 0; j < 1024; j++) to[j] = twin[j] = (u32)j;
        RT_BARRIER();
        scatter_rvv(to, where, from, n);
        scatter_scalar(twin, where, from, n);
        rt_check("scatter", n, to, twin, sizeof to);
        rt_report("scatter", i, n, rt_hash(to, sizeof to));
    }
    return 0;
}
