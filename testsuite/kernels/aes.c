// AES-128 with Zvkned: key schedule, whole blocks both ways (the key as a scalar element group), counter mode.
// needs: zvkned zvkb
#include "rt.h"
#include <riscv_vector.h>

// ---- the vector side: eleven round keys of four words -----------------------------------------------
#define NEXT(i) \
    k = __riscv_vaeskf1_vi_u32m1(k, i, 4); \
    __riscv_vse32_v_u32m1(keys + 4 * i, k, 4)
static NOINLINE void expand_rvv(const u8 key[16], u32 keys[44]) {
    vuint32m1_t k = __riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(key, 16));
    __riscv_vse32_v_u32m1(keys, k, 4);
    NEXT(1);
    NEXT(2);
    NEXT(3);
    NEXT(4);
    NEXT(5);
    NEXT(6);
    NEXT(7);
    NEXT(8);
    NEXT(9);
    NEXT(10);
}
static inline vuint32m1_t round_key(const u32 *keys, int i) { return __riscv_vle32_v_u32m1(keys + 4 * i, 4); }

static inline vuint32m4_t encrypt(vuint32m4_t s, const u32 keys[44], size_t vl) {
    s = __riscv_vaesz_vs_u32m1_u32m4(s, round_key(keys, 0), vl);
    for (int i = 1; i < 10; i++) s = __riscv_vaesem_vs_u32m1_u32m4(s, round_key(keys, i), vl);
    return __riscv_vaesef_vs_u32m1_u32m4(s, round_key(keys, 10), vl);
}
// vl counts words and an implementation may return one that cuts a block in two.
static inline size_t whole_blocks(size_t words) { return __riscv_vsetvl_e32m4(words) & ~(size_t)3; }

static NOINLINE void ecb_encrypt_rvv(u32 *data, const u32 keys[44], size_t blocks) {
    for (size_t words = 4 * blocks, vl; words; words -= vl, data += vl) {
        vl = whole_blocks(words);
        __riscv_vse32_v_u32m4(data, encrypt(__riscv_vle32_v_u32m4(data, vl), keys, vl), vl);
    }
}
static NOINLINE void ecb_decrypt_rvv(u32 *data, const u32 keys[44], size_t blocks) {
    for (size_t words = 4 * blocks, vl; words; words -= vl, data += vl) {
        vl = whole_blocks(words);
        vuint32m4_t s = __riscv_vaesz_vs_u32m1_u32m4(__riscv_vle32_v_u32m4(data, vl), round_key(keys, 10), vl);
        for (int i = 9; i > 0; i--) s = __riscv_vaesdm_vs_u32m1_u32m4(s, round_key(keys, i), vl);
        __riscv_vse32_v_u32m4(data, __riscv_vaesdf_vs_u32m1_u32m4(s, round_key(keys, 0), vl), vl);
    }
}
// The last word of the counter block counts, most significant byte first.
static NOINLINE void ctr_rvv(u32 *data, const u32 keys[44], const u32 iv[3], u32 counter, size_t blocks) {
    for (size_t words = 4 * blocks, vl; words; words -= vl, data += vl) {
        vl = whole_blocks(words);
        vuint32m4_t id = __riscv_vid_v_u32m4(vl), field = __riscv_vand_vx_u32m4(id, 3, vl);
        vuint32m4_t block = __riscv_vsrl_vx_u32m4(id, 2, vl);
        vuint32m4_t s = __riscv_vrev8_v_u32m4(__riscv_vadd_vx_u32m4(block, counter, vl), vl);
        s = __riscv_vmerge_vxm_u32m4(s, iv[0], __riscv_vmseq_vx_u32m4_b8(field, 0, vl), vl);
        s = __riscv_vmerge_vxm_u32m4(s, iv[1], __riscv_vmseq_vx_u32m4_b8(field, 1, vl), vl);
        s = __riscv_vmerge_vxm_u32m4(s, iv[2], __riscv_vmseq_vx_u32m4_b8(field, 2, vl), vl);
        s = encrypt(s, keys, vl);
        __riscv_vse32_v_u32m4(data, __riscv_vxor_vv_u32m4(s, __riscv_vle32_v_u32m4(data, vl), vl), vl);
        counter += (u32)(vl / 4);
    }
}

// ---- the scalar side ----------------------------------------------------------------------------------
static u8 sbox[256];

