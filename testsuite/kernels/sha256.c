// SHA-256 with Zvknha: four words of schedule and two double rounds at a time.
// needs: zvknha zvkb
#include "rt.h"
#include <riscv_vector.h>

static const u32 k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef vuint32m1_t v32;

static inline v32 message(const u8 *p) {
    return __riscv_vrev8_v_u32m1(__riscv_vreinterpret_v_u8m1_u32m1(__riscv_vle8_v_u8m1(p, 16)), 4);
}
// clang 19 makes vsha2ch.vv of __riscv_vsha2cl_vv; this is the instruction itself.
#if defined(__clang__) && __clang_major__ < 21
static inline v32 sha2cl(v32 vd, v32 vs2, v32 vs1) {
    __asm__("vsetivli zero, 4, e32, m1, ta, ma\n\tvsha2cl.vv %0, %1, %2" : "+vr"(vd) : "vr"(vs2), "vr"(vs1) : "vl", "vtype");
    return vd;
}
#else
#define sha2cl(vd, vs2, vs1) __riscv_vsha2cl_vv_u32m1(vd, vs2, vs1, 4)
#endif
#define ROUNDS(w, at) \
    { \
        v32 wk = __riscv_vadd_vv_u32m1(w, __riscv_vle32_v_u32m1(k + (at), 4), 4); \
        cdgh = sha2cl(cdgh, abef, wk); \
        abef = __riscv_vsha2ch_vv_u32m1(abef, cdgh, wk, 4); \
    }
// {w11 w10 w9 w4} from {w11..w8} and {w7..w4}: the middle argument of vsha2ms
#define SCHEDULE(w0, w1, w2, w3) \
    w0 = __riscv_vsha2ms_vv_u32m1(w0, __riscv_vmerge_vvm_u32m1(w2, w1, first, 4), w3, 4)

// state: {f e b a} and {h g d c}
static NOINLINE void blocks_rvv(u32 *state, const u8 *p, size_t blocks) {
    v32 abef = __riscv_vle32_v_u32m1(state, 4), cdgh = __riscv_vle32_v_u32m1(state + 4, 4);
    vbool32_t first = __riscv_vmseq_vx_u32m1_b32(__riscv_vid_v_u32m1(4), 0, 4);
    for (; blocks; blocks--, p += 64) {
        v32 before_abef = abef, before_cdgh = cdgh;
        v32 w0 = message(p), w1 = message(p + 16), w2 = message(p + 32), w3 = message(p + 48);
        for (int i = 0; i < 48; i += 16) {
            ROUNDS(w0, i);
            SCHEDULE(w0, w1, w2, w3);
            ROUNDS(w1, i + 4);
            SCHEDULE(w1, w2, w3, w0);
            ROUNDS(w2, i + 8);
            SCHEDULE(w2, w3, w0, w1);
            ROUNDS(w3, i + 12);
            SCHEDULE(w3, w0, w1, w2);
        }
        ROUNDS(w0, 48);
        ROUNDS(w1, 52);
        ROUNDS(w2, 56);
        ROUNDS(w3, 60);
        abef = __riscv_vadd_vv_u32m1(abef, before_abef, 4);
        cdgh = __riscv_vadd_vv_u32m1(cdgh, before_cdgh, 4);
    }
    __riscv_vse32_v_u32m1(state, abef, 4);
    __riscv_vse32_v_u32m1(state + 4, cdgh, 4);
}

static u32 rotr(u32 v, int by) { return v >> by | v << (32 - by); }
static NOINLINE void blocks_scalar(u32 h[8], const u8 *p, size_t blocks) {
    for (; blocks; blocks--, p += 64) {
        u32 w[64], s[8];
        for (int i = 0; i < 16; i++) w[i] = (u32)p[4 * i] << 24 | (u32)p[4 * i + 1] << 16 | (u32)p[4 * i + 2] << 8 | p[4 * i + 3];
        for (int i = 16; i < 64; i++)
            w[i] = w[i - 16] + w[i - 7] + (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
                   (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
        for (int i = 0; i < 8; i++) s[i] = h[i];
        for (int i = 0; i < 64; i++) {
            u32 a = s[0], e = s[4];
            u32 t1 = s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
            u32 t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
            for (int j = 7; j; j--) s[j] = s[j - 1];
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) h[i] += s[i];
    }
}

static const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const u8 place[8] = {5, 4, 1, 0, 7, 6, 3, 2}; // where f e b a h g d c come from

// The whole hash, either way. `last` takes what does not fill a block, the padding, and the length.
static void sha256(const u8 *data, size_t n, u32 h[8], int vector) {
    u32 s[8];
    u8 last[128];
    size_t rest = n % 64, tail = rest < 56 ? 64 : 128;
    memset(last, 0, sizeof last);
    memcpy(last, data + (n - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[tail - 1 - (size_t)i] = (u8)((u64)n * 8 >> (8 * i));
    for (int i = 0; i < 8; i++) s[i] = start[vector ? place[i] : i];
    (vector ? blocks_rvv : blocks_scalar)(s, data, n / 64);
    (vector ? blocks_rvv : blocks_scalar)(s, last, tail / 64);
    for (int i = 0; i < 8; i++) h[vector ? place[i] : i] = s[i];
}

static u8 data[4096];

int main(void) {
    u32 x[8], y[8];
    sha256((const u8 *)"abc", 3, x, 1);
    rt_puts("abc ");
    for (int i = 0; i < 8; i++) rt_hex(x[i], 8);
    rt_putc('\n');
    rt_fill(data, sizeof data);
    RT_SIZES(i, n, 64, 4000) {
        sha256(data, n, x, 1);
        sha256(data, n, y, 0);
        rt_check("sha256", n, x, y, sizeof x);
        rt_report("sha256", i, n, (u64)x[0] << 32 | x[7]);
    }
    return 0;
}
