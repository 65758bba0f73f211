// gcc 14.2 to 16.2, -march=rv64gcv -O2: f returns with frm = 2, and the vfsub rounds down. See gcc-frm-restore.md.
#include <riscv_vector.h>
void f(double *p, float *q, long *a, size_t vl) {
  long b = a[0], c = a[1], d = a[2], e = a[3], g = a[4], h = a[5], i = a[6], j = a[7], k = a[8], l = a[9], m = a[10];
  long n = a[11], o = a[12], r = a[13], s = a[14], t = a[15], u = a[16], w = a[17], x = a[18], y = a[19], z = a[20], A = a[21];
  vfloat64m1_t v = __riscv_vle64_v_f64m1(p, vl);
  vfloat32m1_t V = __riscv_vle32_v_f32m1(q, vl);
  if (vl > 3) asm volatile("nop");
  v = __riscv_vfadd_vv_f64m1_rm(v, v, __RISCV_FRM_RDN, vl);
  if (vl == 7)
    asm volatile("" ::"r"(b), "r"(c), "r"(d), "r"(e), "r"(g), "r"(h), "r"(i), "r"(j), "r"(k), "r"(l), "r"(m), "r"(n),
                 "r"(o), "r"(r), "r"(s), "r"(t), "r"(u), "r"(w), "r"(x), "r"(y), "r"(z), "r"(A));
  V = __riscv_vfsub_vv_f32m1(V, V, vl);
  __riscv_vse64_v_f64m1(p, v, vl);
  __riscv_vse32_v_f32m1(q, V, vl);
  a[0] = A, a[1] = b, a[2] = c, a[3] = d, a[4] = e, a[5] = g, a[6] = h, a[7] = i, a[8] = j, a[9] = k, a[10] = l;
  a[11] = m, a[12] = n, a[13] = o, a[14] = r, a[15] = s, a[16] = t, a[17] = u, a[18] = w, a[19] = x, a[20] = y, a[21] = z;
}
