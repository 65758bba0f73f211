// undefined-vl: a tail element is the AVL
#include "fault.h"

int main(void) {
    vint32m1_t v = __riscv_vmv_v_x_i32m1(2, FAULT(1, 2));
    HIDEV(v);
    size_t n = __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(v, 1, 1)) & 3;
    n = __riscv_vsetvl_e32m1(n); // HERE
    HIDE(n);
    taken = 1;
    return 0;
}
