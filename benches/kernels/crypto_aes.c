// AES-256 in counter mode, by Zvkned: fourteen rounds of every block, four blocks of a group at a time.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 4000
#endif

static u32 keys[15][4] ALIGNED, in[N] ALIGNED, out[N] ALIGNED;

// Round keys of any kind will do: what is measured is the rounds.
static NOINLINE void encrypt(const u32 *from, u32 *to, u32 counter, size_t n) {
    for (size_t vl; n; n -= vl, from += vl, to += vl) {
        vl = __riscv_vsetvl_e32m4(n);
        vuint32m4_t state = __riscv_vadd_vx_u32m4(__riscv_vid_v_u32m4(vl), counter, vl);
        state = __riscv_vaesz_vs_u32m1_u32m4(state, __riscv_vle32_v_u32m1(keys[0], 4), vl);
        for (int r = 1; r < 14; r++)
            state = __riscv_vaesem_vs_u32m1_u32m4(state, __riscv_vle32_v_u32m1(keys[r], 4), vl);
        state = __riscv_vaesef_vs_u32m1_u32m4(state, __riscv_vle32_v_u32m1(keys[14], 4), vl);
        __riscv_vse32_v_u32m4(to, __riscv_vxor_vv_u32m4(state, __riscv_vle32_v_u32m4(from, vl), vl), vl);
        // The number of an element in its strip must not show: a strip is as long as VLEN says.
        counter = 0;
    }
}

int main(void) {
    u64 sum = 0;
    rt_fill(keys, sizeof keys);
    rt_fill(in, sizeof in);
    for (int r = 0; r < REPEAT; r++) {
        RT_BARRIER();
        encrypt(in, out, (u32)r, 16);
        encrypt(in + 16, out + 16, 0, N - 16);
        sum = sum * 31 + out[r % 16];
    }
    bench_result("crypto_aes", sum);
    return 0;
}
