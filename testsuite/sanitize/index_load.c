// undefined-index: a gather with more indices than were computed
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vuint32m1_t i = __riscv_vsll_vx_u32m1(__riscv_vid_v_u32m1(FAULT(3, 4)), 2, FAULT(3, 4));
    HIDEV(i);
    vint32m1_t v = __riscv_vluxei32_v_i32m1(data, i, n); // HERE
    __riscv_vse32_v_i32m1(data, v, 1);
    return 0;
}
