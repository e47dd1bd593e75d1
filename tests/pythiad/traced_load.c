/* Requests through fifty trace points, each of which is passed twenty times, and what they cost.
 * usage: traced_load FILE REQUESTS_A_SECOND WORK_US [once]
 *
 * Each request is followed or preceded by the same work with points that nobody can open. FILE is
 * shared memory: a number of pairs, and for each the CPU time of either and the time that the
 * traced one took (ns). What differs lies in the point "p7", which now and then does a hundred
 * times its work. With "once" there is a point "once" that the first request alone passes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pythia/tracepoints.h>
#include <pythia/variable.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define POINTS 50
#define PASSES 20
#define PAIRS  1000000
#define SLOW   100

struct pair {
    uint64_t took_ns, traced_ns, plain_ns;
};

static struct pythia_point points[POINTS];
static char names[POINTS][8];
static uint64_t loops; /* of one pass */
static volatile uint64_t result;
static long queue = 17;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(uint64_t n)
{
    uint64_t x = result | 1;
    for (uint64_t i = 0; i < n; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    result = x;
}

/* The same code for both, so that they differ in nothing but what is open. */
static void __attribute__((noinline)) pass(struct pythia_point *all, int slow)
{
    for (int k = 0; k < PASSES; k++)
        for (int i = 0; i < POINTS; i++) {
            struct pythia_scope room, *inner = NULL;
            if (pythia_is_open(&all[i]))
                inner = pythia_enter(&all[i], &room);
            work(slow && i == 7 ? SLOW * loops : loops);
            pythia_leave(inner);
        }
}

static void traced(int slow)
{
    PYTHIA_REQUEST("load");
    PYTHIA_SPAN_OF(span, PYTHIA_POINT_SERVER, "handle");
    pass(points, slow);
}

static void plain(int slow)
{
    static const uint64_t closed;
    static struct pythia_point none[POINTS];
    for (int i = 0; i < POINTS; i++)
        none[i].switches = &closed;
    pass(none, slow);
}

static void calibrate(double work_ns)
{
    uint64_t least = UINT64_MAX, n = 200000;
    for (int i = 0; i < 50; i++) {
        uint64_t begun = read_clock(CLOCK_THREAD_CPUTIME_ID);
        work(n);
        uint64_t took = read_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
        least = took < least ? took : least;
    }
    loops = (uint64_t)((double)n * work_ns / (POINTS * PASSES) / (double)least) + 1;
}

static uint64_t time_of(void (*way)(int slow), int slow)
{
    uint64_t begun = read_clock(CLOCK_THREAD_CPUTIME_ID);
    way(slow);
    return read_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t bytes = sizeof(uint64_t) + PAIRS * sizeof(struct pair);
    int file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    uint64_t *count = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (count == MAP_FAILED)
        return 1;
    struct pair *pairs = (struct pair *)(count + 1);
    const struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&queue);
    pythia_variable_define("queue length", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &source);
    pythia_variable_define("\x1b[31mred\xff", PYTHIA_CLASS_TIMER, PYTHIA_BIND_REQUEST, NULL);
    for (int i = 0; i < POINTS; i++) {
        int size = snprintf(names[i], sizeof(names[i]), "p%d", i);
        points[i] =
            (struct pythia_point)PYTHIA_POINT(PYTHIA_POINT_INTERNAL, names[i], (uint32_t)size);
    }
    calibrate(strtod(argv[3], NULL) * 1000);
    if (argc > 4) {
        PYTHIA_SPAN("once");
    }
    double between_ns = 1e9 / strtod(argv[2], NULL);
    uint64_t begun = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < PAIRS; i++) {
        int slow = i % 5 == 3;
        struct pair pair;
        if (i % 2)
            pair.plain_ns = time_of(plain, slow);
        uint64_t at = read_clock(CLOCK_MONOTONIC);
        pair.traced_ns = time_of(traced, slow);
        pair.took_ns = read_clock(CLOCK_MONOTONIC) - at;
        if (i % 2 == 0)
            pair.plain_ns = time_of(plain, slow);
        pairs[i] = pair;
        __atomic_store_n(count, i + 1, __ATOMIC_RELEASE);
        uint64_t next = begun + (uint64_t)((double)(i + 1) * between_ns);
        struct timespec until = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    return 0;
}
