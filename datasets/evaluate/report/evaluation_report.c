#include "pythia/evaluation_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluation_results.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define NOTES_MAX 6

/* ---- results ---- */

static void set_proportion(double *figures, const struct pythia_proportion *p)
{
    figures[PYTHIA__HITS] = (double)p->hits;
    figures[PYTHIA__OF] = (double)p->of;
    figures[PYTHIA__RATE] = p->rate;
    figures[PYTHIA__LOW] = p->low;
    figures[PYTHIA__HIGH] = p->high;
}

static void set_spread(double *figures, const struct pythia_spread *s)
{
    figures[PYTHIA__MEDIAN] = s->median;
    figures[PYTHIA__P90] = s->p90;
}

/* Every median and every rate has its interval over the seeds: a difference within it says nothing
 * about the strategies. */
static void set_figures(double *f, const struct pythia_score *s)
{
    f[PYTHIA__TRIALS] = (double)s->trials;
    set_proportion(f + PYTHIA__FIRST, &s->first);
    set_proportion(f + PYTHIA__THREE, &s->three);
    set_proportion(f + PYTHIA__ALL, &s->all);
    set_proportion(f + PYTHIA__WRONG, &s->wrong);
    set_proportion(f + PYTHIA__KEYS, &s->keys);
    set_spread(f + PYTHIA__LOCALISED, &s->localised);
    f[PYTHIA__NOT_LOCALISED] = (double)(s->all.of - s->all.hits);
    set_spread(f + PYTHIA__ENDED, &s->ended);
    f[PYTHIA__TRACE_POINTS] = (double)s->tracepoints;
    f[PYTHIA__SKELETON] = (double)s->skeleton;
    set_spread(f + PYTHIA__OPENED, &s->opened_points);
    set_spread(f + PYTHIA__OPENED_SHARE, &s->opened);
    set_spread(f + PYTHIA__PEAK, &s->peak_points);
    set_spread(f + PYTHIA__ADDED_PEAK, &s->added_peak_ns);
    set_spread(f + PYTHIA__ADDED_MEAN, &s->added_mean_ns);
    set_spread(f + PYTHIA__ADDED_PEAK_SHARE, &s->added_peak_share);
    set_spread(f + PYTHIA__ADDED_MEAN_SHARE, &s->added_mean_share);
    f[PYTHIA__DECISION] = s->decide_median_ns;
    f[PYTHIA__DECISION + 1] = s->decide_most_ns;
}

static int add_results(struct pythia_evaluation_report *r, const struct pythia_evaluation *e)
{
    struct pythia__evaluation_result *at = r->results;
    r->trials = 0;
    for (size_t p = 0; p < r->problem_count; p++)
        for (size_t i = 0; i < r->strategy_count; i++, at++) {
            struct pythia_score s;
            int status = pythia_evaluation_score(e, i, p, &s);
            if (status != PYTHIA_OK)
                return status;
            at->problem = r->problems[p].name;
            at->strategy = r->strategies[i].name;
            set_figures(at->figures, &s);
            r->trials += (double)s.trials;
        }
    return PYTHIA_OK;
}

/* ---- settings ---- */

/* Each problem has the options of `pythia generate` with which its traces can be made again. */
static void add_problem(struct pythia_evaluation_report *r, const struct pythia_trial_problem *p,
                        size_t requests, struct pythia__evaluation_problem *out)
{
    static const char *const shapes[] = {"bushy", "deep", "openstack"};
    struct pythia_buf generate = {0};
    pythia_trial_generate_options(p, &generate);
    *out = (struct pythia__evaluation_problem){
        .name = p->name,
        .help = p->help,
        .shape = shapes[p->shape],
        .generate = pythia__evaluation_copy(r, generate.bytes ? generate.bytes : ""),
        .nodes = (double)p->nodes,
        .requests = (double)(requests ? requests : p->requests),
        .first_request = (double)p->first_request,
        .causes = (double)p->cause_count};
    r->failed = r->failed || pythia_buf_status(&generate) != PYTHIA_OK;
    pythia_buf_free(&generate);
}

static bool has_strategy(const struct pythia_evaluation_options *o, const char *name)
{
    for (size_t i = 0; i < o->strategy_count; i++)
        if (strcmp(o->strategies[i]->name, name) == 0)
            return true;
    return false;
}

