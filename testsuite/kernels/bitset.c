// Sets of bits as mask registers: load and store of masks, all the mask logic, set-before-first and the like,
// and a bloom filter whose probes are a masked chain of indexed byte loads.
#include "rt.h"
#include <riscv_vector.h>

// out = ((a & b) ^ ~(c | a)) with a few detours, n bits (a multiple of 8)
static NOINLINE void logic_rvv(const u8 *a, const u8 *b, const u8 *c, u8 *out, size_t n) {
    while (n) {
        // vl counts bits; whole bytes, whatever vl the machine prefers
        size_t vl = __riscv_vsetvl_e8m8(n) & ~(size_t)7;
        vbool1_t x = __riscv_vlm_v_b1(a, vl), y = __riscv_vlm_v_b1(b, vl), z = __riscv_vlm_v_b1(c, vl);
        vbool1_t both = __riscv_vmand_mm_b1(x, y, vl), neither = __riscv_vmnor_mm_b1(z, x, vl);
        vbool1_t r = __riscv_vmxor_mm_b1(both, neither, vl);
        r = __riscv_vmorn_mm_b1(__riscv_vmandn_mm_b1(r, z, vl), __riscv_vmxnor_mm_b1(y, z, vl), vl);
        r = __riscv_vmnand_mm_b1(r, __riscv_vmor_mm_b1(x, r, vl), vl);
        __riscv_vsm_v_b1(out, r, vl);
        a += vl / 8, b += vl / 8, c += vl / 8, out += vl / 8, n -= vl;
    }
}
// For each 16-byte row: bits before, including, and only the first zero byte; 6 bytes a row
static NOINLINE void firsts_rvv(const u8 *in, u8 *out, size_t rows) {
    for (; rows; rows--, in += 16, out += 6) {
        vbool8_t zero = __riscv_vmseq_vx_u8m1_b8(__riscv_vle8_v_u8m1(in, 16), 0, 16);
        __riscv_vsm_v_b8(out, __riscv_vmsbf_m_b8(zero, 16), 16);
        __riscv_vsm_v_b8(out + 2, __riscv_vmsif_m_b8(zero, 16), 16);
        __riscv_vsm_v_b8(out + 4, __riscv_vmsof_m_b8(zero, 16), 16);
    }
}

#define FILTER 4096
static u8 filter[FILTER];
static u32 hash(u32 key, u32 k) { return (key * (2654435761u + 2 * k * 40503u)) >> 20; }
// How many of the keys may be in the set; a lane drops out at its first miss.
static NOINLINE size_t probe_rvv(const u32 *keys, size_t n, u8 *found) {
    size_t count = 0;
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vuint32m4_t key = __riscv_vle32_v_u32m4(keys + i, vl);
        vbool8_t in = __riscv_vmset_m_b8(vl);
        for (u32 k = 0; k < 3 && __riscv_vfirst_m_b8(in, vl) >= 0; k++) {
            vuint32m4_t at = __riscv_vsrl_vx_u32m4(__riscv_vmul_vx_u32m4(key, 2654435761u + 2 * k * 40503u, vl), 20, vl);
            vuint8m1_t byte = __riscv_vluxei32_v_u8m1_m(in, filter, at, vl);
            in = __riscv_vmsne_vx_u8m1_b8_mu(in, in, byte, 0, vl);
        }
        vuint8m1_t none = __riscv_vmv_v_x_u8m1(0, vl);
        __riscv_vse8_v_u8m1(found + i, __riscv_vmerge_vxm_u8m1(none, 1, in, vl), vl);
        count += __riscv_vcpop_m_b8(in, vl);
    }
    return count;
}

static u8 a[4096], b[4096], c[4096], x[4096], y[4096];
static u32 keys[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m8(), 4000) {
        u64 sum = 0;
        size_t bits = n / 8 * 8;
        rt_seed(n);
        rt_fill(a, 4096);
        rt_fill(b, 4096);
        rt_fill(c, 4096);
        logic_rvv(a, b, c, x, bits);
        for (size_t j = 0; j < bits / 8; j++) {
            u8 r = (u8)((a[j] & b[j]) ^ ~(c[j] | a[j]));
            r = (u8)((r & ~c[j]) | ~~(b[j] ^ c[j]));
            y[j] = (u8)~(r & (a[j] | r));
        }
        rt_check("logic", n, x, y, bits / 8);
        sum += rt_hash(x, bits / 8);
        size_t rows = n / 16;
        for (size_t j = 0; j < n; j++) a[j] &= a[j] >> 6 | 3;
        RT_BARRIER();
        firsts_rvv(a, x, rows);
        for (size_t r = 0; r < rows; r++) {
            u32 before = 0xffff, with = 0xffff, only = 0;
            for (u32 k = 16; k-- > 0;)
                if (!a[16 * r + k]) before = (1u << k) - 1, with = before | 1u << k, only = 1u << k;
            u8 *p = y + 6 * r;
            p[0] = (u8)before, p[1] = (u8)(before >> 8), p[2] = (u8)with, p[3] = (u8)(with >> 8), p[4] = (u8)only, p[5] = (u8)(only >> 8);
        }
        rt_check("firsts", n, x, y, 6 * rows);
        rt_report("bitset", i, n, sum + rt_hash(x, 6 * rows));
    }
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), 4000) {
        rt_seed(n);
        memset(filter, 0, sizeof filter);
        rt_fill(keys, sizeof keys);
        for (size_t j = 0; j < 600; j += 2)
            for (u32 k = 0; k < 3; k++) filter[hash(keys[j], k)] = 1;
        RT_BARRIER();
        size_t count = probe_rvv(keys, n, x), want = 0;
        for (size_t j = 0; j < n; j++) want += y[j] = filter[hash(keys[j], 0)] & filter[hash(keys[j], 1)] & filter[hash(keys[j], 2)];
        if (count != want) rt_fail("bloom count", n, count);
        rt_check("bloom", n, x, y, n);
        rt_report("bloom", i, n, rt_hash(x, n) + count);
    }
    return 0;
}
