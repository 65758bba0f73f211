// SHA-512 with Zvknhb: element groups of four doublewords, which need a register group of two at VLEN 128.
// needs: zvknhb zvkb
#include "rt.h"
#include <riscv_vector.h>

// The constants are the first 64 bits of the fractions of cube roots of primes; computed, not copied.
static u64 k[80], start[8];

typedef unsigned __int128 u128;

// floor(frac(root(p)) · 2^64), by bits: the greatest v with (2^64·whole + v)^degree <= p·2^(64·degree)
static int too_big(u64 whole, u64 v, u64 p, int cube) {
    // x = whole.v as 3 limbs of 32 bits in base 2^32: whole < 32
    u32 x[3] = {(u32)v, (u32)(v >> 32), (u32)whole};
    u32 product[9] = {x[0], x[1], x[2]};
    int limbs = 3;
    for (int times = 1; times < (cube ? 3 : 2); times++) {
        u32 next[9] = {0};
        for (int i = 0; i < limbs; i++) {
            u64 carry = 0;
            for (int j = 0; j < 3; j++) {
                u64 t = (u64)product[i] * x[j] + next[i + j] + carry;
                next[i + j] = (u32)t;
                carry = t >> 32;
            }
            next[i + 3] = (u32)carry;
        }
        for (int i = 0; i < 9; i++) product[i] = next[i];
        limbs += 3;
    }
    int unit = cube ? 6 : 4; // limbs below the point
    u64 integer = (u64)product[unit] | (unit + 1 < limbs ? (u64)product[unit + 1] << 32 : 0);
    return integer >= p;
}
static u64 fraction(u64 p, int cube) {
    u64 whole = 1;
    while (!too_big(whole + 1, 0, p, cube)) whole++;
    u64 v = 0;
    for (u64 bit = 1ull << 63; bit; bit >>= 1)
        if (!too_big(whole, v | bit, p, cube)) v |= bit;
    return v;
}
static void set_up(void) {
    int found = 0;
    for (u64 p = 2; found < 80; p++) {
        int prime = 1;
        for (u64 d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        if (found < 8) start[found] = fraction(p, 0);
        k[found++] = fraction(p, 1);
    }
    RT_BARRIER();
}

typedef vuint64m2_t v64;

static inline v64 message(const u8 *p) {
    return __riscv_vrev8_v_u64m2(__riscv_vreinterpret_v_u8m2_u64m2(__riscv_vle8_v_u8m2(p, 32)), 4);
}
// clang 19 makes vsha2ch.vv of __riscv_vsha2cl_vv; this is the instruction itself.
#if defined(__clang__) && __clang_major__ < 21
static inline v64 sha2cl(v64 vd, v64 vs2, v64 vs1) {
    __asm__("vsetivli zero, 4, e64, m2, ta, ma\n\tvsha2cl.vv %0, %1, %2" : "+vr"(vd) : "vr"(vs2), "vr"(vs1) : "vl", "vtype");
    return vd;
}
#else
#define sha2cl(vd, vs2, vs1) __riscv_vsha2cl_vv_u64m2(vd, vs2, vs1, 4)
#endif
#define ROUNDS(w, at) \
    { \
        v64 wk = __riscv_vadd_vv_u64m2(w, __riscv_vle64_v_u64m2(k + (at), 4), 4); \
        cdgh = sha2cl(cdgh, abef, wk); \
        abef = __riscv_vsha2ch_vv_u64m2(abef, cdgh, wk, 4); \
    }
#define SCHEDULE(w0, w1, w2, w3) \
    w0 = __riscv_vsha2ms_vv_u64m2(w0, __riscv_vmerge_vvm_u64m2(w2, w1, first, 4), w3, 4)

static NOINLINE void blocks_rvv(u64 *state, const u8 *p, size_t blocks) {
    v64 abef = __riscv_vle64_v_u64m2(state, 4), cdgh = __riscv_vle64_v_u64m2(state + 4, 4);
    vbool32_t first = __riscv_vmseq_vx_u64m2_b32(__riscv_vid_v_u64m2(4), 0, 4);
    for (; blocks; blocks--, p += 128) {
        v64 before_abef = abef, before_cdgh = cdgh;
        v64 w0 = message(p), w1 = message(p + 32), w2 = message(p + 64), w3 = message(p + 96);
        for (int i = 0; i < 64; i += 16) {
            ROUNDS(w0, i);
            SCHEDULE(w0, w1, w2, w3);
            ROUNDS(w1, i + 4);
            SCHEDULE(w1, w2, w3, w0);
            ROUNDS(w2, i + 8);
            SCHEDULE(w2, w3, w0, w1);
            ROUNDS(w3, i + 12);
            SCHEDULE(w3, w0, w1, w2);
        }
        ROUNDS(w0, 64);
        ROUNDS(w1, 68);
        ROUNDS(w2, 72);
        ROUNDS(w3, 76);
        abef = __riscv_vadd_vv_u64m2(abef, before_abef, 4);
        cdgh = __riscv_vadd_vv_u64m2(cdgh, before_cdgh, 4);
    }
    __riscv_vse64_v_u64m2(state, abef, 4);
    __riscv_vse64_v_u64m2(state + 4, cdgh, 4);
}

static u64 rotr(u64 v, int by) { return v >> by | v << (64 - by); }
static NOINLINE void blocks_scalar(u64 h[8], const u8 *p, size_t blocks) {
    for (; blocks; blocks--, p += 128) {
        u64 w[80], s[8];
        for (int i = 0; i < 16; i++) {
            w[i] = 0;
            for (int j = 0; j < 8; j++) w[i] = w[i] << 8 | p[8 * i + j];
        }
        for (int i = 16; i < 80; i++)
            w[i] = w[i - 16] + w[i - 7] + (rotr(w[i - 15], 1) ^ rotr(w[i - 15], 8) ^ w[i - 15] >> 7) +
                   (rotr(w[i - 2], 19) ^ rotr(w[i - 2], 61) ^ w[i - 2] >> 6);
        for (int i = 0; i < 8; i++) s[i] = h[i];
        for (int i = 0; i < 80; i++) {
            u64 a = s[0], e = s[4];
            u64 t1 = s[7] + (rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
            u64 t2 = (rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j; j--) s[j] = s[j - 1];
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) h[i] += s[i];
    }
}

static const u8 place[8] = {5, 4, 1, 0, 7, 6, 3, 2}; // where f e b a h g d c come from

static void sha512(const u8 *data, size_t n, u64 h[8], int vector) {
    u64 s[8];
    u8 last[256];
    size_t rest = n % 128, tail = rest < 112 ? 128 : 256;
    memset(last, 0, sizeof last);
    memcpy(last, data + (n - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[tail - 1 - (size_t)i] = (u8)((u64)n * 8 >> (8 * i));
    for (int i = 0; i < 8; i++) s[i] = start[vector ? place[i] : i];
    (vector ? blocks_rvv : blocks_scalar)(s, data, n / 128);
    (vector ? blocks_rvv : blocks_scalar)(s, last, tail / 128);
    for (int i = 0; i < 8; i++) h[vector ? place[i] : i] = s[i];
}

static u8 data[4096];

int main(void) {
    u64 x[8], y[8];
    set_up();
    sha512((const u8 *)"abc", 3, x, 1);
    rt_puts("abc ");
    for (int i = 0; i < 8; i++) rt_hex(x[i], 16);
    rt_putc('\n');
    rt_fill(data, sizeof data);
    RT_SIZES(i, n, 128, 4000) {
        sha512(data, n, x, 1);
        sha512(data, n, y, 0);
        rt_check("sha512", n, x, y, sizeof x);
        rt_report("sha512", i, n, x[0] ^ x[7]);
    }
    return 0;
}
