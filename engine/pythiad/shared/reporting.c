#include "reporting.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/report_requests.h"
#include "pythia/status.h"
#include "pythia/type_choice.h"

#define GROUP_ID 17 /* its text, with the NUL */

/* Somebody who asked. */
struct asked {
    struct asked *next;
    unsigned form;
    size_t width;
    char group[GROUP_ID]; /* of PYTHIA__REPORT_REQUESTS */
    uint64_t look;        /* the cycle it is to be of, or a later one */
    pythia__report_made made;
    void *context;
};

/* The requests of a group as JSON. */
struct group_requests {
    char group[GROUP_ID];
    struct pythia_buf text;
};

/* The input of a report; held by the reporting, or by its job. */
struct evidence {
    struct pythia_groups *groups;    /* NULL: there is the report */
    struct pythia_report *report;    /* NULL: it is to be made of the groups */
    struct group_requests *requests; /* owned; made with the report, one a group */
    size_t request_count;
    struct pythia_pipeline_result input;
    uint64_t look; /* 0: there is none */
};

/* A form for a width. */
struct form {
    bool wanted; /* or there */
    size_t width;
    struct pythia_buf text; /* owned */
};

struct job {
    uv_work_t work; /* first, so that one is the other */
    struct pythia__reporting *r;
    struct evidence of;
    struct pythia_loop search_log;
    struct pythia_report_overhead *overhead; /* a copy; NULL: none */
    uint64_t overhead_number;
    struct form forms[PYTHIA__REPORT_FORMS];
    int status;
    bool made;        /* and not only written in another form */
    uint64_t took_ns; /* on the worker's thread */
};

struct pythia__reporting {
    uv_loop_t *loop;
    const struct pythia_vocabulary *vocabulary;
    struct pythia_diagnosis_options how;
    size_t types; /* that are looked at; 0: all */
    struct pythia_loop *search_log;
    const struct pythia_expectations *expectations;
    const char *trace_url;
    struct evidence latest;                  /* without groups and report while a job has them */
    uint64_t look;                           /* of the last cycle */
    struct form forms[PYTHIA__REPORT_FORMS]; /* of it, as far as they were asked for */
    struct pythia_report_overhead *overhead; /* the last that was set; NULL: none */
    uint64_t overhead_number;                /* rises when it changes */
    struct asked *line;                      /* who waits */
    struct job job;
    bool busy, stopped;
    atomic_bool stop; /* read by the job */
    uint64_t made, keys;
    struct pythia__own_work work; /* jobs */
};

int pythia__reporting_create(uv_loop_t *loop, const struct pythia_vocabulary *vocabulary,
                             const struct pythia_diagnosis_options *options, size_t types,
                             struct pythia_loop *search_log,
                             const struct pythia_expectations *expectations, const char *trace_url,
                             struct pythia__reporting **out)
{
    struct pythia__reporting *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->loop = loop;
    r->vocabulary = vocabulary;
    r->how = *options;
    r->types = types;
    r->search_log = search_log;
    r->expectations = expectations;
    r->trace_url = trace_url;
    atomic_init(&r->stop, false);
    r->how.stop = &r->stop;
    *out = r;
    return PYTHIA_OK;
}

static void free_waiting_requests(struct evidence *e)
{
    for (size_t i = 0; i < e->request_count; i++)
        pythia_buf_free(&e->requests[i].text);
    pythia_free(e->requests);
    e->requests = NULL;
    e->request_count = 0;
}

static void free_evidence(struct evidence *e)
{
    pythia_groups_destroy(e->groups);
    pythia_report_destroy(e->report);
    free_waiting_requests(e);
    *e = (struct evidence){0};
}

static void forget_forms(struct pythia__reporting *r)
{
    for (int form = 0; form < PYTHIA__REPORT_FORMS; form++) {
        pythia_buf_free(&r->forms[form].text);
        r->forms[form].wanted = false;
    }
}

void pythia__reporting_destroy(struct pythia__reporting *r)
{
    if (!r)
        return;
    free_evidence(&r->latest);
    forget_forms(r);
    pythia_free(r->overhead);
    pythia_free(r);
}

/* ---- on a worker's thread ---- */

