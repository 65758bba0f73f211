//! What surrounds the programs: start code, system calls, the few functions they use.

use super::{Language, Mode};
use rvv_intrinsics::Elem;
use std::fmt::Write;

/// The header that programs of plain C do without.
pub const INTRINSICS_HEADER: &str = "#include <riscv_vector.h>\n";

/// What a file that changes the dynamic rounding mode has, and others do not.
pub const FENV_ACCESS: &str = "#pragma STDC FENV_ACCESS ON";

pub(super) fn includes(out: &mut String, libc: bool, sets_frm: bool, plain: bool) {
    if !plain {
        out.push_str(INTRINSICS_HEADER);
    }
    out.push_str("#include <stddef.h>\n#include <stdint.h>\n");
    if libc {
        out.push_str("#include <stdio.h>\n#include <stdlib.h>\n");
    }
    out.push_str(
        "
#pragma GCC diagnostic ignored \"-Wunused-variable\"
#pragma GCC diagnostic ignored \"-Wunused-function\"
#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"

",
    );
    if sets_frm {
        // Only with it do intrinsics without _rm round by the dynamic mode (intrinsic specification,
        // "Implicit FP rounding mode intrinsics"). GCC has -frounding-math instead.
        writeln!(out, "#ifdef __clang__\n{FENV_ACCESS}\n#endif\n").unwrap();
    }
}

/// Nothing is known of a value that went through `opaque`, nor of memory that went through `hide`.
const OPAQUE: &str = r#"static inline uint64_t opaque(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

static inline void hide(const volatile void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

"#;

/// Sets the dynamic rounding mode. Not a function the compiler can look into, as fesetround is none.
const SET_FRM: &str = r#"void set_frm(unsigned long mode);
__asm__(".text\n"
        ".globl set_frm\n"
        ".type set_frm, @function\n"
        "set_frm:\n"
        "    csrw frm, a0\n"
        "    ret\n"
        ".size set_frm, . - set_frm\n");

"#;

const SYSCALLS: &str = r#"/* Linux may change all vector registers in a system call. */
static __attribute__((noinline)) long syscall3(long number, long a, long b, long c)
{
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a1), "r"(a2), "r"(a7)
                     : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
                       "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
                       "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
    return a0;
}

static void finish(int status)
{
    for (;;)
        syscall3(94, status, 0, 0);
}

static void write_all(const void *buffer, size_t size)
{
    const char *p = (const char *)buffer;
    while (size > 0) {
        long done = syscall3(64, 1, (long)p, (long)size);
        if (done <= 0)
            finish(2);
        p += done;
        size -= (size_t)done;
    }
}

/* Compilers may call these. The accesses are volatile lest they be made of themselves; a C library's
   come first. */
__attribute__((used, weak)) void *memset(void *to, int value, size_t n)
{
    volatile unsigned char *d = (volatile unsigned char *)to;
    while (n-- > 0)
        *d++ = (unsigned char)value;
    return to;
}

__attribute__((used, weak)) void *memmove(void *to, const void *from, size_t n)
{
    volatile unsigned char *d = (volatile unsigned char *)to;
    const volatile unsigned char *s = (const volatile unsigned char *)from;
    if ((uintptr_t)to < (uintptr_t)from) {
        while (n-- > 0)
            *d++ = *s++;
    } else {
        while (n-- > 0)
            d[n] = s[n];
    }
    return to;
}

__attribute__((used, weak)) void *memcpy(void *to, const void *from, size_t n)
{
    volatile unsigned char *d = (volatile unsigned char *)to;
    const volatile unsigned char *s = (const volatile unsigned char *)from;
    while (n-- > 0)
        *d++ = *s++;
    return to;
}

