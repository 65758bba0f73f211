// CRC-32 (MPEG-2, most significant bit first) by carry-less multiplication: each 64-bit word of a block is
// multiplied by its own power of x modulo the polynomial, products are added up, one short reduction.
// needs: zvbc zvkb
#include "rt.h"
#include <riscv_vector.h>

#define POLY 0x04c11db7u
#define WORDS 64 // of a block

static u32 table[256];
static u64 power[WORDS]; // x^(64·(WORDS-1-i)) · x^32 mod P

static u32 times_x(u32 v) { return (v << 1) ^ (v >> 31 ? POLY : 0); }

static void set_up(void) {
    for (u32 i = 0; i < 256; i++) {
        u32 v = i << 24;
        for (int k = 0; k < 8; k++) v = times_x(v);
        table[i] = v;
    }
    u32 v = 1;
    for (int k = 0; k < 32; k++) v = times_x(v);
    for (int i = WORDS - 1; i >= 0; i--) {
        power[i] = v;
        for (int k = 0; k < 64; k++) v = times_x(v);
    }
    RT_BARRIER();
}

static NOINLINE u32 crc_scalar(u32 crc, const u8 *s, size_t n) {
    for (size_t i = 0; i < n; i++) crc = (crc << 8) ^ table[(crc >> 24) ^ s[i]];
    return crc;
}

static NOINLINE u32 crc_rvv(u32 crc, const u8 *s, size_t n) {
    for (; n >= 8 * WORDS; n -= 8 * WORDS, s += 8 * WORDS) {
        size_t most = __riscv_vsetvlmax_e64m4();
        vuint64m4_t low = __riscv_vmv_v_x_u64m4(0, most), high = low;
        u64 first = (u64)crc << 32;
        for (size_t i = 0, vl; i < WORDS; i += vl, first = 0) {
            vl = __riscv_vsetvl_e64m4(WORDS - i);
            vuint64m4_t word = __riscv_vreinterpret_v_u8m4_u64m4(__riscv_vle8_v_u8m4(s + 8 * i, 8 * vl));
            word = __riscv_vrev8_v_u64m4(word, vl);
            if (first) {
                vuint64m4_t head = __riscv_vslide1up_vx_u64m4(__riscv_vmv_v_x_u64m4(0, vl), first, vl);
                word = __riscv_vxor_vv_u64m4(word, head, vl);
            }
            vuint64m4_t by = __riscv_vle64_v_u64m4(power + i, vl);
            low = __riscv_vxor_vv_u64m4_tu(low, low, __riscv_vclmul_vv_u64m4(word, by, vl), vl);
            high = __riscv_vxor_vv_u64m4_tu(high, high, __riscv_vclmulh_vv_u64m4(word, by, vl), vl);
        }
        vuint64m1_t zero = __riscv_vmv_s_x_u64m1(0, 1);
        u64 l = __riscv_vmv_x_s_u64m1_u64(__riscv_vredxor_vs_u64m4_u64m1(low, zero, most));
        u64 h = __riscv_vmv_x_s_u64m1_u64(__riscv_vredxor_vs_u64m4_u64m1(high, zero, most));
        // What is left is h·x^64 + l, modulo P: bring the top down.
        u32 v = 0;
        for (int i = 63; i >= 0; i--) v = times_x(v) ^ ((h >> i) & 1);
        for (int i = 63; i >= 0; i--) v = times_x(v) ^ ((l >> i) & 1);
        crc = v;
    }
    return crc_scalar(crc, s, n);
}

static u8 data[16384];

int main(void) {
    set_up();
    rt_puts("check ");
    rt_hex(crc_rvv(~0u, (const u8 *)"123456789", 9), 8);
    rt_putc('\n');
    rt_seed(1);
    rt_fill(data, sizeof data);
    for (size_t n = 0; n <= sizeof data; n = n * 3 / 2 + 5) {
        u32 crc = crc_rvv(~0u, data, n);
        if (crc != crc_scalar(~0u, data, n)) rt_fail("crc32", n, crc);
        rt_report("crc32", 0, n, crc);
    }
    for (size_t offset = 0; offset < 9; offset++) {
        u32 crc = crc_rvv(0, data + offset, 4096);
        if (crc != crc_scalar(0, data + offset, 4096)) rt_fail("crc32 offset", offset, crc);
        rt_report("crc32 offset", 0, offset, crc);
    }
    return 0;
}
