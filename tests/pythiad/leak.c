/* Loaded into pythiad before the C library (LD_PRELOAD), leaks while it runs: memory, shared memory
 * and descriptors, as much in an hour as PYTHIA_LEAK_MIB says (MiB, of either memory, and as many
 * descriptors). The soak has to notice each. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STEP_BYTES (1 << 20)

static void leak_page_by_page(size_t *at, char *private, char *shared, double bytes_due)
{
    static const size_t page = 4096;
    while ((double)*at < bytes_due && *at + page <= (size_t)STEP_BYTES * 4096) {
        private[*at] = 1;
        shared[*at] = 1;
        *at += page;
        if (*at % STEP_BYTES == 0)
            (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

static void *leak(void *context)
{
    double an_hour = *(double *)context, due = 0;
    size_t at = 0, reserved = (size_t)STEP_BYTES * 4096;
    int anonymous = MAP_ANONYMOUS | MAP_NORESERVE;
    char *private = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | anonymous, -1, 0);
    char *shared = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_SHARED | anonymous, -1, 0);
    if (private == MAP_FAILED || shared == MAP_FAILED ||
        madvise(private, reserved, MADV_NOHUGEPAGE) != 0)
        abort();
    for (;;) {
        struct timespec nap = {0, 100000000};
        nanosleep(&nap, NULL);
        due += an_hour * STEP_BYTES / 36000;
        leak_page_by_page(&at, private, shared, due);
    }
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    static double an_hour;
    const char *text = getenv("PYTHIA_LEAK_MIB");
    pthread_t thread;
    sigset_t all, before;
    if (!text)
        return;
    an_hour = strtod(text, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for pythiad */
    if (pthread_create(&thread, NULL, leak, &an_hour) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
