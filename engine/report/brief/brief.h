/* The short form of a report: what a person on call reads, in at most PYTHIA_REPORT_LINES lines,
 * made as a document from typed results. */
#ifndef PYTHIA_REPORT_BRIEF_H
#define PYTHIA_REPORT_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "document/document.h"
#include "pythia/report.h"

/* Something that a report has to say of a request type. */
enum pythia__item_kind {
    PYTHIA__ITEM_GROUP, /* a group that varies: `group`, and the verdict that is of it, or NULL */
    PYTHIA__ITEM_PATHS, /* which path its requests take: `type` */
    PYTHIA__ITEM_HELD,  /* found in an earlier cycle: `verdict` */
    PYTHIA__ITEM_ENDED, /* the search found no cause: `problem` */
};

struct pythia__item {
    enum pythia__item_kind kind;
    const struct pythia_type_result *type;
    const struct pythia_group *group; /* NULL of PATHS, HELD and ENDED */
    const struct pythia_verdict *verdict;
    const struct pythia_problem *problem;
    double share; /* of the variance of all requests; NaN: not known */
};

/* What there is to say, what matters most first. PYTHIA_OK with *items owned by the caller
 * (pythia_free) and *count of them, or PYTHIA_ENOMEM. */
int pythia__items_collect(const struct pythia_report_source *s, struct pythia__item **items,
                          size_t *count);

/* How much a form of the brief says; what does not fit into the lines is said with less. */
struct pythia__brief_level {
    size_t blocks; /* items with a block of their own; the others have a line each */
    size_t lines, cycles, examples;
    bool times; /* where the time goes */
};

struct pythia__brief {
    const struct pythia_report_source *s;
    const struct pythia_report_view *view;
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
void pythia__brief_sure(const struct pythia__brief *b, const struct pythia__item *item);
/* Percentiles with a histogram, and the table of where the time goes. */
void pythia__brief_times(const struct pythia__brief *b, const struct pythia__item *item);
/* Commands to run next. */
void pythia__brief_next(const struct pythia__brief *b, const struct pythia__item *item);
/* The search, a line a cycle. */
void pythia__brief_search(const struct pythia__brief *b);

#endif
