// undefined-branch: a count over more mask bits than were compared
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vbool32_t m = __riscv_vmsgt_vx_i32m1_b32(v, 2, FAULT(2, 4));
    HIDEV(m);
    unsigned long c = __riscv_vcpop_m_b32(m, n);
    DECIDE(c == 2); // HERE
    return 0;
}
