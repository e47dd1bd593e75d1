/* The comparison for a terminal: what a person on call reads first stands first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare_forms.h"
#include "pythia/shown_text.h"
#include "sentences/sentences.h"

#define INDENT     "   "
#define NAME_WIDTH 240 /* characters of a name on a line of its own */
#define EDGE_FROM  26  /* column at which the words of an edge begin */

struct page {
    struct pythia_buf *out;
    size_t top;
    double alpha;
    bool colour;
};

static void print_compared_style(const struct page *p, const char *code)
{
    if (p->colour)
        pythia_buf_printf(p->out, "\033[%sm", code);
}

static void print_compared_words(const struct page *p, size_t indent, struct pythia_buf *text)
{
    pythia__add_words(p->out, indent, pythia_buf_text(text));
    if (text->failed)
        p->out->failed = 1;
    pythia_buf_free(text);
}

static void print_compared_title(const struct page *p, const char *text)
{
    print_compared_style(p, "1");
    pythia_buf_printf(p->out, INDENT "%s\n", text);
    print_compared_style(p, "0");
}

static void and_more(const struct page *p, const struct pythia__compared_rows *rows)
{
    pythia__compared_left(p->out, rows, INDENT INDENT "and", "\n");
}

/* "+12.3 ms", in a column */
static void add_change(const struct page *p, double ns)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, ns > 0 ? "+" : "");
    pythia__add_duration(&text, ns);
    pythia_buf_printf(p->out, "%10s", text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
}

/* ---- lists ---- */

static void edge_line(const struct page *p, const json_t *edge)
{
    struct pythia_buf text = {0}, share = {0};
    pythia_buf_puts(p->out, INDENT INDENT);
    print_compared_style(p, "36");
    add_change(p, pythia__number_in(edge, "mean_ns", "change"));
    print_compared_style(p, "0");
    pythia__add_percent(&share, pythia__number(edge, "share"));
    pythia_buf_printf(p->out, " %8s ", share.bytes ? share.bytes : "");
    pythia_buf_free(&share);
    pythia__add_compared_edge(&text, edge);
    pythia_buf_puts(&text, " (");
    pythia__add_duration(&text, pythia__number_in(edge, "mean_ns", "before"));
    pythia_buf_puts(&text, ", now ");
    pythia__add_duration(&text, pythia__number_in(edge, "mean_ns", "after"));
    double q = pythia__number_in(edge, "clipped_ns", "q");
    if (q <= p->alpha) {
        pythia_buf_puts(&text, ", q ");
        pythia__add_chance(&text, q);
    } else {
        pythia_buf_puts(&text, ", its variance, q ");
        pythia__add_chance(&text, pythia__number_in(edge, "clipped_variance_ns2", "q"));
    }
    pythia_buf_puts(&text, ")");
    print_compared_words(p, EDGE_FROM, &text);
}

static void print_changed_edges(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_EDGES, p->top, p->alpha);
    for (const json_t *edge; (edge = pythia__compared_next(&rows));) {
        if (rows.shown == 1)
            print_compared_title(p, "edges, those first that surely take longer");
        edge_line(p, edge);
    }
    and_more(p, &rows);
}

static void print_changed_paths(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_PATHS, p->top, p->alpha);
    for (const json_t *path; (path = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        if (rows.shown == 1)
            print_compared_title(p, "paths");
        pythia__add_compared_path(&text, path, type);
        if (pythia__string(path, "example")[0])
            pythia_buf_printf(&text, " Trace %s.", pythia__string(path, "example"));
        pythia_buf_puts(p->out, INDENT INDENT);
        print_compared_words(p, 2 * (sizeof(INDENT) - 1), &text);
    }
    and_more(p, &rows);
}

static void print_changed_points(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_POINTS, p->top, p->alpha);
    for (const json_t *point; (point = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        if (rows.shown == 1)
            print_compared_title(p, "trace points");
        pythia_buf_printf(&text, "%s: ", pythia__string(point, "trace_point"));
        pythia__add_compared_point(&text, point, type, p->alpha);
        pythia_buf_puts(p->out, INDENT INDENT);
        print_compared_words(p, 2 * (sizeof(INDENT) - 1), &text);
    }
    and_more(p, &rows);
}

