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

static void set(struct writer *w, json_t *object, const char *key, json_t *value)
{
    pythia__json_set(&w->json, object, key, value);
}

static void append(struct writer *w, json_t *array, json_t *value)
{
    pythia__json_append(&w->json, array, value);
}

static json_t *real(double number)
{
    return pythia__json_real(number);
}

static json_t *whole(uint64_t number)
{
    return pythia__json_count(number);
}

/* ---- results ---- */

static json_t *proportion(struct writer *w, const struct pythia_proportion *p)
{
    json_t *out = json_object();
    set(w, out, "hits", whole(p->hits));
    set(w, out, "of", whole(p->of));
    set(w, out, "rate", real(p->rate));
    set(w, out, "low", real(p->low));
    set(w, out, "high", real(p->high));
    return out;
}

static json_t *spread(struct writer *w, const struct pythia_spread *s)
{
    json_t *out = json_object();
    set(w, out, "median", real(s->median));
    set(w, out, "p90", real(s->p90));
    return out;
}

static json_t *result(struct writer *w, const char *problem, const char *strategy,
                      const struct pythia_score *s)
{
    json_t *out = json_object(), *cycles = spread(w, &s->localised);
    set(w, out, "problem", json_string(problem));
    set(w, out, "strategy", json_string(strategy));
    set(w, out, "trials", whole(s->trials));
    set(w, out, "success_at_1", proportion(w, &s->first));
    set(w, out, "success_at_3", proportion(w, &s->three));
    set(w, out, "all_causes", proportion(w, &s->all));
    set(w, out, "wrong", proportion(w, &s->wrong));
    set(w, out, "explained", proportion(w, &s->keys));
    set(w, cycles, "not_localised", whole(s->all.of - s->all.hits));
    set(w, out, "cycles_to_localise", cycles);
    set(w, out, "cycles_to_end", spread(w, &s->ended));
    set(w, out, "trace_points", whole(s->tracepoints));
    set(w, out, "skeleton", whole(s->skeleton));
    set(w, out, "opened", spread(w, &s->opened_points));
    set(w, out, "opened_share", spread(w, &s->opened));
    set(w, out, "peak_open", spread(w, &s->peak_points));
    set(w, out, "added_peak_ns", spread(w, &s->added_peak_ns));
    set(w, out, "added_mean_ns", spread(w, &s->added_mean_ns));
    set(w, out, "added_peak_share", spread(w, &s->added_peak_share));
    set(w, out, "added_mean_share", spread(w, &s->added_mean_share));
    if (w->times) {
        json_t *times = json_object();
        set(w, times, "median", real(s->decide_median_ns));
        set(w, times, "max", real(s->decide_most_ns));
        set(w, out, "decision_ns", times);
    }
    return out;
}

/* All of them; *trials: how many were run. */
static json_t *results(struct writer *w, size_t *trials)
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
            append(w, out, result(w, w->o->problems[p]->name, w->o->strategies[i]->name, &s));
            *trials += s.trials;
        }
    return out;
}

/* ---- what was asked ---- */

static json_t *problems(struct writer *w)
{
    static const char *const shapes[] = {"bushy", "deep", "openstack"};
    json_t *out = json_array();
    for (size_t i = 0; i < w->o->problem_count; i++) {
        const struct pythia_trial_problem *p = w->o->problems[i];
        struct pythia_buf generate = {0};
        json_t *one = json_object();
        pythia_trial_generate_options(p, &generate);
        set(w, one, "name", json_string(p->name));
        set(w, one, "help", json_string(p->help));
        set(w, one, "shape", json_string(shapes[p->shape]));
        set(w, one, "nodes", whole(p->nodes));
        set(w, one, "requests", whole(w->o->requests ? w->o->requests : p->requests));
        set(w, one, "first_request", whole(p->first_request));
        set(w, one, "causes", whole(p->cause_count));
        set(w, one, "generate", pythia__json_text(pythia_buf_text(&generate)));
        append(w, out, one);
        w->json.failed = w->json.failed || pythia_buf_status(&generate) != PYTHIA_OK;
        pythia_buf_free(&generate);
    }
    return out;
}

static json_t *strategies(struct writer *w)
{
    json_t *out = json_array();
    for (size_t i = 0; i < w->o->strategy_count; i++) {
        json_t *one = json_object();
        set(w, one, "name", json_string(w->o->strategies[i]->name));
        set(w, one, "help", json_string(w->o->strategies[i]->help));
        append(w, out, one);
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
static json_t *notes(struct writer *w, size_t trials)
{
    json_t *out = json_array();
    char text[400];
    if (trials < pythia_evaluation_trials(w->e)) {
        snprintf(text, sizeof(text), "This is a part: %zu of %zu searches were made.", trials,
                 pythia_evaluation_trials(w->e));
        append(w, out, json_string(text));
    }
    snprintf(text, sizeof(text),
             "A search that does not find all causes counts as one that takes all %zu cycles.",
             w->o->cycles);
    append(w, out, json_string(text));
    append(
        w, out,
        json_string("Trace points are those beyond the skeleton, which is always open; what they "
                    "add to a request is their calls times the price of a hit."));
    append(w, out,
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
        append(w, out, json_string(text));
    }
    if (has_strategy(w, "all"))
        append(w, out,
               json_string("all has no limit of trace points in a cycle: it shows what it costs to "
                           "open everything."));
    return out;
}

json_t *pythia_evaluation_report_json(const struct pythia_evaluation *e, bool times)
{
    struct writer w = {.e = e, .o = pythia_evaluation_options_of(e), .times = times};
    json_t *out = json_object();
    size_t trials;
    json_t *all = results(&w, &trials);
    set(&w, out, "schema", json_string("pythia.evaluation/1"));
    set(&w, out, "complete", json_boolean(trials == pythia_evaluation_trials(e)));
    set(&w, out, "trials", whole(trials));
    set(&w, out, "first_seed", whole(w.o->first_seed));
    set(&w, out, "seeds", whole(w.o->seeds));
    set(&w, out, "points", whole(w.o->points));
    set(&w, out, "requests", w.o->requests ? whole(w.o->requests) : json_null());
    set(&w, out, "cycles", whole(w.o->cycles));
    set(&w, out, "profile",
        json_string(w.o->profile == PYTHIA_PROFILE_DURING ? "during" : "before"));
    set(&w, out, "price_ns", real(w.o->price_ns));
    set(&w, out, "level", real(PYTHIA_EVALUATION_LEVEL));
    set(&w, out, "notes", notes(&w, trials));
    set(&w, out, "strategies", strategies(&w));
    set(&w, out, "problems", problems(&w));
    set(&w, out, "results", all);
    if (w.json.failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* ---- forms ---- */

static int add_json(const char *bytes, size_t size, void *data)
{
    pythia_shown_json(data, bytes, size);
    return pythia_buf_status(data) == PYTHIA_OK ? 0 : -1;
}

int pythia_evaluation_report_write(const json_t *report, enum pythia_evaluation_format format,
                                   bool colour, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    switch (format) {
    case PYTHIA_EVALUATION_TEXT:
        pythia__evaluation_text(report, colour, out);
        break;
    case PYTHIA_EVALUATION_JSON:
        if (json_dump_callback(report, add_json, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) !=
            0)
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
