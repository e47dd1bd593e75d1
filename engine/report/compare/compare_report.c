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

/* "before", "after", "change" */
static json_t *make_change(struct pythia__json *w, const struct pythia_change *x)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "before", pythia__json_real(x->before));
    pythia__json_set(w, out, "after", pythia__json_real(x->after));
    pythia__json_set(w, out, "change", pythia__json_real(x->change));
    return out;
}

static json_t *make_certain_change(struct pythia__json *w, const struct pythia_certain *x)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "change", pythia__json_real(x->clipped.change));
    pythia__json_set(w, out, "se", pythia__json_real(x->clipped.se));
    pythia__json_set(w, out, "low", pythia__json_real(x->clipped.low));
    pythia__json_set(w, out, "high", pythia__json_real(x->clipped.high));
    pythia__json_set(w, out, "p", pythia__json_real(x->clipped.p));
    pythia__json_set(w, out, "q", pythia__json_real(x->q));
    return out;
}

static json_t *make_count_change(struct pythia__json *w, const struct pythia_count_change *x)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "before", pythia__json_count(x->before));
    pythia__json_set(w, out, "after", pythia__json_count(x->after));
    pythia__json_set(w, out, "p", pythia__json_real(x->p));
    pythia__json_set(w, out, "q", pythia__json_real(x->q));
    return out;
}

static json_t *two_counts(struct pythia__json *w, uint64_t before, uint64_t after)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "before", pythia__json_count(before));
    pythia__json_set(w, out, "after", pythia__json_count(after));
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
    pythia__json_set(w, out, "service", service_name(w, e->service));
    pythia__json_set(w, out, "waits", json_boolean(e->waits));
    pythia__json_set(w, out, "common", json_boolean(e->common));
    pythia__json_set(w, out, "score_ns", pythia__json_real(e->score));
    pythia__json_set(w, out, "slows", json_boolean(e->slows));
    pythia__json_set(w, out, "requests", two_counts(w, e->requests_before, e->requests_after));
    pythia__json_set(w, out, "visits", make_change(w, &e->visits));
    pythia__json_set(w, out, "mean_ns", make_change(w, &e->mean));
    pythia__json_set(
        w, out, "share",
        pythia__json_real(pythia__share_of_change(e->mean.change, t->sample_mean.change)));
    pythia__json_set(w, out, "longer_ns", pythia__json_real(e->longer));
    pythia__json_set(w, out, "often_ns", pythia__json_real(e->often));
    pythia__json_set(w, out, "clipped_ns", make_certain_change(w, &e->mean_test));
    pythia__json_set(w, out, "outlier_driven", json_boolean(e->outlier_driven));
    pythia__json_set(w, out, "variance_ns2", make_change(w, &e->variance));
    pythia__json_set(
        w, out, "variance_share",
        pythia__json_real(pythia__share_of_change(e->variance.change, t->sample_variance.change)));
    pythia__json_set(w, out, "clipped_variance_ns2", make_certain_change(w, &e->variance_test));
    return out;
}

static json_t *make_compared_path(struct pythia__json *w, const struct pythia_compared_path *p)
{
    char id[40];
    json_t *out = json_object();
    snprintf(id, sizeof(id), "%016" PRIx64, p->name);
    pythia__json_set(w, out, "id", json_string(id));
    pythia__json_set(w, out, "requests", make_count_change(w, &p->count));
    pythia__json_set(w, out, "mean_ns", make_change(w, &p->mean));
    pythia__json_set(w, out, "passes", pythia__json_points(w, p->passes, p->pass_count));
    pythia__json_set(w, out, "lacks", pythia__json_points(w, p->lacks, p->lack_count));
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, p->example.high, p->example.low);
    pythia__json_set(w, out, "example", p->has_example ? json_string(id) : json_null());
    return out;
}

static json_t *make_compared_point(struct pythia__json *w, const struct pythia_compared_point *p)
{
    json_t *out = json_object(), *visits = make_change(w, &p->visits);
    pythia__json_set(w, visits, "p", pythia__json_real(p->visits_p));
    pythia__json_set(w, visits, "q", pythia__json_real(p->visits_q));
    pythia__json_set(w, out, "trace_point", pythia__json_point(w, p->tracepoint));
    pythia__json_set(w, out, "requests", make_count_change(w, &p->requests));
    pythia__json_set(w, out, "visits", visits);
    pythia__json_set(w, out, "failed", make_count_change(w, &p->failed));
    return out;
}

static json_t *make_compared_quantile(struct pythia__json *w, const struct pythia_compared_type *t,
                                      double q)
{
    double before = t->before ? pythia_sketch_quantile(t->before->sketch, q) : NAN;
    double after = t->after ? pythia_sketch_quantile(t->after->sketch, q) : NAN;
    return make_change(w, &(struct pythia_change){before, after, after - before});
}