__attribute__((used, weak)) int memcmp(const void *left, const void *right, size_t n)
{
    const volatile unsigned char *a = (const volatile unsigned char *)left;
    const volatile unsigned char *b = (const volatile unsigned char *)right;
    for (size_t i = 0; i < n; i++) {
        unsigned char x = a[i], y = b[i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

__attribute__((used, weak)) int bcmp(const void *left, const void *right, size_t n)
{
    return memcmp(left, right, n);
}

__attribute__((used, weak)) size_t wcslen(const __WCHAR_TYPE__ *text)
{
    const volatile __WCHAR_TYPE__ *s = (const volatile __WCHAR_TYPE__ *)text;
    size_t n = 0;
    while (s[n] != 0)
        n++;
    return n;
}

__attribute__((used, weak)) size_t strlen(const char *text)
{
    const volatile char *s = (const volatile char *)text;
    size_t n = 0;
    while (s[n] != 0)
        n++;
    return n;
}

"#;

const LIBC_WRITE: &str = r#"static void finish(int status)
{
    fflush(stdout);
    exit(status);
}

static void write_all(const void *buffer, size_t size)
{
    if (fwrite(buffer, 1, size, stdout) != size)
        finish(2);
}

"#;

/// Text for people. In its own functions, so that both with and without a C library the rest is the same.
const TEXT: &str = r#"static void put(const char *s)
{
    size_t n = 0;
    /* volatile: else it is a strlen to gcc, and there may be none. */
    while (((const volatile char *)s)[n] != 0)
        n++;
    write_all(s, n);
}

static void put_hex(uint64_t x, size_t bytes)
{
    char digits[18] = "0x";
    for (size_t i = 0; i < 2 * bytes; i++)
        digits[2 + i] = "0123456789abcdef"[(x >> (4 * (2 * bytes - 1 - i))) & 15];
    write_all(digits, 2 + 2 * bytes);
}

static void put_dec(uint64_t x)
{
    char digits[20];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    write_all(digits + n, sizeof digits - n);
}

static uint64_t element(const void *p, size_t at, size_t bytes)
{
    uint64_t x = 0;
    for (size_t i = 0; i < bytes; i++)
        x |= (uint64_t)((const volatile uint8_t *)p)[at * bytes + i] << (8 * i);
    return x;
}

static unsigned long vlenb(void)
{
    unsigned long n;
    __asm__("csrr %0, vlenb" : "=r"(n));
    return n;
}

static const uint8_t *known(const uint8_t *table)
{
    if (table == 0) {
        put("nothing is known of this VLEN: ");
        put_dec(8 * vlenb());
        put("\n");
        finish(77);
    }
    return table;
}

"#;

const PARTS: &str = r#"struct part {
    const void *buffer;
    size_t size;
};

static __attribute__((noinline)) void write_parts(const struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hide(parts[i].buffer);
        write_all(parts[i].buffer, parts[i].size);
    }
}

"#;

const PRINT: &str = r#"/* The table: what is expected, then a set bit for each that is defined. */
static void print(const char *name, const void *buffer, size_t len, size_t bytes, const uint8_t *table)
{
    uint64_t all = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
    for (size_t i = 0; i < len; i++) {
        put(name);
        put("[");
        put_dec(i);
        put("] = ");
        if (table != 0 && element(table + len * bytes, i, bytes) != all)
            put("-");
        else
            put_hex(element(buffer, i, bytes), bytes);
        put("\n");
    }
}

"#;

const CHECK: &str = r#"/* The table: what is expected, then a set bit for each that is defined. */
static void check(const char *name, const void *buffer, size_t len, size_t bytes, const uint8_t *table)
{
    known(table);
    for (size_t i = 0; i < len; i++) {
        uint64_t got = element(buffer, i, bytes);
        uint64_t expected = element(table, i, bytes);
        uint64_t defined = element(table + len * bytes, i, bytes);
        if (((got ^ expected) & defined) == 0)
            continue;
        put(name);
        put("[");
        put_dec(i);
        put("]: expected ");
        put_hex(expected, bytes);
        put(", got ");
        put_hex(got, bytes);
        put(" (defined bits ");
        put_hex(defined, bytes);
        put(", VLEN ");
        put_dec(8 * vlenb());
        put(")\n");
        finish(1);
    }
}

"#;

const SUM: &str = r#"/* The table: what is expected, then a set bit for each that is defined.
   Only defined bits count. */
static void sum(const char *name, const void *buffer, size_t size, const uint8_t *table)
{
    uint64_t h = 0xcbf29ce484222325ul;
    known(table);
    for (size_t i = 0; i < size; i++)
        h = (h ^ (((const volatile uint8_t *)buffer)[i] & table[size + i])) * 0x100000001b3ul;
    put(name);
    put(" ");
    put_hex(h, 8);
    put("\n");
}

"#;

pub(super) fn helpers(out: &mut String, mode: Mode, libc: bool, floats: &[Elem], language: Language) {
    // Assembly calls some of them by name.
    if language == Language::Cpp {
        out.push_str("extern \"C\" {\n\n");
    }
    out.push_str(OPAQUE);
    float_bits(out, floats);
    out.push_str(SET_FRM);
    out.push_str(if libc { LIBC_WRITE } else { SYSCALLS });
    match mode {
        Mode::Raw => out.push_str(PARTS),
        Mode::Libc(_) => {
            out.push_str(TEXT);
            out.push_str(PRINT);
        }
        Mode::SelfCheck(_) => {
            out.push_str(TEXT);
            out.push_str(CHECK);
        }
        Mode::Differential(_) => {
            out.push_str(TEXT);
            out.push_str(SUM);
        }
    }
    if language == Language::Cpp {
        out.push_str("}\n\n");
    }
}

/// Floats by their bits: a literal has no NaN payload.
pub(super) fn float_bits(out: &mut String, floats: &[Elem]) {
    for e in floats {
        let bits = Elem::unsigned(e.sew()).c_name();
        let (name, ty) = (e.short(), e.c_name());
        write!(
            out,
            "static inline {ty} {name}_bits({bits} bits)\n{{\n    {ty} x;\n    \
             __builtin_memcpy(&x, &bits, sizeof x);\n    return x;\n}}\n\n"
        )
        .unwrap();
    }
}

/// Where it starts: `main`, and where there is no C library to call that, a `_start` that does. It is weak,
/// so that the C library's takes its place.
const START: &str = r#"/* sp is argc, argv[0], argv[1]... */
__asm__(".text\n"
        ".weak _start\n"
        ".type _start, @function\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n"
        "    la gp, __global_pointer$\n"
        ".option pop\n"
        "    ld a0, 0(sp)\n"
        "    addi a1, sp, 8\n"
        "    andi sp, sp, -16\n"
        "    call main\n"
        ".size _start, . - _start\n");

"#;

pub(super) fn start(out: &mut String, count: usize, libc: bool, language: Language) {
    if !libc {
        out.push_str(START);
    }
    // Without a C library, C++ takes `main` for any function.
    if !libc && language == Language::Cpp {
        out.push_str("extern \"C\" ");
    }
    out.push_str("__attribute__((used)) int main(int argc, char **argv)\n{\n");
    write!(
        out,
        r#"    if (argc > 1) {{
        unsigned long n = 0;
        for (const char *s = argv[1]; *s >= '0' && *s <= '9'; s++)
            n = 10 * n + (unsigned long)(*s - '0');
        run(n);
    }} else {{
        for (unsigned long n = 0; n < {count}; n++)
            run(n);
    }}
    finish(0);
    return 0;
}}
"#
    )
    .unwrap();
}
