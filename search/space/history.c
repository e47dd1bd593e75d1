#include "pythia/history.h"

#include <math.h>
#include <stdlib.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

struct pythia_history {
    struct pythia_strtab *ids;
    struct pythia_history_record *records; /* by number of an id */
    size_t capacity;                       /* what is there; zeros are no record */
};

int pythia_history_create(struct pythia_history **out)
{
    struct pythia_history *h = pythia_calloc(1, sizeof(*h));
    if (!h)
        return PYTHIA_ENOMEM;
    if (pythia_strtab_create(&h->ids) != PYTHIA_OK) {
        pythia_free(h);
        return PYTHIA_ENOMEM;
    }
    *out = h;
    return PYTHIA_OK;
}

void pythia_history_destroy(struct pythia_history *h)
{
    if (!h)
        return;
    pythia_strtab_destroy(h->ids);
    pythia_free(h->records);
    pythia_free(h);
}

bool pythia_history_is_possible(const struct pythia_history_record *r)
{
    return r->localised <= r->opened && (r->opened > UINT64_MAX / PYTHIA_HISTORY_PPB ||
                                         r->explained_ppb <= r->opened * PYTHIA_HISTORY_PPB);
}

static void add_saturating(uint64_t *to, uint64_t more)
{
    *to = *to > UINT64_MAX - more ? UINT64_MAX : *to + more;
}

int pythia_history_add_record(struct pythia_history *h, struct pythia_text id,
                              const struct pythia_history_record *r)
{
    uint32_t number = pythia_strtab_intern(h->ids, id);
    if (number == PYTHIA_STRTAB_NONE ||
        pythia_reach(&h->records, &h->capacity, number, sizeof(*h->records)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_history_record *to = &h->records[number];
    add_saturating(&to->opened, r->opened);
    add_saturating(&to->explained_ppb, r->explained_ppb);
    add_saturating(&to->localised, r->localised);
    return PYTHIA_OK;
}

int pythia_history_add(struct pythia_history *h, struct pythia_text id, double explained,
                       bool localised)
{
    double part = explained > 0 ? fmin(explained, 1) : 0; /* NaN is not above 0 */
    struct pythia_history_record r = {.opened = 1,
                                      .explained_ppb =
                                          (uint64_t)llround(part * (double)PYTHIA_HISTORY_PPB),
                                      .localised = localised};
    return pythia_history_add_record(h, id, &r);
}

int pythia_history_merge(struct pythia_history *h, const struct pythia_history *other)
{
    for (uint32_t i = 0; i < pythia_strtab_count(other->ids); i++)
        if (i < other->capacity && other->records[i].opened) {
            struct pythia_history_record r = other->records[i]; /* it may be the same history */
            int status = pythia_history_add_record(h, pythia_strtab_text(other->ids, i), &r);
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

struct pythia_history_record pythia_history_find(const struct pythia_history *h,
                                                 struct pythia_text id)
{
    uint32_t number = pythia_strtab_find(h->ids, id);
    if (number == PYTHIA_STRTAB_NONE || number >= h->capacity)
        return (struct pythia_history_record){0};
    return h->records[number];
}

static int compare_history_ids(const void *a, const void *b)
{
    return pythia_text_compare(*(const struct pythia_text *)a, *(const struct pythia_text *)b);
}

int pythia_history_sorted(const struct pythia_history *h, struct pythia_text **ids, size_t *count)
{
    size_t known = 0;
    struct pythia_text *sorted = pythia_calloc(pythia_strtab_count(h->ids), sizeof(*sorted));
    if (!sorted)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < pythia_strtab_count(h->ids) && i < h->capacity; i++)
        if (h->records[i].opened)
            sorted[known++] = pythia_strtab_text(h->ids, i);
    qsort(sorted, known, sizeof(*sorted), compare_history_ids);
    *ids = sorted;
    *count = known;
    return PYTHIA_OK;
}
