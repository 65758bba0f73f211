// Scalar: heap sort of N·64 words, REPEAT times.
#include "bench.h"
#ifndef REPEAT
#define REPEAT 4
#endif
#define COUNT (64 * N)

static u32 a[COUNT];

static void sift(u32 *heap, size_t at, size_t n) {
    u32 v = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= v) break;
        heap[at] = heap[child];
    }
    heap[at] = v;
}

static NOINLINE void heap_sort(u32 *heap, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sift(heap, i, n);
    for (size_t end = n; end-- > 1;) {
        u32 top = heap[0];
        heap[0] = heap[end];
        heap[end] = top;
        sift(heap, 0, end);
    }
}

int main(void) {
    u64 sum = 0;
    for (int r = 0; r < REPEAT; r++) {
        rt_seed((u64)r);
        for (size_t i = 0; i < COUNT; i++) a[i] = (u32)rt_random();
        RT_BARRIER();
        heap_sort(a, COUNT);
        for (size_t i = 1; i < COUNT; i++)
            if (a[i - 1] > a[i]) rt_fail("order", COUNT, i);
        sum = sum * 31 + a[COUNT / 2] + a[COUNT / 3];
    }
    bench_result("scalar_heapsort", sum);
    return 0;
}
