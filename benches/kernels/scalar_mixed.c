// Scalar, in the spirit of CoreMark and our own: a linked list that is searched, reversed and merge-sorted, a
// small matrix, a state machine over text, all hashed by a CRC as they go.
#include "bench.h"
#ifndef REPEAT
#define REPEAT 1500
#endif

// ---- list -----------------------------------------------------------------------------------------------
struct node {
    struct node *next;
    u32 key, data;
};
#define NODES 200
static struct node nodes[NODES];

static struct node *merge_sort(struct node *list, int by_data) {
    for (size_t width = 1;; width *= 2) {
        struct node *rest = list, *head = 0, **end = &head;
        size_t merges = 0;
        while (rest) {
            struct node *a = rest, *b = rest;
            size_t na = 0, nb = width;
            merges++;
            while (na < width && b) na++, b = b->next;
            while (na || (nb && b)) {
                int left = !nb || !b || (na && (by_data ? a->data <= b->data : a->key <= b->key));
                struct node *take = left ? a : b;
                if (left)
                    a = a->next, na--;
                else
                    b = b->next, nb--;
                *end = take;
                end = &take->next;
            }
            rest = b;
        }
        *end = 0;
        list = head;
        if (merges <= 1) return list;
    }
}
static struct node *reverse(struct node *list) {
    struct node *back = 0;
    while (list) {
        struct node *next = list->next;
        list->next = back;
        back = list, list = next;
    }
    return back;
}

// ---- matrix ---------------------------------------------------------------------------------------------
#define SIDE 12
static i16 ma[SIDE][SIDE], mb[SIDE][SIDE];
static i32 mc[SIDE][SIDE];

static i32 matrix(i16 k) {
    i32 sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            i32 v = 0;
            for (int l = 0; l < SIDE; l++) v += ma[i][l] * mb[l][j];
            mc[i][j] = v;
            sum += v > k ? 10 : v >> 5 & 15;
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) ma[i][j] = (i16)(ma[i][j] + k);
    return sum;
}

// ---- state machine: which words are numbers -------------------------------------------------------------
enum state { START, SIGN, INTEGER, DOT, FRACTION, EXPONENT, EXPONENT_SIGN, SCIENTIFIC, BAD, STATES };
static const char text[] = "5012,1234,-874,+122,35.54400,.1234500,-110.700,+0.64400,5.500e+3,-.123e-2,-87e+832,+0.6e-12,"
                           "T0.3e-1F,-T.T++Tq,1T3.4e4z,34.0e-T^";
static u32 counts[STATES];

static enum state step(enum state s, char c) {
    int digit = c >= '0' && c <= '9', sign = c == '+' || c == '-';
    switch (s) {
    case START: return digit ? INTEGER : sign ? SIGN : c == '.' ? DOT : BAD;
    case SIGN: return digit ? INTEGER : c == '.' ? DOT : BAD;
    case INTEGER: return digit ? INTEGER : c == '.' ? FRACTION : c == 'e' ? EXPONENT : BAD;
    case DOT:
    case FRACTION: return digit ? FRACTION : c == 'e' && s == FRACTION ? EXPONENT : BAD;
    case EXPONENT: return digit ? SCIENTIFIC : sign ? EXPONENT_SIGN : BAD;
    case EXPONENT_SIGN:
    case SCIENTIFIC: return digit ? SCIENTIFIC : BAD;
    default: return BAD;
    }
}

static u16 crc(u16 crc, u32 v) {
    for (int i = 0; i < 32; i++, v >>= 1) crc = (u16)((crc >> 1) ^ ((crc ^ v) & 1 ? 0xa001 : 0));
    return crc;
}

int main(void) {
    for (u32 i = 0; i < NODES; i++) nodes[i] = (struct node){i + 1 < NODES ? &nodes[i + 1] : 0, i, (u32)rt_random() & 0xffff};
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) ma[i][j] = (i16)(rt_random() & 127), mb[i][j] = (i16)(rt_random() & 127);
    RT_BARRIER();
    struct node *list = nodes;
    u16 sum = 0xffff;
    for (u32 r = 0; r < REPEAT; r++) {
        u32 hits = 0;
        for (u32 k = 0; k < 20; k++)
            for (struct node *n = list; n; n = n->next)
                if (n->data == ((r * 20 + k) & 0xffff)) hits += n->key;
        list = reverse(list);
        list = merge_sort(list, r & 1);
        list->data = (list->data + r) & 0xffff;
        sum = crc(sum, hits + list->data);
        sum = crc(sum, (u32)matrix((i16)(r & 1 ? 3 : -3)));
        enum state s = START;
        for (const char *p = text; *p; p++) {
            if (*p == ',') {
                counts[s]++;
                s = START;
            } else
                s = step(s, *p);
        }
        sum = crc(sum, counts[r % STATES]);
    }
    bench_result("scalar_mixed", sum);
    return 0;
}
