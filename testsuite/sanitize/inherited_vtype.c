// inherited-vtype: vl and vtype are expected to live through a call
#include "fault.h"

// No compiler computes it beforehand.
static const char *volatile digits = "12";

int main(void) {
    __asm__ volatile("vsetivli zero, 1, e64, m1, ta, ma");
    FAULT(taken = atoi(digits), 0);
    __asm__ volatile("vmv.v.i v9, 5" ::: "v9"); // HERE
    return 0;
}
