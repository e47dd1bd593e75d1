#include "pythia/evaluation_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "evaluation_forms.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "sentences/sentences.h"
#include "write/json_writer.h"

#define HELP_LIMIT 400 /* characters */

struct writer {
    struct pythia__json json;
    const struct pythia_evaluation *e;
    const struct pythia_evaluation_options *o;
    bool times;
};

static void set_evaluation_member(struct writer *w, json_t *object, const char *key, json_t *value)
{
    pythia__json_set(&w->json, object, key, value);
}

static void append_evaluation_item(struct writer *w, json_t *array, json_t *value)
{
    pythia__json_append(&w->json, array, value);
}

static json_t *make_evaluation_real(double number)
{
    return pythia__json_real(number);
}

static json_t *make_evaluation_count(uint64_t number)
{
    return pythia__json_count(number);
}

/* ---- results ---- */

static json_t *make_proportion(struct writer *w, const struct pythia_proportion *p)
{
    json_t *out = json_object();
    set_evaluation_member(w, out, "hits", make_evaluation_count(p->hits));
    set_evaluation_member(w, out, "of", make_evaluation_count(p->of));
    set_evaluation_member(w, out, "rate", make_evaluation_real(p->rate));
    set_evaluation_member(w, out, "low", make_evaluation_real(p->low));
    set_evaluation_member(w, out, "high", make_evaluation_real(p->high));
    return out;
}

static json_t *make_spread(struct writer *w, const struct pythia_spread *s)
{
    json_t *out = json_object();
    set_evaluation_member(w, out, "median", make_evaluation_real(s->median));
    set_evaluation_member(w, out, "p90", make_evaluation_real(s->p90));
    return out;
}

/* Every median and every rate has its interval over the seeds: a difference within it says nothing
 * about the strategies. */
