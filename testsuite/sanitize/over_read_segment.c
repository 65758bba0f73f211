// heap-out-of-bounds: a segment load past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(8, 4);
    HIDE(p);
    vint32m1x2_t v = __riscv_vlseg2e32_v_i32m1x2(p + FAULT(2, 0), n); // HERE
    __riscv_vse32_v_i32m1(data, __riscv_vget_v_i32m1x2_i32m1(v, 0), 1);
    free(p);
    return 0;
}
