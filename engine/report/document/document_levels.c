#include "document_levels.h"

#include "pythia/report_source.h"
#include "pythia/status.h"

static size_t count_lines(struct pythia_text text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += text.bytes[i] == '\n';
    return count;
}

/* Whether a document has few enough lines at a width; a narrow page has most. */
static int fits_page(const struct pythia__doc *d, size_t width, bool *fits)
{
    const struct pythia__doc_view view = {.width = width};
    struct pythia_buf text = {0};
    int status = pythia__doc_write_text(d, &view, &text);
    *fits = count_lines(pythia_buf_text(&text)) <= PYTHIA_REPORT_LINES;
    pythia_buf_free(&text);
    return status;
}

int pythia__doc_levels_make(pythia__doc_build *build, const void *context, size_t most,
                            struct pythia__doc_levels *out)
{
    int status = PYTHIA_OK;
    bool fits = false;
    out->count = 0;
    while (!fits && out->count < most) {
        struct pythia__doc *d = &out->docs[out->count];
        pythia__doc_begin(d);
        status = build(context, out->count++, d);
        if (status == PYTHIA_OK)
            status = pythia__doc_finish(d);
        if (status == PYTHIA_OK)
            status = fits_page(d, PYTHIA_REPORT_WIDTH_MIN, &fits);
        if (status != PYTHIA_OK) {
            pythia__doc_levels_free(out);
            return status;
        }
    }
    return PYTHIA_OK;
}

void pythia__doc_levels_free(struct pythia__doc_levels *levels)
{
    for (size_t i = 0; i < levels->count; i++)
        pythia__doc_free(&levels->docs[i]);
    levels->count = 0;
}

int pythia__doc_levels_write(const struct pythia__doc_levels *levels,
                             const struct pythia__doc_view *view, struct pythia_buf *out)
{
    size_t i = 0;
    bool fits = false;
    while (!fits && i + 1 < levels->count) {
        int status = fits_page(&levels->docs[i], view->width, &fits);
        if (status != PYTHIA_OK)
            return status;
        i += !fits;
    }
    return pythia__doc_write_text(&levels->docs[i], view, out);
}
