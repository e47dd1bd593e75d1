#include "evidence_counts.h"

#include <assert.h>
#include <stdio.h>

/* NOLINTBEGIN(readability-non-const-parameter): they are written through the row */
static struct pythia__evidence_count_row name_count(const char *kind, const char *name,
                                                    uint64_t *number, size_t *size)
{
    struct pythia__evidence_count_row row = {.number = number, .size = size};
    snprintf(row.name, sizeof(row.name), "%s%s", kind, name);
    return row;
}
/* NOLINTEND(readability-non-const-parameter) */

void pythia__evidence_counts(struct pythia_pipeline_result *result,
                             struct pythia__evidence_count_row rows[PYTHIA__EVIDENCE_COUNTS])
{
    struct pythia_counts *n = &result->counts;
    size_t count = 0;
    rows[count++] = name_count("", "bytes", &result->bytes, NULL);
    rows[count++] = name_count("", "files", NULL, &result->files);
    rows[count++] = name_count("", "skipped_files", NULL, &result->skipped_files);
    rows[count++] = name_count("", "failed_files", NULL, &result->failed_files);
    rows[count++] = name_count("", "empty_files", NULL, &result->empty_files);
    rows[count++] = name_count("", "records", &n->spans, NULL);
    rows[count++] = name_count("", "spans", &n->kept, NULL);
    rows[count++] = name_count("", "traces", &n->traces, NULL);
    rows[count++] = name_count("", "hidden", &n->hidden, NULL);
    rows[count++] = name_count("", "outlive_parent", &n->outlive, NULL);
    rows[count++] = name_count("", "long_values", &n->long_values, NULL);
    rows[count++] = name_count("", "hashed_values", &n->hashed_values, NULL);
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        rows[count++] = name_count("repaired.", pythia_repair_name((enum pythia_repair)i),
                                   &n->repaired[i], NULL);
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        rows[count++] =
            name_count("dropped.", pythia_drop_name((enum pythia_drop)i), &n->dropped[i], NULL);
    for (size_t i = 0; i < PYTHIA_INCOMPLETES; i++)
        rows[count++] = name_count("incomplete.", pythia_incomplete_name((enum pythia_incomplete)i),
                                   &n->incomplete[i], NULL);
    assert(count == PYTHIA__EVIDENCE_COUNTS);
}
