// SHA-256's compression by Zvknha, of blocks one after the other.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 400
#endif

static u32 k[64] ALIGNED, text[N] ALIGNED;

static NOINLINE void compress(vuint32m1_t *abef, vuint32m1_t *cdgh, const u32 *w) {
    vuint32m1_t w0 = __riscv_vle32_v_u32m1(w, 4), w1 = __riscv_vle32_v_u32m1(w + 4, 4);
    vuint32m1_t w2 = __riscv_vle32_v_u32m1(w + 8, 4), w3 = __riscv_vle32_v_u32m1(w + 12, 4);
    vuint32m1_t a = *abef, c = *cdgh;
    for (int r = 0; r < 64; r += 4) {
        vuint32m1_t t = __riscv_vadd_vv_u32m1(w0, __riscv_vle32_v_u32m1(k + r, 4), 4);
        c = __riscv_vsha2cl_vv_u32m1(c, a, t, 4);
        a = __riscv_vsha2ch_vv_u32m1(a, c, t, 4);
        // w4, w9, w10, w11
        vuint32m1_t mixed = __riscv_vmerge_vvm_u32m1(w2, w1, __riscv_vmseq_vx_u32m1_b32(__riscv_vid_v_u32m1(4), 0, 4), 4);
        vuint32m1_t next = __riscv_vsha2ms_vv_u32m1(w0, mixed, w3, 4);
        w0 = w1, w1 = w2, w2 = w3, w3 = next;
    }
    *abef = __riscv_vadd_vv_u32m1(*abef, a, 4);
    *cdgh = __riscv_vadd_vv_u32m1(*cdgh, c, 4);
}

int main(void) {
    u32 result[8];
    rt_fill(k, sizeof k);
    rt_fill(text, sizeof text);
    rt_fill(result, sizeof result);
    for (int r = 0; r < REPEAT; r++) {
        vuint32m1_t a = __riscv_vle32_v_u32m1(result, 4), c = __riscv_vle32_v_u32m1(result + 4, 4);
        for (size_t at = 0; at < N; at += 16) compress(&a, &c, text + at);
        __riscv_vse32_v_u32m1(result, a, 4);
        __riscv_vse32_v_u32m1(result + 4, c, 4);
        RT_BARRIER();
    }
    bench_result("crypto_sha256", rt_hash(result, sizeof result));
    return 0;
}
