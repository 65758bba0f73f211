// The Mandelbrot set in single precision: a loop that runs until every lane of the mask is dead.
#include "rt.h"
#include <riscv_vector.h>

#define LIMIT 48

static NOINLINE void row_rvv(f32 x0, f32 dx, f32 y, u32 *out, size_t n) {
    for (size_t i = 0, vl; i < n; i += vl) {
        vl = __riscv_vsetvl_e32m2(n - i);
        vuint32m2_t id = __riscv_vadd_vx_u32m2(__riscv_vid_v_u32m2(vl), (u32)i, vl);
        vfloat32m2_t cx = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vf_f32m2(__riscv_vfcvt_f_xu_v_f32m2(id, vl), dx, vl), x0, vl);
        vfloat32m2_t zx = __riscv_vfmv_v_f_f32m2(0, vl), zy = zx;
        vuint32m2_t count = __riscv_vmv_v_x_u32m2(0, vl);
        vbool16_t alive = __riscv_vmset_m_b16(vl);
        for (int k = 0; k < LIMIT; k++) {
            vfloat32m2_t xx = __riscv_vfmul_vv_f32m2(zx, zx, vl), yy = __riscv_vfmul_vv_f32m2(zy, zy, vl);
            alive = __riscv_vmfle_vf_f32m2_b16_mu(alive, alive, __riscv_vfadd_vv_f32m2(xx, yy, vl), 4.f, vl);
            if (__riscv_vfirst_m_b16(alive, vl) < 0) break;
            count = __riscv_vadd_vx_u32m2_mu(alive, count, count, 1, vl);
            vfloat32m2_t xy = __riscv_vfmul_vv_f32m2(zx, zy, vl);
            zx = __riscv_vfadd_vv_f32m2_mu(alive, zx, __riscv_vfsub_vv_f32m2(xx, yy, vl), cx, vl);
            zy = __riscv_vfadd_vf_f32m2_mu(alive, zy, __riscv_vfadd_vv_f32m2(xy, xy, vl), y, vl);
        }
        __riscv_vse32_v_u32m2(out + i, count, vl);
    }
}

static NOINLINE void row_scalar(f32 x0, f32 dx, f32 y, u32 *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        f32 cx = (f32)(u32)i * dx + x0, zx = 0, zy = 0;
        u32 count = 0;
        while (count < LIMIT) {
            f32 xx = zx * zx, yy = zy * zy, xy = zx * zy;
            if (!(xx + yy <= 4.f)) break;
            count++;
            zx = (xx - yy) + cx;
            zy = (xy + xy) + y;
        }
        out[i] = count;
    }
}

static u32 a[2048], b[2048];

int main(void) {
    RT_SIZES(i, n, __riscv_vsetvlmax_e32m2(), 600) {
        f32 dx = n > 1 ? 3.f / (f32)(n - 1) : 1.f;
        u64 sum = 0;
        for (int k = 0; k < 4; k++) {
            f32 y = -1.1f + 0.37f * (f32)k;
            row_rvv(-2.1f, dx, y, a, n);
            row_scalar(-2.1f, dx, y, b, n);
            rt_check("mandelbrot", n, a, b, n * 4);
            sum = sum * 31 + rt_hash(a, n * 4);
        }
        rt_report("mandelbrot", i, n, sum);
    }
    // A picture.
    for (int k = 0; k < 23; k++) {
        row_rvv(-2.1f, 3.f / 64, -1.21f + 0.11f * (f32)k, a, 64);
        for (int j = 0; j < 64; j++) rt_putc(" .:-=+*#%@"[a[j] == LIMIT ? 9 : a[j] < 24 ? a[j] / 3 : 8]);
        rt_putc('\n');
    }
    return 0;
}
