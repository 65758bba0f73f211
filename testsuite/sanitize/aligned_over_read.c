// heap-out-of-bounds: a vector load past a block of aligned_alloc
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = aligned_alloc(64, 64);
    HIDE(p);
    memset(p, 0, 64);
    vint32m1_t v = __riscv_vle32_v_i32m1(p + FAULT(13, 12), n); // HERE
    __riscv_vse32_v_i32m1(data, v, 1);
    free(p);
    return 0;
}
