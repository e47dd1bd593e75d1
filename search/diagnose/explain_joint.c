/* From keys to numbers, which alone have coefficients: a number is its own, with the mean where it
 * is missing, so that absence has no part in the finding; of levels it is 1 in the slow ones, as
 * the key's split names them, and else 0. */
#include "explain_joint.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* Keys that may act together, as pythia_joint_find takes them. */
struct survivors {
    size_t count, found[PYTHIA_JOINT_KEYS_MAX]; /* indexes of explanations */
    double *numbers;
    double single_share;
};

/* The mean of the numbers that are there. */
static double mean_of_present(const double *numbers, size_t n)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(numbers[i])) {
            sum += numbers[i];
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static void add_survivor(struct survivors *s, const struct pythia_association_input *asked,
                         const struct pythia_association_result *r, size_t found)
{
    const struct pythia_column column = pythia_association_column(asked, r);
    double *to = s->numbers + s->count * asked->rows;
    double mean = column.categorical ? 0 : mean_of_present(column.numbers, asked->rows);
    for (size_t i = 0; i < asked->rows; i++) {
        if (column.categorical)
            to[i] = pythia_split_side(&r->split, &column, i) == 1;
        else
            to[i] = isfinite(column.numbers[i]) ? column.numbers[i] : mean;
    }
    s->single_share = fmax(s->single_share, r->omega_squared); /* NaN gives way */
    s->found[s->count++] = found;
}

static bool may_act(const struct pythia_association_result *r, double alpha)
{
    bool alone = r->cluster == PYTHIA_ASSOCIATION_NONE || r->cluster == r->column;
    bool has_number = !r->categorical || r->split.levels;
    return r->significant && r->proxy_of == PYTHIA_ASSOCIATION_NONE && alone && has_number &&
           r->p_permutation <= alpha;
}

/* The result behind an explanation, whose own split has lost its levels. */
static const struct pythia_association_result *
find_result(const struct pythia_association_result *results, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].column == column)
            return &results[i];
    return NULL;
}

int pythia__explain_joint(const struct pythia_association_input *asked,
                          const struct pythia_association_result *results, size_t count,
                          struct pythia_explanations *out)
{
    struct survivors s = {
        .numbers = pythia_calloc(asked->rows, PYTHIA_JOINT_KEYS_MAX * sizeof(*s.numbers))};
    if (!s.numbers)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < out->found_count && s.count < PYTHIA_JOINT_KEYS_MAX; i++) {
        const struct pythia_association_result *r =
            find_result(results, count, out->found[i].result.column);
        if (may_act(r, asked->alpha))
            add_survivor(&s, asked, r, i);
    }
    struct pythia_joint_input input = {.rows = asked->rows,
                                       .edges = asked->edges,
                                       .keys = s.count,
                                       .durations = asked->durations,
                                       .numbers = s.numbers,
                                       .tested = out->asked,
                                       .single_share = s.single_share,
                                       .alpha = asked->alpha,
                                       .seed = asked->seed,
                                       .halves = asked->halves};
    struct pythia_joint joint = {0};
    int status = pythia_joint_find(&input, &joint);
    /* The joint search numbers the surviving keys; its caller numbers all explanations. */
    for (size_t k = 0; k < joint.count; k++)
        joint.keys[k] = s.found[joint.keys[k]];
    if (status != PYTHIA_OK)
        goto out;
    out->joint = joint;
out:
    pythia_free(s.numbers);
    return status;
}
