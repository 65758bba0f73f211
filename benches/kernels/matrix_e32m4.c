// e32m4 matrix product: rows of one matrix by scalars of the other.
#include "bench.h"
#include <riscv_vector.h>
#ifndef REPEAT
#define REPEAT 400
#endif
#define SIDE 64

static f32 a[SIDE][SIDE] ALIGNED, b[SIDE][SIDE] ALIGNED, c[SIDE][SIDE] ALIGNED;

static NOINLINE void multiply(void) {
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0, vl; j < SIDE; j += vl) {
            vl = __riscv_vsetvl_e32m4(SIDE - j);
            vfloat32m4_t sum = __riscv_vfmv_v_f_f32m4(0, vl);
            for (size_t l = 0; l < SIDE; l++)
                sum = __riscv_vfmacc_vf_f32m4(sum, a[i][l], __riscv_vle32_v_f32m4(&b[l][j], vl), vl);
            __riscv_vse32_v_f32m4(&c[i][j], sum, vl);
        }
}

int main(void) {
    u64 sum = 0;
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) a[i][j] = rt_f32(), b[i][j] = rt_f32();
    for (int r = 0; r < REPEAT; r++) {
        a[r % SIDE][r % 7] += 1;
        RT_BARRIER();
        multiply();
        sum = sum * 31 + rt_hash(c, sizeof c[0]);
    }
    bench_result("matrix_e32m4", sum);
    return 0;
}
