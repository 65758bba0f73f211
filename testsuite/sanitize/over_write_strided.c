// heap-out-of-bounds: a strided store past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(16, 4);
    HIDE(p);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    __riscv_vsse32_v_i32m1(p, FAULT(24, 16), v, n); // HERE
    free(p);
    return 0;
}
