/* A program that is killed while its trace points are open. usage: traced_killed FILE THREADS SPANS
 *
 * Each thread records one span after the other, and after each it writes into FILE, which is shared
 * memory, how many there have been: what stands there when the program is killed was committed, or
 * lost for want of room. SPANS 0: without an end. It begins when its trace point is open. No thread
 * ends before the others: one that is late would get its ring, and find it full. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <pythia/tracepoints.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t most;
static pthread_barrier_t end;

static void *record(void *context)
{
    uint64_t *committed = context;
    int open = 0;
    while (!most || *committed < most) {
        {
            PYTHIA_REQUEST("step");
            PYTHIA_SPAN_AS(span, "step");
            open = open || span; /* later it may be that there is no room for it */
        }
        if (open) {
            __atomic_store_n(committed, *committed + 1, __ATOMIC_RELEASE);
        } else {
            struct timespec nap = {0, 1000000};
            nanosleep(&nap, NULL);
        }
    }
    pthread_barrier_wait(&end);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    long count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    if (argc < 4 || count < 1 || count > 64)
        return 2;
    most = strtoull(argv[3], NULL, 10);
    size_t bytes = (size_t)count * sizeof(uint64_t);
    int file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    uint64_t *committed = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (committed == MAP_FAILED || pthread_barrier_init(&end, NULL, (unsigned)count) != 0)
        return 1;
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, record, &committed[i]) != 0)
            return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts("done"); /* and stays, for somebody to kill */
    fflush(stdout);
    pause();
    return 0;
}
