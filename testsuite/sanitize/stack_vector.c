// undefined-branch: a vector is loaded from a buffer that was filled in part
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    volatile int buffer[4];
    for (size_t i = 0; i < FAULT(n - 1, n); i++) buffer[i] = 1;
    int s = sum(__riscv_vle32_v_i32m1((int *)buffer, n), n);
    DECIDE(s == 4); // HERE
    return 0;
}
