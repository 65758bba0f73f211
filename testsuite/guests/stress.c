// Many short processes, pipes, connections: stress.c HOW COUNT. Nothing may be lost, and no descriptor stay open.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            printf("line %d: failed: %s\n", __LINE__, #holds); \
            exit(1); \
        } \
    } while (0)

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int number = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        number += entry->d_name[0] != '.';
    closedir(folder);
    return number;
}

// Each child ends with another status, by fork and by vfork; up to eight live at a time.
static void processes(int count)
{
    enum { WIDTH = 8 };
    pid_t pids[WIDTH];
    long sum = 0;
    for (int i = 0; i < count; i += WIDTH) {
        for (int k = 0; k < WIDTH; k++) {
            pids[k] = k % 2 ? vfork() : fork();
            CHECK(pids[k] >= 0);
            if (pids[k] == 0)
                _exit((i + k) % 100);
        }
        for (int k = WIDTH; k-- > 0;) {
            int status;
            CHECK(waitpid(pids[k], &status, 0) == pids[k]);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (i + k) % 100);
            sum += WEXITSTATUS(status);
        }
    }
    printf("%d processes, %ld\n", count, sum);
}

// A ring of pipes: each thread or process adds one to each number that passes.
enum { MEMBERS = 8 };
static int pipes[MEMBERS + 1][2];

static void *member(void *arg)
{
    intptr_t i = (intptr_t)arg;
    for (uint64_t numbers[64];;) {
        ssize_t n = read(pipes[i][0], numbers, sizeof numbers);
        CHECK(n >= 0 && n % 8 == 0);
        if (n == 0)
            break;
        for (int k = 0; k < n / 8; k++)
            numbers[k]++;
        CHECK(write(pipes[i + 1][1], numbers, n) == n);
    }
    close(pipes[i][0]);
    close(pipes[i + 1][1]);
    return NULL;
}

static void *source(void *arg)
{
    for (uint64_t i = 0; i < (uintptr_t)arg; i++)
        CHECK(write(pipes[0][1], &i, 8) == 8);
    close(pipes[0][1]);
    return NULL;
}

static void ring(int count, int forks)
{
    pthread_t threads[MEMBERS + 1];
    for (int i = 0; i <= MEMBERS; i++)
        CHECK(pipe(pipes[i]) == 0);
    for (intptr_t i = 0; i < MEMBERS; i++) {
        if (!forks) {
            CHECK(pthread_create(&threads[i], NULL, member, (void *)i) == 0);
            continue;
        }
        if (fork() == 0) {
            for (int k = 0; k <= MEMBERS; k++) {
                if (k != i)
                    close(pipes[k][0]);
                if (k != i + 1)
                    close(pipes[k][1]);
            }
            member((void *)i);
            _exit(0);
        }
    }
    for (int i = 0; forks && i < MEMBERS; i++)
        close(pipes[i][0]), close(pipes[i + 1][1]);
    CHECK(pthread_create(&threads[MEMBERS], NULL, source, (void *)(intptr_t)count) == 0);
    uint64_t sum = 0, number, got = 0;
    while (read(pipes[MEMBERS][0], &number, 8) == 8)
        sum += number, got++;
    close(pipes[MEMBERS][0]);
    for (int i = 0; !forks && i < MEMBERS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(threads[MEMBERS], NULL);
    while (forks && wait(NULL) > 0)
        ;
    CHECK(got == count && sum == (uint64_t)count * (count - 1) / 2 + (uint64_t)MEMBERS * count);
    printf("%d numbers through %d %s\n", count, MEMBERS, forks ? "processes" : "threads");
}

// Clients connect to a port, each many times; one thread serves them all by epoll: it adds one to a number and hangs up.
static struct sockaddr_in address = { .sin_family = AF_INET };
static int clients_count;

static void *client(void *arg)
{
    for (int i = 0; i < clients_count; i++) {
        uint64_t number = (uintptr_t)arg * 1000000 + i, answer;
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        CHECK(send(fd, &number, 8, 0) == 8);
        CHECK(recv(fd, &answer, 8, MSG_WAITALL) == 8 && answer == number + 1);
        CHECK(recv(fd, &answer, 8, 0) == 0);
        close(fd);
    }
    return NULL;
}

static void ports(int count)
{
    pthread_t threads[MEMBERS];
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), poller = epoll_create1(0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, MEMBERS) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = listener }, events[MEMBERS];
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) == 0);
    clients_count = count;
    for (intptr_t i = 0; i < MEMBERS; i++)
        CHECK(pthread_create(&threads[i], NULL, client, (void *)i) == 0);
    for (int served = 0; served < MEMBERS * count;) {
        int ready = epoll_wait(poller, events, MEMBERS, 60000);
        CHECK(ready > 0);
        for (int k = 0; k < ready; k++) {
            int fd = events[k].data.fd;
            uint64_t number;
            if (fd == listener) {
                event.data.fd = accept(listener, NULL, NULL);
                CHECK(event.data.fd >= 0 && epoll_ctl(poller, EPOLL_CTL_ADD, event.data.fd, &event) == 0);
                continue;
            }
            CHECK(recv(fd, &number, 8, MSG_WAITALL) == 8);
            number++;
            CHECK(send(fd, &number, 8, 0) == 8);
            close(fd);
            served++;
        }
    }
    for (int i = 0; i < MEMBERS; i++)
        pthread_join(threads[i], NULL);
    close(listener);
    close(poller);
    printf("%d connections of %d threads\n", MEMBERS * count, MEMBERS);
}

int main(int argc, char **argv)
{
    int before = open_descriptors(), count = argc > 2 ? atoi(argv[2]) : 100;
    if (!strcmp(argv[1], "processes"))
        processes(count);
    else if (!strcmp(argv[1], "ports"))
        ports(count);
    else
        ring(count, !strcmp(argv[1], "forks"));
    CHECK(open_descriptors() == before);
    return 0;
}
