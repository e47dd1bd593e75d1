#include "pythia/profile_report.h"

#include <fnmatch.h>
#include <math.h>

#include "profile_forms.h"
#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* ---- order ---- */

struct ranking {
    const struct pythia__profile_shown *shown;
    const double *keys; /* by row */
};

static double find_row_key(const struct pythia_profile_row *row, enum pythia_profile_sort sort)
{
    const struct pythia_exact_moments *m = &row->times.moments;
    switch (sort) {
    case PYTHIA_PROFILE_SORT_EXCLUSIVE:
        return (double)row->exclusive_ns;
    case PYTHIA_PROFILE_SORT_COUNT:
        return (double)m->weight;
    case PYTHIA_PROFILE_SORT_P99:
        return pythia_profile_quantile(&row->times, .99);
    case PYTHIA_PROFILE_SORT_VARIANCE:
        return pythia_profile_variance(&row->times);
    case PYTHIA_PROFILE_SORT_COV:
        return pythia_profile_cov(&row->times);
    case PYTHIA_PROFILE_SORT_TOTAL:
        break;
    }
    return (double)pythia_profile_sum_ns(&row->times);
}

/* Unknown values come last; ties are in order of name. */
static bool peer_ranks_before(const void *context, uint32_t a, uint32_t b)
{
    const struct ranking *r = context;
    double x = r->keys[a], y = r->keys[b];
    if (isnan(x) != isnan(y))
        return isnan(y);
    if (x != y && !isnan(x))
        return x > y;
    return pythia_profile_compare_rows(r->shown->profile, a, b) < 0;
}

static int compare_known(const struct pythia_profile *p, uint32_t a, uint32_t b)
{
    if (a == PYTHIA_NONE || b == PYTHIA_NONE)
        return (a == PYTHIA_NONE) - (b == PYTHIA_NONE);
    return pythia_profile_compare_processes(p, a, b);
}

static bool row_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia__profile_shown *s = context;
    const struct pythia_profile_part *x = &s->parts[a], *y = &s->parts[b];
    if (x->row != y->row)
        return x->row < y->row;
    uint64_t of_x = pythia_profile_sum_ns(&x->times), of_y = pythia_profile_sum_ns(&y->times);
    return of_x != of_y ? of_x > of_y : compare_known(s->profile, x->process, y->process) < 0;
}

/* As the origin sees it, or the target where the origin is not traced. */
static uint64_t find_pair_ns(const struct pythia_profile_pair *pair)
{
    return pair->origin == PYTHIA_NONE ? pair->target_ns : pair->origin_ns;
}

static bool pair_before(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia__profile_shown *s = context;
    const struct pythia_profile_pair *x = &s->pairs[a], *y = &s->pairs[b];
    if (find_pair_ns(x) != find_pair_ns(y))
        return find_pair_ns(x) > find_pair_ns(y);
    int order = compare_known(s->profile, x->origin, y->origin);
    if (order == 0)
        order = compare_known(s->profile, x->target, y->target);
    return order ? order < 0 : pythia_profile_compare_rows(s->profile, x->row, y->row) < 0;
}

/* ---- what is shown ---- */

/* Rows whose name matches, ranked. `keys`: room for one number a row. */
static int select_profile_rows(struct pythia__profile_shown *s, uint32_t *scratch, double *keys)
{
    struct pythia_buf name = {0};
    for (uint32_t i = 0; i < s->row_count; i++) {
        keys[i] = find_row_key(&s->rows[i], s->view->sort);
        pythia_buf_clear(&name);
        if (s->view->callpath)
            pythia__profile_name(s->profile, &s->rows[i], PYTHIA__PROFILE_NAME_LEVELS, &name);
        if (!s->view->callpath || (name.bytes && fnmatch(s->view->callpath, name.bytes, 0) == 0))
            s->order[s->count++] = i;
    }
    const struct ranking r = {s, keys};
    int status = pythia_buf_status(&name);
    pythia_buf_free(&name);
    pythia_sort_indexes(s->order, s->count, scratch, peer_ranks_before, &r);
    return status;
}

static int order_parts(struct pythia__profile_shown *s, uint32_t *scratch)
{
    for (uint32_t i = 0; i < s->part_count; i++)
        s->part_order[i] = i;
    pythia_sort_indexes(s->part_order, s->part_count, scratch, row_before, s);
    return PYTHIA_OK;
}

/* Pairs of the rows that match, which are not cut to `top` yet. */
static int select_pairs(struct pythia__profile_shown *s, size_t all, uint32_t *scratch)
{
    bool *matches = pythia_calloc(s->row_count + 1, sizeof(*matches));
    if (!matches)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < s->count; i++)
        matches[s->order[i]] = true;
    for (uint32_t i = 0; i < all; i++)
        if (matches[s->pairs[i].row])
            s->pair_order[s->pair_count++] = i;
    pythia_free(matches);
    pythia_sort_indexes(s->pair_order, s->pair_count, scratch, pair_before, s);
    return PYTHIA_OK;
}

/* ---- forms ---- */

static int write_profile_document(const struct pythia__profile_shown *s, struct pythia_buf *out)
{
    const struct pythia_profile_view *view = s->view;
    const struct pythia__doc_view how = {
        .width = view->width, .colour = view->colour, .ascii = view->ascii};
    struct pythia__doc d;
    pythia__doc_begin(&d);
    int status = pythia__profile_document(s, &d);
    if (status == PYTHIA_OK)
        status = view->format == PYTHIA_PROFILE_HTML
                     ? pythia__doc_write_html(&d, "Profile", "Written by pythia.", out)
                 : view->format == PYTHIA_PROFILE_MARKDOWN ? pythia__doc_write_markdown(&d, out)
                                                           : pythia__doc_write_text(&d, &how, out);
    pythia__doc_free(&d);
    return status;
}

static int write_profile_form(const struct pythia__profile_shown *s, struct pythia_buf *out)
{
    if (s->view->format == PYTHIA_PROFILE_JSON)
        return pythia__profile_json(s, out);
    return s->view->format == PYTHIA_PROFILE_DOT ? pythia__profile_dot(s, out)
                                                 : write_profile_document(s, out);
}

int pythia_profile_write(const struct pythia_profile *p, const struct pythia_profile_view *view,
                         struct pythia_buf *out)
{
    struct pythia__profile_shown s = {
        .profile = p, .view = view, .totals = pythia_profile_totals(p)};
    size_t pairs, most;
    s.rows = pythia_profile_rows(p, &s.row_count);
    s.parts = pythia_profile_parts(p, &s.part_count);
    s.pairs = pythia_profile_pairs(p, &pairs);
    most = s.row_count > s.part_count ? s.row_count : s.part_count;
    most = most > pairs ? most : pairs;
    double *keys = pythia_calloc(s.row_count + 1, sizeof(*keys));
    uint32_t *orders =
        pythia_calloc(s.row_count + s.part_count + pairs + most + 1, sizeof(*orders));
    int status = keys && orders ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    s.order = orders;
    s.part_order = s.order + s.row_count;
    s.pair_order = s.part_order + s.part_count;
    uint32_t *scratch = s.pair_order + pairs;
    if ((status = select_profile_rows(&s, scratch, keys)) != PYTHIA_OK ||
        (status = order_parts(&s, scratch)) != PYTHIA_OK ||
        (status = select_pairs(&s, pairs, scratch)) != PYTHIA_OK)
        goto out;
    s.row_count = s.count; /* those that match */
    s.count = s.count < view->top ? s.count : view->top;
    status = write_profile_form(&s, out);
out:
    pythia_free(keys);
    pythia_free(orders);
    return status;
}
