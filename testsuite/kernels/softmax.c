// Softmax in single precision: maximum, exponential by range reduction and a polynomial, ordered sum, divide.
#include "rt.h"
#include <riscv_vector.h>

#define LOG2E 0x1.715476p+0f
#define LN2_HI 0x1.62e4p-1f
#define LN2_LO 0x1.7f7d1cp-20f

static inline vfloat32m4_t exp_rvv(vfloat32m4_t x, size_t vl) {
    x = __riscv_vfmax_vf_f32m4(x, -87.f, vl);
    vint32m4_t k = __riscv_vfcvt_x_f_v_i32m4(__riscv_vfmul_vf_f32m4(x, LOG2E, vl), vl);
    vfloat32m4_t kf = __riscv_vfcvt_f_x_v_f32m4(k, vl);
    vfloat32m4_t r = __riscv_vfnmsac_vf_f32m4(x, LN2_HI, kf, vl);
    r = __riscv_vfnmsac_vf_f32m4(r, LN2_LO, kf, vl);
    vfloat32m4_t p = __riscv_vfmv_v_f_f32m4(0x1.6c16c2p-10f, vl); // 1/6!
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(0x1.111112p-7f, vl), vl);
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(0x1.555556p-5f, vl), vl);
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(0x1.555556p-3f, vl), vl);
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(0.5f, vl), vl);
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(1.f, vl), vl);
    p = __riscv_vfmadd_vv_f32m4(p, r, __riscv_vfmv_v_f_f32m4(1.f, vl), vl);
    vint32m4_t e = __riscv_vsll_vx_i32m4(__riscv_vadd_vx_i32m4(k, 127, vl), 23, vl);
    return __riscv_vfmul_vv_f32m4(p, __riscv_vreinterpret_v_i32m4_f32m4(e), vl);
}

static NOINLINE f32 softmax_rvv(const f32 *from, f32 *to, size_t n) {
    vfloat32m1_t most = __riscv_vfmv_s_f_f32m1(-__builtin_inff(), 1);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m8(n - i);
        most = __riscv_vfredmax_vs_f32m8_f32m1(__riscv_vle32_v_f32m8(from + i, vl), most, vl);
    }
    f32 top = __riscv_vfmv_f_s_f32m1_f32(most);
    vfloat32m1_t sum = __riscv_vfmv_s_f_f32m1(0, 1);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m4(n - i);
        vfloat32m4_t e = exp_rvv(__riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(from + i, vl), top, vl), vl);
        __riscv_vse32_v_f32m4(to + i, e, vl);
        sum = __riscv_vfredosum_vs_f32m4_f32m1(e, sum, vl);
    }
    f32 total = __riscv_vfmv_f_s_f32m1_f32(sum);
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m8(n - i);
        __riscv_vse32_v_f32m8(to + i, __riscv_vfdiv_vf_f32m8(__riscv_vle32_v_f32m8(to + i, vl), total, vl), vl);
    }
    return total;
}

static inline f32 exp_scalar(f32 x) {
    x = x > -87.f ? x : -87.f;
    i32 k;
    f32 scaled = x * LOG2E;
    __asm__("fcvt.w.s %0, %1, rne" : "=r"(k) : "f"(scaled));
    f32 kf = (f32)k, r = rt_fmaf(-LN2_HI, kf, x);
    r = rt_fmaf(-LN2_LO, kf, r);
    f32 p = 0x1.6c16c2p-10f;
    p = rt_fmaf(p, r, 0x1.111112p-7f);
    p = rt_fmaf(p, r, 0x1.555556p-5f);
    p = rt_fmaf(p, r, 0x1.555556p-3f);
    p = rt_fmaf(p, r, 0.5f);
    p = rt_fmaf(p, r, 1.f);
    p = rt_fmaf(p, r, 1.f);
    union {
        u32 u;
        f32 f;
    } e = {(u32)(k + 127) << 23};
    return p * e.f;
}
static NOINLINE f32 softmax_scalar(const f32 *from, f32 *to, size_t n) {
    f32 top = -__builtin_inff(), sum = 0;
    for (size_t i = 0; i < n; i++) top = from[i] > top ? from[i] : top;
    for (size_t i = 0; i < n; i++) to[i] = exp_scalar(from[i] - top), sum += to[i];
    for (size_t i = 0; i < n; i++) to[i] /= sum;
    return sum;
}

static f32 a[4096], b[4096], c[4096];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m4(), 4000) {
        rt_seed(n);
        for (size_t j = 0; j < n + 8; j++) a[j] = rt_f32() * (j % 17 ? 6.f : 90.f), b[j] = c[j] = 3;
        RT_BARRIER();
        f32 x = softmax_rvv(a, b, n), y = softmax_scalar(a, c, n);
        if (rt_bits32(x) != rt_bits32(y)) rt_fail("sum", n, rt_bits32(x));
        rt_check("softmax", n, b, c, (n + 8) * 4);
        rt_report("softmax", i, n, rt_hash(b, n * 4) ^ rt_bits32(x));
    }
    return 0;
}
