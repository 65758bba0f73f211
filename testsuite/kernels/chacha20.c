// ChaCha20 (RFC 8439), one block per lane: sixteen state vectors, strided segment loads and stores.
#include "rt.h"
#include <riscv_vector.h>

typedef vuint32m1_t v32;

static inline v32 rotl(v32 v, size_t by, size_t vl) {
    return __riscv_vor_vv_u32m1(__riscv_vsll_vx_u32m1(v, by, vl), __riscv_vsrl_vx_u32m1(v, 32 - by, vl), vl);
}
#define QUARTER(a, b, c, d) \
    a = __riscv_vadd_vv_u32m1(a, b, vl), d = rotl(__riscv_vxor_vv_u32m1(d, a, vl), 16, vl), \
    c = __riscv_vadd_vv_u32m1(c, d, vl), b = rotl(__riscv_vxor_vv_u32m1(b, c, vl), 12, vl), \
    a = __riscv_vadd_vv_u32m1(a, b, vl), d = rotl(__riscv_vxor_vv_u32m1(d, a, vl), 8, vl), \
    c = __riscv_vadd_vv_u32m1(c, d, vl), b = rotl(__riscv_vxor_vv_u32m1(b, c, vl), 7, vl)

#define XOR_FIELD(t, i, v) \
    t = __riscv_vset_v_u32m1_u32m1x8(t, i, __riscv_vxor_vv_u32m1(__riscv_vget_v_u32m1x8_u32m1(t, i), v, vl))

// Whole blocks: data ^= keystream(state), the counter in state[12].
static NOINLINE void chacha_rvv(const u32 state[16], u32 *data, size_t blocks) {
    u32 counter = state[12];
    while (blocks) {
        size_t vl = __riscv_vsetvl_e32m1(blocks);
        v32 s0 = __riscv_vmv_v_x_u32m1(state[0], vl), s1 = __riscv_vmv_v_x_u32m1(state[1], vl);
        v32 s2 = __riscv_vmv_v_x_u32m1(state[2], vl), s3 = __riscv_vmv_v_x_u32m1(state[3], vl);
        v32 s4 = __riscv_vmv_v_x_u32m1(state[4], vl), s5 = __riscv_vmv_v_x_u32m1(state[5], vl);
        v32 s6 = __riscv_vmv_v_x_u32m1(state[6], vl), s7 = __riscv_vmv_v_x_u32m1(state[7], vl);
        v32 s8 = __riscv_vmv_v_x_u32m1(state[8], vl), s9 = __riscv_vmv_v_x_u32m1(state[9], vl);
        v32 sa = __riscv_vmv_v_x_u32m1(state[10], vl), sb = __riscv_vmv_v_x_u32m1(state[11], vl);
        v32 sc = __riscv_vadd_vx_u32m1(__riscv_vid_v_u32m1(vl), counter, vl);
        v32 sd = __riscv_vmv_v_x_u32m1(state[13], vl);
        v32 se = __riscv_vmv_v_x_u32m1(state[14], vl), sf = __riscv_vmv_v_x_u32m1(state[15], vl);
        for (int round = 0; round < 10; round++) {
            QUARTER(s0, s4, s8, sc);
            QUARTER(s1, s5, s9, sd);
            QUARTER(s2, s6, sa, se);
            QUARTER(s3, s7, sb, sf);
            QUARTER(s0, s5, sa, sf);
            QUARTER(s1, s6, sb, sc);
            QUARTER(s2, s7, s8, sd);
            QUARTER(s3, s4, s9, se);
        }
        vuint32m1x8_t t = __riscv_vlsseg8e32_v_u32m1x8(data, 64, vl);
        XOR_FIELD(t, 0, __riscv_vadd_vx_u32m1(s0, state[0], vl));
        XOR_FIELD(t, 1, __riscv_vadd_vx_u32m1(s1, state[1], vl));
        XOR_FIELD(t, 2, __riscv_vadd_vx_u32m1(s2, state[2], vl));
        XOR_FIELD(t, 3, __riscv_vadd_vx_u32m1(s3, state[3], vl));
        XOR_FIELD(t, 4, __riscv_vadd_vx_u32m1(s4, state[4], vl));
        XOR_FIELD(t, 5, __riscv_vadd_vx_u32m1(s5, state[5], vl));
        XOR_FIELD(t, 6, __riscv_vadd_vx_u32m1(s6, state[6], vl));
        XOR_FIELD(t, 7, __riscv_vadd_vx_u32m1(s7, state[7], vl));
        __riscv_vssseg8e32_v_u32m1x8(data, 64, t, vl);
        t = __riscv_vlsseg8e32_v_u32m1x8(data + 8, 64, vl);
        XOR_FIELD(t, 0, __riscv_vadd_vx_u32m1(s8, state[8], vl));
        XOR_FIELD(t, 1, __riscv_vadd_vx_u32m1(s9, state[9], vl));
        XOR_FIELD(t, 2, __riscv_vadd_vx_u32m1(sa, state[10], vl));
        XOR_FIELD(t, 3, __riscv_vadd_vx_u32m1(sb, state[11], vl));
        sc = __riscv_vadd_vv_u32m1(sc, __riscv_vadd_vx_u32m1(__riscv_vid_v_u32m1(vl), counter, vl), vl);
        XOR_FIELD(t, 4, sc);
        XOR_FIELD(t, 5, __riscv_vadd_vx_u32m1(sd, state[13], vl));
        XOR_FIELD(t, 6, __riscv_vadd_vx_u32m1(se, state[14], vl));
        XOR_FIELD(t, 7, __riscv_vadd_vx_u32m1(sf, state[15], vl));
        __riscv_vssseg8e32_v_u32m1x8(data + 8, 64, t, vl);
        data += 16 * vl, blocks -= vl, counter += (u32)vl;
    }
}

static u32 rotl_scalar(u32 v, int by) { return (v << by) | (v >> (32 - by)); }
static void quarter(u32 *s, int a, int b, int c, int d) {
    s[a] += s[b], s[d] = rotl_scalar(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = rotl_scalar(s[b] ^ s[c], 12);
    s[a] += s[b], s[d] = rotl_scalar(s[d] ^ s[a], 8);
    s[c] += s[d], s[b] = rotl_scalar(s[b] ^ s[c], 7);
}
static NOINLINE void chacha_scalar(const u32 state[16], u32 *data, size_t blocks) {
    for (u32 block = 0; block < blocks; block++) {
        u32 s[16], t[16];
        for (int i = 0; i < 16; i++) t[i] = state[i] + (i == 12 ? block : 0), s[i] = t[i];
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < 4; i++) quarter(s, i, i + 4, i + 8, i + 12);
            for (int i = 0; i < 4; i++) quarter(s, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12);
        }
        for (int i = 0; i < 16; i++) *data++ ^= s[i] + t[i];
    }
}

#define BLOCKS 300
static u32 a[16 * BLOCKS], b[16 * BLOCKS];

int main(void) {
    // RFC 8439, section 2.3.2
    u32 state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
                     0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 1,          0x09000000, 0x4a000000, 0};
    chacha_rvv(state, a, 1);
    rt_bytes("rfc8439 ", a, 64);
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m1(), BLOCKS) {
        rt_seed(n);
        for (int j = 4; j < 16; j++) state[j] = (u32)rt_random();
        rt_fill(a, sizeof a);
        memcpy(b, a, sizeof b);
        chacha_rvv(state, a, n);
        chacha_scalar(state, b, n);
        rt_check("chacha20", n, a, b, sizeof a);
        rt_report("chacha20", i, n, rt_hash(a, 64 * n));
    }
    return 0;
}
