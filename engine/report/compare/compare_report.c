#include "pythia/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "compare_forms.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "sentences/report_splits.h"
#include "sentences/sentences.h"
#include "write/json_writer.h"

struct writer {
    struct pythia__json json;
    const struct pythia_comparison *c;
};

/* ---- small objects ---- */

static void set(struct pythia__json *w, json_t *object, const char *key, json_t *value)
{
    pythia__json_set(w, object, key, value);
}

static json_t *real(double number)
{
    return pythia__json_real(number);
}

static json_t *whole(uint64_t number)
{
    return pythia__json_count(number);
}

/* "before", "after", "change" */
static json_t *change(struct pythia__json *w, const struct pythia_change *x)
{
    json_t *out = json_object();
    set(w, out, "before", real(x->before));
    set(w, out, "after", real(x->after));
    set(w, out, "change", real(x->change));
    return out;
}

static json_t *certain(struct pythia__json *w, const struct pythia_certain *x)
{
    json_t *out = json_object();
    set(w, out, "change", real(x->clipped.change));
    set(w, out, "se", real(x->clipped.se));
    set(w, out, "low", real(x->clipped.low));
    set(w, out, "high", real(x->clipped.high));
    set(w, out, "p", real(x->clipped.p));
    set(w, out, "q", real(x->q));
    return out;
}

static json_t *counts(struct pythia__json *w, const struct pythia_count_change *x)
{
    json_t *out = json_object();
    set(w, out, "before", whole(x->before));
    set(w, out, "after", whole(x->after));
    set(w, out, "p", real(x->p));
    set(w, out, "q", real(x->q));
    return out;
}

static json_t *two_counts(struct pythia__json *w, uint64_t before, uint64_t after)
{
    json_t *out = json_object();
    set(w, out, "before", whole(before));
    set(w, out, "after", whole(after));
    return out;
}

static json_t *service_name(const struct pythia__json *w, uint32_t service)
{
    return service == 0 ? json_null()
                        : pythia__json_text(pythia_vocabulary_text(w->vocabulary, service));
}

/* ---- a type ---- */

/* A part of a change; what adds up to next to nothing has no parts. */
static double part(double of, double whole)
{
    return whole != 0 ? of / whole : NAN;
}

static json_t *edge(struct writer *wr, const struct pythia_compared_type *t,
                    const struct pythia_compared_edge *e)
{
    struct pythia__json *w = &wr->json;
    json_t *out = json_object();
    pythia__json_edge(w, out, wr->c->cct, e->edge);
    set(w, out, "service", service_name(w, e->service));
    set(w, out, "waits", json_boolean(e->waits));
    set(w, out, "common", json_boolean(e->common));
    set(w, out, "score_ns", real(e->score));
    set(w, out, "slows", json_boolean(e->slows));
    set(w, out, "requests", two_counts(w, e->requests_before, e->requests_after));
    set(w, out, "visits", change(w, &e->visits));
    set(w, out, "mean_ns", change(w, &e->mean));
    set(w, out, "share", real(part(e->mean.change, t->sample_mean.change)));
    set(w, out, "longer_ns", real(e->longer));
    set(w, out, "often_ns", real(e->often));
    set(w, out, "clipped_ns", certain(w, &e->mean_test));
    set(w, out, "outlier_driven", json_boolean(e->outlier_driven));
    set(w, out, "variance_ns2", change(w, &e->variance));
    set(w, out, "variance_share", real(part(e->variance.change, t->sample_variance.change)));
    set(w, out, "clipped_variance_ns2", certain(w, &e->variance_test));
    return out;
}

static json_t *path(struct pythia__json *w, const struct pythia_compared_path *p)
{
    char id[40];
    json_t *out = json_object();
    snprintf(id, sizeof(id), "%016" PRIx64, p->name);
    set(w, out, "id", json_string(id));
    set(w, out, "requests", counts(w, &p->count));
    set(w, out, "mean_ns", change(w, &p->mean));
    set(w, out, "passes", pythia__json_points(w, p->passes, p->pass_count));
    set(w, out, "lacks", pythia__json_points(w, p->lacks, p->lack_count));
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, p->example.high, p->example.low);
    set(w, out, "example", p->has_example ? json_string(id) : json_null());
    return out;
}

static json_t *point(struct pythia__json *w, const struct pythia_compared_point *p)
{
    json_t *out = json_object(), *visits = change(w, &p->visits);
    set(w, visits, "p", real(p->visits_p));
    set(w, visits, "q", real(p->visits_q));
    set(w, out, "trace_point", pythia__json_point(w, p->tracepoint));
    set(w, out, "requests", counts(w, &p->requests));
    set(w, out, "visits", visits);
    set(w, out, "failed", counts(w, &p->failed));
    return out;
}

static json_t *quantile(struct pythia__json *w, const struct pythia_compared_type *t, double q)
{
    double before = t->before ? pythia_sketch_quantile(t->before->sketch, q) : NAN;
    double after = t->after ? pythia_sketch_quantile(t->after->sketch, q) : NAN;
    return change(w, &(struct pythia_change){before, after, after - before});
}

