/* A program with trace points of LTTng-UST: two threads serve requests, in which the disk of shard
 * 7 is slow. usage: shop SECONDS */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "shop_events.h"

static time_t ends;

static void wait_us(long us)
{
    const struct timespec time = {0, us * 1000};
    nanosleep(&time, NULL);
}

#define STEP_OF(name, shard, what)                                                                 \
    do {                                                                                           \
        lttng_ust_tracepoint(shop, name##_begin, shard);                                           \
        what;                                                                                      \
        lttng_ust_tracepoint(shop, name##_end, shard);                                             \
    } while (0)

static void find(uint32_t shard)
{
    STEP_OF(index, shard, wait_us(200));
    STEP_OF(disk, shard, wait_us(shard == 7 ? 20000 : 500));
}

static void *serve(void *context)
{
    unsigned seed = *(unsigned *)context;
    while (time(NULL) < ends) {
        uint32_t shard = (uint32_t)rand_r(&seed) % 8;
        lttng_ust_tracepoint(shop, sell_begin, "sell", shard);
        STEP_OF(parse, shard, wait_us(100));
        STEP_OF(find, shard, find(shard));
        STEP_OF(pack, shard, wait_us(200));
        lttng_ust_tracepoint(shop, sell_end, shard);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    unsigned seeds[2] = {1, 2};
    pthread_t threads[2];
    ends = time(NULL) + (count > 1 ? atoi(arguments[1]) : 60);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, serve, &seeds[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
