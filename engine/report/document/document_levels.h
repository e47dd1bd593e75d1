/* A document with more and less detail, of which a page shows as much as fits. */
#ifndef PYTHIA_REPORT_DOCUMENT_LEVELS_H
#define PYTHIA_REPORT_DOCUMENT_LEVELS_H

#include "document.h"

#define PYTHIA__DOC_LEVELS 8

/* Level 0 has the most detail. */
struct pythia__doc_levels {
    struct pythia__doc docs[PYTHIA__DOC_LEVELS];
    size_t count;
};

/* Builds one level. PYTHIA_OK or PYTHIA_ENOMEM. */
typedef int pythia__doc_build(const void *context, size_t level, struct pythia__doc *d);

/* Build levels 0, 1, ... until one has at most PYTHIA_REPORT_LINES lines at any width, but not more
 * than `most`. PYTHIA_OK with *out to be freed, or PYTHIA_ENOMEM. */
int pythia__doc_levels_make(pythia__doc_build *build, const void *context, size_t most,
                            struct pythia__doc_levels *out);
void pythia__doc_levels_free(struct pythia__doc_levels *levels);
/* Append, as text, the most detailed level that fits, or else the last. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__doc_levels_write(const struct pythia__doc_levels *levels,
                             const struct pythia__doc_view *view, struct pythia_buf *out);

#endif
