#include "pythia/run_callpaths.h"

#include <string.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

void pythia_run_callpath_add(const struct pythia_cct *cct, uint32_t node, struct pythia_buf *to)
{
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(cct);
    uint32_t depth = pythia_cct_depth(cct, node);
    for (uint32_t d = 1; d <= depth; d++) {
        struct pythia_text name = pythia_vocabulary_tracepoint_id(
            v, pythia_cct_tracepoint(cct, pythia_cct_ancestor(cct, node, d)));
        if (d > 1)
            pythia_buf_putc(to, ';');
        size_t from = to->size;
        pythia_buf_text_add(to, name);
        for (size_t i = from; i < to->size; i++)
            if (to->bytes[i] == ';' || to->bytes[i] == '\n')
                to->bytes[i] = ',';
    }
}

static const char *copy_path(const struct pythia_cct *cct, uint32_t node,
                             struct pythia_buf *scratch, struct pythia_arena *memory)
{
    pythia_buf_clear(scratch);
    pythia_run_callpath_add(cct, node, scratch);
    char *copy = pythia_buf_status(scratch) == PYTHIA_OK
                     ? pythia_arena_alloc(memory, scratch->size + 1)
                     : NULL;
    if (copy)
        memcpy(copy, scratch->bytes ? scratch->bytes : "", scratch->size + 1);
    return copy;
}

/* Below 2^53 ns^2 exact, and within an ulp beyond. */
static double sum_squares(const struct pythia_exact_moments *m)
{
    return (double)m->squares[2] * 0x1p128 + (double)m->squares[1] * 0x1p64 + (double)m->squares[0];
}

static struct pythia_run_callpath make_run_callpath(const struct pythia_profile_row *row)
{
    const struct pythia_profile_times *t = &row->times;
    return (struct pythia_run_callpath){
        .calls = (int64_t)t->moments.weight,
        .sum_ns = (int64_t)pythia_profile_sum_ns(t),
        .min_ns = (int64_t)pythia_profile_min(t),
        .max_ns = (int64_t)pythia_profile_max(t),
        .p50_ns = (int64_t)pythia_profile_quantile(t, .5),
        .p99_ns = (int64_t)pythia_profile_quantile(t, .99),
        .exclusive_ns = (int64_t)row->exclusive_ns,
        .sum_squares = sum_squares(&t->moments),
    };
}

/* Numbers of rows depend on which path came first. */
static bool has_earlier_path(const void *profile, uint32_t a, uint32_t b)
{
    return pythia_profile_compare_rows(profile, a, b) < 0;
}

int pythia_run_callpaths_make(const struct pythia_profile *profile, struct pythia_arena *memory,
                              const struct pythia_run_callpath **paths, size_t *count)
{
    struct pythia_buf scratch = {0};
    size_t n;
    const struct pythia_profile_row *rows = pythia_profile_rows(profile, &n);
    struct pythia_run_callpath *made = pythia_arena_alloc(memory, (n + 1) * sizeof(*made));
    uint32_t *order = pythia_calloc(2 * n + 1, sizeof(*order));
    int status = made && order ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    pythia_sort_indexes(order, n, order + n, has_earlier_path, profile);
    for (size_t i = 0; i < n && status == PYTHIA_OK; i++) {
        made[i] = make_run_callpath(&rows[order[i]]);
        made[i].path =
            copy_path(pythia_profile_cct(profile), rows[order[i]].node, &scratch, memory);
        status = made[i].path ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    if (status == PYTHIA_OK) {
        *paths = made;
        *count = n;
    }
out:
    pythia_buf_free(&scratch);
    pythia_free(order);
    return status;
}
