// undefined-branch: what realloc adds is read
#include "fault.h"

int main(void) {
    char *p = calloc(1, 8);
    p = realloc(p, 64);
    HIDE(p);
    FAULT(0, p[40] = 0);
    DECIDE(p[40] == 0); // HERE
    free(p);
    return 0;
}
