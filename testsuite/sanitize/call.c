// undefined-branch: a vector register is expected to live through a call
#include "fault.h"

// No compiler computes it beforehand.
static const char *volatile digits = "12";

int main(void) {
    long x;
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma\n vmv.v.i v9, 5" ::: "v9");
    FAULT(taken = atoi(digits), 0);
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma\n vmv.x.s %0, v9" : "=r"(x));
    DECIDE(x == 5); // HERE
    return 0;
}
