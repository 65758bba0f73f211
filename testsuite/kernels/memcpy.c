// memcpy, memmove and memset with byte vectors in groups of eight; all alignments, overlaps both ways.
#include "rt.h"
#include <riscv_vector.h>

static NOINLINE void copy_rvv(u8 *to, const u8 *from, size_t n) {
    while (n) {
        size_t vl = __riscv_vsetvl_e8m8(n);
        __riscv_vse8_v_u8m8(to, __riscv_vle8_v_u8m8(from, vl), vl);
        to += vl, from += vl, n -= vl;
    }
}
static NOINLINE void move_rvv(u8 *to, const u8 *from, size_t n) {
    if ((u64)to - (u64)from >= n) {
        copy_rvv(to, from, n);
        return;
    }
    while (n) {
        size_t vl = __riscv_vsetvl_e8m4(n);
        n -= vl;
        __riscv_vse8_v_u8m4(to + n, __riscv_vle8_v_u8m4(from + n, vl), vl);
    }
}
static NOINLINE void set_rvv(u8 *to, u8 c, size_t n) {
    vuint8m8_t v = __riscv_vmv_v_x_u8m8(c, __riscv_vsetvlmax_e8m8());
    while (n) {
        size_t vl = __riscv_vsetvl_e8m8(n);
        __riscv_vse8_v_u8m8(to, v, vl);
        to += vl, n -= vl;
    }
}

static void move_scalar(volatile u8 *to, const volatile u8 *from, size_t n) {
    if ((u64)to < (u64)from)
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    else
        while (n--) to[n] = from[n];
}

static u8 a[8192] ALIGNED, b[8192] ALIGNED, c[8192] ALIGNED;

int main(void) {
    static const u8 shift[][2] = {{0, 0}, {0, 1}, {1, 0}, {3, 7}, {8, 8}, {13, 2}};
    RT_SIZES(i, n, __riscv_vsetvlmax_e8m8(), 8000) {
        u64 sum = 0;
        for (size_t k = 0; k < sizeof shift / sizeof *shift; k++) {
            size_t d = shift[k][0], s = shift[k][1];
            rt_seed(n * 8 + k);
            rt_fill(a, n + 64);
            rt_fill(b, n + 64);
            move_scalar(c, b, n + 64);
            copy_rvv(b + d, a + s, n);
            move_scalar(c + d, a + s, n);
            rt_check("memcpy", n, b, c, n + 64);
            move_rvv(b + d, b + s, n);
            move_scalar(c + d, c + s, n);
            rt_check("memmove", n, b, c, n + 64);
            sum += rt_hash(b, n + 64);
            set_rvv(b + d, (u8)(n + k), n);
            for (size_t j = 0; j < n; j++) c[d + j] = (u8)(n + k);
            rt_check("memset", n, b, c, n + 64);
        }
        rt_report("memcpy", i, n, sum);
    }
    return 0;
}
