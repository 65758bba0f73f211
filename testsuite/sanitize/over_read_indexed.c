// heap-out-of-bounds: a gather past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(4, 4);
    HIDE(p);
    vuint32m1_t i = __riscv_vsll_vx_u32m1(__riscv_vid_v_u32m1(n), FAULT(3, 2), n);
    vint32m1_t v = __riscv_vluxei32_v_i32m1(p, i, n); // HERE
    __riscv_vse32_v_i32m1(data, v, 1);
    free(p);
    return 0;
}
