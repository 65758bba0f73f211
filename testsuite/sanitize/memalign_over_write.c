// heap-out-of-bounds: a vector store past a block of posix_memalign
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    void *p;
    if (posix_memalign(&p, 64, 48)) return 1;
    HIDE(p);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, n);
    __riscv_vse32_v_i32m1((int *)p + FAULT(9, 8), v, n); // HERE
    free(p);
    return 0;
}
