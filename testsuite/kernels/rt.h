// The run-time of the guest kernels: start code, output, exit, sizes, data. No libc.
//
// Two environments: a Linux process (system calls write, exit and, for the guard page, mmap), or with -DHTIF a
// bare-metal machine-mode program for Spike and `rvvsim --bare` (link with htif.ld).
#ifndef RT_H
#define RT_H
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;

#define NOINLINE __attribute__((noinline))
#define ALIGNED __attribute__((aligned(64)))

// Keeps the compiler from knowing what is in memory.
#define RT_BARRIER() __asm__ volatile("" ::: "memory")

int main(void);

// The compilers call these four whatever one tells them. Volatile, so that none becomes a call to itself.
__attribute__((used)) void *memcpy(void *to, const void *from, size_t n) {
    volatile u8 *d = to;
    const volatile u8 *s = from;
    while (n--) *d++ = *s++;
    return to;
}
__attribute__((used)) void *memmove(void *to, const void *from, size_t n) {
    volatile u8 *d = to;
    const volatile u8 *s = from;
    if ((u64)d < (u64)s)
        while (n--) *d++ = *s++;
    else
        while (n--) d[n] = s[n];
    return to;
}
__attribute__((used)) void *memset(void *to, int c, size_t n) {
    volatile u8 *d = to;
    while (n--) *d++ = (u8)c;
    return to;
}
__attribute__((used)) int memcmp(const void *a, const void *b, size_t n) {
    const volatile u8 *x = a, *y = b;
    for (; n; n--, x++, y++) {
        int d = *x - *y;
        if (d) return d;
    }
    return 0;
}

#ifdef HTIF
// ---- bare metal ------------------------------------------------------------------------------------
volatile u64 tohost __attribute__((section(".tohost"), aligned(64), used));
volatile u64 fromhost __attribute__((section(".tohost"), aligned(64), used));
__attribute__((used, aligned(16))) static u8 rt_stack[1 << 20];

static void rt_write(const char *buffer, size_t n) {
    static volatile u64 call[8] ALIGNED;
    call[0] = 64;
    call[1] = 1;
    call[2] = (u64)buffer;
    call[3] = n;
    __asm__ volatile("fence" ::: "memory");
    tohost = (u64)call;
    while (!fromhost) __asm__ volatile("" ::: "memory");
    fromhost = 0;
}

__attribute__((noreturn)) static void rt_halt(int code) {
    for (;;) tohost = ((u64)(u32)code << 1) | 1;
}

// A trap ends the program with 64 + mcause.
__attribute__((used, noreturn)) static void rt_trapped(u64 cause) { rt_halt(64 + (int)(cause & 63)); }

__asm__(".section .text.start,\"ax\",@progbits\n"
        ".globl _start\n"
        "_start:\n"
        ".option push\n.option norelax\n"
        "  la gp, __global_pointer$\n"
        ".option pop\n"
        "  la t0, 1f\n"
        "  csrw mtvec, t0\n"
        "  li t0, 0x6600\n" // mstatus.FS and .VS: dirty
        "  csrs mstatus, t0\n"
        "  csrw fcsr, zero\n"
        "  csrw vcsr, zero\n"
        "  la sp, rt_stack\n"
        "  li t0, 1 << 20\n"
        "  add sp, sp, t0\n"
        "  call rt_begin\n"
        ".balign 4\n"
        "1: csrr a0, mcause\n"
        "  la sp, rt_stack\n"
        "  li t0, 1 << 20\n"
        "  add sp, sp, t0\n"
        "  call rt_trapped\n"
        ".text\n");
