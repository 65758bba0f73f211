// A server with epoll in one process, eight clients in threads of another, over the loopback network.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { CLIENTS = 8, CONNECTIONS = 20, ROUNDS = 5 };

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            perror("failed: " #holds); \
            exit(1); \
        } \
    } while (0)

static int port;

static void *client(void *arg)
{
    for (int i = 0; i < CONNECTIONS; i++) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = port,
                                 .sin_addr = {htonl(INADDR_LOOPBACK)}};
        CHECK(connect(s, (void *)&to, sizeof to) == 0);
        char sent[1000], got[1000];
        memset(sent, (int)(long)arg + i, sizeof sent);
        for (int k = 0; k < ROUNDS; k++) {
            CHECK(send(s, sent, sizeof sent, 0) == sizeof sent);
            CHECK(recv(s, got, sizeof got, MSG_WAITALL) == sizeof got);
            CHECK(memcmp(sent, got, sizeof sent) == 0);
        }
        close(s);
    }
    return NULL;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int number = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        number += entry->d_name[0] != '.';
    closedir(folder);
    return number;
}

static void serve(int listener)
{
    int poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event) == 0);
    for (int ended = 0; ended < CLIENTS * CONNECTIONS;) {
        struct epoll_event events[16];
        int n = epoll_wait(poll, events, 16, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            char bytes[4096];
            if (fd == listener) {
                event.data.fd = accept4(listener, NULL, NULL, 0);
                CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event) == 0);
                continue;
            }
            ssize_t len = read(fd, bytes, sizeof bytes);
            if (len <= 0) {
                close(fd);
                ended++;
            } else
                CHECK(write(fd, bytes, len) == len);
        }
    }
    close(poll);
}

int main(void)
{
    int before = descriptors();
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in any = {.sin_family = AF_INET};
    CHECK(bind(listener, (void *)&any, sizeof any) == 0 && listen(listener, 64) == 0);
    socklen_t len = sizeof any;
    CHECK(getsockname(listener, (void *)&any, &len) == 0);
    port = any.sin_port;
    pid_t pid = fork();
    if (pid == 0) {
        serve(listener);
        _exit(descriptors() - before);
    }
    pthread_t threads[CLIENTS];
    for (long i = 0; i < CLIENTS; i++)
        CHECK(pthread_create(&threads[i], NULL, client, (void *)i) == 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    printf("the server keeps %d descriptor\n", WEXITSTATUS(status));

    int udp[2] = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0)};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CHECK(bind(udp[0], (void *)&here, sizeof here) == 0);
    CHECK(getsockname(udp[0], (void *)&here, &len) == 0);
    char text[16] = "";
    CHECK(sendto(udp[1], "datagram", 8, 0, (void *)&here, sizeof here) == 8);
    CHECK(recvfrom(udp[0], text, sizeof text, 0, (void *)&here, &len) == 8);
    printf("%s\n", text);

    int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    here = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    len = sizeof here;
    CHECK(bind(server, (void *)&here, len) == 0 && listen(server, 1) == 0);
    CHECK(getsockname(server, (void *)&here, &len) == 0 && connect(client, (void *)&here, len) == 0);
    CHECK(connect(client, (void *)&here, len) == -1 && errno == EISCONN);

    int event = eventfd(3, 0);
    uint64_t value;
    CHECK(read(event, &value, 8) == 8 && value == 3);
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec soon = {.it_value = {0, 1000000}};
    CHECK(timerfd_settime(timer, 0, &soon, NULL) == 0 && read(timer, &value, 8) == 8 && value == 1);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, 0);
    for (int i = 1; i <= 3; i++)
        CHECK(sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}) == 0);
    struct signalfd_siginfo info[3];
    int poll = epoll_create1(0);
    struct epoll_event ready = {.events = EPOLLIN};
    CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, signals, &ready) == 0 && epoll_wait(poll, &ready, 1, -1) == 1);
    CHECK(read(signals, info, sizeof info) == sizeof info);
    CHECK(epoll_wait(poll, &ready, 1, 0) == 0);
    if ((pid = fork()) == 0)
        _exit(kill(getppid(), SIGRTMIN + 1));
    CHECK(epoll_wait(poll, &ready, 1, -1) == 1 && waitpid(pid, &status, 0) == pid && status == 0);
    printf("events, %d %d %d\n", info[0].ssi_int, info[1].ssi_int, info[2].ssi_int);
    return 0;
}
