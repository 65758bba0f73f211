// rvvgen, seed 1116, program 1155

// It prints its output buffers whole, as bytes. Needs -march=rv64gcv_zvfh.

#include <riscv_vector.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

static inline uint64_t opaque(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

static inline void hide(const volatile void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static inline float f32_bits(uint32_t bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

void set_frm(unsigned long mode);
__asm__(".text\n"
        ".globl set_frm\n"
        ".type set_frm, @function\n"
        "set_frm:\n"
        "    csrw frm, a0\n"
        "    ret\n"
        ".size set_frm, . - set_frm\n");

/* Linux may change all vector registers in a system call. */
static __attribute__((noinline)) long syscall3(long number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a7)
                     : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
                       "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
                       "v26", "v27", "v28", "v29", "v30", "v31");
    return a0;
}

static void finish(int status)
{
    for (;;)
        syscall3(94, status, 0, 0);
}

static void write_all(const void *buffer, size_t size)
{
    const char *p = buffer;
    while (size > 0) {
        long done = syscall3(64, 1, (long)p, (long)size);
        if (done <= 0)
            finish(2);
        p += done;
        size -= (size_t)done;
    }
}

/* Compilers may call these. The accesses are volatile lest they be made of themselves. */
__attribute__((used)) void *memset(void *to, int value, size_t n)
{
    volatile unsigned char *d = to;
    while (n-- > 0)
        *d++ = (unsigned char)value;
    return to;
}

__attribute__((used)) void *memmove(void *to, const void *from, size_t n)
{
    volatile unsigned char *d = to;
    const volatile unsigned char *s = from;
    if ((uintptr_t)to < (uintptr_t)from) {
        while (n-- > 0)
            *d++ = *s++;
    } else {
        while (n-- > 0)
            d[n] = s[n];
    }
    return to;
}

__attribute__((used)) void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    volatile unsigned char *d = to;
    const volatile unsigned char *s = from;
    while (n-- > 0)
        *d++ = *s++;
    return to;
}

static uint8_t in0[1] = {0};
static uint8_t in1[1] = {0};
static uint16_t in2[1] = {0};
static uint32_t in3[1] = {0};
static uint16_t in4[1] = {0};
static uint32_t in5[1] = {0};
static int32_t out0[1] = {0};
static uint8_t in6[1] = {0};
static uint32_t in7[1] = {0};
static int32_t out1[1] = {0};
static union { uint32_t bits[1]; float f[1]; } in8 = {{0}};
static const uint16_t in9[1] = {0};
static uint64_t out2[1] = {0};
static uint16_t in10[1] = {0};
static uint16_t in11[1] = {0};
static uint16_t out3[1] = {0};
static uint8_t in12[1] = {0};
static uint16_t out4[1] = {0};
static uint8_t in13[1] = {0};
static uint16_t out5[1] = {0};
static uint32_t in14[1] = {0};
static union { uint16_t bits[1]; _Float16 f[1]; } in15 = {{0}};
static uint32_t in16[1] = {0};
static union { uint16_t bits[1]; _Float16 f[1]; } out6 = {{0}};
static uint64_t in17[1] = {0};
static int32_t in18[1] = {0};
static uint8_t in19[1] = {0};
static uint16_t in20[1] = {0};
static int32_t in21[1] = {0};
static int32_t in22[1] = {0};
static uint8_t in23[1] = {0};
static int32_t in24[1] = {0};
static uint64_t in25[1] = {0};
static const int32_t in26[1] = {0};
static uint8_t in27[1] = {0};
static uint64_t in28[1] = {0};
static int32_t out7[1] = {0};
static uint8_t in29[1] = {0};
static int32_t out8[1] = {0};
static int32_t in30[1] = {0};
static int32_t in31[1] = {0};
static int32_t in32[1] = {0};
static int16_t in33[1] = {0};
static uint8_t in34[1] = {0};
static union { uint16_t bits[1]; _Float16 f[1]; } in35 = {{0}};

static __attribute__((noinline)) vint32m8_t f1(vbool4_t a0, vint32m8_t a1, vint16m4_t a2, vuint16m4_t a3)
{
    vint32m8_t r;
    r = __riscv_vwmaccsu_vv_i32m8_tum(a0, a1, a2, a3, 1);
    return r;
}

