// double-free: a block is freed twice
#include "fault.h"

int main(void) {
    int *p = calloc(4, 4);
    int *q = calloc(4, 4);
    free(p);
    p = FAULT(p, q);
    HIDE(p);
    free(p); // HERE
    return 0;
}
