// use-after-free: a vector load from a block that was freed
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(4, 4);
    int *q = calloc(4, 4);
    free(p);
    p = FAULT(p, q);
    HIDE(p);
    vint32m1_t v = __riscv_vle32_v_i32m1(p, n); // HERE
    __riscv_vse32_v_i32m1(data, v, 1);
    free(q);
    return 0;
}
