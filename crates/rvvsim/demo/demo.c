// What `rvvsim --demo` runs: the Mandelbrot set, as many points at a time as the vector registers hold.
// demo.elf beside this file is it, compiled:
//   clang-19 --target=riscv64-linux-gnu -march=rv64gcv -O2 -ffreestanding -nostdlib -static -fuse-ld=lld-19 \
//       -Wl,--build-id=none -s -I testsuite/kernels -o crates/rvvsim/demo/demo.elf crates/rvvsim/demo/demo.c
#include "rt.h"
#include <riscv_vector.h>

#define WIDTH 72
#define HEIGHT 24
#define LIMIT 48

static void text(const char *s) {
    while (*s) rt_putc(*s++);
}

static void number(size_t n) {
    if (n >= 10) number(n / 10);
    rt_putc((char)('0' + n % 10));
}

int main(void) {
    static u32 count[WIDTH];
    size_t strips = 0;
    for (int row = 0; row < HEIGHT; row++) {
        f32 y = -1.2f + 2.4f * (f32)row / (HEIGHT - 1);
        for (size_t i = 0, vl; i < WIDTH; i += vl, strips++) {
            vl = __riscv_vsetvl_e32m2(WIDTH - i);
            vfloat32m2_t n = __riscv_vfcvt_f_xu_v_f32m2(__riscv_vadd_vx_u32m2(__riscv_vid_v_u32m2(vl), (u32)i, vl), vl);
            vfloat32m2_t cx = __riscv_vfadd_vf_f32m2(__riscv_vfmul_vf_f32m2(n, 3.0f / WIDTH, vl), -2.2f, vl);
            vfloat32m2_t zx = __riscv_vfmv_v_f_f32m2(0, vl), zy = zx;
            vuint32m2_t k = __riscv_vmv_v_x_u32m2(0, vl);
            vbool16_t alive = __riscv_vmset_m_b16(vl);
            for (int step = 0; step < LIMIT; step++) {
                vfloat32m2_t xx = __riscv_vfmul_vv_f32m2(zx, zx, vl), yy = __riscv_vfmul_vv_f32m2(zy, zy, vl);
                alive = __riscv_vmfle_vf_f32m2_b16_mu(alive, alive, __riscv_vfadd_vv_f32m2(xx, yy, vl), 4.f, vl);
                if (__riscv_vfirst_m_b16(alive, vl) < 0) break;
                k = __riscv_vadd_vx_u32m2_mu(alive, k, k, 1, vl);
                vfloat32m2_t xy = __riscv_vfmul_vv_f32m2(zx, zy, vl);
                zx = __riscv_vfadd_vv_f32m2_mu(alive, zx, __riscv_vfsub_vv_f32m2(xx, yy, vl), cx, vl);
                zy = __riscv_vfadd_vf_f32m2_mu(alive, zy, __riscv_vfadd_vv_f32m2(xy, xy, vl), y, vl);
            }
            __riscv_vse32_v_u32m2(count + i, k, vl);
        }
        for (int j = 0; j < WIDTH; j++) rt_putc(" .:-=+*#%@"[count[j] == LIMIT ? 9 : count[j] < 24 ? count[j] / 3 : 8]);
        rt_putc('\n');
    }
    text("VLEN ");
    number(8 * __riscv_vlenb());
    text(": ");
    number(strips);
    text(" strips. Try --vlen 1024, --tail ones --mask ones, --vl half, --stats or --trace.\n");
    return 0;
}
