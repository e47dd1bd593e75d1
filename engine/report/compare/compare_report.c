#include "pythia/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "compare_forms.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "results/json_splits.h"
#include "write/json_writer.h"

#define WIDTH 100

struct writer {
    struct pythia__json json;
    const struct pythia_comparison *c;
    const struct pythia_compare_source *s;
};

/* ---- small objects ---- */

static void set_compared_member(struct pythia__json *w, json_t *object, const char *key,
                                json_t *value)
{
    pythia__json_set(w, object, key, value);
}

static json_t *make_compared_real(double number)
{
    return pythia__json_real(number);
}

static json_t *make_compared_count(uint64_t number)
{
    return pythia__json_count(number);
}

/* "before", "after", "change" */
static json_t *make_change(struct pythia__json *w, const struct pythia_change *x)
{
    json_t *out = json_object();
    set_compared_member(w, out, "before", make_compared_real(x->before));
    set_compared_member(w, out, "after", make_compared_real(x->after));
    set_compared_member(w, out, "change", make_compared_real(x->change));
    return out;
}

static json_t *make_certain_change(struct pythia__json *w, const struct pythia_certain *x)
{
    json_t *out = json_object();
    set_compared_member(w, out, "change", make_compared_real(x->clipped.change));
    set_compared_member(w, out, "se", make_compared_real(x->clipped.se));
    set_compared_member(w, out, "low", make_compared_real(x->clipped.low));
    set_compared_member(w, out, "high", make_compared_real(x->clipped.high));
    set_compared_member(w, out, "p", make_compared_real(x->clipped.p));
    set_compared_member(w, out, "q", make_compared_real(x->q));
    return out;
}

static json_t *make_count_change(struct pythia__json *w, const struct pythia_count_change *x)
{
    json_t *out = json_object();
    set_compared_member(w, out, "before", make_compared_count(x->before));
    set_compared_member(w, out, "after", make_compared_count(x->after));
    set_compared_member(w, out, "p", make_compared_real(x->p));
    set_compared_member(w, out, "q", make_compared_real(x->q));
    return out;
}

static json_t *two_counts(struct pythia__json *w, uint64_t before, uint64_t after)
{
    json_t *out = json_object();
    set_compared_member(w, out, "before", make_compared_count(before));
    set_compared_member(w, out, "after", make_compared_count(after));
    return out;
}

static json_t *service_name(const struct pythia__json *w, uint32_t service)
{
    return service == 0 ? json_null()
                        : pythia__json_text(pythia_vocabulary_text(w->vocabulary, service));
}

/* ---- a type ---- */

static json_t *make_compared_edge(struct writer *wr, const struct pythia_compared_type *t,
                                  const struct pythia_compared_edge *e)
{
    struct pythia__json *w = &wr->json;
    json_t *out = json_object();
    pythia__json_edge(w, out, wr->c->cct, e->edge);
    set_compared_member(w, out, "service", service_name(w, e->service));
    set_compared_member(w, out, "waits", json_boolean(e->waits));
    set_compared_member(w, out, "common", json_boolean(e->common));
    set_compared_member(w, out, "score_ns", make_compared_real(e->score));
    set_compared_member(w, out, "slows", json_boolean(e->slows));
    set_compared_member(w, out, "requests", two_counts(w, e->requests_before, e->requests_after));
    set_compared_member(w, out, "visits", make_change(w, &e->visits));
    set_compared_member(w, out, "mean_ns", make_change(w, &e->mean));
    set_compared_member(
        w, out, "share",
        make_compared_real(pythia__share_of_change(e->mean.change, t->sample_mean.change)));
    set_compared_member(w, out, "longer_ns", make_compared_real(e->longer));
    set_compared_member(w, out, "often_ns", make_compared_real(e->often));
    set_compared_member(w, out, "clipped_ns", make_certain_change(w, &e->mean_test));
    set_compared_member(w, out, "outlier_driven", json_boolean(e->outlier_driven));
    set_compared_member(w, out, "variance_ns2", make_change(w, &e->variance));
    set_compared_member(
        w, out, "variance_share",
        make_compared_real(pythia__share_of_change(e->variance.change, t->sample_variance.change)));
    set_compared_member(w, out, "clipped_variance_ns2", make_certain_change(w, &e->variance_test));
    return out;
}