static u8 gf_times(u8 a, u8 b) {
    u8 p = 0;
    for (; b; b >>= 1, a = (u8)(a << 1 ^ (a >> 7) * 0x1b))
        if (b & 1) p ^= a;
    return p;
}
static void make_sbox(void) {
    for (int i = 0; i < 256; i++) {
        u8 inverse = 0;
        for (int j = 1; i && j < 256; j++)
            if (gf_times((u8)i, (u8)j) == 1) inverse = (u8)j;
        u8 r = 0x63;
        for (int k = 0; k < 5; k++) r ^= (u8)(inverse << k | inverse >> (8 - k));
        sbox[i] = r;
    }
}
static void expand_scalar(const u8 key[16], u8 keys[176]) {
    u8 rcon = 1;
    for (int i = 0; i < 16; i++) keys[i] = key[i];
    for (int i = 16; i < 176; i += 4) {
        u8 t[4] = {keys[i - 4], keys[i - 3], keys[i - 2], keys[i - 1]};
        if (i % 16 == 0) {
            u8 first = t[0];
            t[0] = sbox[t[1]] ^ rcon, t[1] = sbox[t[2]], t[2] = sbox[t[3]], t[3] = sbox[first];
            rcon = gf_times(rcon, 2);
        }
        for (int j = 0; j < 4; j++) keys[i + j] = keys[i + j - 16] ^ t[j];
    }
}
// ShiftRows as a table: clang 19's vectoriser forgets the modulo in (i + 4 * (i % 4)) % 16 and reads past s.
static const u8 shifted[16] = {0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11};
static void block_scalar(u8 s[16], const u8 keys[176]) {
    for (int i = 0; i < 16; i++) s[i] ^= keys[i];
    for (int round = 1; round <= 10; round++) {
        u8 t[16];
        for (int i = 0; i < 16; i++) t[i] = sbox[s[shifted[i]]];
        for (int c = 0; c < 16; c += 4)
            for (int r = 0; r < 4; r++) {
                u8 mixed = gf_times(t[c + r], 2) ^ gf_times(t[c + (r + 1) % 4], 3) ^ t[c + (r + 2) % 4] ^ t[c + (r + 3) % 4];
                s[c + r] = (round < 10 ? mixed : t[c + r]) ^ keys[16 * round + c + r];
            }
    }
}

#define BLOCKS 130
static u8 a[16 * BLOCKS + 64] ALIGNED, b[16 * BLOCKS + 64] ALIGNED, c[16 * BLOCKS + 64] ALIGNED;

int main(void) {
    make_sbox();
    // FIPS 197, appendix B
    static const u8 key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    static const u8 plain[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d, 0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    u32 keys[44];
    u8 twin[176];
    expand_rvv(key, keys);
    memcpy(a, plain, 16);
    ecb_encrypt_rvv((u32 *)a, keys, 1);
    rt_bytes("fips197 ", a, 16);
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4() / 4, BLOCKS) {
        u8 random[16];
        rt_seed(n);
        rt_fill(random, 16);
        expand_rvv(random, keys);
        expand_scalar(random, twin);
        rt_check("key schedule", n, keys, twin, 176);
        rt_fill(a, sizeof a);
        memcpy(b, a, sizeof a);
        memcpy(c, a, sizeof a);
        ecb_encrypt_rvv((u32 *)a, keys, n);
        for (size_t j = 0; j < n; j++) block_scalar(b + 16 * j, twin);
        rt_check("encrypt", n, a, b, sizeof a);
        rt_report("encrypt", i, n, rt_hash(a, 16 * n));
        ecb_decrypt_rvv((u32 *)a, keys, n);
        rt_check("decrypt", n, a, c, sizeof a);
        u32 iv[3] = {(u32)rt_random(), (u32)rt_random(), (u32)rt_random()}, counter = 0xfffffff0u;
        ctr_rvv((u32 *)a, keys, iv, counter, n);
        for (size_t j = 0; j < n; j++) {
            u8 s[16];
            u32 at = counter + (u32)j;
            memcpy(s, iv, 12);
            for (int k = 0; k < 4; k++) s[12 + k] = (u8)(at >> (24 - 8 * k));
            block_scalar(s, twin);
            for (int k = 0; k < 16; k++) c[16 * j + (size_t)k] ^= s[k];
        }
        rt_check("counter mode", n, a, c, sizeof a);
        rt_report("counter mode", i, n, rt_hash(a, 16 * n));
    }
    return 0;
}
