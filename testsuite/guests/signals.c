/* Signals: faults with their details, handlers that change registers, masks, stacks, timers. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t count;
static volatile uintptr_t fault_pc, fault_address;
static volatile int fault_code;

static void jump(int signal, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    fault_pc = uc->uc_mcontext.__gregs[0];
    fault_address = (uintptr_t)info->si_addr;
    fault_code = info->si_code;
    siglongjmp(back, signal);
}

static void handle(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = handler;
    sa.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &sa, NULL);
}

#define FAULT(what, statement)                                                                       \
    do {                                                                                             \
        int got = sigsetjmp(back, 1);                                                                \
        if (got == 0) {                                                                              \
            statement;                                                                               \
            printf("%s: nothing\n", what);                                                           \
        } else                                                                                       \
            printf("%s: signal %d code %d address %s\n", what, got, fault_code,                      \
                   fault_address == expected ? "right" : "wrong");                                   \
    } while (0)

static volatile uintptr_t expected;

/* Skips the faulting instruction and puts a value into its destination, a0. */
static void skip(int signal, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    uint16_t low = *(uint16_t *)uc->uc_mcontext.__gregs[0];
    uc->uc_mcontext.__gregs[0] += (low & 3) == 3 ? 4 : 2;
    uc->uc_mcontext.__gregs[10] = 12345;
    uc->uc_mcontext.__fpregs.__d.__f[10] = 0x4045000000000000; /* 42.0 */
    count++;
}

static void counter(int signal, siginfo_t *info, void *context) {
    count++;
    /* Registers of all kinds are clobbered here and must be as before afterwards. */
    __asm__ volatile("fmv.d.x ft0, zero\nfmv.d.x fs0, zero\nfsrmi 2\nfsflagsi 31" ::: "ft0", "memory");
}

static char alternate[65536];
static volatile int on_alternate;

static void where(int signal, siginfo_t *info, void *context) {
    char here;
    on_alternate = &here >= alternate && &here < alternate + sizeof alternate;
    stack_t now;
    sigaltstack(NULL, &now);
    printf("on the alternate stack: %d, says so: %d\n", on_alternate, now.ss_flags & SS_ONSTACK);
    siglongjmp(back, 1);
}

static int deep(int n) {
    volatile char room[4096];
    room[0] = n;
    return n == 0 ? 0 : deep(n + 1) + room[0];
}

static void order(int signal) { printf("handler of %d\n", signal); }

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    handle(SIGSEGV, jump, 0);
    handle(SIGBUS, jump, 0);
    handle(SIGILL, jump, 0);
    handle(SIGTRAP, jump, 0);

    expected = 0;
    FAULT("load from null", *(volatile int *)0);
    expected = 0x123456789000;
    FAULT("store far away", *(volatile int *)0x123456789000 = 1);
    expected = (uintptr_t)main;
    FAULT("store to code", *(volatile int *)main = 1);
    expected = (uintptr_t)alternate;
    FAULT("run data", ((void (*)(void))alternate)());
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page + 4096, 4096, PROT_NONE);
    expected = (uintptr_t)page + 4096;
    FAULT("load across into nothing", *(volatile uint64_t *)(page + 4092));
    int got = sigsetjmp(back, 1);
    if (got == 0) __asm__ volatile("unimp");
    printf("unimp: signal %d code %d address %s\n", got, fault_code, fault_address == fault_pc ? "right" : "wrong");
    got = sigsetjmp(back, 1);
    if (got == 0) __asm__ volatile("ebreak");
    printf("ebreak: signal %d code %d\n", got, fault_code);

    handle(SIGSEGV, skip, 0);
    register long a0 __asm__("a0") = 0;
    register double fa0 __asm__("fa0") = 1;
    __asm__ volatile("ld a0, 0(a0)" : "+r"(a0), "+f"(fa0)::"memory");
    printf("after skip: %ld %g, handled %d\n", a0, fa0, count);

    count = 0;
    handle(SIGUSR1, counter, 0);
    double kept = 1.5;
    unsigned long frm, flags;
    __asm__ volatile("fsrmi 1\nfsflagsi 4" ::: "memory");
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    __asm__ volatile("frrm %0\nfrflags %1" : "=r"(frm), "=r"(flags));
    __asm__ volatile("fsrmi 0\nfsflagsi 0");
    printf("count %d, kept %g, rounding %lu, flags %lu\n", count, kept, frm, flags);

    sigset_t set, old, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &old);
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = order;
    sigaction(SIGUSR1, &sa, NULL);
    sa.sa_flags = SA_RESETHAND;
    sigaction(SIGUSR2, &sa, NULL);
    raise(SIGUSR2);
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigpending(&pending);
    printf("pending %d %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGUSR2, NULL, &sa);
    printf("reset %d\n", sa.sa_handler == SIG_DFL);
    signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR2);

    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    printf("sigaltstack %d\n", sigaltstack(&stack, NULL));
    handle(SIGSEGV, where, SA_ONSTACK);
    if (sigsetjmp(back, 1) == 0) printf("%d\n", deep(1));

    count = 0;
    handle(SIGALRM, counter, 0);
    struct itimerval timer = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    while (count < 3) {
    }
    sigprocmask(SIG_BLOCK, NULL, &old);
    sigsuspend(&old);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, NULL);
    printf("alarms %s, errno %s\n", count >= 4 ? "came" : "did not come", strerror(errno));
    alarm(1);
    int left = sleep(5);
    printf("sleep cut short: %d\n", left >= 3);

    struct sigaction bad;
    memset(&bad, 0, sizeof bad);
    printf("sigaction(SIGKILL) %d %s\n", sigaction(SIGKILL, &bad, NULL), strerror(errno));
    signal(SIGABRT, order);
    fflush(stdout);
    abort();
}
