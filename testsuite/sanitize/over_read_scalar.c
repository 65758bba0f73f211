// heap-out-of-bounds: a load past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    int *p = calloc(4, 4);
    HIDE(p);
    taken = p[n - FAULT(0, 1)]; // HERE
    free(p);
    return 0;
}
