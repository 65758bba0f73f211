// inherited-vtype: vl and vtype are expected to live through a call
#include "fault.h"

int main(void) {
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma");
    FAULT(taken = atoi("12"), 0);
    __asm__ volatile("vmv.v.i v9, 5" ::: "v9"); // HERE
    return 0;
}
