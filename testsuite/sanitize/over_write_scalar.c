// heap-out-of-bounds: a store past the end of a block
#include "fault.h"

int main(void) {
    size_t n = 4;
    HIDE(n);
    char *p = calloc(4, 1);
    HIDE(p);
    p[n - FAULT(0, 1)] = 0; // HERE
    HIDE(p);
    free(p);
    return 0;
}
