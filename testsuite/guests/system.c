// What a guest that has all that the host's user has may ask of Linux: who it is, limits, processors, message
// queues, pipes, terminals, and programs of the host. What it prints is the same for root and for others.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            printf("line %d: failed: %s (errno %d)\n", __LINE__, #holds, errno); \
            exit(1); \
        } \
    } while (0)

// In a process of its own: what it exits with.
static int in_child(void (*f)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        f();
        fflush(stdout);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void become_nobody(void)
{
    gid_t groups[] = {7, 8};
    uid_t r, e, s;
    CHECK(setgroups(2, groups) == 0 && getgroups(0, NULL) == 2);
    CHECK(setresgid(65534, 65534, 65534) == 0 && getgid() == 65534 && getegid() == 65534);
    CHECK(setresuid(65534, 65534, 65534) == 0 && getuid() == 65534 && geteuid() == 65534);
    CHECK(getresuid(&r, &e, &s) == 0 && r == 65534 && e == 65534 && s == 65534);
    CHECK(setuid(0) == -1 && errno == EPERM);
    // It can still start processes.
    pid_t pid = fork();
    if (pid == 0)
        _exit(getuid() == 65534 ? 5 : 6);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
}

static void effective(void)
{
    CHECK(seteuid(65534) == 0 && getuid() == 0 && geteuid() == 65534);
    CHECK(seteuid(0) == 0 && geteuid() == 0);
}

static void identity(void)
{
    CHECK(setuid(getuid()) == 0 && setgid(getgid()) == 0);
    int groups = getgroups(0, NULL);
    gid_t list[groups + 1];
    CHECK(groups >= 0 && getgroups(groups, list) == groups);
    if (getuid() == 0) {
        CHECK(in_child(become_nobody) == 0);
        CHECK(in_child(effective) == 0);
    } else {
        CHECK(setuid(getuid() + 1) == -1 && errno == EPERM);
    }
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    CHECK(prctl(PR_SET_NAME, "a name that is too long") == 0);
    char name[17] = {0};
    CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "a name that is ") == 0);
    printf("identity\n");
}

static void cut_files(void)
{
    struct rlimit l = {100, 100};
    CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0);
    char path[] = "/tmp/system-XXXXXX", bytes[200] = {0};
    int fd = mkstemp(path);
    CHECK(unlink(path) == 0);
    signal(SIGXFSZ, SIG_IGN);
    CHECK(write(fd, bytes, 200) == 100);
    CHECK(write(fd, bytes, 1) == -1 && errno == EFBIG);
}

static void cut_processor_time(void)
{
    struct rlimit l = {1, 2};
    CHECK(setrlimit(RLIMIT_CPU, &l) == 0);
    for (;;) {
    }
}

static void many_files(void)
{
    struct rlimit l;
    CHECK(getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur >= 256);
    int last = l.rlim_cur < 4000 ? l.rlim_cur - 1 : 3999;
    CHECK(dup2(0, last) == last && fcntl(last, F_GETFD) == 0);
    l.rlim_cur = 20;
    CHECK(setrlimit(RLIMIT_NOFILE, &l) == 0);
    CHECK(dup2(0, 20) == -1 && errno == EBADF);
    CHECK(fcntl(last, F_GETFD) == 0);
    CHECK(syscall(SYS_close_range, 21, ~0U, 0) == 0 && fcntl(last, F_GETFD) == -1);
}

static void limits(void)
{
    CHECK(in_child(cut_files) == 0);
    CHECK(in_child(cut_processor_time) == 256 + SIGXCPU);
    CHECK(in_child(many_files) == 0);
    struct rusage self, children;
    CHECK(getrusage(RUSAGE_SELF, &self) == 0 && self.ru_maxrss > 0);
    // The one that used up its second, as the kernel counts it: by ticks, on a busy machine.
    CHECK(getrusage(RUSAGE_CHILDREN, &children) == 0);
    struct timeval *user = &children.ru_utime, *kernel = &children.ru_stime;
    CHECK((user->tv_sec + kernel->tv_sec) * 1000 + (user->tv_usec + kernel->tv_usec) / 1000 >= 500);
    struct tms tms;
    CHECK(times(&tms) != -1 && tms.tms_cutime + tms.tms_cstime >= 50);
    errno = 0;
    int before = getpriority(PRIO_PROCESS, 0);
    CHECK(errno == 0);
    if (before < 18) {
        CHECK(setpriority(PRIO_PROCESS, 0, before + 1) == 0);
        CHECK(getpriority(PRIO_PROCESS, 0) == before + 1);
    }
    printf("limits\n");
}

static void processors(void)
{
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    int last = -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all))
            last = i;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(sched_getaffinity(0, sizeof one, &one) == 0 && CPU_COUNT(&one) == 1 && CPU_ISSET(last, &one));
    CHECK(sched_getcpu() == last);
    CPU_ZERO(&one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == -1 && errno == EINVAL);
    printf("processors\n");
}

