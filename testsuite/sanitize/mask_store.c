// undefined-mask: a store under more mask bits than were compared
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 2, FAULT(2, 4));
    HIDEV(m);
    __riscv_vse32_v_i32m1_m(m, data, v, n); // HERE
    return 0;
}
