/* Spans of open requests, the evidence of a cycle and bodies are freed in another order than they
 * were allocated in, so that little of what is free stands at the end of the heap, which is all
 * that free() gives back. Left alone, the process keeps the sum of the peaks of all stages: after
 * 10 s of 100000 spans a second, 103 MiB of 127 were free memory. malloc_trim() gives back whole
 * pages wherever they are.
 *
 * What malloc calls free says nothing of how much of it is in memory: while as much is freed as is
 * allocated, elsewhere, it stays the same, and more and more pages are touched. So what is resident
 * and not used is compared with what was left after the last time.
 *
 * A page that is given back costs a fault when it is used again, and looking for pages takes time
 * in proportion to the number of free pieces, of which a burst leaves hundreds of thousands. So the
 * heap is trimmed only when there are STEP_BYTES more, or an eighth of what is used, and after each
 * look it is left alone for RESTS times as long as that took. */
#include "heap.h"

#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LARGE_BYTES (2 * 1024 * 1024) /* a piece of its own, which goes back when it is freed */
#define STEP_BYTES  (2 * 1024 * 1024)
#define LOOK_NS     UINT64_C(100000000)
#define RESTS       200

void pythia__heap_setup(void)
{
    /* By default the threshold grows with the largest piece that was ever freed. */
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
    mallopt(M_ARENA_MAX, 2);
}

static uint64_t read_cpu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Bytes in memory that are of no file; 0 where it cannot be told. */
static int64_t count_resident_bytes(void)
{
    long long pages, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld %lld", &pages, &resident, &shared) != 3)
        resident = shared = 0;
    fclose(file);
    return (resident - shared) * sysconf(_SC_PAGESIZE);
}

static int64_t count_used_bytes(void)
{
    struct mallinfo2 heap = mallinfo2();
    return (int64_t)(heap.uordblks + heap.hblkhd);
}

/* Trim the heap if much more of it is idle than was left; returns what is idle then, at most. It is
 * below 0 where pieces were not touched yet. */
static int64_t trim_heap(int64_t left)
{
    int64_t used = count_used_bytes(), idle = count_resident_bytes() - used;
    int64_t step = used / 8 > STEP_BYTES ? used / 8 : STEP_BYTES;
    if (idle < left + step)
        return idle < left ? idle : left;
    malloc_trim(0);
    return count_resident_bytes() - used;
}

void pythia__heap_tick(struct pythia__heap *h, uint64_t now_ns)
{
    if (now_ns < h->next_ns)
        return;
    uint64_t begin_ns = read_cpu_clock();
    h->left = trim_heap(h->left);
    uint64_t rest_ns = (read_cpu_clock() - begin_ns) * RESTS;
    h->next_ns = now_ns + (rest_ns > LOOK_NS ? rest_ns : LOOK_NS);
}
