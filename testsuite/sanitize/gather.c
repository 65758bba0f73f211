// undefined-branch: a gather picks a tail element
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, FAULT(3, 4));
    HIDEV(v);
    vuint32m1_t i = __riscv_vrsub_vx_u32m1(__riscv_vid_v_u32m1(n), 3, n);
    int s = __riscv_vmv_x_s_i32m1_i32(__riscv_vrgather_vv_i32m1(v, i, n));
    DECIDE(s == 4); // HERE
    return 0;
}
