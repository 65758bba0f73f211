// reserved: vsetvli x0, x0 that changes VLMAX
#include "fault.h"

int main(void) {
    __asm__ volatile("vsetivli zero, 1, e32, m1, ta, ma");
#ifdef MENDED
    __asm__ volatile("vsetvli zero, zero, e64, m2, ta, ma");
#else
    __asm__ volatile("vsetvli zero, zero, e64, m1, ta, ma"); // HERE
#endif
    return 0;
}