static int diagnose_job(const struct job *j, struct pythia_diagnosis **out)
{
    struct pythia_diagnosis_options how = j->r->how;
    uint32_t *names;
    how.look = j->of.look;
    int status = pythia_types_choose(j->of.groups, &j->search_log.verdicts, j->r->types, &names,
                                     &how.only_count);
    if (status != PYTHIA_OK)
        return status;
    how.only = names;
    status = pythia_diagnose(j->of.groups, &how, out);
    pythia_free(names);
    return status;
}

/* The rows are gone when the report is there, so the requests are written before. */
static int make_requests(struct evidence *e, const struct pythia_diagnosis *d)
{
    e->requests = pythia_calloc(d->group_count, sizeof(*e->requests));
    if (!e->requests)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < d->group_count; i++) {
        struct group_requests *one = &e->requests[e->request_count++];
        snprintf(one->group, sizeof(one->group), "%016" PRIx64, d->groups[i].id);
        int status = pythia_report_requests(e->groups, &d->groups[i], &one->text);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* All forms are made of what is then no longer needed. */
static int make_whole_report(struct job *j)
{
    static const char *const paths[] = {"pythiad"};
    const struct pythia_expectations *expectations = j->r->expectations;
    struct pythia_expected_results expected = {0};
    struct pythia_diagnosis *diagnosis = NULL;
    int status = diagnose_job(j, &diagnosis);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_verdicts_explain(&j->search_log.verdicts, diagnosis, j->of.groups);
    if (status != PYTHIA_OK)
        goto out;
    if (expectations &&
        (status = pythia_expectations_judge(expectations, j->of.groups, j->r->how.min_requests,
                                            &expected)) != PYTHIA_OK)
        goto out;
    const struct pythia_report_source source = {.paths = paths,
                                                .path_count = 1,
                                                .live = true,
                                                .input = &j->of.input,
                                                .vocabulary = j->r->vocabulary,
                                                .groups = j->of.groups,
                                                .diagnosis = diagnosis,
                                                .loop = &j->search_log,
                                                .verdicts = &j->search_log.verdicts,
                                                .expectations = expectations,
                                                .expected = expectations ? &expected : NULL,
                                                .min_requests = j->r->how.min_requests,
                                                .trace_url = j->r->trace_url};
    if ((status = make_requests(&j->of, diagnosis)) != PYTHIA_OK)
        goto out;
    status = pythia_report_create(&source, (1u << PYTHIA_REPORT_FORMATS) - 1, &j->of.report);
out:
    pythia_diagnosis_destroy(diagnosis);
    pythia_expected_results_free(&expected);
    if (status != PYTHIA_OK) {
        free_waiting_requests(&j->of);
        return status;
    }
    j->made = true;
    pythia_groups_destroy(j->of.groups);
    j->of.groups = NULL;
    return PYTHIA_OK;
}

static int write_live_form(const struct job *j, unsigned form, struct form *to)
{
    static const char *const members[PYTHIA__REPORT_FORMS] = {[PYTHIA__REPORT_GROUPS] = "groups",
                                                              [PYTHIA__REPORT_VERDICTS] =
                                                                  "verdicts",
                                                              [PYTHIA__REPORT_CYCLES] = "loop"};
    const struct pythia_report_view view = {.width = to->width};
    if (form == PYTHIA__REPORT_REQUESTS)
        return PYTHIA_OK; /* they were written with the report */
    if (members[form])
        return pythia_report_write_member(j->of.report, members[form], &to->text);
    return pythia_report_write(j->of.report, (enum pythia_report_format)form, &view, &to->text);
}

static void make_live_report(uv_work_t *request)
{
    struct job *j = (struct job *)request;
    const uint64_t begin_ns = uv_hrtime();
    j->status = j->of.report ? PYTHIA_OK : make_whole_report(j);
    if (j->status == PYTHIA_OK)
        j->status = pythia_report_set_overhead(j->of.report, j->overhead);
    for (unsigned form = 0; form < PYTHIA__REPORT_FORMS && j->status == PYTHIA_OK; form++)
        if (j->forms[form].wanted)
            j->status = write_live_form(j, form, &j->forms[form]);
    j->took_ns = uv_hrtime() - begin_ns;
}

/* ---- on the loop's thread ---- */

static const struct pythia_buf *find_requests(const struct evidence *e, const char *group)
{
    for (size_t i = 0; i < e->request_count; i++)
        if (strcmp(e->requests[i].group, group) == 0)
            return &e->requests[i].text;
    return NULL;
}

static void answer_asker(struct asked *a, int status, const struct pythia_buf *form)
{
    a->made(a->context, status, form ? form->bytes : NULL, form ? form->size : 0);
    pythia_free(a);
}

/* Take those out of the line whom a job was for, and answer them. */
static void answer_all(struct pythia__reporting *r, const struct job *j)
{
    for (struct asked **at = &r->line; *at;) {
        struct asked *a = *at;
        const struct form *form = &j->forms[a->form];
        if (!form->wanted || form->width != a->width || a->look > j->of.look) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        answer_asker(a, j->status,
                     a->form == PYTHIA__REPORT_REQUESTS ? find_requests(&j->of, a->group)
                                                        : &form->text);
    }
}

static void begin_report(struct pythia__reporting *r);

/* Groups that nobody reads any more. */
struct going {
    uv_work_t work; /* first, so that one is the other */
    struct pythia_groups *groups;
};

static void destroy_groups(uv_work_t *request)
{
    struct going *g = (struct going *)request;
    pythia_groups_destroy(g->groups);
    g->groups = NULL;
}

static void end_going(uv_work_t *request, int cancelled)
{
    if (cancelled)
        destroy_groups(request);
    pythia_free(request);
}

/* A thousand types have so many rows that freeing them takes longer than a decision: a worker does
 * it, and the loop itself only where there is no memory for that. */
static void release_evidence(struct pythia__reporting *r, struct evidence *e)
{
    struct going *g = e->groups ? pythia_calloc(1, sizeof(*g)) : NULL;
    if (g) {
        g->groups = e->groups;
        e->groups = NULL;
        uv_queue_work(r->loop, &g->work, destroy_groups, end_going); /* as below */
    }
    free_evidence(e);
}

/* The evidence goes back if it is still the latest. */
static void finish_report(uv_work_t *request, int cancelled)
{
    struct job *j = (struct job *)request;
    struct pythia__reporting *r = j->r;
    if (cancelled)
        j->status = PYTHIA_ESTOPPED;
    else
        pythia__own_work_add(&r->work, j->took_ns);
    r->made += j->made;
    r->keys += pythia_verdicts_take_keys(&r->search_log->verdicts, &j->search_log.verdicts);
    r->busy = false;
    answer_all(r, j);
    bool latest = j->of.look == r->look;
    for (int form = 0; form < PYTHIA__REPORT_FORMS; form++) {
        if (latest && j->forms[form].wanted && j->status == PYTHIA_OK &&
            j->overhead_number == r->overhead_number) {
            pythia_buf_free(&r->forms[form].text);
            r->forms[form] = j->forms[form];
        } else {
            pythia_buf_free(&j->forms[form].text);
        }
    }
    if (latest)
        r->latest = j->of;
    else
        release_evidence(r, &j->of);
    pythia_loop_free(&j->search_log);
    pythia_free(j->overhead);
    begin_report(r);
}

/* Those who wait are told at once that no report will come. */
static void refuse_all(struct pythia__reporting *r, int status)
{
    while (r->line) {
        struct asked *a = r->line;
        r->line = a->next;
        answer_asker(a, status, NULL);
    }
}

static struct pythia_report_overhead *copy_overhead(const struct pythia_report_overhead *from)
{
    struct pythia_report_overhead *out = pythia_calloc(1, sizeof(*out));
    if (out)
        memcpy(out, from, sizeof(*out));
    return out;
}

/* Begin a job for all who wait, if there are any, and none runs. */
static void begin_report(struct pythia__reporting *r)
{
    struct job *j = &r->job;
    if (r->busy || !r->line)
        return;
    *j = (struct job){.r = r, .overhead_number = r->overhead_number};
    if (r->overhead)
        j->overhead = copy_overhead(r->overhead);
    if ((r->overhead && !j->overhead) ||
        (!r->latest.report && pythia_loop_copy(r->search_log, &j->search_log) != PYTHIA_OK)) {
        pythia_free(j->overhead);
        refuse_all(r, PYTHIA_ENOMEM);
        return;
    }
    /* The first of several widths of one form is made now, and the rest by the next job. */
    for (const struct asked *a = r->line; a; a = a->next)
        if (!j->forms[a->form].wanted)
            j->forms[a->form] = (struct form){.wanted = true, .width = a->width};
    j->of = r->latest;
    r->latest = (struct evidence){0};
    r->busy = true;
    uv_queue_work(r->loop, &j->work, make_live_report,
                  finish_report); /* fails only without a function */
}

void pythia__reporting_cycle(struct pythia__reporting *r, struct pythia_groups *groups,
                             uint64_t look, const struct pythia_pipeline_result *input)
{
    release_evidence(r, &r->latest);
    forget_forms(r);
    r->latest = (struct evidence){.groups = groups, .input = *input, .look = look};
    r->look = look;
}

/* NaN is no other NaN: a report that is made once too often costs little. */
static bool is_overhead(const struct pythia_report_overhead *a,
                        const struct pythia_report_overhead *b)
{
    bool same = a->share == b->share && a->limit == b->limit && a->cost_ns == b->cost_ns &&
                a->requests == b->requests && a->dropped_count == b->dropped_count &&
                a->beyond_limit == b->beyond_limit && a->listed == b->listed;
    for (size_t i = 0; i < a->listed && same; i++)
        same = a->dropped[i].tracepoint == b->dropped[i].tracepoint &&
               a->dropped[i].share == b->dropped[i].share &&
               a->dropped[i].explained == b->dropped[i].explained &&
               a->dropped[i].reason == b->dropped[i].reason;
    return same;
}

/* Without memory for another, the last stays. */
void pythia__reporting_set_overhead(struct pythia__reporting *r,
                                    const struct pythia_report_overhead *overhead)
{
    bool same =
        overhead && r->overhead ? is_overhead(overhead, r->overhead) : !overhead && !r->overhead;
    struct pythia_report_overhead *copy = overhead && !same ? copy_overhead(overhead) : NULL;
    if (same || (overhead && !copy))
        return;
    pythia_free(r->overhead);
    r->overhead = copy;
    r->overhead_number++;
    forget_forms(r);
}

bool pythia__reporting_has(const struct pythia__reporting *r)
{
    return r->look > 0;
}

static void put_in_line(struct pythia__reporting *r, const struct asked *asked)
{
    struct asked **end = &r->line, *a = pythia_calloc(1, sizeof(*a));
    if (!a) {
        asked->made(asked->context, PYTHIA_ENOMEM, NULL, 0);
        return;
    }
    *a = *asked;
    a->look = r->look;
    while (*end)
        end = &(*end)->next;
    *end = a;
    begin_report(r);
}

void pythia__reporting_ask(struct pythia__reporting *r, unsigned form, size_t width,
                           pythia__report_made made, void *context)
{
    const struct form *there = &r->forms[form];
    if (r->stopped || (there->wanted && there->width == width)) {
        made(context, r->stopped ? PYTHIA_ESTOPPED : PYTHIA_OK, there->text.bytes,
             there->text.size);
        return;
    }
    put_in_line(r, &(struct asked){.form = form, .width = width, .made = made, .context = context});
}

void pythia__reporting_ask_requests(struct pythia__reporting *r, const char *group,
                                    pythia__report_made made, void *context)
{
    const struct pythia_buf *found = NULL;
    if (r->stopped || r->latest.report) {
        found = r->stopped ? NULL : find_requests(&r->latest, group);
        made(context, r->stopped ? PYTHIA_ESTOPPED : PYTHIA_OK, found ? found->bytes : NULL,
             found ? found->size : 0);
        return;
    }
    struct asked a = {.form = PYTHIA__REPORT_REQUESTS, .made = made, .context = context};
    snprintf(a.group, sizeof(a.group), "%s", group);
    put_in_line(r, &a);
}

void pythia__reporting_stop(struct pythia__reporting *r)
{
    r->stopped = true;
    atomic_store(&r->stop, true);
    refuse_all(r, PYTHIA_ESTOPPED);
}

bool pythia__reporting_is_busy(const struct pythia__reporting *r)
{
    return r->busy;
}

struct pythia__own_work pythia__reporting_work(const struct pythia__reporting *r)
{
    return r->work;
}

uint64_t pythia__reporting_made(const struct pythia__reporting *r)
{
    return r->made;
}

uint64_t pythia__reporting_keys(const struct pythia__reporting *r)
{
    return r->keys;
}