#else
// ---- Linux -----------------------------------------------------------------------------------------
static long rt_syscall(long number, long a, long b, long c, long d, long e, long f) {
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

static void rt_write(const char *buffer, size_t n) {
    while (n) {
        long done = rt_syscall(64, 1, (long)buffer, (long)n, 0, 0, 0);
        if (done <= 0) return;
        buffer += done;
        n -= (size_t)done;
    }
}

__attribute__((noreturn)) static void rt_halt(int code) {
    for (;;) rt_syscall(94, code, 0, 0, 0, 0, 0);
}

__asm__(".section .text.start,\"ax\",@progbits\n"
        ".globl _start\n"
        "_start:\n"
        ".option push\n.option norelax\n"
        "  la gp, __global_pointer$\n"
        ".option pop\n"
        "  andi sp, sp, -16\n"
        "  call rt_begin\n"
        ".text\n");
#endif

// ---- output ----------------------------------------------------------------------------------------
static char rt_buffer[8192];
static size_t rt_used;
static int rt_failures;

static inline void rt_flush(void) {
    if (rt_used) rt_write(rt_buffer, rt_used);
    rt_used = 0;
}
static inline void rt_putc(char c) {
    if (rt_used == sizeof rt_buffer) rt_flush();
    rt_buffer[rt_used++] = c;
}
static inline void rt_puts(const char *s) {
    while (*s) rt_putc(*s++);
}
static inline void rt_hex(u64 v, int digits) {
    while (digits--) rt_putc("0123456789abcdef"[(v >> (4 * digits)) & 15]);
}
static inline void rt_dec(u64 v) {
    char s[20];
    int n = 0;
    do s[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n) rt_putc(s[--n]);
}
static inline void rt_int(i64 v) {
    if (v < 0) rt_putc('-');
    rt_dec(v < 0 ? -(u64)v : (u64)v);
}
// `bytes` as hex digits and a newline.
static inline void rt_bytes(const char *what, const void *bytes, size_t n) {
    rt_puts(what);
    for (size_t i = 0; i < n; i++) rt_hex(((const u8 *)bytes)[i], 2);
    rt_putc('\n');
}

// The kernel and its scalar twin differ: where, at which size. The program goes on and exits with 1.
static inline void rt_fail(const char *what, u64 n, u64 where) {
    rt_failures++;
    rt_puts("MISMATCH ");
    rt_puts(what);
    rt_puts(" n=");
    rt_dec(n);
    rt_puts(" at ");
    rt_dec(where);
    rt_putc('\n');
}

__attribute__((used, noreturn)) static void rt_begin(void) {
    int code = main();
    rt_flush();
    rt_halt(rt_failures ? 1 : code);
}

// ---- sizes -----------------------------------------------------------------------------------------
// First these, whose results are printed; then sizes around VLMAX, whose results are only checked against
// the scalar twin, since they would make the output depend on VLEN.
static const u16 rt_fixed_sizes[] = {0,  1,  2,  3,   4,   5,   7,   8,   9,   15,  16,   17,   31,   32,   33,   47,  63,
                                     64, 65, 95, 127, 128, 129, 255, 256, 257, 511, 512,  513,  1000, 1023, 1024, 1025, 3001};
#define RT_FIXED (sizeof rt_fixed_sizes / sizeof *rt_fixed_sizes)

static inline int rt_size(size_t i, size_t vlmax, size_t *n) {
    if (i < RT_FIXED) {
        *n = rt_fixed_sizes[i];
        return 1;
    }
    switch (i - RT_FIXED) {
    case 0: *n = vlmax - 1; return 1;
    case 1: *n = vlmax; return 1;
    case 2: *n = vlmax + 1; return 1;
    case 3: *n = vlmax + vlmax / 2; return 1;
    case 4: *n = 2 * vlmax - 1; return 1;
    case 5: *n = 2 * vlmax; return 1;
    case 6: *n = 2 * vlmax + 1; return 1;
    case 7: *n = 3 * vlmax + 3; return 1;
    default: return 0;
    }
}

// for each size up to `most`: `i` counts, `n` is the size.
#define RT_SIZES(i, n, vlmax, most) \
    for (size_t i = 0, n = 0; rt_size(i, vlmax, &n); i++) \
        if (n <= (most))

// A line of output for size number `i`, if that one is printed.
static inline void rt_report(const char *what, size_t i, u64 n, u64 value) {
    if (i >= RT_FIXED) return;
    rt_puts(what);
    rt_puts(" n=");
    rt_dec(n);
    rt_putc(' ');
    rt_hex(value, 16);
    rt_putc('\n');
}

// ---- data ------------------------------------------------------------------------------------------
static u64 rt_state = 0x9e3779b97f4a7c15u;

static inline void rt_seed(u64 seed) { rt_state = seed * 0x9e3779b97f4a7c15u + 0x1234567u; }
// splitmix64
static inline u64 rt_random(void) {
    u64 z = rt_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static NOINLINE __attribute__((unused)) void rt_fill(void *to, size_t n) {
    u8 *d = to;
    for (size_t i = 0; i < n; i++) d[i] = (u8)rt_random();
    RT_BARRIER();
}
// Uniform in [-1, 1), on a grid of 2^-23.
static inline f32 rt_f32(void) { return (f32)((i32)(rt_random() & 0xffffff) - 0x800000) * 0x1p-23f; }
static inline f64 rt_f64(void) { return (f64)((i64)(rt_random() >> 11) - (1ll << 52)) * 0x1p-52; }

// FNV-1a
static NOINLINE __attribute__((unused)) u64 rt_hash(const void *bytes, size_t n) {
    const u8 *s = bytes;
    u64 h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ s[i]) * 0x100000001b3u;
    return h;
}

// Compares what kernel and twin have left in their buffers; past the end too, if the caller counts that in.
static NOINLINE __attribute__((unused)) void rt_check(const char *what, u64 n, const void *got, const void *want,
                                                      size_t bytes) {
    const u8 *a = got, *b = want;
    RT_BARRIER();
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            rt_fail(what, n, i);
            return;
        }
}

static inline u32 rt_bits32(f32 v) {
    union {
        f32 f;
        u32 u;
    } c = {v};
    return c.u;
}
static inline u64 rt_bits64(f64 v) {
    union {
        f64 f;
        u64 u;
    } c = {v};
    return c.u;
}
// One rounding, at every optimisation level and without libm.
static inline f32 rt_fmaf(f32 a, f32 b, f32 c) {
    f32 d;
    __asm__("fmadd.s %0, %1, %2, %3" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}
static inline f64 rt_fma(f64 a, f64 b, f64 c) {
    f64 d;
    __asm__("fmadd.d %0, %1, %2, %3" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

// A buffer of at least `n` bytes whose end is the end of mapped memory: reading past it is a fault.
// On bare metal there is no page to take away, and it is a plain buffer.
static inline __attribute__((unused)) u8 *rt_guarded_end(size_t n) {
#ifdef HTIF
    static u8 plain[1 << 16];
    (void)n;
    return plain + sizeof plain;
#else
    size_t size = (n + 4095) & ~(size_t)4095;
    // PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS
    long at = rt_syscall(222, 0, (long)(size + 4096), 3, 0x22, -1, 0);
    if (at < 0 && at > -4096) {
        rt_puts("mmap failed\n");
        rt_flush();
        rt_halt(2);
    }
    rt_syscall(215, at + (long)size, 4096, 0, 0, 0, 0); // munmap
    return (u8 *)at + size;
#endif
}
#endif