static volatile sig_atomic_t told;

static void tell(int signal, siginfo_t *info, void *context)
{
    told = info->si_code == SI_MESGQ ? info->si_value.sival_int : -1;
}

static void queues(void)
{
    char name[64], buffer[32];
    sprintf(name, "/system-%d", getpid());
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 32};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    CHECK(queue != -1);
    struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 77};
    CHECK(mq_notify(queue, &event) == 0);
    CHECK(mq_send(queue, "low", 4, 1) == 0 && mq_send(queue, "high", 5, 9) == 0);
    for (int i = 0; i < 100 && !told; i++)
        usleep(10000);
    CHECK(told == 77);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
    CHECK(mq_timedsend(queue, "more", 5, 0, &until) == -1 && errno == ETIMEDOUT);
    CHECK(mq_getattr(queue, &attributes) == 0 && attributes.mq_curmsgs == 2 && attributes.mq_flags == 0);
    unsigned priority;
    CHECK(mq_receive(queue, buffer, 32, &priority) == 5 && priority == 9 && !strcmp(buffer, "high"));
    CHECK(mq_receive(queue, buffer, 32, &priority) == 4 && priority == 1 && !strcmp(buffer, "low"));
    // A child sends while this one waits.
    if (fork() == 0) {
        usleep(20000);
        mq_send(queue, "late", 5, 0);
        _exit(0);
    }
    CHECK(mq_receive(queue, buffer, 32, NULL) == 5 && wait(NULL) > 0);
    attributes.mq_flags = O_NONBLOCK;
    CHECK(mq_setattr(queue, &attributes, NULL) == 0);
    CHECK(mq_receive(queue, buffer, 32, NULL) == -1 && errno == EAGAIN);
    CHECK(mq_unlink(name) == 0 && mq_close(queue) == 0);
    printf("message queues\n");
}

static void pipes(void)
{
    int a[2], b[2], packets[2];
    char buffer[16];
    CHECK(pipe(a) == 0 && pipe(b) == 0);
    struct iovec parts[] = {{"hel", 3}, {"lo", 2}};
    CHECK(vmsplice(a[1], parts, 2, 0) == 5);
    CHECK(tee(a[0], b[1], 100, 0) == 5);
    CHECK(read(b[0], buffer, 16) == 5 && !memcmp(buffer, "hello", 5));
    CHECK(read(a[0], buffer, 16) == 5 && !memcmp(buffer, "hello", 5));
    CHECK(tee(a[0], b[1], 100, SPLICE_F_NONBLOCK) == -1 && errno == EAGAIN);
    CHECK(pipe2(packets, O_DIRECT) == 0);
    CHECK(write(packets[1], "one", 3) == 3 && write(packets[1], "two", 3) == 3);
    CHECK(read(packets[0], buffer, 16) == 3 && read(packets[0], buffer, 16) == 3);
    printf("pipes\n");
}

static void files(void)
{
    char folder[] = "/tmp/system-XXXXXX", path[64];
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    umask(0);
    int fd = open("open", O_RDWR | O_CREAT, 0666);
    struct stat st;
    CHECK(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0666);
    CHECK(umask(027) == 0 && mkdir("folder", 0777) == 0 && stat("folder", &st) == 0 && (st.st_mode & 0777) == 0750);
    CHECK(write(fd, "0123456789", 10) == 10);
    CHECK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 && fstat(fd, &st) == 0 && st.st_size == 10);
    struct { uint64_t flags, mode, resolve; } how = {O_RDONLY, 0, 8 /* RESOLVE_BENEATH */};
    int below = syscall(437, AT_FDCWD, "folder", &how, sizeof how);
    CHECK(below >= 0 && close(below) == 0);
    CHECK(syscall(437, AT_FDCWD, "../..", &how, sizeof how) == -1 && errno == EXDEV);
    char link[200] = "";
    CHECK(unlink("open") == 0 && sprintf(path, "/proc/self/fd/%d", fd) > 0);
    CHECK(readlink(path, link, sizeof link - 1) > 10 && !strcmp(link + strlen(link) - 10, " (deleted)"));
    int nameless = open(".", O_TMPFILE | O_RDWR, 0600);
    if (nameless >= 0) { // Not every file system has them.
        CHECK(sprintf(path, "/proc/self/fd/%d", nameless) > 0);
        CHECK(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0 && unlink("named") == 0);
    }
    CHECK(rmdir("folder") == 0 && chdir("/") == 0 && rmdir(folder) == 0);
    printf("files\n");
}

