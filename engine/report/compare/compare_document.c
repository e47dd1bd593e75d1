/* The report of a comparison: what a person on call reads first stands first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "compare_forms.h"
#include "document/document_names.h"
#include "write/words.h"

struct parts {
    const struct pythia_compare_source *s;
    struct pythia__doc *d;
    double alpha;
};

/* "+12.3 ms" */
static void say_change(struct pythia__doc *d, double ns)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, ns > 0 ? "+" : "");
    pythia__add_duration(&text, ns);
    pythia__doc_take(d, PYTHIA__DOC_NUMBER, &text);
}

/* ---- lists ---- */

static const struct pythia__doc_column service_columns[] = {
    {.title = "change", .right = true},
    {.title = "at least", .right = true},
    {.title = "service", .name = true},
    {.title = "most significant edge", .flexible = true}};

static void add_services(const struct parts *p)
{
    const struct pythia_comparison *c = p->s->comparison;
    size_t all = 0;
    for (size_t i = 0; i < c->service_count; i++) {
        const struct pythia_compared_service *one = &c->services[i];
        struct pythia_text name = pythia_vocabulary_text(p->s->vocabulary, one->service);
        if (one->changed == 0 || all++ >= p->s->top)
            continue;
        if (all == 1) {
            pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("services"), "Services");
            pythia__doc_title(p->d, 2, "Services");
            pythia__doc_table(p->d, service_columns,
                              sizeof(service_columns) / sizeof(service_columns[0]));
        }
        pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(p->d);
        say_change(p->d, one->change);
        pythia__doc_cell(p->d);
        pythia__doc_duration(p->d, one->score);
        pythia__doc_cell(p->d);
        if (one->service == 0)
            pythia__doc_words(p->d, "(not known)");
        else
            (void)pythia__doc_name(p->d, PYTHIA__DOC_KEY, name, name, name);
        pythia__doc_cell(p->d);
        struct pythia_place place =
            pythia_place_of(c->cct, c->types[one->type].edges[one->edge].edge);
        pythia__doc_place_phrase(p->d, p->s->vocabulary, &place);
        pythia__doc_words(p->d, " (%zu of %zu edges changed)", one->changed, one->edges);
    }
    pythia__doc_more(p->d, all, p->s->top, "service", "services");
    if (all > 0)
        pythia__doc_close(p->d);
}

static const struct pythia__doc_column edge_columns[] = {
    {.title = "change", .right = true},
    {.title = "share", .bar = true},
    {.title = "before", .right = true},
    {.title = "after", .right = true},
    {.title = "q", .right = true},
    {.title = "segment of the critical path", .name = true, .flexible = true}};

static void add_changed_edge(const struct parts *p, const struct pythia_compared_type *t,
                             const struct pythia_compared_edge *e)
{
    double share = pythia__share_of_change(e->mean.change, t->sample_mean.change);
    pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(p->d);
    say_change(p->d, e->mean.change);
    pythia__doc_cell(p->d);
    pythia__doc_bar(p->d, PYTHIA__DOC_SHARE, share, NAN, NAN);
    pythia__doc_percent(p->d, share);
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, e->mean.before);
    pythia__doc_cell(p->d);
    pythia__doc_duration(p->d, e->mean.after);
    pythia__doc_cell(p->d);
    bool mean = e->mean_test.q <= p->alpha;
    pythia__doc_chance(p->d, mean ? e->mean_test.q : e->variance_test.q);
    pythia__doc_cell(p->d);
    pythia__say_compared_edge(p->d, p->s, e);
    pythia__doc_words(p->d, mean ? "" : "; q is of its variance");
}

static void add_changed_edges(const struct parts *p, const struct pythia_compared_type *t)
{
    size_t all = 0;
    for (size_t i = 0; i < t->edge_count; i++) {
        if (!pythia__edge_changed(&t->edges[i], p->alpha) || all++ >= p->s->top)
            continue;
        if (all == 1) {
            pythia__doc_title(p->d, 3, "Edges, significant increases first");
            pythia__doc_table(p->d, edge_columns, sizeof(edge_columns) / sizeof(edge_columns[0]));
        }
        add_changed_edge(p, t, &t->edges[i]);
    }
    pythia__doc_more(p->d, all, p->s->top, "edge", "edges");
}

static void add_changed_paths(const struct parts *p, const struct pythia_compared_type *t)
{
    size_t all = 0;
    for (size_t i = 0; i < t->path_count; i++) {
        const struct pythia_compared_path *path = &t->paths[i];
        char id[40];
        if (!pythia__path_changed(path, p->alpha) || all++ >= p->s->top)
            continue;
        if (all == 1)
            pythia__doc_title(p->d, 3, "Paths");
        pythia__doc_item(p->d);
        pythia__say_compared_path(p->d, p->s, t, path);
        if (!path->has_example)
            continue;
        (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, path->example.high,
                       path->example.low);
        pythia__doc_words(p->d, " Trace ");
        pythia__doc_text(p->d, PYTHIA__DOC_CODE, pythia_text_of(id));
        pythia__doc_words(p->d, ".");
    }
    pythia__doc_more(p->d, all, p->s->top, "path", "paths");
}

