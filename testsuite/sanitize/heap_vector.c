// undefined-branch: a vector of memory from malloc, written in part
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = malloc(n * sizeof *p);
    HIDE(p);
    for (size_t i = 0; i < FAULT(n - 1, n); i++) p[i] = 1;
    int s = sum(__riscv_vle32_v_i32m1(p, n), n);
    DECIDE(s == 4); // HERE
    free(p);
    return 0;
}
