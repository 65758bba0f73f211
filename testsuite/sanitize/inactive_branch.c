// undefined-branch: a sum over masked-off elements
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 2, n);
    vint32m1_t w = FAULT(__riscv_vadd_vx_i32m1_m(m, v, 1, n), __riscv_vadd_vx_i32m1_mu(m, v, v, 1, n));
    HIDEV(w);
    int s = sum(w, n);
    DECIDE(s == 12); // HERE
    return 0;
}
