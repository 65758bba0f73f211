// undefined-branch: the undefined half of a shifted word
#include "fault.h"

int main(void) {
    vint32m1_t v = __riscv_vmv_v_x_i32m1(6, FAULT(1, 2));
    HIDEV(v);
    long pair = __riscv_vmv_x_s_i64m1_i64(__riscv_vreinterpret_v_i32m1_i64m1(v));
    HIDE(pair);
    DECIDE((pair & 0xffffffff) == 6);
    DECIDE(pair >> 32 == 6); // HERE
    return 0;
}