// A process in the background that blocks SIGTTOU may take the terminal.
static void background(const char *terminal)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(setsid() > 0);
        int fd = open(terminal, O_RDWR);
        CHECK(fd >= 0 && tcgetpgrp(fd) == getpgrp());
        if ((pid = fork()) == 0) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGTTOU);
            sigprocmask(SIG_BLOCK, &set, NULL);
            CHECK(setpgid(0, 0) == 0 && tcsetpgrp(fd, getpgrp()) == 0 && tcgetpgrp(fd) == getpid());
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    // Clocks of processes are there while these are.
    clockid_t clock;
    CHECK(clock_getcpuclockid(pid, &clock) == ESRCH && clock_getcpuclockid(getppid(), &clock) == 0);
}

static void terminals(void)
{
    int master, slave;
    struct winsize size = {24, 80, 0, 0}, got;
    CHECK(openpty(&master, &slave, NULL, NULL, &size) == 0);
    background(ttyname(slave));
    CHECK(ioctl(slave, TIOCGWINSZ, &got) == 0 && got.ws_row == 24 && got.ws_col == 80);
    struct termios t, u;
    CHECK(tcgetattr(slave, &t) == 0 && t.c_cc[VWERASE] == 'W' - 64 && t.c_cc[VLNEXT] == 'V' - 64);
    t.c_lflag &= ~(ICANON | ECHO);
    t.c_cc[VMIN] = 3;
    CHECK(tcsetattr(slave, TCSANOW, &t) == 0 && tcgetattr(slave, &u) == 0);
    CHECK(memcmp(t.c_cc, u.c_cc, 19) == 0 && u.c_lflag == t.c_lflag);
    char buffer[8];
    CHECK(write(master, "ab", 2) == 2 && write(master, "c", 1) == 1 && read(slave, buffer, 8) == 3);
    int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {.ifr_name = "lo"};
    CHECK(ioctl(socket_fd, SIOCGIFINDEX, &request) == 0 && request.ifr_ifindex > 0);
    struct ifreq list[64];
    struct ifconf interfaces = {.ifc_len = sizeof list, .ifc_req = list};
    CHECK(ioctl(socket_fd, SIOCGIFCONF, &interfaces) == 0 && interfaces.ifc_len >= (int)sizeof list[0]);
    CHECK(strcmp(list[0].ifr_name, "lo") == 0);
    printf("terminals and interfaces\n");
}

static void orphan(void)
{
    int ends[2];
    char done;
    CHECK(pipe(ends) == 0);
    if (fork() == 0) {
        pid_t parent = getpid();
        if (fork() == 0) {
            while (getppid() == parent)
                usleep(1000);
            _exit(write(ends[1], "x", 1) != 1);
        }
        _exit(0);
    }
    wait(NULL);
    CHECK(read(ends[0], &done, 1) == 1);
    printf("orphans\n");
}

// A shell of the host: QEMU, too, leaves programs that are not for RISC-V to the kernel.
static void host_programs(void)
{
    int in[2], out[2], status;
    char text[200] = {0};
    CHECK(pipe(in) == 0 && pipe(out) == 0);
    fflush(stdout);
    // By a descriptor that is a place and cannot be read.
    pid_t pid = fork();
    if (pid == 0) {
        char *args[] = {"sh", "-c", "exit 5", NULL}, *none[] = {NULL};
        fexecve(open("/bin/sh", O_PATH), args, none);
        _exit(126);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]), close(in[0]), close(out[0]), close(out[1]);
        signal(SIGTERM, SIG_IGN);
        chdir("/usr");
        umask(0057);
        setenv("WORD", "from the guest", 1);
        // Its reads wait, it ignores what this process did, and it is where this process was.
        execl("/bin/sh", "sh", "-c", "read x; kill -TERM $$; echo $x $WORD $(pwd) $(umask); exit 9", NULL);
        _exit(126);
    }
    close(in[0]), close(out[1]);
    usleep(50000);
    CHECK(write(in[1], "line\n", 5) == 5);
    size_t length = 0;
    for (ssize_t n; (n = read(out[0], text + length, sizeof text - length - 1)) > 0;)
        length += n;
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("%sstatus %d\n", text, WEXITSTATUS(status));
    CHECK(system("exit 4") == 4 << 8);
    fflush(stdout);
    FILE *pipe = popen("tr a-z A-Z", "w");
    fprintf(pipe, "capitals\n");
    CHECK(pclose(pipe) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "daemon") == 0) {
        // It has closed its streams, and goes on.
        if (fork() == 0) {
            close(0), close(1), close(2);
            sleep(20);
            _exit(0);
        }
        printf("started\n");
        return 0;
    }
    if (argc > 1) {
        // Descriptor 7 came with the process.
        char buffer[10] = {0};
        CHECK(read(7, buffer, 9) > 0);
        printf("%s", buffer);
        return 0;
    }
    identity();
    processors();
    queues();
    pipes();
    files();
    terminals();
    orphan();
    host_programs();
    limits();
    struct utsname name;
    char host[256];
    CHECK(uname(&name) == 0 && gethostname(host, sizeof host) == 0 && strcmp(host, name.nodename) == 0);
    return 0;
}
