// undefined-argument: an exit status that nothing defines
#include "fault.h"

int main(void) {
    vint32m1_t v = __riscv_vmv_v_x_i32m1(0, FAULT(1, 2));
    HIDEV(v);
    long status = __riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(v, 1, 1)) & 0;
    status = FAULT(__riscv_vmv_x_s_i32m1_i32(__riscv_vslidedown_vx_i32m1(v, 1, 1)), status);
    register long a0 __asm__("a0") = status, a7 __asm__("a7") = 94;
    __asm__ volatile("ecall" ::"r"(a0), "r"(a7)); // HERE
    return 0;
}
