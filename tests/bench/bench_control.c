/* How long a switch takes: bench_control gate|http NUMBER, one line of JSON.
 *
 *     gate  from the call that applies a set to the moment at which another process, which passes
 *           the point all the time, finds it switched: p50, p99 and the longest of NUMBER
 *     http  CPU time of a poll that is answered "unchanged", and of one that gets a list, with 100
 *           services of 100 points each */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pythia/control.h"
#include "pythia/control_http.h"
#include "pythia/status.h"
#include "pythia/switchboard.h"
#include "pythia/tracepoints.h"

static void die(const char *why)
{
    fprintf(stderr, "bench_control: %s\n", why);
    exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct pythia_control *make(const char *name, const char *directory)
{
    const struct pythia_control_ops *ops = pythia_control_named(name);
    struct pythia_control *plane = NULL;
    struct pythia_error e = {0};
    void *settings = calloc(1, ops->settings_size);
    if (!settings)
        die("out of memory");
    pythia_options_default(ops->options, settings);
    for (const struct pythia_option *o = ops->options; directory && o->name; o++)
        if (strcmp(o->name, "directory") == 0)
            pythia_option_set(o, settings, directory, &e);
    if (ops->create(settings, &plane, &e) != PYTHIA_OK)
        die(e.sentence);
    free(settings);
    return plane;
}

/* ---- gate ---- */

struct shown {
    _Atomic uint64_t switched_ns; /* when the program saw its point change last */
    _Atomic int open, ready;
};

static _Noreturn void program(struct shown *shown, const char *directory)
{
    static struct pythia_point point = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, "point", 5);
    struct pythia_tracepoints_options o = {.service = "bench", .directory = directory};
    struct pythia_scope room;
    pythia_tracepoints_setup(&o);
    pythia_leave(pythia_enter(&point, &room)); /* from now on it has its switch */
    for (int was = -1;;) {
        int open = pythia_is_open(&point);
        if (open != was) {
            shown->switched_ns = clock_ns(CLOCK_MONOTONIC);
            shown->open = was = open;
            shown->ready = 1;
        }
        sched_yield(); /* as work would, that waits now and then */
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double switch_once(struct pythia_control *plane, struct shown *shown, int open,
                          uint64_t version)
{
    struct pythia_control_wish wish = {.id = PYTHIA_TEXT("bench:point")};
    struct pythia_error e = {0};
    uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    if (plane->ops->apply(plane, &wish, open ? 1 : 0, version, begin, &e) != PYTHIA_OK)
        die(e.sentence);
    while (shown->open != open)
        sched_yield();
    return (double)(shown->switched_ns - begin) / 1e6;
}

static void bench_gate(size_t count)
{
    char directory[] = "/tmp/pythia-bench-XXXXXX";
    double *ms = calloc(count, sizeof(*ms));
    struct shown *shown =
        mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!ms || count == 0 || shown == MAP_FAILED || !mkdtemp(directory))
        die("no memory, or no directory");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        program(shown, directory);
    }
    while (!shown->ready)
        sched_yield();
    struct pythia_control *plane = make("gate", directory);
    plane->ops->set_lease(plane, PYTHIA_CONTROL_LEASE_NS);
    for (size_t i = 0; i < count; i++) {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        ms[i] = switch_once(plane, shown, i % 2 == 0, i + 1);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    plane->ops->destroy(plane);
    pythia_switchboard_remove(directory, NULL);
    qsort(ms, count, sizeof(*ms), compare);
    size_t p99 = (size_t)ceil(.99 * (double)count) - 1; /* the nearest rank */
    printf("{\"switches\": %zu, \"p50_ms\": %.6f, \"p99_ms\": %.6f, \"longest_ms\": %.6f}\n", count,
           ms[(count - 1) / 2], ms[p99], ms[count - 1]);
    free(ms);
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", directory);
    if (system(command) != 0)
        die("the directory could not be removed");
}

/* ---- http ---- */

#define SERVICES 100
#define POINTS   100
#define NOW_NS   UINT64_C(1000000000)

static void tell(struct pythia_control *plane, int service)
{
    struct pythia_buf report = {0}, answer = {0};
    pythia_buf_printf(&report, "{\"service\":\"s%d\",\"instance\":\"i\",\"points\":[", service);
    for (int p = 0; p < POINTS; p++)
        pythia_buf_printf(&report, "%s{\"id\":\"s%d:scope:point %d\"}", p ? "," : "", service, p);
    pythia_buf_puts(&report, "]}");
    if (pythia_control_http_post(plane, report.bytes, report.size, NOW_NS, &answer) != 200)
        die("a report was refused");
    pythia_buf_free(&report);
    pythia_buf_free(&answer);
}

static double poll_all(struct pythia_control *plane, size_t count, int unchanged)
{
    struct pythia_buf body = {0};
    char etag[PYTHIA_CONTROL_HTTP_ETAG] = "", service[16];
    uint64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < count; i++) {
        char match[PYTHIA_CONTROL_HTTP_ETAG];
        snprintf(service, sizeof(service), "s%d", (int)(unchanged ? 0 : i % SERVICES));
        memcpy(match, etag, sizeof(match));
        pythia_buf_clear(&body);
        pythia_control_http_get(plane, pythia_text_of(service), PYTHIA_TEXT("i"),
                                pythia_text_of(unchanged ? match : ""), NOW_NS, &body, etag);
    }
    pythia_buf_free(&body);
    return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e3 / (double)count;
}

static void bench_http(size_t count)
{
    static struct pythia_control_wish wishes[SERVICES];
    static char ids[SERVICES][32];
    struct pythia_control *plane = make("http", NULL);
    struct pythia_error e = {0};
    for (int s = 0; s < SERVICES; s++) {
        tell(plane, s);
        snprintf(ids[s], sizeof(ids[s]), "s%d:scope:point %d", s, s);
        wishes[s].id = pythia_text_of(ids[s]);
    }
    if (plane->ops->apply(plane, wishes, SERVICES, 1, NOW_NS, &e) != PYTHIA_OK)
        die(e.sentence);
    double unchanged_us = poll_all(plane, count, 1), list_us = poll_all(plane, count, 0);
    printf("{\"polls\": %zu, \"unchanged_us\": %.3f, \"list_us\": %.3f}\n", count, unchanged_us,
           list_us);
    plane->ops->destroy(plane);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: bench_control gate|http NUMBER");
    size_t count = (size_t)strtoull(argv[2], NULL, 10);
    if (strcmp(argv[1], "gate") == 0)
        bench_gate(count);
    else
        bench_http(count);
    return 0;
}
