/* The parts of a report, each a function that adds to its document. */
#ifndef PYTHIA_REPORT_PARTS_H
#define PYTHIA_REPORT_PARTS_H

#include <inttypes.h>

#include "document/document.h"
#include "document/document_names.h"
#include "results/items.h"

#define PYTHIA__FINDINGS_MAX 100 /* with a section; a report with more is read by a program */

struct pythia__parts {
    const struct pythia_report_source *s;
    struct pythia__doc *d;
    const struct pythia__item *items;
    size_t item_count;
    const struct pythia_group **largest; /* of each type */
};

/* The whole. *overhead: an empty paragraph for what tracing takes, which may be set later.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__parts_build(const struct pythia_report_source *s, struct pythia__doc *d,
                        struct pythia__doc_block **overhead);

/* The input, as a paragraph. */
struct pythia__doc_block *pythia__part_input(const struct pythia__parts *p);
/* Whether requests keep to what is expected of them; nothing if nothing is. */
void pythia__part_expected(const struct pythia__parts *p);
/* The search, cycle by cycle; nothing if there was none. */
void pythia__part_search(const struct pythia__parts *p);
/* An item, the `number`-th from 1: what was found, and then the evidence for it. */
void pythia__part_finding(const struct pythia__parts *p, const struct pythia__item *item,
                          size_t number);
/* Which keys correlate with the durations: of a group with its ranking, or of a type (NULL). */
void pythia__part_keys(const struct pythia__parts *p, const struct pythia_explanations *all,
                       const struct pythia_ranking *ranking);
/* Numbers that are often at their limit; nothing if there are none. */
void pythia__part_saturated(const struct pythia__parts *p);
/* The parts that a split makes, with their means. */
void pythia__part_table(struct pythia__doc *d, const char *const *labels, const double *means_ns,
                        const uint64_t *requests, size_t count);

/* "#g-762a29ba4dc63374", what links to a group lead to; without the '#' its id on the page. */
static inline void pythia__add_group_target(struct pythia_buf *to, const struct pythia_group *g)
{
    pythia_buf_printf(to, "#g-%016" PRIx64, g->id);
}
static inline void pythia__say_type(const struct pythia__parts *p, const struct pythia_type *type)
{
    pythia__doc_type(p->d, p->s->vocabulary, type, PYTHIA_NONE);
}

#endif
