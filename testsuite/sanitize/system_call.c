// undefined-branch: a vector register is expected to live through a system call
#include "fault.h"

int main(void) {
    register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 172;
    long x;
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma\n vmv.v.i v9, 5" ::: "v9");
#ifndef MENDED
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
#endif
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma\n vmv.x.s %0, v9" : "=r"(x) : "r"(a0), "r"(a7));
    DECIDE(x == 5); // HERE
    return 0;
}
