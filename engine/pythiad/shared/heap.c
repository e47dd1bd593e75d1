/* Spans of open requests, the evidence of a cycle and bodies are freed in another order than they
 * were allocated in, so that little of what is free stands at the end of the heap, which is all
 * that free() gives back. Left alone, the process keeps the sum of the peaks of all stages: after
 * 10 s of 100000 spans a second, 103 MiB of 127 were free memory. malloc_trim() gives back whole
 * pages wherever they are.
 *
 * A page that is given back costs a fault when it is used again, and looking for pages takes time
 * in proportion to the number of free pieces, of which a burst leaves hundreds of thousands. So the
 * heap is trimmed only when STEP_BYTES have become free since the last time, and after each look it
 * is left alone for RESTS times as long as that took. */
#include "heap.h"

#include <malloc.h>
#include <time.h>

#define LARGE_BYTES (2 * 1024 * 1024) /* a piece of its own, which goes back when it is freed */
#define STEP_BYTES  ((size_t)2 * 1024 * 1024)
#define LOOK_NS     UINT64_C(100000000)
#define RESTS       100

void pythia__heap_setup(void)
{
    /* By default the threshold grows with the largest piece that was ever freed. */
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BYTES);
    mallopt(M_ARENA_MAX, 2);
}

static uint64_t read_heap_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Trim the heap if enough is free; returns what is free then. */
static size_t trim_heap(size_t left)
{
    size_t free_bytes = mallinfo2().fordblks;
    if (free_bytes < left + STEP_BYTES)
        return free_bytes < left ? free_bytes : left;
    malloc_trim(0);
    return mallinfo2().fordblks;
}

void pythia__heap_tick(struct pythia__heap *h, uint64_t now_ns)
{
    if (now_ns < h->next_ns)
        return;
    uint64_t begin_ns = read_heap_clock();
    h->left = trim_heap(h->left);
    uint64_t rest_ns = (read_heap_clock() - begin_ns) * RESTS;
    h->next_ns = now_ns + (rest_ns > LOOK_NS ? rest_ns : LOOK_NS);
}
