// undefined-index: a scatter with more indices than were computed
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    vuint32m1_t i = __riscv_vsll_vx_u32m1(__riscv_vid_v_u32m1(FAULT(3, 4)), 2, FAULT(3, 4));
    HIDEV(i);
    __riscv_vsuxei32_v_i32m1(data, i, v, n); // HERE
    return 0;
}
