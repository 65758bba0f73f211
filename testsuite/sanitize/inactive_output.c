// undefined-output: masked-off elements are stored and written
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int out[4];
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 2, n);
    vint32m1_t w = FAULT(__riscv_vmul_vx_i32m1_m(m, v, 3, n), __riscv_vmul_vx_i32m1_mu(m, v, v, 3, n));
    HIDEV(w);
    __riscv_vse32_v_i32m1(out, w, n);
    write(1, out, sizeof out); // HERE
    return 0;
}
