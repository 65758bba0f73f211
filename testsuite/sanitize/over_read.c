// heap-out-of-bounds: a vector load past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(4, 4);
    HIDE(p);
    vint32m1_t v = __riscv_vle32_v_i32m1(p + FAULT(1, 0), n); // HERE
    __riscv_vse32_v_i32m1(data, v, n - 1);
    free(p);
    return 0;
}
