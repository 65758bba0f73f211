// undefined-branch: elements past those that vcompress packed
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 2, n);
    vint32m1_t w = __riscv_vcompress_vm_i32m1(v, m, n);
    HIDEV(w);
    int s = sum(w, FAULT(3, 2));
    DECIDE(s == 7); // HERE
    return 0;
}
