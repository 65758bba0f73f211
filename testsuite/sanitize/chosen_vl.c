// chosen-vl: vl is taken for VLMAX where the machine may choose less
#include "fault.h"

int main(void) {
    long avl;
    __asm__ volatile("vsetvli %0, zero, e32, m1, ta, ma" : "=r"(avl));
    avl = FAULT(avl + 1, avl);
    __asm__ volatile("vsetvli zero, %0, e32, m1, ta, ma" ::"r"(avl)); // HERE
    __asm__ volatile("vmv.v.i v9, 5" ::: "v9");
    return 0;
}
