/* The short form of a report: what a person on call reads, in at most PYTHIA_REPORT_LINES lines. */
#ifndef PYTHIA_REPORT_BRIEF_H
#define PYTHIA_REPORT_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "document/document.h"
#include "document/document_levels.h"
#include "pythia/report_source.h"
#include "results/items.h"

/* How much a form of the brief says; what does not fit into the lines is said with less. */
struct pythia__brief_level {
    size_t blocks; /* items with a block of their own; the others have a line each */
    size_t lines, cycles, examples;
    bool times; /* where the time goes */
};

struct pythia__brief {
    const struct pythia_report_source *s;
    const struct pythia__brief_level *level;
    const struct pythia__item *items;
    size_t item_count;
    struct pythia__doc *d;
};

/* Is it a cause that somebody should look at, and not only something to know? */
bool pythia__item_matters(const struct pythia__brief *b, const struct pythia__item *item);

/* Is a place known that accounts for much of its variance? */
bool pythia__has_place(const struct pythia__item *item);

/* The name of its request type, unlike that of any other item. `whole`: with the service. */
void pythia__brief_title(const struct pythia__brief *b, const struct pythia__item *item,
                         bool whole);
/* Its cause as part of a sentence, and what correlates with it; whether there is any of that.
 * Not `whole`: the least that says it, for a line. */
bool pythia__brief_cause(const struct pythia__brief *b, const struct pythia__item *item,
                         bool whole);
bool pythia__brief_when(const struct pythia__brief *b, const struct pythia__item *item, bool whole);
/* A place that has more of the variance than the one that the verdict names, but not for long
 * enough yet to change the verdict; else nothing. */
void pythia__brief_new(const struct pythia__brief *b, const struct pythia__item *item);
/* "busy_ns, which measures the time itself", if that number would have been named and no key
 * explains half as much; else nothing. */
void pythia__brief_measured(const struct pythia__brief *b, const struct pythia__item *item);
/* At which instance alone its requests were seen; nothing if at all. */
void pythia__brief_instance(const struct pythia__brief *b, const struct pythia__item *item);
void pythia__brief_sure(const struct pythia__brief *b, const struct pythia__item *item);
/* Percentiles with a histogram, and the table of where the time goes. */
void pythia__brief_times(const struct pythia__brief *b, const struct pythia__item *item);

/* The short form in levels of detail, which is at most PYTHIA_REPORT_LINES lines long, whatever the
 * input, unless it lists all. PYTHIA_OK with *out to be freed, or PYTHIA_ENOMEM. */
int pythia__brief_make(const struct pythia_report_source *s, struct pythia__doc_levels *out);

/* ---- its parts ---- */

/* Commands to run next. */
void pythia__brief_next(const struct pythia__brief *b, const struct pythia__item *item);
/* The search, a line a cycle. */
void pythia__brief_search(const struct pythia__brief *b);

#endif
