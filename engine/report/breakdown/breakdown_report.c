#include <fnmatch.h>
#include <string.h>

#include "breakdown.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

struct ordering {
    const struct pythia_breakdown *b;
    char **names;
};

/* Most time first, then by name. */
static bool callpath_before(const void *context, uint32_t a, uint32_t b)
{
    const struct ordering *o = context;
    const struct pythia_exact_moments *x = &o->b->paths[a].origin, *y = &o->b->paths[b].origin;
    if (x->sum[1] != y->sum[1])
        return (int64_t)x->sum[1] > (int64_t)y->sum[1];
    if (x->sum[0] != y->sum[0])
        return x->sum[0] > y->sum[0];
    return strcmp(o->names[a], o->names[b]) < 0;
}

static int name_callpaths(const struct pythia_breakdown *b, char **names)
{
    struct pythia_buf name = {0};
    int status = PYTHIA_OK;
    for (uint32_t i = 0; i < b->count; i++) {
        pythia_buf_clear(&name);
        pythia__callpath_name(b, i, &name);
        if ((status = pythia_buf_status(&name)) != PYTHIA_OK)
            goto out;
        if (!(names[i] = pythia_strndup(name.bytes, name.size))) {
            status = PYTHIA_ENOMEM;
            goto out;
        }
    }
out:
    pythia_buf_free(&name);
    return status;
}

static int write_breakdown_document(const struct pythia_breakdown *b,
                                    const struct pythia_breakdown_view *view, const uint32_t *order,
                                    size_t count, struct pythia_buf *out)
{
    const struct pythia__doc_view how = {
        .width = view->width, .colour = view->colour, .ascii = view->ascii};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    int status = pythia__breakdown_build(b, order, count, &d);
    if (status != PYTHIA_OK)
        goto out;
    status = view->format == PYTHIA_REPORT_HTML
                 ? pythia__doc_write_html(&d, "Calls between services", "Written by pythia.", out)
             : view->format == PYTHIA_REPORT_MARKDOWN ? pythia__doc_write_markdown(&d, out)
                                                      : pythia__doc_write_text(&d, &how, out);
out:
    pythia__doc_free(&d);
    return status;
}

static int write_shown(const struct pythia_breakdown *b, const struct pythia_breakdown_view *view,
                       const struct ordering *o, uint32_t *order, uint32_t *scratch,
                       struct pythia_buf *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->paths[i].origin.weight > 0 &&
            (!view->callpath || fnmatch(view->callpath, o->names[i], 0) == 0))
            order[count++] = i;
    pythia_sort_indexes(order, count, scratch, callpath_before, o);
    count = count < view->top ? count : view->top;
    return view->format == PYTHIA_REPORT_JSON
               ? pythia__breakdown_json(b, order, count, out)
               : write_breakdown_document(b, view, order, count, out);
}

int pythia_breakdown_write(const struct pythia_breakdown *b,
                           const struct pythia_breakdown_view *view, struct pythia_buf *out)
{
    char **names = pythia_calloc(b->count, sizeof(*names));
    uint32_t *order = pythia_calloc(b->count, sizeof(*order)),
             *scratch = pythia_calloc(b->count, sizeof(*scratch));
    const struct ordering o = {b, names};
    int status = names && order && scratch ? name_callpaths(b, names) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = write_shown(b, view, &o, order, scratch, out);
out:
    for (size_t i = 0; names && i < b->count; i++)
        pythia_free(names[i]);
    pythia_free(names);
    pythia_free(order);
    pythia_free(scratch);
    return status;
}
