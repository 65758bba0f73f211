// undefined-branch: a widening sum over tail elements
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, FAULT(3, 4));
    HIDEV(v);
    vint64m2_t w = __riscv_vwadd_vx_i64m2(v, 1, n);
    vint64m1_t zero = __riscv_vmv_v_x_i64m1(0, 1);
    long s = __riscv_vmv_x_s_i64m1_i64(__riscv_vredsum_vs_i64m2_i64m1(w, zero, n));
    DECIDE(s == 14); // HERE
    return 0;
}
