// SM4 with Zvksed: key schedule and blocks, four rounds an instruction.
// needs: zvksed zvkb
#include "rt.h"
#include <riscv_vector.h>

static const u32 fk[4] = {0xa3b1bac6, 0x56aa3350, 0x677d9197, 0xb27022dc};

// S(x) = A·(A·x + c)^-1 + c over GF(2^8) modulo x^8+x^7+x^6+x^5+x^4+x^2+1
static u8 sbox[256];
static u8 gf_times(u8 a, u8 b) {
    u8 p = 0;
    for (; b; b >>= 1, a = (u8)(a << 1 ^ (a >> 7) * 0xf5))
        if (b & 1) p ^= a;
    return p;
}
static u8 affine(u8 x) {
    u8 r = 0, row = 0xa7; // bit 7 of the result; each next row is the one before, rotated right
    for (int i = 0; i < 8; i++) {
        u8 t = row & x;
        t ^= t >> 4, t ^= t >> 2, t ^= t >> 1;
        r = (u8)(r | (t & 1) << i);
        row = (u8)(row << 1 | row >> 7);
    }
    return r ^ 0xd3;
}
static void make_sbox(void) {
    for (int i = 0; i < 256; i++) {
        u8 x = affine((u8)i), inverse = 0;
        for (int j = 1; x && j < 256; j++)
            if (gf_times(x, (u8)j) == 1) inverse = (u8)j;
        sbox[i] = affine(inverse);
    }
}

#define NEXT(i) \
    k = __riscv_vsm4k_vi_u32m1(k, i, 4); \
    __riscv_vse32_v_u32m1(keys + 4 * i, k, 4)
static NOINLINE void expand_rvv(const u8 key[16], u32 keys[32]) {
    vuint32m1_t k = __riscv_vrev8_v_u32m1(__riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(key, 16)), 4);
    k = __riscv_vxor_vv_u32m1(k, __riscv_vle32_v_u32m1(fk, 4), 4);
    NEXT(0);
    NEXT(1);
    NEXT(2);
    NEXT(3);
    NEXT(4);
    NEXT(5);
    NEXT(6);
    NEXT(7);
}
static inline vuint32m4_t backwards(vuint32m4_t v, size_t vl) {
    vuint32m4_t at = __riscv_vxor_vx_u32m4(__riscv_vid_v_u32m4(vl), 3, vl); // the words of each block
    return __riscv_vrgather_vv_u32m4(v, at, vl);
}
static NOINLINE void encrypt_rvv(u8 *data, const u32 keys[32], size_t blocks) {
    for (size_t words = 4 * blocks, vl; words; words -= vl, data += 4 * vl) {
        vl = __riscv_vsetvl_e32m4(words) & ~(size_t)3;
        vuint32m4_t s = __riscv_vrev8_v_u32m4(__riscv_vle32_v_u32m4((u32 *)data, vl), vl);
        for (int i = 0; i < 8; i++) s = __riscv_vsm4r_vs_u32m1_u32m4(s, __riscv_vle32_v_u32m1(keys + 4 * i, 4), vl);
        __riscv_vse32_v_u32m4((u32 *)data, __riscv_vrev8_v_u32m4(backwards(s, vl), vl), vl);
    }
}

static u32 rotl(u32 v, int by) { return v << by | v >> (32 - by); }
static u32 substitute(u32 v) {
    return (u32)sbox[v >> 24] << 24 | (u32)sbox[v >> 16 & 255] << 16 | (u32)sbox[v >> 8 & 255] << 8 | sbox[v & 255];
}
static u32 big_endian(const u8 *p) { return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3]; }
static void expand_scalar(const u8 key[16], u32 keys[32]) {
    u32 k[36];
    for (int i = 0; i < 4; i++) k[i] = big_endian(key + 4 * i) ^ fk[i];
    for (int i = 0; i < 32; i++) {
        u32 ck = 0;
        for (int j = 0; j < 4; j++) ck = ck << 8 | (u32)((4 * i + j) * 7 & 255);
        u32 t = substitute(k[i + 1] ^ k[i + 2] ^ k[i + 3] ^ ck);
        keys[i] = k[i + 4] = k[i] ^ t ^ rotl(t, 13) ^ rotl(t, 23);
    }
}
static void block_scalar(u8 *p, const u32 keys[32]) {
    u32 x[36];
    for (int i = 0; i < 4; i++) x[i] = big_endian(p + 4 * i);
    for (int i = 0; i < 32; i++) {
        u32 t = substitute(x[i + 1] ^ x[i + 2] ^ x[i + 3] ^ keys[i]);
        x[i + 4] = x[i] ^ t ^ rotl(t, 2) ^ rotl(t, 10) ^ rotl(t, 18) ^ rotl(t, 24);
    }
    for (int i = 0; i < 16; i++) p[i] = (u8)(x[35 - i / 4] >> (24 - 8 * (i % 4)));
}

#define BLOCKS 130
static u8 a[16 * BLOCKS + 64] ALIGNED, b[16 * BLOCKS + 64] ALIGNED;

int main(void) {
    make_sbox();
    // The example of GB/T 32907: key and plain text are the same.
    static const u8 key[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
    u32 keys[32], twin[32];
    expand_rvv(key, keys);
    memcpy(a, key, 16);
    encrypt_rvv(a, keys, 1);
    rt_bytes("gb/t 32907 ", a, 16);
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4() / 4, BLOCKS) {
        u8 random[16];
        rt_seed(n);
        rt_fill(random, 16);
        expand_rvv(random, keys);
        expand_scalar(random, twin);
        rt_check("key schedule", n, keys, twin, sizeof keys);
        rt_fill(a, sizeof a);
        memcpy(b, a, sizeof b);
        encrypt_rvv(a, keys, n);
        for (size_t j = 0; j < n; j++) block_scalar(b + 16 * j, twin);
        rt_check("sm4", n, a, b, sizeof a);
        rt_report("sm4", i, n, rt_hash(a, 16 * n));
    }
    return 0;
}
