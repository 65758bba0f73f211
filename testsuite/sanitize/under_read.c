// heap-out-of-bounds: a vector load from before a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    long *p = calloc(4, 8);
    HIDE(p);
    vint64m1_t v = __riscv_vle64_v_i64m1(p - FAULT(1, 0), 1); // HERE
    __riscv_vse64_v_i64m1((long *)data, v, 1);
    free(p);
    return 0;
}