static json_t *type(struct writer *wr, const struct pythia_compared_type *t)
{
    struct pythia__json *w = &wr->json;
    json_t *out = json_object(), *edges = json_array(), *paths = json_array(),
           *points = json_array();
    for (size_t i = 0; i < t->edge_count; i++)
        pythia__json_append(w, edges, edge(wr, t, &t->edges[i]));
    for (size_t i = 0; i < t->path_count; i++)
        pythia__json_append(w, paths, path(w, &t->paths[i]));
    for (size_t i = 0; i < t->point_count; i++)
        pythia__json_append(w, points, point(w, &t->points[i]));
    set(w, out, "name", pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    set(w, out, "status", json_string(pythia_compared_status_name(t->status)));
    set(w, out, "requests", counts(w, &t->count));
    set(w, out, "rate", change(w, &t->rate));
    set(w, out, "failed", counts(w, &t->failed));
    set(w, out, "weight", real(t->weight));
    set(w, out, "within_ns", real(t->within));
    set(w, out, "mix_ns", real(t->mix));
    set(w, out, "mean_ns", change(w, &t->mean));
    set(w, out, "variance_ns2", change(w, &t->variance));
    set(w, out, "p50_ns", quantile(w, t, .5));
    set(w, out, "p90_ns", quantile(w, t, .9));
    set(w, out, "p99_ns", quantile(w, t, .99));
    set(w, out, "effect_min_ns", real(t->effect_min));
    set(w, out, "sampled", two_counts(w, t->sampled_before, t->sampled_after));
    set(w, out, "sample_mean_ns", change(w, &t->sample_mean));
    set(w, out, "sample_variance_ns2", change(w, &t->sample_variance));
    set(w, out, "clipped_ns", certain(w, &t->mean_test));
    set(w, out, "clipped_variance_ns2", certain(w, &t->variance_test));
    set(w, out, "edges", edges);
    set(w, out, "paths_compared", json_boolean(t->paths_compared));
    set(w, out, "level", whole(t->level));
    set(w, out, "paths", paths);
    set(w, out, "trace_points", points);
    json_t *findings = pythia__compare_findings(out, wr->c->alpha);
    set(w, out, "findings", findings);
    return out;
}

/* ---- the whole ---- */

static json_t *service(struct writer *wr, const struct pythia_compared_service *s)
{
    struct pythia__json *w = &wr->json;
    const struct pythia_compared_type *t = &wr->c->types[s->type];
    json_t *out = json_object();
    set(w, out, "service", service_name(w, s->service));
    set(w, out, "score_ns", real(s->score));
    set(w, out, "change_ns", real(s->change));
    set(w, out, "edges", whole(s->edges));
    set(w, out, "changed_edges", whole(s->changed));
    set(w, out, "request_type", pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    set(w, out, "best_edge", edge(wr, t, &t->edges[s->edge]));
    return out;
}

static json_t *input(struct writer *wr, const struct pythia_compare_input *in, uint64_t covered_ns)
{
    json_t *out = pythia__json_input(&wr->json, in->paths, in->path_count, in->result);
    set(&wr->json, out, "covered_ns", whole(covered_ns));
    return out;
}

json_t *pythia_compare_report_json(const struct pythia_comparison *c,
                                   const struct pythia_vocabulary *vocabulary,
                                   const struct pythia_compare_input *before,
                                   const struct pythia_compare_input *after)
{
    struct writer wr = {{.vocabulary = vocabulary}, c};
    struct pythia__json *w = &wr.json;
    json_t *out = json_object(), *types = json_array(), *services = json_array();
    for (size_t i = 0; i < c->type_count; i++)
        pythia__json_append(w, types, type(&wr, &c->types[i]));
    for (size_t i = 0; i < c->service_count; i++)
        pythia__json_append(w, services, service(&wr, &c->services[i]));
    set(w, out, "schema", json_string("pythia.comparison/1"));
    set(w, out, "before", input(&wr, before, c->covered_before_ns));
    set(w, out, "after", input(&wr, after, c->covered_after_ns));
    set(w, out, "alpha", real(c->alpha));
    set(w, out, "min_requests", whole(c->min_requests));
    set(w, out, "tests", whole(c->tests));
    set(w, out, "compared_types", whole(c->compared));
    set(w, out, "changed", json_boolean(c->changed));
    set(w, out, "mean_ns", change(w, &c->mean));
    set(w, out, "split_by", pythia__json_compared_splits(w, before->key, c));
    set(w, out, "services", services);
    set(w, out, "request_types", types);
    pythia__json_close(w);
    if (w->failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

int pythia_compare_report_write(const json_t *report, enum pythia_report_format format, size_t top,
                                bool colour, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    switch (format) {
    case PYTHIA_REPORT_TEXT:
        pythia__compare_text(report, top, colour, out);
        break;
    case PYTHIA_REPORT_MARKDOWN:
        pythia__compare_markdown(report, top, out);
        break;
    case PYTHIA_REPORT_HTML:
        pythia__compare_html(report, top, out);
        break;
    case PYTHIA_REPORT_JSON:
        return pythia_report_write(report, format, colour, out);
    }
    return pythia_mem_failures() == failures ? pythia_buf_status(out) : PYTHIA_ENOMEM;
}
