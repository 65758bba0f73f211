// undefined-address: a tail element is part of an address
#include "fault.h"

int main(void) {
    vint32m1_t v = __riscv_vmv_v_x_i32m1(2, FAULT(1, 2));
    HIDEV(v);
    int i = __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(v, 1, 1)) & 15;
    HIDE(i);
    taken = data[i]; // HERE
    return 0;
}
