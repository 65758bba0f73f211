// undefined-branch: a slide brings in tail elements
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, FAULT(3, 4));
    HIDEV(v);
    int s = sum(__riscv_vslidedown_vx_i32m1(v, 1, n), n);
    DECIDE(s == 9); // HERE
    return 0;
}
