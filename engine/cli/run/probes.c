#include "probes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "shared/command.h"

struct adding {
    struct pythia_site_plan *plan;
    int status;
    struct pythia_error why;
};

/* A hit calls functions of the C library: its probes, and those of the dynamic linker, would be hit
 * in the middle of hits. */
static bool is_file_left_alone(const char *path)
{
    static const char *const names[] = {"libc.so.", "ld-linux", "libpythia-"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A file whose probes cannot be read has none to offer; the others have. */
static void add_file(void *context, const char *path)
{
    struct adding *a = context;
    struct pythia_error why = {0};
    if (is_file_left_alone(path))
        return;
    int status = pythia_site_plan_add(a->plan, path, &why);
    if (status == PYTHIA_OK)
        return;
    pythia_log(status == PYTHIA_ENOMEM ? PYTHIA_LOG_ERROR : PYTHIA_LOG_WARNING,
               "The probes of a file are left alone: file=%s, reason=%s", path, why.sentence);
    a->status = status == PYTHIA_ENOMEM ? status : a->status;
}

int pythia__probes_read(struct pythia__probes *p, const char *rules, const char *program, bool open)
{
    struct adding a = {.status = PYTHIA_OK};
    if (rules && pythia_probe_rules_read(rules, &p->rules, &a.why) != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &a.why);
        return PYTHIA__EXIT_USAGE;
    }
    if (pythia_site_plan_create(rules ? &p->rules : NULL, open, &p->plan) != PYTHIA_OK)
        return pythia__fail(PYTHIA_ENOMEM);
    a.plan = p->plan;
    for (size_t i = 0; i < p->rules.program_count; i++)
        add_file(&a, p->rules.programs[i]);
    if (!rules)
        pythia__program_objects(program, add_file, &a);
    if (a.status != PYTHIA_OK)
        return pythia__fail(a.status);
    struct pythia_site_plan_numbers n = pythia_site_plan_numbers(p->plan);
    if (n.refused > 0)
        pythia_log(PYTHIA_LOG_WARNING, "Notes of probes cannot be used: notes=%" PRIu64, n.refused);
    if (n.functions > 0)
        pythia_log(
            PYTHIA_LOG_WARNING,
            "Points that are functions need pythia-probe(8), and are left out: points=%" PRIu64,
            n.functions);
    if (n.sites > 0)
        return PYTHIA__EXIT_DONE;
    pythia_log(PYTHIA_LOG_ERROR,
               "%s was not started: %s (pythia probes lists the probes of a file)", program,
               rules ? "the programs of the rules have none of their probes"
                     : "neither it nor a library that it loads at its start has static probes");
    return PYTHIA__EXIT_USAGE;
}

void pythia__probes_free(struct pythia__probes *p)
{
    pythia_site_plan_destroy(p->plan);
    pythia_probe_rules_free(&p->rules);
    p->plan = NULL;
}

const char *pythia__probes_service(const struct pythia__probes *p)
{
    return p->rules.service;
}

/* The seccomp filters of this process, which the program inherits: more than these are its own. */
static uint64_t count_filters(void)
{
    static const char name[] = "Seccomp_filters:";
    char line[256];
    uint64_t count = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, name, sizeof(name) - 1) == 0)
            count = strtoull(line + sizeof(name) - 1, NULL, 10);
    if (file)
        fclose(file);
    return count;
}

int pythia__probes_write(const struct pythia__probes *p, struct pythia_buf *to)
{
    return pythia_site_plan_write(p->plan, count_filters(), to);
}

/* Read numbers with tabs between. */
static void read_numbers(const char *text, uint64_t *out, size_t count)
{
    char *end;
    for (size_t i = 0; i < count; i++, text = end)
        out[i] = strtoull(text, &end, 10);
}

bool pythia__probes_take(struct pythia__probes *p, const char *line)
{
    uint64_t n[6];
    if (strncmp(line, "patched\t", 8) == 0) {
        read_numbers(line + 8, n, 2);
        if (n[0] + n[1] > p->jumps + p->traps) {
            p->jumps = n[0];
            p->traps = n[1];
        }
        return true;
    }
    if (strncmp(line, "hits\t", 5) != 0)
        return false;
    read_numbers(line + 5, n, 6);
    p->hits += n[0];
    p->spans += n[1];
    p->outside += n[2];
    p->unmatched += n[3];
    p->abandoned += n[4];
    p->unrecorded += n[5];
    return true;
}

void pythia__probes_tell(const struct pythia__probes *p, bool quiet)
{
    struct pythia_site_plan_numbers n = pythia_site_plan_numbers(p->plan);
    if (!quiet)
        pythia_log(PYTHIA_LOG_INFO,
                   "Patched %" PRIu64 " of %" PRIu64 " probe sites: jump=%" PRIu64 ", int3=%" PRIu64
                   ", hits=%" PRIu64 ", spans=%" PRIu64 ", outside-of-requests=%" PRIu64,
                   p->jumps + p->traps, n.sites, p->jumps, p->traps, p->hits, p->spans, p->outside);
    if (p->unmatched + p->abandoned > 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "Pairs of probes were not whole: ends-without-begin=%" PRIu64
                   ", begins-without-end=%" PRIu64,
                   p->unmatched, p->abandoned);
    if (p->unrecorded > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Hits were not recorded: hits=%" PRIu64
                   ", reason=a signal handler in the middle "
                   "of another hit, or more than 32 spans in each other",
                   p->unrecorded);
}
