#define _GNU_SOURCE
#include "probe/probe_points.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/elf_functions.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct points {
    const struct pythia_probe_rules *rules;
    struct pythia__probe_point *list; /* as the rules have them */
};

/* Add the two probes of a point, if the program has both. */
static int add_ends(const struct points *p, size_t index, const char *program,
                    const struct pythia_usdt_notes *notes)
{
    const struct pythia_probe_point *rule = &p->rules->points[index];
    struct pythia__probe_point *point = &p->list[index];
    const struct pythia_usdt_site *sites[2];
    size_t counts[2];
    for (int i = 0; i < 2; i++) {
        sites[i] = pythia_usdt_notes_find(notes, pythia_text_of(rule->provider),
                                          pythia_text_of(rule->probes[i]), &counts[i]);
        if (!sites[i])
            return PYTHIA_OK;
    }
    for (int i = 0; i < 2; i++) {
        struct pythia_buf id = {0};
        struct pythia__probe_end *end = &point->ends[point->end_count];
        pythia_buf_printf(&id, "%s:%s %s", rule->provider, rule->probes[i], program);
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        *end = (struct pythia__probe_end){.id = id.bytes, .done = i == 1};
        for (size_t s = 0; s < counts[i]; s++)
            end->sites[sites[i][s].instruction] = true;
        point->end_count++;
    }
    return PYTHIA_OK;
}

/* A wait is offered where requests can begin. */
static void mark_offered(const struct points *p)
{
    bool requests = false;
    for (size_t i = 0; i < p->rules->point_count; i++) {
        p->list[i].offered = p->list[i].end_count > 0;
        requests |= p->list[i].offered && p->rules->points[i].request;
    }
    for (size_t i = 0; i < p->rules->point_count; i++)
        p->list[i].offered |= requests && p->rules->points[i].is_wait;
}

static bool is_wanted_function(const void *rules, const char *name)
{
    const struct pythia_probe_rules *r = rules;
    for (size_t i = 0; i < r->point_count; i++)
        if (strcmp(r->points[i].provider, PYTHIA_FUNCTION_PROVIDER) == 0 &&
            strcmp(r->points[i].probes[0], name) == 0)
            return true;
    return false;
}

/* The functions of a program that are points; those of its debug file, too, if it is there. */
static void read_functions(const struct points *p, int file, struct pythia_usdt_notes *out,
                           struct pythia_error *e)
{
    char path[PYTHIA_DEBUG_PATH_BYTES];
    int debug = -1;
    if (pythia_elf_debug_path(file, path, e) == PYTHIA_OK && path[0])
        debug = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (!e->status)
        pythia_elf_functions_read(file, debug, is_wanted_function, p->rules, out, e);
    if (debug >= 0)
        close(debug);
}

/* A program in which no request begins is a library: mark its probes. */
static void mark_library(const struct points *p, const char *program)
{
    bool library = true;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p->rules->point_count; i++)
            for (size_t k = 0; k < p->list[i].end_count; k++) {
                struct pythia__probe_end *end = &p->list[i].ends[k];
                if (strcmp(strchr(end->id, ' ') + 1, program) != 0)
                    continue;
                if (pass == 0)
                    library &= !p->rules->points[i].request;
                else
                    end->library = library;
            }
}

static int add_program(const struct points *p, const char *program)
{
    struct pythia_usdt_notes lists[2] = {0}; /* of its static probes, of its functions */
    struct pythia_error why = {0};
    int file = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = PYTHIA_OK;
    if (file < 0)
        pythia_error_set(&why, PYTHIA_EIO, "%s", strerror(errno));
    else if (pythia_usdt_notes_read(file, &lists[0], &why) == PYTHIA_OK)
        read_functions(p, file, &lists[1], &why);
    if (file >= 0)
        close(file);
    if (why.status)
        pythia_log(PYTHIA_LOG_WARNING, "A program cannot be probed: program=%s, reason=%s", program,
                   why.sentence);
    for (size_t i = 0; i < p->rules->point_count && status == PYTHIA_OK && !why.status; i++) {
        if (p->rules->points[i].is_wait)
            continue;
        bool function = strcmp(p->rules->points[i].provider, PYTHIA_FUNCTION_PROVIDER) == 0;
        status = add_ends(p, i, program, &lists[function]);
    }
    mark_library(p, program);
    pythia_usdt_notes_free(&lists[0]);
    pythia_usdt_notes_free(&lists[1]);
    return why.status == PYTHIA_ENOMEM ? PYTHIA_ENOMEM : status;
}

int pythia__probe_points_read(const struct pythia_probe_rules *rules,
                              struct pythia__probe_point **out)
{
    const struct points p = {rules, pythia_calloc(rules->point_count, sizeof(*p.list))};
    *out = p.list;
    if (!p.list)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < rules->point_count; i++) {
        struct pythia_buf id = {0};
        pythia_buf_printf(&id, "%s:%s", rules->service, rules->points[i].name);
        p.list[i].id = id.bytes;
        if (pythia_buf_status(&id) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    for (size_t i = 0; i < rules->program_count; i++) {
        int status = add_program(&p, rules->programs[i]);
        if (status != PYTHIA_OK)
            return status;
    }
    mark_offered(&p);
    return PYTHIA_OK;
}

void pythia__probe_points_free(struct pythia__probe_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < points[i].end_count; k++)
            pythia_free(points[i].ends[k].id);
        pythia_free(points[i].id);
    }
    pythia_free(points);
}
