// Two threads take two locks in opposite orders, and wait for each other for ever.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;

static void *take(void *arg)
{
    int first = arg != NULL;
    pthread_mutex_lock(&locks[first]);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&locks[!first]);
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, take, &other);
    take(NULL);
    puts("never");
    return 0;
}
