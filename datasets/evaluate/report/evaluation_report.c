#include "pythia/evaluation_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "evaluation_forms.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "write/json_writer.h"
#include "write/words.h"

#define HELP_LIMIT 400 /* characters */

struct writer {
    struct pythia__json json;
    const struct pythia_evaluation *e;
    const struct pythia_evaluation_options *o;
    bool times;
};

/* ---- results ---- */

static json_t *make_proportion(struct writer *w, const struct pythia_proportion *p)
{
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "hits", pythia__json_count(p->hits));
    pythia__json_set(&w->json, out, "of", pythia__json_count(p->of));
    pythia__json_set(&w->json, out, "rate", pythia__json_real(p->rate));
    pythia__json_set(&w->json, out, "low", pythia__json_real(p->low));
    pythia__json_set(&w->json, out, "high", pythia__json_real(p->high));
    return out;
}

static json_t *make_spread(struct writer *w, const struct pythia_spread *s)
{
    json_t *out = json_object();
    pythia__json_set(&w->json, out, "median", pythia__json_real(s->median));
    pythia__json_set(&w->json, out, "p90", pythia__json_real(s->p90));
    return out;
}

/* Every median and every rate has its interval over the seeds: a difference within it says nothing
 * about the strategies. */
static json_t *make_evaluation_result(struct writer *w, const char *problem, const char *strategy,
                                      const struct pythia_score *s)
{
    json_t *out = json_object(), *cycles = make_spread(w, &s->localised);
    pythia__json_set(&w->json, out, "problem", json_string(problem));
    pythia__json_set(&w->json, out, "strategy", json_string(strategy));
    pythia__json_set(&w->json, out, "trials", pythia__json_count(s->trials));
    pythia__json_set(&w->json, out, "success_at_1", make_proportion(w, &s->first));
    pythia__json_set(&w->json, out, "success_at_3", make_proportion(w, &s->three));
    pythia__json_set(&w->json, out, "all_causes", make_proportion(w, &s->all));
    pythia__json_set(&w->json, out, "wrong", make_proportion(w, &s->wrong));
    pythia__json_set(&w->json, out, "explained", make_proportion(w, &s->keys));
    pythia__json_set(&w->json, cycles, "not_localised",
                     pythia__json_count(s->all.of - s->all.hits));
    pythia__json_set(&w->json, out, "cycles_to_localise", cycles);
    pythia__json_set(&w->json, out, "cycles_to_end", make_spread(w, &s->ended));
    pythia__json_set(&w->json, out, "trace_points", pythia__json_count(s->tracepoints));
    pythia__json_set(&w->json, out, "skeleton", pythia__json_count(s->skeleton));
    pythia__json_set(&w->json, out, "opened", make_spread(w, &s->opened_points));
    pythia__json_set(&w->json, out, "opened_share", make_spread(w, &s->opened));
    pythia__json_set(&w->json, out, "peak_open", make_spread(w, &s->peak_points));
    pythia__json_set(&w->json, out, "added_peak_ns", make_spread(w, &s->added_peak_ns));
    pythia__json_set(&w->json, out, "added_mean_ns", make_spread(w, &s->added_mean_ns));
    pythia__json_set(&w->json, out, "added_peak_share", make_spread(w, &s->added_peak_share));
    pythia__json_set(&w->json, out, "added_mean_share", make_spread(w, &s->added_mean_share));
    if (w->times) {
        json_t *times = json_object();
        pythia__json_set(&w->json, times, "median", pythia__json_real(s->decide_median_ns));
        pythia__json_set(&w->json, times, "max", pythia__json_real(s->decide_most_ns));
        pythia__json_set(&w->json, out, "decision_ns", times);
    }
    return out;
}

/* All of them; *trials: how many were run. */
static json_t *make_evaluation_results(struct writer *w, size_t *trials)
{
    json_t *out = json_array();
    *trials = 0;
    for (size_t p = 0; p < w->o->problem_count; p++)
        for (size_t i = 0; i < w->o->strategy_count; i++) {
            struct pythia_score s;
            if (pythia_evaluation_score(w->e, i, p, &s) != PYTHIA_OK) {
                w->json.failed = true;
                return out;
            }
            pythia__json_append(
                &w->json, out,
                make_evaluation_result(w, w->o->problems[p]->name, w->o->strategies[i]->name, &s));
            *trials += s.trials;
        }
    return out;
}

/* ---- what was asked ---- */

/* Each problem has the options of `pythia generate` with which its traces can be made again. */
static json_t *make_evaluation_problems(struct writer *w)
{
    static const char *const shapes[] = {"bushy", "deep", "openstack"};
    json_t *out = json_array();
    for (size_t i = 0; i < w->o->problem_count; i++) {
        const struct pythia_trial_problem *p = w->o->problems[i];
        struct pythia_buf generate = {0};
        json_t *one = json_object();
        pythia_trial_generate_options(p, &generate);
        pythia__json_set(&w->json, one, "name", json_string(p->name));
        pythia__json_set(&w->json, one, "help", json_string(p->help));
        pythia__json_set(&w->json, one, "shape", json_string(shapes[p->shape]));
        pythia__json_set(&w->json, one, "nodes", pythia__json_count(p->nodes));
        pythia__json_set(&w->json, one, "requests",
                         pythia__json_count(w->o->requests ? w->o->requests : p->requests));
        pythia__json_set(&w->json, one, "first_request", pythia__json_count(p->first_request));
        pythia__json_set(&w->json, one, "causes", pythia__json_count(p->cause_count));
        pythia__json_set(&w->json, one, "generate", pythia__json_text(pythia_buf_text(&generate)));
        pythia__json_append(&w->json, out, one);
        w->json.failed = w->json.failed || pythia_buf_status(&generate) != PYTHIA_OK;
        pythia_buf_free(&generate);
    }
    return out;
}

