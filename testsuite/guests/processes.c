// Processes: fork, vfork, execve, waiting, pipes, signals between processes, shared memory, limits.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MANY
#define MANY 200
#endif

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            printf("failed, line %d: %s, errno %d\n", __LINE__, #holds, errno); \
            exit(1); \
        } \
    } while (0)

static int status_of(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static volatile sig_atomic_t children, terms;
static void on_child(int signal) { (void)signal, children++; }
static void on_term(int signal) { (void)signal, terms++; }

static void *add(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "child")) {
        printf("child of %s, %s\n", getenv("WHOSE") ? getenv("WHOSE") : "nobody", argv[2]);
        return 7;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(getppid() != getpid() ? 42 : 1);
    int status = status_of(pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
    printf("fork and wait\n");

    int there[2], back[2];
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    if ((pid = fork()) == 0) {
        char text[64];
        close(there[1]);
        ssize_t n, total = 0;
        while ((n = read(there[0], text, sizeof text)) > 0)
            total += n;
        dprintf(back[1], "%zd bytes", total);
        _exit(0);
    }
    close(there[0]), close(back[1]);
    static char block[100000];
    CHECK(write(there[1], block, sizeof block) == sizeof block);
    close(there[1]);
    char text[64] = "";
    CHECK(read(back[0], text, sizeof text) > 0);
    status_of(pid);
    close(back[0]);
    printf("pipe: %s\n", text);

    signal(SIGCHLD, on_child);
    CHECK(pipe(there) == 0);
    if ((pid = fork()) == 0) {
        signal(SIGTERM, on_term);
        CHECK(write(there[1], "x", 1) == 1);
        while (!terms)
            pause();
        raise(SIGKILL);
    }
    CHECK(read(there[0], text, 1) == 1);
    close(there[0]), close(there[1]);
    do
        kill(pid, SIGTERM), usleep(1000);
    while (waitpid(pid, &status, WNOHANG) == 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    printf("signals: %d\n", children > 0);
    signal(SIGCHLD, SIG_DFL);

    if ((pid = fork()) == 0) {
        raise(SIGSTOP);
        _exit(3);
    }
    CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    siginfo_t info;
    kill(pid, SIGCONT);
    CHECK(waitid(P_PID, pid, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == pid && info.si_status == 3);
    CHECK(WEXITSTATUS(status_of(pid)) == 3);
    printf("stop and continue\n");

    char *args[] = {"guest", "child", "by execve", NULL}, *env[] = {"WHOSE=main", NULL};
    if ((pid = vfork()) == 0) {
        execve("/proc/self/exe", args, env);
        _exit(1);
    }
    CHECK(WEXITSTATUS(status_of(pid)) == 7);
    args[2] = "by posix_spawn";
    CHECK(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, env) == 0);
    CHECK(WEXITSTATUS(status_of(pid)) == 7);
#ifndef QEMU
    // The child says why by memory it shares with its parent.
    CHECK(posix_spawn(&pid, "/no/such/program", NULL, NULL, args, env) == ENOENT);
#endif
    CHECK(execve("/no/such/program", args, env) == -1 && errno == ENOENT);

    struct common {
        atomic_int plain;
        pthread_mutex_t lock;
        sem_t begin;
        int locked;
    } *common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&common->lock, &attr);
    sem_init(&common->begin, 1, 0);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            sem_wait(&common->begin);
            for (int k = 0; k < 2000; k++) {
                atomic_fetch_add(&common->plain, 1);
                pthread_mutex_lock(&common->lock);
                common->locked++;
                pthread_mutex_unlock(&common->lock);
            }
            _exit(0);
        }
    for (int i = 0; i < 4; i++)
        sem_post(&common->begin);
    while (wait(&status) > 0)
        CHECK(status == 0);
    printf("shared memory: %d %d\n", common->plain, common->locked);

    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    if ((pid = fork()) == 0) {
        // A descriptor over a socket, a thread in a child, a session of its own.
        int fds[2];
        CHECK(pipe(fds) == 0);
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec part = {"x", 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                                 .msg_controllen = sizeof control};
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
                                 .cmsg_len = CMSG_LEN(sizeof(int))};
        memcpy(CMSG_DATA(head), &fds[0], sizeof(int));
        CHECK(sendmsg(pair[1], &message, 0) == 1);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, add, &common->plain) == 0 && pthread_join(thread, NULL) == 0);
        CHECK(setsid() == getpid() && getpgrp() == getpid());
        dprintf(fds[1], "through a passed pipe, %d", common->plain);
        _exit(0);
    }
    char data[8], control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {data, sizeof data};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    CHECK(recvmsg(pair[0], &message, 0) == 1 && CMSG_FIRSTHDR(&message));
    int passed;
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
    status_of(pid);
    memset(text, 0, sizeof text);
    CHECK(read(passed, text, sizeof text - 1) > 0);
    printf("%s\n", text);

    for (int i = 0; i < MANY; i++) {
        if ((pid = fork()) == 0)
            _exit(i % 100);
        CHECK(pid > 0 && WEXITSTATUS(status_of(pid)) == i % 100);
    }
    printf("many processes\n");

    pid = fork();
    if (pid == 0)
        abort();
    status = status_of(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    execl("/proc/self/exe", "guest", "child", "in place of its parent", (char *)NULL);
    return 1;
}
