/* The comparison as a page: one file that needs no other and runs no script. It has the sheet of
 * the report, and says what the text form says. */
#include <math.h>
#include <string.h>

#include "compare_forms.h"
#include "page/report_html.h"
#include "sentences/sentences.h"

struct page {
    struct pythia__html h;
    size_t top;
    double alpha;
};

/* A paragraph of words, which are given back. */
static void draw_paragraph(struct page *p, const char *class, struct pythia_buf *text)
{
    pythia__html_open(&p->h, "p", "class", class, NULL);
    pythia__html_prose(&p->h, text->bytes ? text->bytes : "");
    pythia__html_close(&p->h);
    if (text->failed)
        p->h.out->failed = 1;
    pythia_buf_free(text);
}

static void note_more(struct page *p, const struct pythia__compared_rows *rows)
{
    struct pythia_buf text = {0};
    pythia__compared_left(&text, rows, "And", ".");
    if (rows->left > 0)
        draw_paragraph(p, "note", &text);
}

static void begin_table(struct page *p, const char *const *labels, size_t count)
{
    pythia__html_open(&p->h, "div", "class", "wide", NULL);
    pythia__html_table_begin(&p->h, "stack", labels, count);
}

static void end_table(struct page *p)
{
    pythia__html_table_end(&p->h);
    pythia__html_close(&p->h);
}

/* ---- lists ---- */

static void draw_services(struct page *p, const json_t *report)
{
    static const char *const labels[] = {"Service", ">Change", "Its worst edge",
                                         ">Longer by at least"};
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_SERVICES, p->top, p->alpha);
    for (const json_t *service; (service = pythia__compared_next(&rows));) {
        const char *name = pythia__string(service, "service");
        if (rows.shown == 1) {
            pythia__html_open(&p->h, "section", "class", "part", NULL);
            pythia__html_leaf(&p->h, "h2", NULL, "Services");
            begin_table(p, labels, sizeof(labels) / sizeof(labels[0]));
        }
        pythia__html_open(&p->h, "tr", NULL);
        pythia__html_open(&p->h, "th", "scope", "row", NULL);
        pythia__html_name(&p->h, name[0] ? name : "(not known)");
        pythia__html_close(&p->h);
        pythia__html_duration_cell(&p->h, "change", pythia__number(service, "change_ns"));
        pythia__html_cell(&p->h, "full", NULL);
        pythia__html_edge(&p->h, json_object_get(service, "best_edge"));
        pythia__html_close(&p->h);
        pythia__html_duration_cell(&p->h, "longer by at least",
                                   pythia__number(service, "score_ns"));
        pythia__html_close(&p->h);
    }
    if (rows.shown == 0)
        return;
    end_table(p);
    note_more(p, &rows);
    pythia__html_close(&p->h);
}

static void edge_row(struct page *p, const json_t *edge)
{
    const char *service = pythia__string(edge, "service");
    pythia__html_open(&p->h, "tr", NULL);
    pythia__html_open(&p->h, "th", "scope", "row", NULL);
    pythia__html_edge(&p->h, edge);
    pythia__html_close(&p->h);
    pythia__html_cell(&p->h, "e", "service");
    pythia__html_name(&p->h, service[0] ? service : "(not known)");
    pythia__html_close(&p->h);
    pythia__html_duration_cell(&p->h, "before", pythia__number_in(edge, "mean_ns", "before"));
    pythia__html_duration_cell(&p->h, "after", pythia__number_in(edge, "mean_ns", "after"));
    pythia__html_bar_cell(&p->h, "share", pythia__number(edge, "share"));
    pythia__html_percent_cell(&p->h, "share of the change", pythia__number(edge, "share"));
    pythia__html_chance_cell(&p->h, "q", pythia__number_in(edge, "clipped_ns", "q"));
    pythia__html_chance_cell(&p->h, "q of the variance",
                             pythia__number_in(edge, "clipped_variance_ns2", "q"));
    pythia__html_close(&p->h);
}

static void draw_changed_edges(struct page *p, const json_t *type)
{
    static const char *const labels[] = {
        "Stretch of the critical path", "Service", ">Before",           ">After",
        "=Share of the change",         ">q",      ">q of the variance"};
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_EDGES, p->top, p->alpha);
    for (const json_t *edge; (edge = pythia__compared_next(&rows));) {
        if (rows.shown == 1)
            begin_table(p, labels, sizeof(labels) / sizeof(labels[0]));
        edge_row(p, edge);
    }
    if (rows.shown > 0)
        end_table(p);
    note_more(p, &rows);
}

