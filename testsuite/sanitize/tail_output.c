// undefined-output: tail elements are stored and written
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int out[4];
    vint32m1_t v = __riscv_vle32_v_i32m1(data, FAULT(3, 4));
    HIDEV(v);
    __riscv_vse32_v_i32m1(out, v, n);
    write(1, out, sizeof out); // HERE
    return 0;
}
