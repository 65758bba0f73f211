// undefined-branch: the first set bit of a mask, past what was compared
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 3, FAULT(3, 4));
    HIDEV(m);
    long c = __riscv_vfirst_m_b32(m, n);
    DECIDE(c == 3); // HERE
    return 0;
}
