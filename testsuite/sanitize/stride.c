// undefined-stride: a tail element is the stride
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vmv_v_x_i32m1(4, FAULT(1, 2));
    HIDEV(v);
    long stride = __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(v, 1, 1)) & 4;
    v = __riscv_vlse32_v_i32m1(data, stride, n); // HERE
    __riscv_vse32_v_i32m1(data, v, 1);
    return 0;
}
