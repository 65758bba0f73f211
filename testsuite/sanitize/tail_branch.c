// undefined-branch: a sum over more elements than were loaded
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vint32m1_t v = __riscv_vle32_v_i32m1(data, FAULT(3, 4));
    HIDEV(v);
    int s = sum(v, n);
    DECIDE(s == 6); // HERE
    return 0;
}
