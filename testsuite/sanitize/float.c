// undefined-branch: a sum of floating-point tail elements
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    vfloat32m1_t v = __riscv_vfmv_v_f_f32m1(1, FAULT(3, 4));
    HIDEV(v);
    vfloat32m1_t zero = __riscv_vfmv_v_f_f32m1(0, 1);
    float s = __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m1_f32m1(v, zero, n));
    DECIDE(s == 4); // HERE
    return 0;
}
