/* What a signal handler sees and changes of the vector unit. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <ucontext.h>
#include <unistd.h>

#define V_MAGIC 0x53465457

struct header {
    uint32_t magic, size;
};
struct v_state {
    uint64_t vstart, vl, vtype, vcsr, vlenb;
    uint8_t *data;
};

static struct v_state seen;
static int magic_seen, end_seen;
static uint8_t first_seen[64];
static char *guarded;

static void handler(int signal, siginfo_t *info, void *context) {
    ucontext_t *uc = context;
    /* The header ends the floating-point union, which ends the machine context. */
    struct header *h = (struct header *)((char *)&uc->uc_mcontext + 256 + 520);
    struct v_state *state = (struct v_state *)(h + 1);
    magic_seen = h->magic == V_MAGIC;
    if (!magic_seen) _exit(1);
    seen = *state;
    memcpy(first_seen, state->data + 8 * state->vlenb, sizeof first_seen > state->vlenb ? state->vlenb : 64);
    struct header *end = (struct header *)((char *)h + h->size);
    end_seen = end->magic == 0 && end->size == 0 && h->size == 8 + 48 + 32 * state->vlenb;
    /* The handler's own vectors must not matter. */
    __asm__ volatile(".option push\n.option arch, +v\n"
                     "vsetvli t0, zero, e8, m8, ta, ma\nvmv.v.i v0, -1\nvmv.v.i v8, -1\nvmv.v.i v16, -1\nvmv.v.i v24, -1\n"
                     ".option pop" ::: "t0", "memory");
    if (info->si_addr == guarded) {
        /* Let the access go on where it stopped. */
        mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
    } else {
        /* Change v1, the length and the saturation flag, and go on behind the trap. */
        memset(state->data + state->vlenb, 0x5a, state->vlenb);
        state->vl = 2;
        state->vcsr = 5;
        uc->uc_mcontext.__gregs[0] += 4;
    }
}

int main(void) {
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = handler;
    sa.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &sa, NULL);
    sigaction(SIGILL, &sa, NULL);
    printf("control %d\n", prctl(70) >= 0);

    /* A load that crosses into a page it may not read yet: eight 32-bit elements, the sixth faults. */
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    guarded = pages + 4096;
    int32_t *data = (int32_t *)(guarded - 20);
    for (int i = 0; i < 8; i++) data[i] = i + 1;
    mprotect(guarded, 4096, PROT_NONE);
    int32_t out[8] = {0};
    uint64_t vstart, vl, vcsr;
    __asm__ volatile(".option push\n.option arch, +v\n"
                     "vsetivli zero, 8, e32, m4, ta, ma\n"
                     "vmv.v.i v8, 3\n"
                     "vle32.v v12, (%1)\n"
                     "vadd.vv v12, v12, v8\n"
                     "vse32.v v12, (%2)\n"
                     "csrr %0, vstart\n"
                     ".option pop"
                     : "=&r"(vstart) : "r"(data), "r"(out) : "memory");
    printf("magic %d, end %d, vl %d, vtype %#x, vstart plausible %d\n", magic_seen, end_seen, (int)seen.vl,
           (int)seen.vtype, seen.vstart <= 5);
    printf("v8 %d %d\n", first_seen[0], first_seen[1]);
    for (int i = 0; i < 8; i++) printf("%d ", out[i]);
    printf("vstart %d\n", (int)vstart);

    uint8_t bytes[8] = {0};
    __asm__ volatile(".option push\n.option arch, +v\n"
                     "vsetivli zero, 8, e8, m1, ta, ma\n"
                     "vmv.v.i v1, 1\n"
                     "csrwi vcsr, 0\n"
                     ".word 0\n"
                     "csrr %0, vl\n"
                     "csrr %1, vcsr\n"
                     "vsetivli zero, 8, e8, m1, ta, ma\n"
                     "vse8.v v1, (%2)\n"
                     ".option pop"
                     : "=&r"(vl), "=&r"(vcsr) : "r"(bytes) : "memory");
    printf("vl %d, vcsr %d, v1 %x %x\n", (int)vl, (int)vcsr, bytes[0], bytes[7]);
    return 0;
}
