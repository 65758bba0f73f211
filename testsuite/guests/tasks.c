// What threads and processes may ask of Linux beyond the usual: locks whose owner dies, restartable sequences,
// descriptors of processes, limits on descriptors, names of threads; with the argument "sysv", System V objects.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            printf("line %d: failed: %s (errno %d)\n", __LINE__, #holds, errno); \
            exit(1); \
        } \
    } while (0)

// A lock with priority inheritance, whose owner ends while another waits for it: the other gets it.

static uint32_t word;
static struct { void *next; long offset; void *pending; } head;
static void *entry;

static void *owner(void *with_list)
{
    if (with_list) {
        // As musl has it: bit 0 of the pointer does not say that the lock is one with priority inheritance.
        head.next = &entry;
        entry = &head;
        head.offset = (char *)&word - (char *)&entry;
        CHECK(syscall(SYS_set_robust_list, &head, sizeof head) == 0);
    }
    __atomic_store_n(&word, gettid(), __ATOMIC_SEQ_CST);
    // Until somebody waits.
    while (!(__atomic_load_n(&word, __ATOMIC_SEQ_CST) & FUTEX_WAITERS))
        sched_yield();
    syscall(SYS_exit, 0);
    return NULL;
}

static void *waiter(void *arg)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        sched_yield();
    CHECK(syscall(SYS_futex, &word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL) == 0);
    CHECK((word & FUTEX_TID_MASK) == (uint32_t)gettid());
    CHECK(word & FUTEX_OWNER_DIED);
    return NULL;
}

static void locks(void)
{
    for (long with_list = 0; with_list < 2; with_list++) {
        pthread_t threads[2];
        word = 0;
        pthread_create(&threads[0], NULL, owner, (void *)with_list);
        pthread_create(&threads[1], NULL, waiter, NULL);
        CHECK(pthread_join(threads[1], NULL) == 0);
    }
    printf("locks of owners that end\n");
}

// A counter of this processor, without atomic instructions: no turn and no signal may divide an increment.

enum { COUNTERS = 4, TIMES = 20000, SIGNATURE = 0xf1401073 };
struct sequence { uint32_t cpu_start, cpu; uint64_t cs; uint32_t flags, node, mm, pad; };
static long counter;
static volatile long ticks;
// Newer C libraries have registered an area of each thread; they say where it is.
extern const ptrdiff_t __rseq_offset __attribute__((weak));

static int increment(struct sequence *area)
{
    asm volatile goto(
        ".pushsection sequences, \"aw\"\n"
        ".balign 32\n"
        "3: .long 0, 0\n"
        ".quad 1f, 2f - 1f, 4f\n"
        ".popsection\n"
        ".option push\n"
        ".option norvc\n"
        "la t0, 3b\n"
        "sd t0, 8(%0)\n"
        "1: ld t1, 0(%1)\n"
        "addi t1, t1, 1\n"
        "sd t1, 0(%1)\n"
        "2: j 5f\n"
        ".long 0xf1401073\n"
        "4: j %l[aborted]\n"
        "5:\n"
        ".option pop\n"
        : : "r"(area), "r"(&counter) : "t0", "t1", "memory" : aborted);
    return 1;
aborted:
    return 0;
}

static void *count(void *arg)
{
    struct sequence own __attribute__((aligned(32))) = {.cpu = -1}, *area = &own;
    int registered = syscall(SYS_rseq, area, sizeof own, 0, SIGNATURE) == 0;
    if (!registered) {
        CHECK(errno == EINVAL && &__rseq_offset);
        area = (struct sequence *)((char *)__builtin_thread_pointer() + __rseq_offset);
    }
    CHECK(area->cpu == 0 && syscall(SYS_rseq, area, sizeof own, 0, SIGNATURE) < 0 && errno == EBUSY);
    for (int done = 0; done < TIMES;)
        done += increment(area);
    CHECK(!registered || syscall(SYS_rseq, area, sizeof own, 1, SIGNATURE) == 0);
    return NULL;
}

static void tick(int signal)
{
    ticks++;
}

static void sequences(void)
{
    pthread_t threads[COUNTERS];
    signal(SIGALRM, tick);
    ualarm(1000, 1000);
    for (int i = 0; i < COUNTERS; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int i = 0; i < COUNTERS; i++)
        pthread_join(threads[i], NULL);
    ualarm(0, 0);
    CHECK(counter == COUNTERS * TIMES);
    printf("restartable sequences\n");
}

// Descriptors of processes.

