// e8m4 strlen and memchr, by fault-only-first loads.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 20000
#endif

static char text[4 * N] ALIGNED;

static NOINLINE size_t length(const char *s) {
    const char *at = s;
    for (;;) {
        size_t vl = __riscv_vsetvlmax_e8m4();
        vuint8m4_t v = __riscv_vle8ff_v_u8m4((const u8 *)at, &vl, vl);
        long zero = __riscv_vfirst_m_b2(__riscv_vmseq_vx_u8m4_b2(v, 0, vl), vl);
        if (zero >= 0) return (size_t)(at - s) + (size_t)zero;
        at += vl;
    }
}
static NOINLINE size_t find(const char *s, char c, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t vl = __riscv_vsetvl_e8m4(n - at);
        vuint8m4_t v = __riscv_vle8_v_u8m4((const u8 *)s + at, vl);
        long first = __riscv_vfirst_m_b2(__riscv_vmseq_vx_u8m4_b2(v, (u8)c, vl), vl);
        if (first >= 0) return at + (size_t)first;
        at += vl;
    }
    return n;
}

int main(void) {
    u64 sum = 0;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(1 + rt_random() % 100);
    text[sizeof text - 1] = 0;
    for (int r = 0; r < REPEAT; r++) {
        size_t at = (size_t)(r * 977) % (2 * N);
        RT_BARRIER();
        sum = sum * 31 + length(text + at) + find(text + at, 'x' + 5, 2 * N);
    }
    bench_result("strings_e8m4", sum);
    return 0;
}
