/* Shared by the formats of a profile: the rows that are shown, and what belongs to each. */
#ifndef PYTHIA_REPORT_PROFILE_FORMS_H
#define PYTHIA_REPORT_PROFILE_FORMS_H

#include "document/document.h"
#include "pythia/profile_report.h"

struct pythia__profile_shown {
    const struct pythia_profile *profile;
    const struct pythia_profile_view *view;
    struct pythia_profile_totals totals;
    const struct pythia_profile_row *rows;
    const struct pythia_profile_part *parts;
    const struct pythia_profile_pair *pairs;
    uint32_t *order; /* the rows that are shown, in their order */
    size_t count, row_count;
    uint32_t *part_order; /* all parts by row, and in each row by time */
    size_t part_count;
    uint32_t *pair_order; /* all pairs whose row matches the pattern, by time */
    size_t pair_count;
};

/* The process with most calls among the parts of a row, and how many times the mean of the other
 * processes its calls and its time are. */
struct pythia__profile_imbalance {
    uint32_t process;
    double calls, time; /* NaN: there is no other process */
};

/* The parts of a row: *count of them from the result on in part_order. */
const uint32_t *pythia__profile_parts_of(const struct pythia__profile_shown *s, uint32_t row,
                                         size_t *count);
struct pythia__profile_imbalance pythia__profile_imbalance_of(const struct pythia__profile_shown *s,
                                                              const uint32_t *parts, size_t count);

/* Append "front:call > store:get", the last `levels` of a callpath after "... > " if there are
 * more; or the trace point of a row by name. */
void pythia__profile_name(const struct pythia_profile *p, const struct pythia_profile_row *row,
                          uint32_t levels, struct pythia_buf *to);
#define PYTHIA__PROFILE_NAME_LEVELS 64

int pythia__profile_document(const struct pythia__profile_shown *s, struct pythia__doc *d);
int pythia__profile_json(const struct pythia__profile_shown *s, struct pythia_buf *out);
int pythia__profile_dot(const struct pythia__profile_shown *s, struct pythia_buf *out);

#endif