static void draw_changed_paths(struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_PATHS, p->top, p->alpha);
    for (const json_t *path; (path = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        pythia__add_compared_path(&text, path, type);
        if (pythia__string(path, "example")[0])
            pythia_buf_printf(&text, " Trace %s.", pythia__string(path, "example"));
        draw_paragraph(p, "path", &text);
    }
    note_more(p, &rows);
}

static void draw_changed_points(struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_POINTS, p->top, p->alpha);
    for (const json_t *point; (point = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        if (rows.shown == 1)
            pythia__html_open(&p->h, "ul", NULL);
        pythia__add_compared_point(&text, point, type, p->alpha);
        pythia__html_open(&p->h, "li", NULL);
        pythia__html_name(&p->h, pythia__string(point, "trace_point"));
        pythia__html_text(&p->h, " ");
        pythia__html_prose(&p->h, text.bytes ? text.bytes : "");
        pythia__html_close(&p->h);
        pythia_buf_free(&text);
    }
    if (rows.shown > 0)
        pythia__html_close(&p->h);
    note_more(p, &rows);
}

/* ---- the whole ---- */

static void type_section(struct page *p, const json_t *type)
{
    const json_t *findings = pythia__array(type, "findings");
    pythia__html_open(&p->h, "section", "class", "group", NULL);
    pythia__html_open(&p->h, "h2", NULL);
    pythia__html_name(&p->h, pythia__string(type, "name"));
    pythia__html_close(&p->h);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, json_string_value(json_array_get(findings, i)));
        draw_paragraph(p, i == 0 ? "where" : "why", &text);
    }
    draw_changed_edges(p, type);
    draw_changed_paths(p, type);
    draw_changed_points(p, type);
    pythia__html_close(&p->h);
}

static void draw_other_types(struct page *p, const json_t *report)
{
    static const char *const labels[] = {"Type of request", ">Requests before", ">After",
                                         "Finding"};
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_OTHER_TYPES, p->top, p->alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));) {
        if (rows.shown == 1) {
            pythia__html_open(&p->h, "section", "class", "group", NULL);
            pythia__html_leaf(&p->h, "h2", NULL, "Other types");
            begin_table(p, labels, sizeof(labels) / sizeof(labels[0]));
        }
        pythia__html_open(&p->h, "tr", NULL);
        pythia__html_open(&p->h, "th", "scope", "row", NULL);
        pythia__html_name(&p->h, pythia__string(type, "name"));
        pythia__html_close(&p->h);
        pythia__html_count_cell(&p->h, "requests before",
                                pythia__number_in(type, "requests", "before"));
        pythia__html_count_cell(&p->h, "after", pythia__number_in(type, "requests", "after"));
        pythia__html_leaf(&p->h, "td", "e",
                          strcmp(pythia__string(type, "status"), "same") == 0 ? "nothing changed"
                                                                              : "too few");
        pythia__html_close(&p->h);
    }
    if (rows.shown == 0)
        return;
    end_table(p);
    note_more(p, &rows);
    pythia__html_close(&p->h);
}

static void draw_comparison(struct page *p, const json_t *report)
{
    struct pythia_buf head = {0}, conclusion = {0};
    pythia__html_leaf(&p->h, "h1", NULL, "What changed");
    pythia__add_conclusion(&conclusion, report);
    draw_paragraph(p, "lead", &conclusion);
    pythia__add_compared_input(&head, report);
    draw_paragraph(p, "read", &head);
    draw_services(p, report);
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_TYPES, p->top, p->alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));)
        type_section(p, type);
    note_more(p, &rows);
    draw_other_types(p, report);
}

void pythia__compare_html(const json_t *report, size_t top, struct pythia_buf *out)
{
    struct page p = {.top = top, .alpha = pythia__number(report, "alpha")};
    pythia__html_begin(&p.h, out);
    pythia__html_open(&p.h, "html", "lang", "en", NULL);
    pythia__html_head(&p.h, "What changed");
    pythia__html_open(&p.h, "body", NULL);
    pythia__html_open(&p.h, "main", NULL);
    draw_comparison(&p, report);
    pythia__html_close(&p.h);
    pythia__html_close(&p.h);
    pythia__html_close(&p.h);
    pythia__html_end(&p.h);
}
