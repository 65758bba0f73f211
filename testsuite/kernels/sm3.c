// SM3 with Zvksh: element groups of eight words, which need a register group of two at VLEN 128.
// needs: zvksh zvkb
#include "rt.h"
#include <riscv_vector.h>

typedef vuint32m2_t v32;

static const u32 start[8] = {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d, 0xb0fb0e4e};

// Two rounds at a time: vsm3c takes words i, i+1, i+4, i+5 of the schedule from the low six of a group.
#define FOUR(v, at) \
    s = __riscv_vsm3c_vi_u32m2(s, v, at, 8); \
    s = __riscv_vsm3c_vi_u32m2(s, __riscv_vslidedown_vx_u32m2(v, 2, 8), at + 1, 8)
// `low` and `high` are words i..i+7 and i+8..i+15.
#define EIGHT(low, high, at) \
    FOUR(low, at); \
    { \
        v32 middle = __riscv_vslideup_vx_u32m2(__riscv_vslidedown_vx_u32m2(low, 4, 8), high, 4, 8); \
        FOUR(middle, at + 2); \
    }

// state: a..h
static NOINLINE void blocks_rvv(u32 state[8], const u8 *p, size_t blocks) {
    // The instruction takes the state as big-endian words, as the message comes.
    v32 s = __riscv_vrev8_v_u32m2(__riscv_vle32_v_u32m2(state, 8), 8);
    for (; blocks; blocks--, p += 64) {
        v32 before = s;
        v32 w0 = __riscv_vle32_v_u32m2((const u32 *)p, 8), w1 = __riscv_vle32_v_u32m2((const u32 *)(p + 32), 8);
        v32 w2;
        EIGHT(w0, w1, 0);
        w2 = __riscv_vsm3me_vv_u32m2(w1, w0, 8);
        EIGHT(w1, w2, 4);
        w0 = __riscv_vsm3me_vv_u32m2(w2, w1, 8);
        EIGHT(w2, w0, 8);
        w1 = __riscv_vsm3me_vv_u32m2(w0, w2, 8);
        EIGHT(w0, w1, 12);
        w2 = __riscv_vsm3me_vv_u32m2(w1, w0, 8);
        EIGHT(w1, w2, 16);
        w0 = __riscv_vsm3me_vv_u32m2(w2, w1, 8);
        EIGHT(w2, w0, 20);
        w1 = __riscv_vsm3me_vv_u32m2(w0, w2, 8);
        EIGHT(w0, w1, 24);
        w2 = __riscv_vsm3me_vv_u32m2(w1, w0, 8);
        EIGHT(w1, w2, 28);
        s = __riscv_vxor_vv_u32m2(s, before, 8);
    }
    __riscv_vse32_v_u32m2(state, __riscv_vrev8_v_u32m2(s, 8), 8);
}

static u32 rotl(u32 v, int by) { return by % 32 ? v << by % 32 | v >> (32 - by % 32) : v; }
static NOINLINE void blocks_scalar(u32 h[8], const u8 *p, size_t blocks) {
    for (; blocks; blocks--, p += 64) {
        u32 w[68], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], k = h[7];
        for (int i = 0; i < 16; i++) w[i] = (u32)p[4 * i] << 24 | (u32)p[4 * i + 1] << 16 | (u32)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 68; i++) {
            u32 x = w[i - 16] ^ w[i - 9] ^ rotl(w[i - 3], 15);
            w[i] = x ^ rotl(x, 15) ^ rotl(x, 23) ^ rotl(w[i - 13], 7) ^ w[i - 6];
        }
        for (int i = 0; i < 64; i++) {
            u32 t = rotl(i < 16 ? 0x79cc4519u : 0x7a879d8au, i);
            u32 ss1 = rotl(rotl(a, 12) + e + t, 7), ss2 = ss1 ^ rotl(a, 12);
            u32 tt1 = (i < 16 ? a ^ b ^ c : (a & b) | (a & c) | (b & c)) + d + ss2 + (w[i] ^ w[i + 4]);
            u32 tt2 = (i < 16 ? e ^ f ^ g : (e & f) | (~e & g)) + k + ss1 + w[i];
            d = c, c = rotl(b, 9), b = a, a = tt1;
            k = g, g = rotl(f, 19), f = e, e = tt2 ^ rotl(tt2, 9) ^ rotl(tt2, 17);
        }
        h[0] ^= a, h[1] ^= b, h[2] ^= c, h[3] ^= d, h[4] ^= e, h[5] ^= f, h[6] ^= g, h[7] ^= k;
    }
}

static void sm3(const u8 *data, size_t n, u32 h[8], int vector) {
    u8 last[128] ALIGNED;
    size_t rest = n % 64, tail = rest < 56 ? 64 : 128;
    memset(last, 0, sizeof last);
    memcpy(last, data + (n - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[tail - 1 - (size_t)i] = (u8)((u64)n * 8 >> (8 * i));
    for (int i = 0; i < 8; i++) h[i] = start[i];
    (vector ? blocks_rvv : blocks_scalar)(h, data, n / 64);
    (vector ? blocks_rvv : blocks_scalar)(h, last, tail / 64);
}

static u8 data[4096] ALIGNED;

int main(void) {
    u32 x[8], y[8];
    sm3((const u8 *)"abc", 3, x, 1);
    rt_puts("abc ");
    for (int i = 0; i < 8; i++) rt_hex(x[i], 8);
    rt_putc('\n');
    rt_fill(data, sizeof data);
    RT_SIZES(i, n, 64, 4000) {
        sm3(data, n, x, 1);
        sm3(data, n, y, 0);
        rt_check("sm3", n, x, y, sizeof x);
        rt_report("sm3", i, n, (u64)x[0] << 32 | x[7]);
    }
    return 0;
}
