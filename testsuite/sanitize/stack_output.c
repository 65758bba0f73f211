// undefined-output: part of a buffer on the stack was not written
#include "fault.h"

int main(void) {
    char text[32];
    memcpy(text, "undefined", 9);
    write(1, text, FAULT(32, 9)); // HERE
    return 0;
}
