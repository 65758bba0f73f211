// What the planted faults have in common. Each program has one fault, at the line that says HERE; with -DMENDED it has
// none. Its first line names the kind of finding.
#include <riscv_vector.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MENDED
#define FAULT(wrong, right) (right)
#else
#define FAULT(wrong, right) (wrong)
#endif

// The compiler is not to know what it is.
#define HIDE(x) __asm__ volatile("" : "+r"(x))
#define HIDEV(v) __asm__ volatile("" : "+vr"(v))

// A branch on it.
static volatile int taken;
#define DECIDE(x) do { if (x) taken = taken + 1; } while (0)

static int data[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static inline int sum(vint32m1_t v, size_t vl) {
    vint32m1_t zero = __riscv_vmv_v_x_i32m1(0, __riscv_vsetvlmax_e32m1());
    return __riscv_vmv_x_s_i32m1_i32(__riscv_vredsum_vs_i32m1_i32m1(v, zero, vl));
}
