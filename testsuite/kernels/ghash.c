// GHASH (the authenticator of GCM) with Zvkg: one multiply-add per block, and powers of H by vgmul.
// needs: zvkg
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void ghash_rvv(u8 y[16], const u8 h[16], const u8 *data, size_t blocks) {
    vuint32m1_t acc = __riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(y, 16));
    vuint32m1_t key = __riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(h, 16));
    for (; blocks; blocks--, data += 16) {
        vuint32m1_t block = __riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(data, 16));
        acc = __riscv_vghsh_vv_u32m1(acc, key, block, 4);
    }
    __riscv_vse8_v_u8m1(y, __riscv_vreinterpret_v_u32m1_u8m1(acc), 16);
}
// Squares many blocks at once.
static NOINLINE void squares_rvv(u32 *data, size_t blocks) {
    for (size_t words = 4 * blocks, vl; words; words -= vl, data += vl) {
        vl = __riscv_vsetvl_e32m8(words) & ~(size_t)3;
        vuint32m8_t v = __riscv_vle32_v_u32m8(data, vl);
        __riscv_vse32_v_u32m8(data, __riscv_vgmul_vv_u32m8(v, v, vl), vl);
    }
}

// The product in GCM's field, bit by bit: bit 0 is the first byte's most significant.
static void times(u8 x[16], const u8 y[16]) {
    u8 z[16], v[16];
    for (int i = 0; i < 16; i++) z[i] = 0, v[i] = y[i];
    for (int i = 0; i < 128; i++) {
        if (x[i / 8] >> (7 - i % 8) & 1)
            for (int j = 0; j < 16; j++) z[j] ^= v[j];
        u8 out = v[15] & 1;
        for (int j = 15; j; j--) v[j] = (u8)(v[j] >> 1 | v[j - 1] << 7);
        v[0] >>= 1;
        if (out) v[0] ^= 0xe1;
    }
    for (int i = 0; i < 16; i++) x[i] = z[i];
}
static NOINLINE void ghash_scalar(u8 y[16], const u8 h[16], const u8 *data, size_t blocks) {
    for (; blocks; blocks--, data += 16) {
        for (int i = 0; i < 16; i++) y[i] ^= data[i];
        times(y, h);
    }
}

#define BLOCKS 66
static u8 a[16 * BLOCKS + 64] ALIGNED, b[16 * BLOCKS + 64] ALIGNED;

int main(void) {
    // The GCM specification's test case 2
    static const u8 h[16] = {0x66, 0xe9, 0x4b, 0xd4, 0xef, 0x8a, 0x2c, 0x3b, 0x88, 0x4c, 0xfa, 0x59, 0xca, 0x34, 0x2b, 0x2e};
    static const u8 c[32] = {0x03, 0x88, 0xda, 0xce, 0x60, 0xb6, 0xa3, 0x92, 0xf3, 0x28, 0xc2, 0xb9, 0x71, 0xb2, 0xfe, 0x78,
                             0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x80};
    u8 y[16], z[16], key[16];
    memset(y, 0, 16);
    ghash_rvv(y, h, c, 2);
    rt_bytes("gcm case 2 ", y, 16);
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m8() / 4, BLOCKS) {
        rt_seed(n);
        rt_fill(key, 16);
        rt_fill(y, 16);
        memcpy(z, y, 16);
        rt_fill(a, sizeof a);
        memcpy(b, a, sizeof b);
        ghash_rvv(y, key, a, n);
        ghash_scalar(z, key, a, n);
        rt_check("ghash", n, y, z, 16);
        squares_rvv((u32 *)a, n);
        for (size_t j = 0; j < n; j++) {
            u8 square[16];
            memcpy(square, b + 16 * j, 16);
            times(b + 16 * j, square);
        }
        rt_check("squares", n, a, b, sizeof a);
        rt_report("ghash", i, n, rt_hash(y, 16) + rt_hash(a, 16 * n));
    }
    return 0;
}
