// undefined-branch: memory from malloc is read before it is written
#include "fault.h"

int main(void) {
    int *p = malloc(40);
    HIDE(p);
    FAULT(0, p[3] = 1);
    DECIDE(p[3] == 1); // HERE
    free(p);
    return 0;
}