static json_t *make_evaluation_strategies(struct writer *w)
{
    json_t *out = json_array();
    for (size_t i = 0; i < w->o->strategy_count; i++) {
        json_t *one = json_object();
        pythia__json_set(&w->json, one, "name", json_string(w->o->strategies[i]->name));
        pythia__json_set(&w->json, one, "help", json_string(w->o->strategies[i]->help));
        pythia__json_append(&w->json, out, one);
    }
    return out;
}

static bool has_strategy(const struct writer *w, const char *name)
{
    for (size_t i = 0; i < w->o->strategy_count; i++)
        if (strcmp(w->o->strategies[i]->name, name) == 0)
            return true;
    return false;
}

/* What a reader has to know to read the figures right. */
static json_t *make_evaluation_notes(struct writer *w, size_t trials)
{
    json_t *out = json_array();
    char text[400];
    if (trials < pythia_evaluation_trials(w->e)) {
        snprintf(text, sizeof(text), "This is a part: %zu of %zu searches were made.", trials,
                 pythia_evaluation_trials(w->e));
        pythia__json_append(&w->json, out, json_string(text));
    }
    snprintf(text, sizeof(text),
             "A search that does not find all causes counts as one that takes all %zu cycles.",
             w->o->cycles);
    pythia__json_append(&w->json, out, json_string(text));
    pythia__json_append(
        &w->json, out,
        json_string("Trace points are those beyond the skeleton, which is always open; what they "
                    "add to a request is their calls times the price of a hit."));
    pythia__json_append(
        &w->json, out,
        json_string(w->o->profile == PYTHIA_PROFILE_DURING
                        ? "Search spaces are made from requests with the causes in them, whose "
                          "mean times tell much of where these are."
                        : "Search spaces are made from requests of before the causes came."));
    if (has_strategy(w, "historic")) {
        snprintf(text, sizeof(text),
                 "historic knows the records of %d earlier searches by the default strategy: of "
                 "the same workflow and the same causes, by other requests. That is as good as a "
                 "history can be.",
                 PYTHIA_TRIAL_EARLIER);
        pythia__json_append(&w->json, out, json_string(text));
    }
    if (has_strategy(w, "all"))
        pythia__json_append(
            &w->json, out,
            json_string("all has no limit of trace points in a cycle: it shows what it costs to "
                        "open everything."));
    return out;
}

/* All other forms are made from this one, so that --from gives the same bytes later. */
json_t *pythia_evaluation_report_json(const struct pythia_evaluation *e, bool times)
{
    struct writer w = {.e = e, .o = pythia_evaluation_options_of(e), .times = times};
    json_t *out = json_object();
    size_t trials;
    json_t *all = make_evaluation_results(&w, &trials);
    pythia__json_set(&w.json, out, "schema", json_string("pythia.evaluation/1"));
    pythia__json_set(&w.json, out, "complete", json_boolean(trials == pythia_evaluation_trials(e)));
    pythia__json_set(&w.json, out, "trials", pythia__json_count(trials));
    pythia__json_set(&w.json, out, "first_seed", pythia__json_count(w.o->first_seed));
    pythia__json_set(&w.json, out, "seeds", pythia__json_count(w.o->seeds));
    pythia__json_set(&w.json, out, "points", pythia__json_count(w.o->points));
    pythia__json_set(&w.json, out, "requests",
                     w.o->requests ? pythia__json_count(w.o->requests) : json_null());
    pythia__json_set(&w.json, out, "cycles", pythia__json_count(w.o->cycles));
    pythia__json_set(&w.json, out, "profile",
                     json_string(w.o->profile == PYTHIA_PROFILE_DURING ? "during" : "before"));
    pythia__json_set(&w.json, out, "price_ns", pythia__json_real(w.o->price_ns));
    pythia__json_set(&w.json, out, "level", pythia__json_real(PYTHIA_EVALUATION_LEVEL));
    pythia__json_set(&w.json, out, "notes", make_evaluation_notes(&w, trials));
    pythia__json_set(&w.json, out, "strategies", make_evaluation_strategies(&w));
    pythia__json_set(&w.json, out, "problems", make_evaluation_problems(&w));
    pythia__json_set(&w.json, out, "results", all);
    if (w.json.failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* ---- forms ---- */

/* The form is only chosen here; each has a function that takes the JSON. */
int pythia_evaluation_report_write(const json_t *report, enum pythia_evaluation_format format,
                                   bool colour, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    switch (format) {
    case PYTHIA_EVALUATION_TEXT:
        pythia__evaluation_text(report, colour, out);
        break;
    case PYTHIA_EVALUATION_JSON:
        return pythia__json_write(report, 1, 12, out);
    case PYTHIA_EVALUATION_CSV:
        pythia__evaluation_csv(report, out);
        break;
    case PYTHIA_EVALUATION_MARKDOWN:
        pythia__evaluation_markdown(report, out);
        break;
    case PYTHIA_EVALUATION_SVG:
        pythia__evaluation_svg(report, out);
        break;
    }
    return pythia_mem_failures() == failures ? pythia_buf_status(out) : PYTHIA_ENOMEM;
}