/* The meaning of the figures, as sentences. */
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
    pythia__json_set(w, out, "name",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    pythia__json_set(w, out, "status", json_string(pythia_compared_status_name(t->status)));
    pythia__json_set(w, out, "requests", make_count_change(w, &t->count));
    pythia__json_set(w, out, "rate", make_change(w, &t->rate));
    pythia__json_set(w, out, "failed", make_count_change(w, &t->failed));
    pythia__json_set(w, out, "weight", pythia__json_real(t->weight));
    pythia__json_set(w, out, "within_ns", pythia__json_real(t->within));
    pythia__json_set(w, out, "mix_ns", pythia__json_real(t->mix));
    pythia__json_set(w, out, "mean_ns", make_change(w, &t->mean));
    pythia__json_set(w, out, "variance_ns2", make_change(w, &t->variance));
    pythia__json_set(w, out, "p50_ns", make_compared_quantile(w, t, .5));
    pythia__json_set(w, out, "p90_ns", make_compared_quantile(w, t, .9));
    pythia__json_set(w, out, "p99_ns", make_compared_quantile(w, t, .99));
    pythia__json_set(w, out, "effect_min_ns", pythia__json_real(t->effect_min));
    pythia__json_set(w, out, "sampled", two_counts(w, t->sampled_before, t->sampled_after));
    pythia__json_set(w, out, "sample_mean_ns", make_change(w, &t->sample_mean));
    pythia__json_set(w, out, "sample_variance_ns2", make_change(w, &t->sample_variance));
    pythia__json_set(w, out, "clipped_ns", make_certain_change(w, &t->mean_test));
    pythia__json_set(w, out, "clipped_variance_ns2", make_certain_change(w, &t->variance_test));
    pythia__json_set(w, out, "edges", edges);
    pythia__json_set(w, out, "paths_compared", json_boolean(t->paths_compared));
    pythia__json_set(w, out, "level", pythia__json_count(t->level));
    pythia__json_set(w, out, "paths", paths);
    pythia__json_set(w, out, "trace_points", points);
    pythia__json_set(w, out, "findings", make_findings(wr, t));
    return out;
}

/* ---- the whole ---- */

static json_t *make_compared_service(struct writer *wr, const struct pythia_compared_service *s)
{
    struct pythia__json *w = &wr->json;
    const struct pythia_compared_type *t = &wr->c->types[s->type];
    json_t *out = json_object();
    pythia__json_set(w, out, "service", service_name(w, s->service));
    pythia__json_set(w, out, "score_ns", pythia__json_real(s->score));
    pythia__json_set(w, out, "change_ns", pythia__json_real(s->change));
    pythia__json_set(w, out, "edges", pythia__json_count(s->edges));
    pythia__json_set(w, out, "changed_edges", pythia__json_count(s->changed));
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, t->name)));
    pythia__json_set(w, out, "best_edge", make_compared_edge(wr, t, &t->edges[s->edge]));
    return out;
}

static json_t *make_compared_input(struct writer *wr, const struct pythia_compare_input *in,
                                   uint64_t covered_ns)
{
    json_t *out = pythia__json_input(&wr->json, in->paths, in->path_count, in->result);
    pythia__json_set(&wr->json, out, "covered_ns", pythia__json_count(covered_ns));
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
    pythia__json_set(w, out, "schema", json_string("pythia.comparison/1"));
    pythia__json_set(w, out, "before", make_compared_input(&wr, s->before, c->covered_before_ns));
    pythia__json_set(w, out, "after", make_compared_input(&wr, s->after, c->covered_after_ns));
    pythia__json_set(w, out, "alpha", pythia__json_real(c->alpha));
    pythia__json_set(w, out, "min_requests", pythia__json_count(c->min_requests));
    pythia__json_set(w, out, "tests", pythia__json_count(c->tests));
    pythia__json_set(w, out, "compared_types", pythia__json_count(c->compared));
    pythia__json_set(w, out, "changed", json_boolean(c->changed));
    pythia__json_set(w, out, "mean_ns", make_change(w, &c->mean));
    pythia__json_set(w, out, "split_by", pythia__json_compared_splits(w, s->before->key, c));
    pythia__json_set(w, out, "services", services);
    pythia__json_set(w, out, "request_types", types);
    pythia__json_close(w);
    if (w->failed) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static int write_compare_json(const struct pythia_compare_source *s, struct pythia_buf *out)
{
    json_t *json = make_comparison(s);
    int status = json ? pythia__json_write(json, 1, 12, out) : PYTHIA_ENOMEM;
    json_decref(json);
    return status;
}

static int write_compare_brief(const struct pythia_compare_source *s,
                               const struct pythia__doc_view *how, struct pythia_buf *out)
{
    struct pythia__doc_levels levels;
    int status = pythia__compare_brief(s, &levels);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__doc_levels_write(&levels, how, out);
    pythia__doc_levels_free(&levels);
    return status;
}

static int write_compare_document(const struct pythia_compare_source *s,
                                  enum pythia_report_format format,
                                  const struct pythia_report_view *view, struct pythia_buf *out)
{
    const struct pythia__doc_view how = {.width = view && view->width ? view->width : WIDTH,
                                         .colour = view && view->colour,
                                         .ascii = view && view->ascii,
                                         .full = format == PYTHIA_REPORT_TEXT};
    if (format == PYTHIA_REPORT_BRIEF)
        return write_compare_brief(s, &how, out);
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
    int status = format == PYTHIA_REPORT_JSON ? write_compare_json(source, out)
                                              : write_compare_document(source, format, view, out);
    return status == PYTHIA_OK && pythia_mem_failures() != failures ? PYTHIA_ENOMEM : status;
}
