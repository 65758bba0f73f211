// Scalar, a whole program: makes text, compresses it (LZ77 with hash chains), expands it again by a small
// machine whose instructions are the compressor's output, and compares.
#include "bench.h"
#ifndef REPEAT
#define REPEAT 60
#endif
#define SIZE (8 * N)
#define HASHES 4096

static u8 text[SIZE], packed[2 * SIZE], back[SIZE];
static u32 head[HASHES], chain[SIZE];

static void make_text(void) {
    static const char *const words[] = {"vector ", "length ", "mask ", "register ", "group ", "element ", "tail ", "the "};
    size_t at = 0;
    while (at < SIZE) {
        u64 random = rt_random();
        const char *word = words[random & 7];
        while (*word && at < SIZE) text[at++] = (u8)*word++;
        if ((random >> 8 & 15) == 0 && at < SIZE) text[at++] = (u8)('0' + (random >> 16) % 10);
    }
}
static u32 hash(const u8 *p) { return ((u32)p[0] << 16 ^ (u32)p[1] << 8 ^ p[2]) * 2654435761u >> 20; }

static NOINLINE size_t compress(void) {
    size_t at = 0, out = 0;
    for (size_t i = 0; i < HASHES; i++) head[i] = ~0u;
    while (at < SIZE) {
        size_t best = 0, where = 0;
        if (at + 3 < SIZE) {
            u32 h = hash(text + at);
            int tries = 16;
            for (u32 c = head[h]; c != ~0u && at - c < 65536 && tries--; c = chain[c]) {
                size_t n = 0;
                while (n < 255 && at + n < SIZE && text[c + n] == text[at + n]) n++;
                if (n > best) best = n, where = c;
            }
        }
        size_t step = best >= 4 ? best : 1;
        if (best >= 4) {
            packed[out++] = 1, packed[out++] = (u8)best;
            packed[out++] = (u8)(at - where), packed[out++] = (u8)((at - where) >> 8);
        } else
            packed[out++] = 0, packed[out++] = text[at];
        for (; step--; at++)
            if (at + 3 < SIZE) {
                u32 h = hash(text + at);
                chain[at] = head[h], head[h] = (u32)at;
            }
    }
    packed[out++] = 2;
    return out;
}
static NOINLINE size_t expand(void) {
    const u8 *p = packed;
    for (size_t at = 0;;) switch (*p++) {
        case 0: back[at++] = *p++; break;
        case 1: {
            size_t n = p[0], distance = p[1] | (size_t)p[2] << 8;
            for (p += 3; n--; at++) back[at] = back[at - distance];
            break;
        }
        default: return at;
    }
}

int main(void) {
    u64 sum = 0;
    for (int r = 0; r < REPEAT; r++) {
        rt_seed((u64)r);
        make_text();
        sum = sum * 31 + compress();
        if (expand() != SIZE) rt_fail("size", SIZE, 0);
        for (size_t i = 0; i < SIZE; i++)
            if (text[i] != back[i]) rt_fail("text", SIZE, i);
        sum += back[SIZE / 2];
    }
    bench_result("scalar_program", sum);
    return 0;
}