static json_t *make_compared_path(struct pythia__json *w, const struct pythia_compared_path *p)
{
    char id[40];
    json_t *out = json_object();
    snprintf(id, sizeof(id), "%016" PRIx64, p->name);
    set_compared_member(w, out, "id", json_string(id));
    set_compared_member(w, out, "requests", make_count_change(w, &p->count));
    set_compared_member(w, out, "mean_ns", make_change(w, &p->mean));
    set_compared_member(w, out, "passes", pythia__json_points(w, p->passes, p->pass_count));
    set_compared_member(w, out, "lacks", pythia__json_points(w, p->lacks, p->lack_count));
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, p->example.high, p->example.low);
    set_compared_member(w, out, "example", p->has_example ? json_string(id) : json_null());
    return out;
}

static json_t *make_compared_point(struct pythia__json *w, const struct pythia_compared_point *p)
{
    json_t *out = json_object(), *visits = make_change(w, &p->visits);
    set_compared_member(w, visits, "p", make_compared_real(p->visits_p));
    set_compared_member(w, visits, "q", make_compared_real(p->visits_q));
    set_compared_member(w, out, "trace_point", pythia__json_point(w, p->tracepoint));
    set_compared_member(w, out, "requests", make_count_change(w, &p->requests));
    set_compared_member(w, out, "visits", visits);
    set_compared_member(w, out, "failed", make_count_change(w, &p->failed));
    return out;
}

static json_t *make_compared_quantile(struct pythia__json *w, const struct pythia_compared_type *t,
                                      double q)
{
    double before = t->before ? pythia_sketch_quantile(t->before->sketch, q) : NAN;
    double after = t->after ? pythia_sketch_quantile(t->after->sketch, q) : NAN;
    return make_change(w, &(struct pythia_change){before, after, after - before});
}

/* What the figures mean, as sentences. */
static json_t *make_findings(struct writer *wr, const struct pythia_compared_type *t)
{
    json_t *out = json_array();
    struct pythia__doc d;
    pythia__doc_begin(&d);
    for (size_t i = 0; i < PYTHIA__COMPARE_FINDINGS; i++) {
        struct pythia_buf text = {0};
        pythia__doc_paragraph(&d, PYTHIA__DOC_TEXT);
        pythia__compare_findings[i](&d, wr->s, t);
        if (!d.failed)
            pythia__doc_plain(&d.last->line, &text);
        if (text.size > 0)
            pythia__json_append(&wr->json, out, pythia__json_text(pythia_buf_text(&text)));
        wr->json.failed = wr->json.failed || d.failed || text.failed;
        pythia_buf_free(&text);
    }
    pythia__doc_free(&d);
    return out;
}