static __attribute__((noinline)) void program(void)
{
    size_t p0, s18, s51;
    vbool4_t m1, m12, m13, m17, m25, m28;
    vuint8m2_t v2, v4, v24, v40;
    vuint16m4_t v3, v7, v19, v20, v21, v22, v23, v26, v27;
    vuint32m8_t v5, v11, v15, v30, v33;
    vint32m8_t v6, v9, v10, v14, v41;
    vint16m4_t v8;
    vfloat32m8_t v16;
    vfloat16m4_t v29, v31, v32;
    vuint64m2_t v34, v42, v47;
    vbool32_t m35, m43;
    vuint16mf2_t v36;
    vint32m1_t v37, v38, v39, v44, v45, v46, v48;
    vuint8mf4_t v49;
    uint32_t s50;
    hide(&in0);
    hide(&in1);
    hide(&in2);
    hide(&in3);
    hide(&in4);
    hide(&in5);
    hide(&out0);
    hide(&in6);
    hide(&in7);
    hide(&out1);
    hide(&in8);
    hide(&out2);
    hide(&in10);
    hide(&in11);
    hide(&out3);
    hide(&in12);
    hide(&out4);
    hide(&in13);
    hide(&out5);
    hide(&in14);
    hide(&in15);
    hide(&in16);
    hide(&out6);
    hide(&in17);
    hide(&in18);
    hide(&in19);
    hide(&in20);
    hide(&in21);
    hide(&in22);
    hide(&in23);
    hide(&in24);
    hide(&in25);
    hide(&in27);
    hide(&in28);
    hide(&out7);
    hide(&in29);
    hide(&out8);
    hide(&in30);
    hide(&in31);
    hide(&in32);
    hide(&in33);
    hide(&in34);
    hide(&in35);
    p0 = (size_t)opaque(0x0);
    v33 = __riscv_vle32_v_u32m8(&in16[0], 1);
    v49 = __riscv_vle8_v_u8mf4(&in29[0], 1);
    m35 = __riscv_vlm_v_b32(&in19[0], 1);
    v20 = __riscv_vle16_v_u16m4(&in10[0], 1);
    v7 = __riscv_vle16_v_u16m4(&in4[0], 1);
    v3 = __riscv_vle16_v_u16m4(&in2[0], 1);
    v47 = __riscv_vle64_v_u64m2(&in28[0], 1);
    m1 = __riscv_vlm_v_b4(&in0[0], 1);
    v5 = __riscv_vle32_v_u32m8(&in3[0], 1);
    v19 = __riscv_vle16ff_v_u16m4(&in9[0], &s18, 1);
    v11 = __riscv_vle32_v_u32m8(&in5[0], 1);
    v37 = __riscv_vle32_v_i32m1(&in22[0], 1);
    v22 = __riscv_vle16_v_u16m4(&in11[0], 1);
    out2[0] = (uint64_t)s18;
    v40 = __riscv_vle8_v_u8m2(&in23[0], 1);
    v2 = __riscv_vle8_v_u8m2(&in1[0], 1);
    v41 = __riscv_vloxei8_v_i32m8(&in24[0], v40, 1);
    v6 = __riscv_vle32_v_i32m8(&in31[0], 1);
    v24 = __riscv_vle8_v_u8m2(&in12[0], 1);
    m25 = __riscv_vlm_v_b4(&in13[0], 1);
    v15 = __riscv_vle32_v_u32m8(&in7[0], 1);
    v30 = __riscv_vle32_v_u32m8(&in14[0], 1);
    v16 = __riscv_vle32_v_f32m8(&in8.f[0], 1);
    m28 = __riscv_vmsne_vx_i32m8_b4_m(m25, v6, (int32_t)0, 1);
    m12 = __riscv_vlm_v_b4(&in6[0], 1);
    v31 = __riscv_vluxei32_v_f16m4(&in15.f[0], v30, 1);
    m43 = __riscv_vlm_v_b32(&in27[0], 1);
    v21 = __riscv_vsrl_vx_u16m4_tumu(m1, v7, v20, 0, 1);
    v26 = __riscv_vnmsub_vx_u16m4_mu(m25, v20, (uint16_t)1, v21, 1);
    v36 = __riscv_vle16_v_u16mf2(&in20[0], 1);
    v44 = __riscv_vle32_v_i32m1(&in32[0], 1);
    v34 = __riscv_vle64_v_u64m2(&in17[0], 1);
    v27 = v26;
    v4 = __riscv_vle8_v_u8m2(&in34[0], 1);
    v42 = __riscv_vle64_v_u64m2(&in25[0], 1);
    v45 = __riscv_vloxei64_v_i32m1_mu(m35, v44, &in26[0], v42, 1);
    m17 = __riscv_vmfne_vf_f32m8_b4(v16, f32_bits(0x0), 1);
    v23 = v21;
    __riscv_vsuxei8_v_u16m4(&out4[0], v24, v23, 1);
    s50 = __riscv_vmv_x_s_u32m8_u32(v5);
    if (s50 == (uint32_t)1) {
        m13 = __riscv_vmsleu_vv_u8m2_b4(v2, v4, 1);
    } else {
        m13 = m12;
    }
    for (s51 = 0; s51 < p0; s51++) {
        __riscv_vsoxei16_v_u16m4_m(m17, &out3[0], v22, v21, 1);
    }
    v29 = __riscv_vle16_v_f16m4(&in35.f[0], 1);
    v38 = __riscv_vluxei16_v_i32m1_tu(v37, &in21[0], v36, 1);
    v32 = __riscv_vfnmacc_vv_f16m4_tum(m28, v29, v31, v29, 1);
    v39 = __riscv_vluxei64_v_i32m1_tum(m35, v38, &in18[0], v34, 1);
    v46 = __riscv_vredand_vs_i32m8_i32m1_tu(v39, v41, v45, 1);
    __riscv_vse16_v_u16m4(&out5[0], v27, 1);
    v8 = __riscv_vle16_v_i16m4(&in33[0], 1);
    v48 = v46;
    __riscv_vsuxei8_v_i32m1_m(m43, &out8[0], v49, v48, 1);
    v9 = f1(m1, v6, v8, v3);
    v14 = v9;
    __riscv_vsuxei32_v_i32m8(&out1[0], v15, v14, 1);
    v10 = __riscv_vle32_v_i32m8(&in30[0], 1);
    __riscv_vsoxei32_v_i32m8_m(m13, &out0[0], v11, v10, 1);
    __riscv_vsoxei32_v_f16m4_m(m25, &out6.f[0], v33, v32, 1);
    __riscv_vsuxei64_v_i32m1(&out7[0], v47, v46, 1);
}