/* ---- the whole ---- */

static void type_section(const struct page *p, const json_t *type, size_t number)
{
    const json_t *findings = pythia__array(type, "findings");
    pythia_buf_putc(p->out, '\n');
    print_compared_style(p, "1;33");
    pythia_buf_printf(p->out, "%zu. ", number);
    pythia_shown_add(p->out, pythia_text_of(pythia__string(type, "name")), NAME_WIDTH);
    print_compared_style(p, "0");
    pythia_buf_putc(p->out, '\n');
    for (size_t i = 0; i < json_array_size(findings); i++) {
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, json_string_value(json_array_get(findings, i)));
        pythia_buf_puts(p->out, INDENT);
        print_compared_words(p, sizeof(INDENT) - 1, &text);
    }
    double sampled = pythia__number_in(type, "sampled", "before") +
                     pythia__number_in(type, "sampled", "after"),
           all = pythia__number_in(type, "requests", "before") +
                 pythia__number_in(type, "requests", "after");
    if (sampled > 0 && sampled < all)
        pythia_buf_printf(p->out, INDENT "Edges are of a sample of %.0f of %.0f requests.\n",
                          sampled, all);
    print_changed_edges(p, type);
    print_changed_paths(p, type);
    print_changed_points(p, type);
}

static void print_services(const struct page *p, const json_t *report)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_SERVICES, p->top, p->alpha);
    for (const json_t *service; (service = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        const char *name = pythia__string(service, "service");
        if (rows.shown == 1) {
            print_compared_style(p, "1");
            pythia_buf_puts(p->out, "\nServices\n");
            print_compared_style(p, "0");
        }
        pythia_buf_puts(p->out, INDENT INDENT);
        print_compared_style(p, "36");
        add_change(p, pythia__number(service, "change_ns"));
        print_compared_style(p, "0");
        pythia_buf_putc(p->out, ' ');
        pythia_shown_add(p->out, pythia_text_of(name[0] ? name : "(not known)"), NAME_WIDTH);
        pythia_buf_puts(&text, "most surely ");
        pythia__add_edge(&text, json_object_get(service, "best_edge"));
        pythia_buf_printf(&text, " (%.0f of %.0f edges changed)",
                          pythia__number(service, "changed_edges"),
                          pythia__number(service, "edges"));
        pythia_buf_puts(p->out, "\n" INDENT INDENT "           ");
        print_compared_words(p, 17, &text);
    }
    and_more(p, &rows);
}

/* Types about which there is nothing to say, a line each. */
static void print_other_types(const struct page *p, const json_t *report)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_OTHER_TYPES, p->top, p->alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        if (rows.shown == 1)
            pythia_buf_puts(p->out, "\nOther types\n");
        pythia__add_count(&text, pythia__number_in(type, "requests", "before"));
        pythia_buf_puts(&text, " requests before, ");
        pythia__add_count(&text, pythia__number_in(type, "requests", "after"));
        pythia_buf_puts(&text, " after");
        pythia_buf_printf(p->out, INDENT "%-8s %-36s ",
                          strcmp(pythia__string(type, "status"), "same") == 0 ? "same" : "too few",
                          text.bytes ? text.bytes : "");
        pythia_shown_add(p->out, pythia_text_of(pythia__string(type, "name")), NAME_WIDTH);
        pythia_buf_putc(p->out, '\n');
        pythia_buf_free(&text);
    }
    and_more(p, &rows);
}

void pythia__compare_text(const json_t *report, size_t top, bool colour, struct pythia_buf *out)
{
    struct page p = {out, top, pythia__number(report, "alpha"), colour};
    struct pythia_buf head = {0}, conclusion = {0};
    pythia__add_compared_input(&head, report);
    print_compared_words(&p, 0, &head);
    pythia__add_conclusion(&conclusion, report);
    print_compared_style(&p, "1");
    print_compared_words(&p, 0, &conclusion);
    print_compared_style(&p, "0");
    print_services(&p, report);
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_TYPES, top, p.alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));)
        type_section(&p, type, rows.shown);
    pythia__compared_left(out, &rows, "\nand", "\n");
    print_other_types(&p, report);
}
