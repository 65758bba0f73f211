// Processes without end, in the ways that the argument names; limits must end them all.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int connect_to(unsigned address, int port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0)
        return errno;
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(address)}};
    int result = connect(fd, (struct sockaddr *)&in, sizeof in) < 0 ? errno : 0;
    close(fd);
    return result;
}

// Sends a descriptor to itself.
static int pass(int fd)
{
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
                             .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(head), &fd, sizeof(int));
    int result = sendmsg(pair[1], &message, 0) < 0 ? errno : 0;
    close(pair[0]), close(pair[1]);
    return result;
}

// What must not work in the sandbox, whoever tries.
static void try_to_escape(const char *who, char **argv)
{
    errno = 0;
    printf("%s: open %d", who, (open("/etc/passwd", O_RDONLY), errno));
    printf(" exec %d", (execv("/bin/sh", (char *[]){"sh", "-c", "echo out", NULL}), errno));
    printf(" kill %d", (kill(atoi(argv[2]), SIGTERM), errno));
    printf(" killall %d", kill(-1, SIGUSR2) ? errno : 0);
    printf(" group %d", (setpgid(atoi(argv[2]), 0), errno));
    printf(" unix %d", socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0);
    printf(" netlink %d", socket(AF_NETLINK, SOCK_RAW, 0) < 0 ? errno : 0);
    printf(" packet %d", socket(AF_PACKET, SOCK_RAW, 0) < 0 ? errno : 0);
    printf(" raw %d", socket(AF_INET, SOCK_RAW, 1) < 0 ? errno : 0);
    printf(" pass %d %d", pass(1), pass(open("/tmp/file", O_RDWR | O_CREAT, 0600)));
    printf(" loopback %d", connect_to(0x7f000001, 1));
    printf(" elsewhere %d\n", connect_to(0xc0000201, 80));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "count")) {
        // As many children as there may be; then they all end.
        int ends[2], made = 0;
        pipe(ends);
        for (;; made++) {
            pid_t pid = fork();
            if (pid < 0)
                break;
            if (pid == 0) {
                char c;
                close(ends[1]);
                read(ends[0], &c, 1);
                _exit(0);
            }
        }
        printf("%d children, then %s\n", made, strerror(errno));
        close(ends[1]);
        while (wait(NULL) > 0)
            ;
        fflush(stdout);
        pid_t again = fork();
        if (again == 0)
            _exit(0);
        printf("%s\n", again > 0 ? "and again" : strerror(errno));
    } else if (!strcmp(how, "leave")) {
        // Somebody stays behind.
        if (fork() == 0) {
            signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN);
            setsid();
            for (;;)
                pause();
        }
    } else if (!strcmp(how, "spin")) {
        for (int i = 0; i < 3; i++)
            fork();
        for (;;)
            ;
    } else if (!strcmp(how, "bomb")) {
        for (;;)
            fork();
    } else if (!strcmp(how, "memory")) {
        // Each takes 8 MiB; together they may not have more than the machine.
        int taken = 0;
        for (int i = 0; i < 16; i++) {
            pid_t pid = fork();
            if (pid == 0) {
                char *p = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                memset(p, 1, 8 << 20);
                usleep(300000);
                _exit(0);
            }
        }
        int status;
        while (wait(&status) > 0)
            taken += status == 0;
        printf("%s\n", taken < 16 ? "not all" : "all");
    } else if (!strcmp(how, "escape")) {
        signal(SIGUSR2, SIG_IGN);
        try_to_escape("parent", argv);
        fflush(stdout);
        if (fork() == 0) {
            try_to_escape("child", argv);
            _exit(0);
        }
        wait(NULL);
    } else if (!strcmp(how, "exec")) {
        execl(argv[2], argv[2], NULL);
        printf("exec %d\n", errno);
    }
    return 0;
}
