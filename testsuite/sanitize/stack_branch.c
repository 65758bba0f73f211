// undefined-branch: a local variable that nothing set
#include "fault.h"

int main(void) {
    volatile int x[4];
    x[0] = 1;
    FAULT(0, x[1] = 2);
    DECIDE(x[1] == 2); // HERE
    return 0;
}
