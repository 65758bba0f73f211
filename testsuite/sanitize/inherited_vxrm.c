// inherited-vxrm: vxrm is used and was not set
#include "fault.h"

int main(void) {
#ifdef MENDED
    __asm__ volatile("csrwi vxrm, 0");
#endif
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma\n vmv.v.i v9, 5" ::: "v9");
    __asm__ volatile("vaadd.vv v9, v9, v9" ::: "v9"); // HERE
    return 0;
}
