// undefined-output: memory from malloc is written out
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = FAULT(malloc(16), calloc(1, 16));
    HIDE(p);
    __riscv_vse32_v_i32m1(p, __riscv_vmv_v_x_i32m1(7, n), n - 1);
    write(1, p, 16); // HERE
    free(p);
    return 0;
}