static __attribute__((noinline)) void output(void)
{
    hide(&out0);
    write_all(&out0, 4);
    hide(&out1);
    write_all(&out1, 4);
    hide(&out2);
    write_all(&out2, 8);
    hide(&out3);
    write_all(&out3, 2);
    hide(&out4);
    write_all(&out4, 2);
    hide(&out5);
    write_all(&out5, 2);
    hide(&out6);
    write_all(&out6, 2);
    hide(&out7);
    write_all(&out7, 4);
    hide(&out8);
    write_all(&out8, 4);
}

static void run(unsigned long n)
{
    set_frm(0);
    (void)n;
    program();
    output();
}

/* sp is argc, argv[0], argv[1]... */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "    la gp, __global_pointer$\n"
        ".option pop\n"
        "    mv a0, sp\n"
        "    andi sp, sp, -16\n"
        "    call start\n"
        ".size _start, . - _start\n");

__attribute__((used)) void start(long *stack)
{
    long argc = stack[0];
    char **argv = (char **)(stack + 1);
    if (argc > 1) {
        unsigned long n = 0;
        for (const char *s = argv[1]; *s >= '0' && *s <= '9'; s++)
            n = 10 * n + (unsigned long)(*s - '0');
        run(n);
    } else {
        for (unsigned long n = 0; n < 1; n++)
            run(n);
    }
    finish(0);
}
