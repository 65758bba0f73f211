#include "../../testsuite/kernels/rt.h"
int main(void) { return 0; }
