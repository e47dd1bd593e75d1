/* The items of a report, in order. */
#ifndef PYTHIA_REPORT_ITEMS_H
#define PYTHIA_REPORT_ITEMS_H

#include <stddef.h>

#include "document/document.h"
#include "pythia/report_source.h"

/* Something that a report has to say of a request type. */
enum pythia__item_kind {
    PYTHIA__ITEM_GROUP, /* a group that varies: `group`, and the verdict that is of it, or NULL */
    PYTHIA__ITEM_PATHS, /* which path its requests take: `type` */
    PYTHIA__ITEM_HELD,  /* found in an earlier cycle: `verdict` */
    PYTHIA__ITEM_ENDED, /* the search found no cause: `problem` */
};

struct pythia__item {
    enum pythia__item_kind kind;
    uint32_t name, unsplit;                /* of the request type: numbers of strings */
    const struct pythia_type_result *type; /* NULL of HELD and ENDED if the last cycle had none of
                                              it, as right after a restart */
    const struct pythia_group *group;      /* NULL of PATHS, HELD and ENDED */
    const struct pythia_verdict *verdict;
    const struct pythia_problem *problem;
    double share; /* of the variance of all requests; NaN: not known */
};

/* The items, the most important first. PYTHIA_OK with *items owned by the caller
 * (pythia_free) and *count of them, or PYTHIA_ENOMEM. */
int pythia__items_collect(const struct pythia_report_source *s, struct pythia__item **items,
                          size_t *count);

/* Add to the title of an item what sets it apart from the items of its type before it: ", requests
 * that hit A"; nothing for the first. Different items have different words. */
void pythia__say_difference(struct pythia__doc *d, const struct pythia_report_source *s,
                            const struct pythia__item *items, size_t count,
                            const struct pythia__item *item);

#endif
