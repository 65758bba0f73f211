// Integer division and remainder, by zero and overflow included, as an error-free decimal printer, a modular
// power and a calendar use them.
#include "rt.h"
#include <riscv_vector.h>

// Quotients and remainders of every pair, interleaved
static NOINLINE void pairs_rvv(const i32 *a, const i32 *b, i32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vint32m2_t x = __riscv_vle32_v_i32m2(a + i, vl), y = __riscv_vle32_v_i32m2(b + i, vl);
        vuint32m2_t ux = __riscv_vreinterpret_v_i32m2_u32m2(x), uy = __riscv_vreinterpret_v_i32m2_u32m2(y);
        vint32m2x4_t t = __riscv_vcreate_v_i32m2x4(
            __riscv_vdiv_vv_i32m2(x, y, vl), __riscv_vrem_vv_i32m2(x, y, vl),
            __riscv_vreinterpret_v_u32m2_i32m2(__riscv_vdivu_vv_u32m2(ux, uy, vl)),
            __riscv_vreinterpret_v_u32m2_i32m2(__riscv_vremu_vv_u32m2(ux, uy, vl)));
        __riscv_vsseg4e32_v_i32m2x4(out + 4 * i, t, vl);
    }
}
// Ten digits of each number, most significant first, by strided byte stores
static NOINLINE void digits_rvv(const u32 *in, u8 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vuint32m4_t v = __riscv_vle32_v_u32m4(in + i, vl);
        for (int k = 9; k >= 0; k--) {
            vuint32m4_t q = __riscv_vdivu_vx_u32m4(v, 10, vl), d = __riscv_vnmsac_vx_u32m4(v, 10, q, vl);
            vuint8m1_t c = __riscv_vncvt_x_x_w_u8m1(__riscv_vncvt_x_x_w_u16m2(d, vl), vl);
            __riscv_vsse8_v_u8m1(out + 10 * i + k, 10, __riscv_vadd_vx_u8m1(c, '0', vl), vl);
            v = q;
        }
    }
}
// in[i]^e modulo m, with products of 64 bits
static NOINLINE void power_rvv(const u32 *in, u32 e, u32 m, u32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t v = __riscv_vremu_vx_u32m2(__riscv_vle32_v_u32m2(in + i, vl), m, vl);
        vuint32m2_t r = __riscv_vmv_v_x_u32m2(1, vl);
        for (u32 k = e; k; k >>= 1) {
            if (k & 1) r = __riscv_vncvt_x_x_w_u32m2(__riscv_vremu_vx_u64m4(__riscv_vwmulu_vv_u64m4(r, v, vl), m, vl), vl);
            v = __riscv_vncvt_x_x_w_u32m2(__riscv_vremu_vx_u64m4(__riscv_vwmulu_vv_u64m4(v, v, vl), m, vl), vl);
        }
        __riscv_vse32_v_u32m2(out + i, r, vl);
    }
}

static NOINLINE void pairs_scalar(const i32 *a, const i32 *b, i32 *out, size_t n) {
    for (size_t i = 0; i < n; i++, out += 4) {
        i32 x = a[i], y = b[i];
        int overflow = x == INT32_MIN && y == -1;
        out[0] = y == 0 ? -1 : overflow ? x : x / y;
        out[1] = y == 0 ? x : overflow ? 0 : x % y;
        out[2] = y == 0 ? -1 : (i32)((u32)x / (u32)y);
        out[3] = y == 0 ? x : (i32)((u32)x % (u32)y);
    }
}
static NOINLINE void digits_scalar(const u32 *in, u8 *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        u32 v = in[i];
        for (int k = 9; k >= 0; k--, v /= 10) out[10 * i + (size_t)k] = (u8)('0' + v % 10);
    }
}
static NOINLINE void power_scalar(const u32 *in, u32 e, u32 m, u32 *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        u64 v = in[i] % m, r = 1;
        for (u32 k = e; k; k >>= 1, v = v * v % m)
            if (k & 1) r = r * v % m;
        out[i] = (u32)r;
    }
}

#define MOST 1100
static i32 a[MOST], b[MOST], c[4 * MOST], d[4 * MOST];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), MOST) {
        u64 sum = 0;
        rt_seed(n);
        rt_fill(a, 4 * n);
        rt_fill(b, 4 * n);
        for (size_t j = 0; j < n; j++) {
            if (j % 7 == 0) b[j] >>= 24;
            if (j % 11 == 3) b[j] = 0;
            if (j % 13 == 5) a[j] = INT32_MIN, b[j] = -1;
        }
        RT_BARRIER();
        pairs_rvv(a, b, c, n);
        pairs_scalar(a, b, d, n);
        rt_check("pairs", n, c, d, 16 * n);
        sum += rt_hash(c, 16 * n);
        digits_rvv((u32 *)a, (u8 *)c, n);
        digits_scalar((u32 *)a, (u8 *)d, n);
        rt_check("digits", n, c, d, 10 * n);
        sum += rt_hash(c, 10 * n);
        power_rvv((u32 *)a, 65537, 2147483647, (u32 *)c, n);
        power_scalar((u32 *)a, 65537, 2147483647, (u32 *)d, n);
        rt_check("power", n, c, d, 4 * n);
        rt_report("divide", i, n, sum + rt_hash(c, 4 * n));
    }
    return 0;
}
