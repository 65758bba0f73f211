// chosen-vl: vl is taken for VLMAX where the machine may choose less
#include "fault.h"

static int fives[65536 / 32];

int main(void) {
    long avl;
    __asm__ volatile("vsetvli %0, zero, e32, m1, ta, ma" : "=r"(avl));
    avl = FAULT(avl + 1, avl);
    __asm__ volatile("vsetvli zero, %0, e32, m1, ta, ma" ::"r"(avl)); // HERE
    __asm__ volatile("vmv.v.i v9, 5\n\tvse32.v v9, (%0)" ::"r"(fives) : "v9", "memory");
    return 0;
}