static void descriptors(void)
{
    int ends[2], fd = -1, status;
    CHECK(pipe(ends) == 0);
    pid_t pid = syscall(SYS_clone, 0x1000 | SIGCHLD, 0, &fd, 0, 0);
    if (pid == 0) {
        char c;
        close(ends[1]);
        _exit(read(ends[0], &c, 1) == 0 ? 7 : 1);
    }
    CHECK(pid > 0 && fd > 2);
    int other = syscall(SYS_pidfd_open, pid, 0);
    struct pollfd poll_both[2] = {{fd, POLLIN}, {other, POLLIN}};
    CHECK(other > 2 && poll(poll_both, 2, 0) == 0);
    CHECK(syscall(SYS_pidfd_send_signal, other, 0, NULL, 0) == 0);
    close(ends[0]), close(ends[1]);
    CHECK(poll(poll_both, 2, -1) == 2);
    siginfo_t info = {0};
    CHECK(waitid(P_PIDFD, fd, &info, WEXITED) == 0 && info.si_pid == pid && info.si_status == 7);
    CHECK(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0 && errno == ESRCH);
    CHECK(waitid(P_PIDFD, fd, &info, WEXITED) < 0 && errno == ECHILD);
    CHECK(syscall(SYS_pidfd_send_signal, 0, 0, NULL, 0) < 0 && errno == EBADF);
    close(fd), close(other);
    // A signal ends a process by its descriptor, and this one hears of its own.
    pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    fd = syscall(SYS_pidfd_open, pid, 0);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGTERM);
    close(fd);
    long before = ticks;
    fd = syscall(SYS_pidfd_open, getpid(), 0);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGALRM, NULL, 0) == 0 && ticks == before + 1);
    close(fd);
    CHECK(syscall(SYS_pidfd_open, 1 << 28, 0) < 0 && errno == ESRCH);
    printf("descriptors of processes\n");
}

static void limits(void)
{
    struct rlimit old, few = {42, 0};
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few.rlim_max = old.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int last = 0;
    for (int fd; (fd = dup(1)) >= 0;)
        last = fd;
    CHECK(errno == EMFILE && last == 41);
    CHECK(dup2(1, 42) < 0 && errno == EBADF);
    for (int fd = 3; fd <= last; fd++)
        close(fd);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    printf("limits on descriptors\n");
}

// Names of threads, by what /proc says of them.

static pthread_barrier_t named;

static void *be_named(void *arg)
{
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&named);
    char own[16];
    CHECK(pthread_getname_np(pthread_self(), own, sizeof own) == 0 && strcmp(own, "second") == 0);
    return NULL;
}

static void names(void)
{
    pthread_t other;
    char name[16];
    int threads = 0;
    pthread_barrier_init(&named, NULL, 2);
    CHECK(pthread_create(&other, NULL, be_named, NULL) == 0);
    pthread_barrier_wait(&named);
    CHECK(pthread_setname_np(pthread_self(), "first") == 0 && pthread_setname_np(other, "second") == 0);
    CHECK(pthread_getname_np(other, name, sizeof name) == 0 && strcmp(name, "second") == 0);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "first") == 0);
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        threads += entry->d_name[0] != '.';
    closedir(folder);
    CHECK(threads == 2);
    pthread_barrier_wait(&named);
    CHECK(pthread_join(other, NULL) == 0);
    printf("names of threads\n");
}

// System V objects, between two processes.

static int semaphores, queue, memory;

static void operate(int number, int by)
{
    struct sembuf operation = {number, by, 0};
    CHECK(semop(semaphores, &operation, 1) == 0);
}

static void system_v(void)
{
    enum { ROUNDS = 50 };
    struct message { long kind; char text[16]; } message = {3, "message"};
    CHECK((semaphores = semget(IPC_PRIVATE, 2, 0600)) >= 0);
    CHECK((queue = msgget(IPC_PRIVATE, 0600)) >= 0);
    CHECK((memory = shmget(IPC_PRIVATE, 10000, 0600)) >= 0);
    volatile int *shared = shmat(memory, NULL, 0);
    CHECK(shared != (void *)-1 && shared[2499] == 0);
    struct semid_ds about;
    CHECK(semctl(semaphores, 0, IPC_STAT, &about) == 0 && about.sem_nsems == 2);
    CHECK(semctl(semaphores, 0, SETVAL, 1) == 0 && semctl(semaphores, 0, GETVAL) == 1);
    pid_t pid = fork();
    int own = pid == 0, status;
    for (int i = 0; i < ROUNDS; i++) {
        operate(own, -1);
        shared[0]++, shared[2400] += 2;
        operate(!own, 1);
    }
    if (own) {
        CHECK(msgsnd(queue, &message, 8, 0) == 0);
        CHECK(shmdt((void *)shared) == 0);
        exit(0);
    }
    memset(&message, 0, sizeof message);
    CHECK(msgrcv(queue, &message, sizeof message.text, 3, 0) == 8 && !strcmp(message.text, "message"));
    CHECK(msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT) < 0 && errno == ENOMSG);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(shared[0] == 2 * ROUNDS && shared[2400] == 4 * ROUNDS);
    struct shmid_ds segment;
    CHECK(shmctl(memory, IPC_STAT, &segment) == 0 && segment.shm_segsz == 10000);
    CHECK(shmdt((void *)shared) == 0 && shmdt((void *)shared) < 0 && errno == EINVAL);
    CHECK(shmctl(memory, IPC_STAT, &segment) == 0 && segment.shm_nattch == 0);
    CHECK(semctl(semaphores, 0, IPC_RMID) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
    CHECK(shmctl(memory, IPC_RMID, NULL) == 0);
    printf("System V objects\n");
}

int main(int argc, char **argv)
{
    locks();
    sequences();
    descriptors();
    limits();
    names();
    fflush(stdout);
    if (argc > 1)
        system_v();
    return 0;
}
