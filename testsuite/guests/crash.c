/* Ends by the signal whose number is the argument, or by a null pointer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    printf("before\n");
    fflush(stdout);
    if (argc > 1) raise(atoi(argv[1]));
    else *(volatile int *)8 = 1;
    printf("after\n");
    return 3;
}
