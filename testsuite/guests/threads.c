// Threads: locks, queues, conditions, barriers, atomics, thread-local storage, signals, ends.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef THREADS
#define THREADS 64
#define ROUNDS 200
#endif

#define CHECK(what, holds) \
    do { \
        if (!(holds)) { \
            printf("%s: failed, line %d\n", what, __LINE__); \
            exit(1); \
        } \
    } while (0)

static pthread_t threads[THREADS];

static void all(void *(*body)(void *))
{
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK("create", pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    for (intptr_t i = 0; i < THREADS; i++) {
        void *result;
        CHECK("join", pthread_join(threads[i], &result) == 0);
        CHECK("result", (intptr_t)result == i);
    }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long plain;
static atomic_long counted, exchanged;
static atomic_uint small[8];

static void *count(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        plain++;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&counted, 1);
        long old = atomic_load(&exchanged);
        while (!atomic_compare_exchange_weak(&exchanged, &old, old + 3))
            ;
        atomic_fetch_add(&small[i % 8], 1);
        if (i % 50 == 0)
            sched_yield();
    }
    return arg;
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int items[16];
    int first, number;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};
static atomic_long taken;

static void *exchange_items(void *arg)
{
    intptr_t me = (intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&queue.lock);
        if (me % 2) {
            while (queue.number == 16)
                pthread_cond_wait(&queue.emptied, &queue.lock);
            queue.items[(queue.first + queue.number++) % 16] = i;
            pthread_cond_signal(&queue.filled);
        } else {
            while (queue.number == 0)
                pthread_cond_wait(&queue.filled, &queue.lock);
            atomic_fetch_add(&taken, queue.items[queue.first]);
            queue.first = (queue.first + 1) % 16;
            queue.number--;
            pthread_cond_signal(&queue.emptied);
        }
        pthread_mutex_unlock(&queue.lock);
    }
    return arg;
}

static pthread_barrier_t barrier;
static int columns[2][THREADS];
static __thread int mine = 7;

static void *sum_rounds(void *arg)
{
    intptr_t me = (intptr_t)arg;
    for (int i = 0; i < 20; i++) {
        columns[i % 2][me] = i + (int)me;
        mine += i;
        pthread_barrier_wait(&barrier);
        int sum = 0;
        for (int k = 0; k < THREADS; k++)
            sum += columns[i % 2][k];
        CHECK("barrier", sum == THREADS * i + THREADS * (THREADS - 1) / 2);
    }
    CHECK("thread-local", mine == 7 + 190);
    return arg;
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long left, right;
static sem_t semaphore;
static atomic_int inside;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int onces;

static void run_once(void) { atomic_fetch_add(&onces, 1); }

static void *read_and_write(void *arg)
{
    for (int i = 0; i < 50; i++) {
        pthread_once(&once, run_once);
        if ((intptr_t)arg % 8 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            left++;
            right--;
            pthread_rwlock_unlock(&rwlock);
        } else {
            pthread_rwlock_rdlock(&rwlock);
            CHECK("rwlock", left == -right);
            pthread_rwlock_unlock(&rwlock);
        }
        sem_wait(&semaphore);
        CHECK("semaphore", atomic_fetch_add(&inside, 1) < 3);
        atomic_fetch_sub(&inside, 1);
        sem_post(&semaphore);
    }
    return arg;
}

static atomic_int handled;
static __thread volatile sig_atomic_t woken;

static void on_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&handled, 1);
    woken = 1;
}

static void *wait_for_signal(void *arg)
{
    sigset_t none;
    sigemptyset(&none);
    while (!woken)
        sigsuspend(&none);
    return arg;
}

static pthread_mutex_t robust, inherit;

static void *die_with_lock(void *arg)
{
    pthread_mutex_lock(&robust);
    return arg;
}

static void *lock_inherit(void *arg)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&inherit);
        left++;
        sched_yield();
        right--;
        pthread_mutex_unlock(&inherit);
    }
    return arg;
}

static void *detached(void *arg)
{
    sem_post(arg);
    return NULL;
}

int main(void)
{
    all(count);
    int bytes = 0;
    for (int i = 0; i < 8; i++)
        bytes += small[i];
    printf("counted %ld %ld %ld %d\n", plain, counted, exchanged, bytes);

    all(exchange_items);
    printf("queue %d %ld\n", queue.number, taken);

    pthread_barrier_init(&barrier, NULL, THREADS);
    all(sum_rounds);
    printf("barriers passed\n");

    sem_init(&semaphore, 0, 3);
    all(read_and_write);
    printf("rwlock %ld %ld, once %d\n", left, right, onces);

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK("create", pthread_create(&threads[i], NULL, wait_for_signal, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK("pthread_kill", pthread_kill(threads[i], SIGUSR1) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("handled %d\n", handled);

    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_create(&threads[0], NULL, die_with_lock, NULL);
    pthread_join(threads[0], NULL);
    CHECK("robust", pthread_mutex_lock(&robust) == EOWNERDEAD);
    CHECK("robust", pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
    pthread_mutexattr_init(&attr);
    CHECK("protocol", pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
    pthread_mutex_init(&inherit, &attr);
    left = right = 0;
    all(lock_inherit);
    printf("inherit %ld %ld\n", left, right);

    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 20000000;
    if (soon.tv_nsec >= 1000000000) {
        soon.tv_nsec -= 1000000000;
        soon.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    CHECK("timedwait", pthread_cond_timedwait(&never, &lock, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&lock);

    sem_t done;
    sem_init(&done, 0, 0);
    pthread_attr_t thread_attr;
    pthread_attr_init(&thread_attr);
    pthread_attr_setdetachstate(&thread_attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        CHECK("detached", pthread_create(&thread, &thread_attr, detached, &done) == 0);
        sem_wait(&done);
    }
    printf("the end\n");
    fflush(stdout);
    _exit(3);
}
