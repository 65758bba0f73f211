// Scalar, in the spirit of Dhrystone and our own: records by pointer, strings compared and copied, calls that
// are not inlined, an array of two dimensions, a few branches.
#include "bench.h"
#ifndef REPEAT
#define REPEAT 1000000
#endif

struct record {
    struct record *link;
    int kind, number;
    char name[32];
};
static struct record one, two;
static int table[50][50], line[50];
static char letter;
static volatile int flag;

static NOINLINE int same(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}
static NOINLINE void copy(char *to, const char *from) {
    while ((*to++ = *from++)) {}
}
static NOINLINE int kind_of(char a, char b) {
    if (a == b) return 1;
    letter = a;
    return 0;
}
static NOINLINE void update(struct record *r, int v) {
    struct record *next = r->link;
    *next = *r;
    r->number = 5;
    next->number = r->number + v;
    next->link = r->link;
    if (next->kind == 0) {
        next->number = 6 + v % 3;
        copy(next->name, "A STRING OF TWENTY-SEVEN   ");
    } else
        next->name[0] = r->name[1];
    next->kind ^= 1;
}
static NOINLINE int place(int (*t)[50], int *l, int i, int v) {
    int at = i + 5;
    l[at] = v;
    l[at + 1] = l[at];
    l[at + 30] = at;
    for (int k = at; k <= at + 1; k++) t[at][k] = at + v;
    t[at][at - 1]++;
    t[at + 20][at] = l[at];
    return t[at][at];
}

int main(void) {
    u64 sum = 0;
    char a[32], b[32];
    one.link = two.link = &two;
    copy(one.name, "SOME OTHER STRING, IN FACT");
    copy(a, "THE FIRST STRING OF THE LOOP");
    for (int r = 0; r < REPEAT; r++) {
        copy(b, r & 1 ? "THE FIRST STRING OF THE LOOP" : "THE OTHER STRING OF THE LOOP");
        int x = same(a, b), y = r % 7 + 3, z = 0;
        while (x < y) z = 5 * x - y, x++;
        z += place(table, line, r % 10, z);
        update(&one, z);
        for (char c = 'A'; c <= 'B' + (r & 1); c++)
            if (kind_of(c, 'C')) z += flag + 7;
        sum = sum * 31 + (u64)(u32)(z * y / (x + 1) - (7 * (z - y)) + two.number + letter);
    }
    bench_result("scalar_records", sum);
    return 0;
}
