// use-after-free: a store to a block that was freed
#include "fault.h"

int main(void) {
    int *p = calloc(4, 4);
    int *q = calloc(4, 4);
    free(p);
    p = FAULT(p, q);
    HIDE(p);
    p[1] = 1; // HERE
    HIDE(p);
    free(q);
    return 0;
}