static json_t *make_compared_type(struct writer *wr, const struct pythia_compared_type *t)
{
    struct pythia__json *w = &wr->json;
    json_t *out = json_object(), *edges = json_array(), *paths = json_array(),
           *points = json_array();
    for (size_t i = 0; i < t->edge_count; i++)
        pythia__json_append(w, edges, make_compared_edge(wr, t, &t->edges[i]));
    for (size_t i = 0; i < t->path_count; i++)
        pythia__json_append(w, paths, make_compared_path(w, &t->paths[i]));
    for (size_t i = 0; i < t->point_count; i++)
        pythia__json_append(w, points, make_compared_point(w, &t->points[i]));
    set_compared_member(w, out, "name",
                        pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    set_compared_member(w, out, "status", json_string(pythia_compared_status_name(t->status)));
    set_compared_member(w, out, "requests", make_count_change(w, &t->count));
    set_compared_member(w, out, "rate", make_change(w, &t->rate));
    set_compared_member(w, out, "failed", make_count_change(w, &t->failed));
    set_compared_member(w, out, "weight", make_compared_real(t->weight));
    set_compared_member(w, out, "within_ns", make_compared_real(t->within));
    set_compared_member(w, out, "mix_ns", make_compared_real(t->mix));
    set_compared_member(w, out, "mean_ns", make_change(w, &t->mean));
    set_compared_member(w, out, "variance_ns2", make_change(w, &t->variance));
    set_compared_member(w, out, "p50_ns", make_compared_quantile(w, t, .5));
    set_compared_member(w, out, "p90_ns", make_compared_quantile(w, t, .9));
    set_compared_member(w, out, "p99_ns", make_compared_quantile(w, t, .99));
    set_compared_member(w, out, "effect_min_ns", make_compared_real(t->effect_min));
    set_compared_member(w, out, "sampled", two_counts(w, t->sampled_before, t->sampled_after));
    set_compared_member(w, out, "sample_mean_ns", make_change(w, &t->sample_mean));
    set_compared_member(w, out, "sample_variance_ns2", make_change(w, &t->sample_variance));
    set_compared_member(w, out, "clipped_ns", make_certain_change(w, &t->mean_test));
    set_compared_member(w, out, "clipped_variance_ns2", make_certain_change(w, &t->variance_test));
    set_compared_member(w, out, "edges", edges);
    set_compared_member(w, out, "paths_compared", json_boolean(t->paths_compared));
    set_compared_member(w, out, "level", make_compared_count(t->level));
    set_compared_member(w, out, "paths", paths);
    set_compared_member(w, out, "trace_points", points);
    set_compared_member(w, out, "findings", make_findings(wr, t));
    return out;
}

/* ---- the whole ---- */

static json_t *make_compared_service(struct writer *wr, const struct pythia_compared_service *s)
{
    struct pythia__json *w = &wr->json;
    const struct pythia_compared_type *t = &wr->c->types[s->type];
    json_t *out = json_object();
    set_compared_member(w, out, "service", service_name(w, s->service));
    set_compared_member(w, out, "score_ns", make_compared_real(s->score));
    set_compared_member(w, out, "change_ns", make_compared_real(s->change));
    set_compared_member(w, out, "edges", make_compared_count(s->edges));
    set_compared_member(w, out, "changed_edges", make_compared_count(s->changed));
    set_compared_member(w, out, "request_type",
                        pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    set_compared_member(w, out, "best_edge", make_compared_edge(wr, t, &t->edges[s->edge]));
    return out;
}

static json_t *make_compared_input(struct writer *wr, const struct pythia_compare_input *in,
                                   uint64_t covered_ns)
{
    json_t *out = pythia__json_input(&wr->json, in->paths, in->path_count, in->result);
    set_compared_member(&wr->json, out, "covered_ns", make_compared_count(covered_ns));
    return out;
}

static json_t *make_comparison(const struct pythia_compare_source *s)
{
    const struct pythia_comparison *c = s->comparison;
    struct writer wr = {{.vocabulary = s->vocabulary}, c, s};
    struct pythia__json *w = &wr.json;
    json_t *out = json_object(), *types = json_array(), *services = json_array();
    for (size_t i = 0; i < c->type_count; i++)
        pythia__json_append(w, types, make_compared_type(&wr, &c->types[i]));
    for (size_t i = 0; i < c->service_count; i++)
        pythia__json_append(w, services, make_compared_service(&wr, &c->services[i]));
    set_compared_member(w, out, "schema", json_string("pythia.comparison/1"));
    set_compared_member(w, out, "before",
                        make_compared_input(&wr, s->before, c->covered_before_ns));
    set_compared_member(w, out, "after", make_compared_input(&wr, s->after, c->covered_after_ns));
    set_compared_member(w, out, "alpha", make_compared_real(c->alpha));
    set_compared_member(w, out, "min_requests", make_compared_count(c->min_requests));
    set_compared_member(w, out, "tests", make_compared_count(c->tests));
    set_compared_member(w, out, "compared_types", make_compared_count(c->compared));
    set_compared_member(w, out, "changed", json_boolean(c->changed));
    set_compared_member(w, out, "mean_ns", make_change(w, &c->mean));
    set_compared_member(w, out, "split_by", pythia__json_compared_splits(w, s->before->key, c));
    set_compared_member(w, out, "services", services);
    set_compared_member(w, out, "request_types", types);
    pythia__json_close(w);
    if (w->failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static int write_json(const struct pythia_compare_source *s, struct pythia_buf *out)
{
    json_t *json = make_comparison(s);
    int status = json ? pythia__json_write(json, 1, 12, out) : PYTHIA_ENOMEM;
    json_decref(json);
    return status;
}

static int write_document(const struct pythia_compare_source *s, enum pythia_report_format format,
                          const struct pythia_report_view *view, struct pythia_buf *out)
{
    const struct pythia__doc_view how = {view && view->width ? view->width : WIDTH,
                                         view && view->colour, view && view->ascii, true};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    int status = pythia__compare_build(s, &d);
    if (status == PYTHIA_OK)
        status = format == PYTHIA_REPORT_HTML
                     ? pythia__doc_write_html(&d, "What changed", "Written by pythia.", out)
                 : format == PYTHIA_REPORT_MARKDOWN ? pythia__doc_write_markdown(&d, out)
                                                    : pythia__doc_write_text(&d, &how, out);
    pythia__doc_free(&d);
    return status;
}

int pythia_compare_report_write(const struct pythia_compare_source *source,
                                enum pythia_report_format format,
                                const struct pythia_report_view *view, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    int status = format == PYTHIA_REPORT_JSON ? write_json(source, out)
                                              : write_document(source, format, view, out);
    return status == PYTHIA_OK && pythia_mem_failures() != failures ? PYTHIA_ENOMEM : status;
}
