// e8m8 copies of 16 KiB.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 30000
#endif

static u8 a[4 * N] ALIGNED, b[4 * N] ALIGNED;

static NOINLINE void copy(u8 *to, const u8 *from, size_t n) {
    for (size_t vl; n; n -= vl, to += vl, from += vl) {
        vl = __riscv_vsetvl_e8m8(n);
        __riscv_vse8_v_u8m8(to, __riscv_vle8_v_u8m8(from, vl), vl);
    }
}

int main(void) {
    rt_fill(a, sizeof a);
    for (int r = 0; r < REPEAT; r++) {
        a[r % sizeof a]++;
        copy(b, a, sizeof b);
        RT_BARRIER();
    }
    bench_result("memcpy_e8m8", rt_hash(b, sizeof b));
    return 0;
}
