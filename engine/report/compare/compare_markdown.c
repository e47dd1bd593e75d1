/* The comparison as GitHub-flavoured Markdown: what the text form says, in its order, with tables.
 */
#include <math.h>
#include <string.h>

#include "compare_forms.h"
#include "sentences/sentences.h"
#include "write/markdown_writer.h"

struct page {
    struct pythia_buf *out;
    size_t top;
    double alpha;
};

/* A sentence, which is given back. */
static void list_prose(const struct page *p, struct pythia_buf *text)
{
    pythia__markdown_prose(p->out, text->bytes ? text->bytes : "");
    if (text->failed)
        p->out->failed = 1;
    pythia_buf_free(text);
}

static void list_duration(const struct page *p, const json_t *of, const char *key,
                          const char *member)
{
    pythia_buf_puts(p->out, " | ");
    pythia__add_duration(p->out, pythia__number_in(of, key, member));
}

static void and_more(const struct page *p, const struct pythia__compared_rows *rows)
{
    pythia__compared_left(p->out, rows, "\nAnd", ".\n");
}

static void list_chance(const struct page *p, const json_t *of, const char *key)
{
    double q = pythia__number_in(of, key, "q");
    if (isnan(q))
        pythia_buf_puts(p->out, " | -");
    else
        pythia_buf_printf(p->out, " | %.1g", q);
}

/* ---- lists ---- */

static void list_services(const struct page *p, const json_t *report)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_SERVICES, p->top, p->alpha);
    for (const json_t *service; (service = pythia__compared_next(&rows));) {
        const char *name = pythia__string(service, "service");
        if (rows.shown == 1)
            pythia_buf_puts(p->out, "\n## Services\n\n"
                                    "| service | change | surely | most surely |\n"
                                    "| --- | --: | --: | --- |\n");
        pythia_buf_puts(p->out, "| ");
        pythia__markdown_name(p->out, name[0] ? name : "(not known)", true);
        pythia_buf_puts(p->out, " | ");
        pythia__add_duration(p->out, pythia__number(service, "change_ns"));
        pythia_buf_puts(p->out, " | ");
        pythia__add_duration(p->out, pythia__number(service, "score_ns"));
        pythia_buf_puts(p->out, " | ");
        struct pythia_buf text = {0};
        pythia__add_edge(&text, json_object_get(service, "best_edge"));
        list_prose(p, &text);
        pythia_buf_puts(p->out, " |\n");
    }
    and_more(p, &rows);
}

static void list_changed_edges(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_EDGES, p->top, p->alpha);
    for (const json_t *edge; (edge = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        if (rows.shown == 1)
            pythia_buf_puts(p->out, "\n| edge | before | after | change | share | q | q of the "
                                    "variance |\n"
                                    "| --- | --: | --: | --: | --: | --: | --: |\n");
        pythia_buf_puts(p->out, "| ");
        pythia__add_compared_edge(&text, edge);
        list_prose(p, &text);
        list_duration(p, edge, "mean_ns", "before");
        list_duration(p, edge, "mean_ns", "after");
        list_duration(p, edge, "mean_ns", "change");
        pythia_buf_puts(p->out, " | ");
        pythia__add_percent(p->out, pythia__number(edge, "share"));
        list_chance(p, edge, "clipped_ns");
        list_chance(p, edge, "clipped_variance_ns2");
        pythia_buf_puts(p->out, " |\n");
    }
    and_more(p, &rows);
}

static void list_changed_paths(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_PATHS, p->top, p->alpha);
    for (const json_t *path; (path = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        pythia_buf_puts(p->out, rows.shown == 1 ? "\n- " : "- ");
        pythia__add_compared_path(&text, path, type);
        list_prose(p, &text);
        if (pythia__string(path, "example")[0])
            pythia_buf_printf(p->out, " Trace `%s`.", pythia__string(path, "example"));
        pythia_buf_putc(p->out, '\n');
    }
    and_more(p, &rows);
}

static void list_changed_points(const struct page *p, const json_t *type)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(type, PYTHIA__COMPARED_POINTS, p->top, p->alpha);
    for (const json_t *point; (point = pythia__compared_next(&rows));) {
        struct pythia_buf text = {0};
        pythia_buf_puts(p->out, rows.shown == 1 ? "\n- " : "- ");
        pythia__markdown_name(p->out, pythia__string(point, "trace_point"), false);
        pythia_buf_putc(p->out, ' ');
        pythia__add_compared_point(&text, point, type, p->alpha);
        list_prose(p, &text);
        pythia_buf_putc(p->out, '\n');
    }
    and_more(p, &rows);
}

/* ---- the whole ---- */

static void type_section(const struct page *p, const json_t *type)
{
    const json_t *findings = pythia__array(type, "findings");
    pythia_buf_puts(p->out, "\n## ");
    pythia__markdown_name(p->out, pythia__string(type, "name"), false);
    pythia_buf_puts(p->out, "\n");
    for (size_t i = 0; i < json_array_size(findings); i++) {
        struct pythia_buf text = {0};
        pythia_buf_puts(&text, json_string_value(json_array_get(findings, i)));
        pythia_buf_putc(p->out, '\n');
        list_prose(p, &text);
        pythia_buf_putc(p->out, '\n');
    }
    list_changed_edges(p, type);
    list_changed_paths(p, type);
    list_changed_points(p, type);
}

static void list_other_types(const struct page *p, const json_t *report)
{
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_OTHER_TYPES, p->top, p->alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));) {
        if (rows.shown == 1)
            pythia_buf_puts(p->out, "\n## Other types\n\n| type | before | after | |\n"
                                    "| --- | --: | --: | --- |\n");
        pythia_buf_puts(p->out, "| ");
        pythia__markdown_name(p->out, pythia__string(type, "name"), true);
        pythia_buf_puts(p->out, " | ");
        pythia__add_count(p->out, pythia__number_in(type, "requests", "before"));
        pythia_buf_puts(p->out, " | ");
        pythia__add_count(p->out, pythia__number_in(type, "requests", "after"));
        pythia_buf_printf(p->out, " | %s |\n",
                          strcmp(pythia__string(type, "status"), "same") == 0 ? "same" : "too few");
    }
    and_more(p, &rows);
}

void pythia__compare_markdown(const json_t *report, size_t top, struct pythia_buf *out)
{
    struct page p = {out, top, pythia__number(report, "alpha")};
    struct pythia_buf head = {0}, conclusion = {0};
    pythia_buf_puts(out, "# What changed\n\n");
    pythia__add_compared_input(&head, report);
    list_prose(&p, &head);
    pythia_buf_puts(out, "\n\n**");
    pythia__add_conclusion(&conclusion, report);
    list_prose(&p, &conclusion);
    pythia_buf_puts(out, "**\n");
    list_services(&p, report);
    struct pythia__compared_rows rows =
        pythia__compared_rows(report, PYTHIA__COMPARED_TYPES, top, p.alpha);
    for (const json_t *type; (type = pythia__compared_next(&rows));)
        type_section(&p, type);
    and_more(&p, &rows);
    list_other_types(&p, report);
}