static void add_changed_points(const struct parts *p, const struct pythia_compared_type *t)
{
    size_t all = 0;
    for (size_t i = 0; i < t->point_count; i++) {
        const struct pythia_compared_point *point = &t->points[i];
        if (!pythia__point_changed(point, p->alpha) || all++ >= p->s->top)
            continue;
        if (all == 1)
            pythia__doc_title(p->d, 3, "Trace points");
        pythia__doc_item(p->d);
        pythia__doc_point(p->d, p->s->vocabulary, point->tracepoint);
        pythia__doc_words(p->d, " ");
        pythia__say_compared_point(p->d, p->s, t, point);
    }
    pythia__doc_more(p->d, all, p->s->top, "trace point", "trace points");
}

/* ---- the whole ---- */

static void add_compared_type(const struct parts *p, const struct pythia_compared_type *t,
                              size_t number)
{
    uint64_t sampled = t->sampled_before + t->sampled_after, all = t->count.before + t->count.after;
    pythia__doc_open(p->d, PYTHIA__DOC_FINDING, PYTHIA_TEXT(""), NULL);
    pythia__doc_gap(p->d);
    pythia__doc_heading(p->d, 2, PYTHIA__DOC_PLAIN);
    pythia__doc_words(p->d, "%zu. ", number);
    pythia__say_compared_type(p->d, p->s, t);
    for (size_t i = 0; i < PYTHIA__COMPARE_FINDINGS; i++) {
        pythia__doc_entry(p->d, "", i == 0 ? PYTHIA__DOC_WHERE : PYTHIA__DOC_WHY);
        pythia__compare_findings[i](p->d, p->s, t);
    }
    if (sampled > 0 && sampled < all) {
        pythia__doc_entry(p->d, "", PYTHIA__DOC_REMARK);
        pythia__doc_words(p->d, "Edges are based on a sample of %zu of %zu requests.",
                          (size_t)sampled, (size_t)all);
    }
    add_changed_edges(p, t);
    add_changed_paths(p, t);
    add_changed_points(p, t);
    pythia__doc_close(p->d);
}

static bool is_worth_a_section(const struct pythia_compared_type *t)
{
    return t->status != PYTHIA_COMPARED_SAME && t->status != PYTHIA_COMPARED_TOO_FEW;
}

static void add_compared_types(const struct parts *p)
{
    const struct pythia_comparison *c = p->s->comparison;
    size_t all = 0;
    for (size_t i = 0; i < c->type_count; i++)
        if (is_worth_a_section(&c->types[i]) && all++ < p->s->top)
            add_compared_type(p, &c->types[i], all);
    pythia__doc_more(p->d, all, p->s->top, "changed type", "changed types");
}

static const struct pythia__doc_column other_columns[] = {
    {.title = "finding"},
    {.title = "requests before", .right = true},
    {.title = "after", .right = true},
    {.title = "type", .name = true, .flexible = true}};

/* Types about which there is nothing to say, a line each. */
static void add_other_types(const struct parts *p)
{
    const struct pythia_comparison *c = p->s->comparison;
    size_t all = 0;
    for (size_t i = 0; i < c->type_count; i++) {
        const struct pythia_compared_type *t = &c->types[i];
        if (is_worth_a_section(t) || all++ >= p->s->top)
            continue;
        if (all == 1) {
            pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("others"), "Other types");
            pythia__doc_title(p->d, 2, "Other types");
            pythia__doc_table(p->d, other_columns,
                              sizeof(other_columns) / sizeof(other_columns[0]));
        }
        pythia__doc_row(p->d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(p->d);
        pythia__doc_words(p->d, t->status == PYTHIA_COMPARED_SAME ? "same" : "too few");
        pythia__doc_cell(p->d);
        pythia__doc_count(p->d, (double)t->count.before, "", "");
        pythia__doc_cell(p->d);
        pythia__doc_count(p->d, (double)t->count.after, "", "");
        pythia__doc_cell(p->d);
        pythia__say_compared_type(p->d, p->s, t);
    }
    pythia__doc_more(p->d, all, p->s->top, "type", "types");
    if (all > 0)
        pythia__doc_close(p->d);
}

int pythia__compare_build(const struct pythia_compare_source *s, struct pythia__doc *d)
{
    const struct parts p = {s, d, s->comparison->alpha};
    pythia__doc_open(d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "What changed");
    pythia__doc_paragraph(d, PYTHIA__DOC_LEAD);
    pythia__say_conclusion(d, s);
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__say_compared_input(d, s);
    pythia__doc_close(d);
    add_services(&p);
    add_compared_types(&p);
    add_other_types(&p);
    return pythia__doc_finish(d);
}