/* A reader needs these to interpret the figures. */
static void add_evaluation_notes(struct pythia_evaluation_report *r,
                                 const struct pythia_evaluation_options *o, size_t all)
{
    char text[400];
    size_t n = 0;
    if (!r->complete) {
        snprintf(text, sizeof(text), "The evaluation was interrupted after %.0f of %zu searches.",
                 r->trials, all);
        r->notes[n++] = pythia__evaluation_copy(r, text);
    }
    snprintf(text, sizeof(text),
             "A search that does not find all causes counts as one that takes all %zu cycles.",
             o->cycles);
    r->notes[n++] = pythia__evaluation_copy(r, text);
    r->notes[n++] = "Trace points are counted beyond the skeleton, which is always open; they add "
                    "their hits times the price of a hit to a request.";
    r->notes[n++] = o->profile == PYTHIA_PROFILE_DURING
                        ? "Search spaces are made from requests with the causes in them, whose "
                          "mean times show much of where these are."
                        : "Search spaces are made from requests without the causes.";
    if (has_strategy(o, "historic")) {
        snprintf(text, sizeof(text),
                 "historic has the records of %d earlier searches by the default strategy, for "
                 "the same workflow and the same causes but other requests: the best possible "
                 "history.",
                 PYTHIA_TRIAL_EARLIER);
        r->notes[n++] = pythia__evaluation_copy(r, text);
    }
    if (has_strategy(o, "all"))
        r->notes[n++] = "all has no limit of trace points per cycle: it shows the cost of opening "
                        "everything.";
    r->note_count = n;
}

static int fill_report(struct pythia_evaluation_report *r, const struct pythia_evaluation *e,
                       const struct pythia_evaluation_options *o)
{
    int status = pythia__evaluation_reserve(r, NOTES_MAX, o->strategy_count, o->problem_count,
                                            o->strategy_count * o->problem_count);
    if (status != PYTHIA_OK)
        return status;
    r->first_seed = (double)o->first_seed;
    r->seeds = (double)o->seeds;
    r->points = (double)o->points;
    r->requests = o->requests ? (double)o->requests : NAN; /* each problem has its own number */
    r->cycles = (double)o->cycles;
    r->price_ns = o->price_ns;
    r->level = PYTHIA_EVALUATION_LEVEL;
    r->profile = o->profile == PYTHIA_PROFILE_DURING ? "during" : "before";
    for (size_t i = 0; i < o->strategy_count; i++)
        r->strategies[i] =
            (struct pythia__evaluation_strategy){o->strategies[i]->name, o->strategies[i]->help};
    for (size_t i = 0; i < o->problem_count; i++)
        add_problem(r, o->problems[i], o->requests, &r->problems[i]);
    if ((status = add_results(r, e)) != PYTHIA_OK)
        return status;
    size_t all = pythia_evaluation_trials(e);
    r->complete = r->trials == (double)all;
    add_evaluation_notes(r, o, all);
    return r->failed ? PYTHIA_ENOMEM : PYTHIA_OK;
}

int pythia_evaluation_report_create(const struct pythia_evaluation *e, bool times,
                                    struct pythia_evaluation_report **out)
{
    struct pythia_evaluation_report *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->timed = times;
    int status = fill_report(r, e, pythia_evaluation_options_of(e));
    if (status != PYTHIA_OK) {
        pythia_evaluation_report_destroy(r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

/* ---- formats ---- */

static int write_evaluation_document(const struct pythia_evaluation_report *r, bool markdown,
                                     const struct pythia_evaluation_view *view,
                                     struct pythia_buf *out)
{
    const struct pythia__doc_view how = {
        .width = view->width, .colour = view->colour, .ascii = view->ascii};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    int status = pythia__evaluation_build(r, markdown, &d);
    if (status == PYTHIA_OK)
        status =
            markdown ? pythia__doc_write_markdown(&d, out) : pythia__doc_write_text(&d, &how, out);
    pythia__doc_free(&d);
    return status;
}

int pythia_evaluation_report_write(const struct pythia_evaluation_report *r,
                                   enum pythia_evaluation_format format,
                                   const struct pythia_evaluation_view *view,
                                   struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    switch (format) {
    case PYTHIA_EVALUATION_TEXT:
    case PYTHIA_EVALUATION_MARKDOWN:
        return write_evaluation_document(r, format == PYTHIA_EVALUATION_MARKDOWN, view, out);
    case PYTHIA_EVALUATION_JSON:
        return pythia__evaluation_json(r, out);
    case PYTHIA_EVALUATION_CSV:
        pythia__evaluation_csv(r, out);
        break;
    case PYTHIA_EVALUATION_SVG:
        pythia__evaluation_svg(r, out);
        break;
    }
    return pythia_mem_failures() == failures ? pythia_buf_status(out) : PYTHIA_ENOMEM;
}