static json_t *make_evaluation_result(struct writer *w, const char *problem, const char *strategy,
                                      const struct pythia_score *s)
{
    json_t *out = json_object(), *cycles = make_spread(w, &s->localised);
    set_evaluation_member(w, out, "problem", json_string(problem));
    set_evaluation_member(w, out, "strategy", json_string(strategy));
    set_evaluation_member(w, out, "trials", make_evaluation_count(s->trials));
    set_evaluation_member(w, out, "success_at_1", make_proportion(w, &s->first));
    set_evaluation_member(w, out, "success_at_3", make_proportion(w, &s->three));
    set_evaluation_member(w, out, "all_causes", make_proportion(w, &s->all));
    set_evaluation_member(w, out, "wrong", make_proportion(w, &s->wrong));
    set_evaluation_member(w, out, "explained", make_proportion(w, &s->keys));
    set_evaluation_member(w, cycles, "not_localised",
                          make_evaluation_count(s->all.of - s->all.hits));
    set_evaluation_member(w, out, "cycles_to_localise", cycles);
    set_evaluation_member(w, out, "cycles_to_end", make_spread(w, &s->ended));
    set_evaluation_member(w, out, "trace_points", make_evaluation_count(s->tracepoints));
    set_evaluation_member(w, out, "skeleton", make_evaluation_count(s->skeleton));
    set_evaluation_member(w, out, "opened", make_spread(w, &s->opened_points));
    set_evaluation_member(w, out, "opened_share", make_spread(w, &s->opened));
    set_evaluation_member(w, out, "peak_open", make_spread(w, &s->peak_points));
    set_evaluation_member(w, out, "added_peak_ns", make_spread(w, &s->added_peak_ns));
    set_evaluation_member(w, out, "added_mean_ns", make_spread(w, &s->added_mean_ns));
    set_evaluation_member(w, out, "added_peak_share", make_spread(w, &s->added_peak_share));
    set_evaluation_member(w, out, "added_mean_share", make_spread(w, &s->added_mean_share));
    if (w->times) {
        json_t *times = json_object();
        set_evaluation_member(w, times, "median", make_evaluation_real(s->decide_median_ns));
        set_evaluation_member(w, times, "max", make_evaluation_real(s->decide_most_ns));
        set_evaluation_member(w, out, "decision_ns", times);
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
            append_evaluation_item(
                w, out,
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
        set_evaluation_member(w, one, "name", json_string(p->name));
        set_evaluation_member(w, one, "help", json_string(p->help));
        set_evaluation_member(w, one, "shape", json_string(shapes[p->shape]));
        set_evaluation_member(w, one, "nodes", make_evaluation_count(p->nodes));
        set_evaluation_member(w, one, "requests",
                              make_evaluation_count(w->o->requests ? w->o->requests : p->requests));
        set_evaluation_member(w, one, "first_request", make_evaluation_count(p->first_request));
        set_evaluation_member(w, one, "causes", make_evaluation_count(p->cause_count));
        set_evaluation_member(w, one, "generate", pythia__json_text(pythia_buf_text(&generate)));
        append_evaluation_item(w, out, one);
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
        set_evaluation_member(w, one, "name", json_string(w->o->strategies[i]->name));
        set_evaluation_member(w, one, "help", json_string(w->o->strategies[i]->help));
        append_evaluation_item(w, out, one);
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
        append_evaluation_item(w, out, json_string(text));
    }
    snprintf(text, sizeof(text),
             "A search that does not find all causes counts as one that takes all %zu cycles.",
             w->o->cycles);
    append_evaluation_item(w, out, json_string(text));
    append_evaluation_item(
        w, out,
        json_string("Trace points are those beyond the skeleton, which is always open; what they "
                    "add to a request is their calls times the price of a hit."));
    append_evaluation_item(
        w, out,
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
        append_evaluation_item(w, out, json_string(text));
    }
    if (has_strategy(w, "all"))
        append_evaluation_item(
            w, out,
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
    set_evaluation_member(&w, out, "schema", json_string("pythia.evaluation/1"));
    set_evaluation_member(&w, out, "complete", json_boolean(trials == pythia_evaluation_trials(e)));
    set_evaluation_member(&w, out, "trials", make_evaluation_count(trials));
    set_evaluation_member(&w, out, "first_seed", make_evaluation_count(w.o->first_seed));
    set_evaluation_member(&w, out, "seeds", make_evaluation_count(w.o->seeds));
    set_evaluation_member(&w, out, "points", make_evaluation_count(w.o->points));
    set_evaluation_member(&w, out, "requests",
                          w.o->requests ? make_evaluation_count(w.o->requests) : json_null());
    set_evaluation_member(&w, out, "cycles", make_evaluation_count(w.o->cycles));
    set_evaluation_member(&w, out, "profile",
                          json_string(w.o->profile == PYTHIA_PROFILE_DURING ? "during" : "before"));
    set_evaluation_member(&w, out, "price_ns", make_evaluation_real(w.o->price_ns));
    set_evaluation_member(&w, out, "level", make_evaluation_real(PYTHIA_EVALUATION_LEVEL));
    set_evaluation_member(&w, out, "notes", make_evaluation_notes(&w, trials));
    set_evaluation_member(&w, out, "strategies", make_evaluation_strategies(&w));
    set_evaluation_member(&w, out, "problems", make_evaluation_problems(&w));
    set_evaluation_member(&w, out, "results", all);
    if (w.json.failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* ---- forms ---- */

static int append_json_chunk(const char *bytes, size_t size, void *data)
{
    pythia_shown_json(data, bytes, size);
    return pythia_buf_status(data) == PYTHIA_OK ? 0 : -1;
}

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
        if (json_dump_callback(report, append_json_chunk, out,
                               JSON_INDENT(1) | JSON_REAL_PRECISION(12)) != 0)
            return PYTHIA_ENOMEM;
        pythia_buf_putc(out, '\n');
        break;
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
