#include "pythia/report.h"

#include <jansson.h>

#include "brief/brief.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "report_parts.h"
#include "results/report_json.h"
#include "sentences/report_index.h"
#include "sentences/sentences.h"
#include "write/json_writer.h"

#define WIDTH 100

struct pythia_report {
    const struct pythia_vocabulary *vocabulary;
    unsigned forms;
    json_t *json;
    struct pythia__doc whole;           /* of TEXT, MARKDOWN and HTML */
    struct pythia__doc_block *overhead; /* a paragraph of it, which is set again and again */
    struct pythia__doc_levels brief;
};

#define WHOLE (1u << PYTHIA_REPORT_TEXT | 1u << PYTHIA_REPORT_MARKDOWN | 1u << PYTHIA_REPORT_HTML)

static int make_forms(const struct pythia_report_source *s, struct pythia_report *r)
{
    int status;
    if (r->forms & 1u << PYTHIA_REPORT_BRIEF &&
        (status = pythia__brief_make(s, &r->brief)) != PYTHIA_OK)
        return status;
    if (r->forms & WHOLE && (status = pythia__parts_build(s, &r->whole, &r->overhead)) != PYTHIA_OK)
        return status;
    if (!(r->forms & 1u << PYTHIA_REPORT_JSON))
        return PYTHIA_OK;
    r->json = pythia__report_json(s);
    return r->json ? PYTHIA_OK : PYTHIA_ENOMEM;
}

int pythia_report_create(const struct pythia_report_source *source, unsigned forms,
                         struct pythia_report **out)
{
    const unsigned long failures = pythia_mem_failures();
    struct pythia_report *r = pythia_calloc(1, sizeof(*r));
    struct pythia_report_source s = *source;
    struct pythia__index index = {0};
    struct pythia_saturated saturated = {0};
    if (!r)
        return PYTHIA_ENOMEM;
    r->vocabulary = source->vocabulary;
    r->forms = forms;
    pythia__doc_begin(&r->whole);
    int status = pythia__index_make(&s, &index);
    if (status != PYTHIA_OK)
        goto out;
    if (!s.saturated)
        status = pythia_saturated_find(s.groups, s.limits, s.limit_count, &saturated);
    if (status != PYTHIA_OK)
        goto out;
    s.index = &index;
    s.saturated = s.saturated ? s.saturated : &saturated;
    if ((status = make_forms(&s, r)) != PYTHIA_OK)
        goto out;
    /* Some parts of a document cannot report that memory was missing: the count shows it. */
    if (pythia_mem_failures() != failures) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    *out = r;
    r = NULL;
out:
    pythia__index_free(&index);
    pythia_saturated_free(&saturated);
    pythia_report_destroy(r);
    return status;
}

void pythia_report_destroy(struct pythia_report *r)
{
    if (!r)
        return;
    json_decref(r->json);
    pythia__doc_free(&r->whole);
    pythia__doc_levels_free(&r->brief);
    pythia_free(r);
}

static int set_json_overhead(struct pythia_report *r, const struct pythia_report_overhead *overhead)
{
    if (!overhead) {
        (void)json_object_del(r->json, "overhead"); /* there may be none */
        return PYTHIA_OK;
    }
    return json_object_set_new(r->json, "overhead",
                               pythia__json_overhead(r->vocabulary, overhead)) == 0
               ? PYTHIA_OK
               : PYTHIA_ENOMEM;
}

int pythia_report_set_overhead(struct pythia_report *r,
                               const struct pythia_report_overhead *overhead)
{
    int status = r->json ? set_json_overhead(r, overhead) : PYTHIA_OK;
    if (status != PYTHIA_OK || !r->overhead)
        return status;
    r->overhead->line = (struct pythia__doc_line){0};
    r->whole.line = &r->overhead->line;
    if (overhead)
        pythia__say_overhead(&r->whole, r->vocabulary, overhead);
    return pythia__doc_finish(&r->whole);
}

int pythia_report_write(const struct pythia_report *r, enum pythia_report_format format,
                        const struct pythia_report_view *view, struct pythia_buf *out)
{
    const unsigned long failures = pythia_mem_failures();
    const struct pythia__doc_view how = {.width = view && view->width ? view->width : WIDTH,
                                         .colour = view && view->colour,
                                         .ascii = view && view->ascii,
                                         .full = format == PYTHIA_REPORT_TEXT};
    int status = PYTHIA_OK;
    switch (format) {
    case PYTHIA_REPORT_TEXT:
        status = pythia__doc_write_text(&r->whole, &how, out);
        break;
    case PYTHIA_REPORT_MARKDOWN:
        status = pythia__doc_write_markdown(&r->whole, out);
        break;
    case PYTHIA_REPORT_HTML:
        status = pythia__doc_write_html(&r->whole, "Pythia report", "Written by pythia.", out);
        break;
    case PYTHIA_REPORT_BRIEF:
        status = pythia__doc_levels_write(&r->brief, &how, out);
        break;
    case PYTHIA_REPORT_JSON:
        status = pythia__json_write(r->json, 1, 12, out);
        break;
    case PYTHIA_REPORT_FORMATS:
        break;
    }
    return status == PYTHIA_OK && pythia_mem_failures() != failures ? PYTHIA_ENOMEM : status;
}

int pythia_report_write_member(const struct pythia_report *r, const char *member,
                               struct pythia_buf *out)
{
    return pythia__json_write(json_object_get(r->json, member), 1, 17, out);
}
