#include "pythia/measured.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "pythia/column.h"
#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/shares.h"
#include "pythia/status.h"

#define LEFT_MOST .02  /* of the variance of the time, that is not in the number */
#define SLOPE_OFF .04  /* of a unit of time, by which the time may rise more or less */
#define PART_LEFT .25  /* of the variance that is left without it */
#define CLIPPED   .025 /* of the rows, at either end */

struct unit {
    const char *name;
    double ns;
};
static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

/* The rows that have numbers, and capacity for what is made of them. */
struct measurements {
    double *numbers, *clipped, *times_ns, *scratch; /* count each */
    size_t count, values;                           /* values: that suffice */
    bool whole;
};

/* The sum of the products of two columns about their means. */
static double sum_products(const double *x, const double *y, size_t n)
{
    double mean_x = 0, mean_y = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        mean_x += x[i] / (double)n;
        mean_y += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean_x) * (y[i] - mean_y);
    return sum;
}

/* Leave the clipped time, less so many ns for each unit of the number, in `scratch`. */
static void take_number_out(const struct measurements *r, double ns)
{
    for (size_t i = 0; i < r->count; i++)
        r->scratch[i] = r->times_ns[i] - ns * r->numbers[i];
    (void)pythia_winsorise(r->scratch, r->count, CLIPPED, CLIPPED);
}

/* Is nothing left of the time, of which `all` is the sum of squares, without the number? */
static bool has_slope_one(const struct measurements *r, double ns, double all)
{
    take_number_out(r, ns);
    double left = sum_products(r->scratch, r->scratch, r->count);
    double along = sum_products(r->scratch, r->clipped, r->count);
    double squares = sum_products(r->clipped, r->clipped, r->count);
    return left < LEFT_MOST * all && fabs(along) <= SLOPE_OFF * ns * squares;
}

static size_t count_different(double *x, size_t n)
{
    size_t different = 0;
    pythia_ranks_sort(x, n);
    for (size_t i = 0; i < n; i++)
        different += i == 0 || x[i] > x[i - 1];
    return different;
}

static bool has_values_of_clock(const struct measurements *r, double ns)
{
    size_t possible = r->count;
    memcpy(r->scratch, r->numbers, r->count * sizeof(*r->scratch));
    size_t different = count_different(r->scratch, r->count);
    if (r->whole) {
        for (size_t i = 0; i < r->count; i++)
            r->scratch[i] = floor(r->times_ns[i] / ns);
        possible = count_different(r->scratch, r->count);
    }
    if ((double)different >= PYTHIA_COLUMN_MOSTLY * (double)r->count)
        return true;
    return different >= r->values && 2 * different >= possible;
}

static const char *find_unit(const struct measurements *r)
{
    take_number_out(r, 0);
    double all = sum_products(r->scratch, r->scratch, r->count);
    memcpy(r->clipped, r->numbers, r->count * sizeof(*r->clipped));
    (void)pythia_winsorise(r->clipped, r->count, CLIPPED, CLIPPED);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (has_slope_one(r, units[i].ns, all) && has_values_of_clock(r, units[i].ns))
            return units[i].name;
    return NULL;
}

/* Take the rows that have both numbers, or one where `others` is NULL; the number is their sum. */
static int take_measurements(const double *numbers, const double *others, const double *times_ns,
                             size_t n, struct measurements *m)
{
    *m = (struct measurements){.whole = true};
    m->numbers = pythia_calloc(n + 1, 4 * sizeof(*m->numbers));
    if (!m->numbers)
        return PYTHIA_ENOMEM;
    m->clipped = m->numbers + n;
    m->times_ns = m->clipped + n;
    m->scratch = m->times_ns + n;
    for (size_t i = 0; i < n; i++) {
        double number = numbers[i] + (others ? others[i] : 0);
        if (!isfinite(number))
            continue;
        m->whole = m->whole && number == floor(number);
        m->times_ns[m->count] = times_ns[i];
        m->numbers[m->count++] = number;
    }
    return PYTHIA_OK;
}

int pythia_measured_unit(const double *numbers, const double *others, const double *times_ns,
                         size_t n, size_t values, const char **unit)
{
    struct measurements m;
    int status = take_measurements(numbers, others, times_ns, n, &m);
    if (status != PYTHIA_OK)
        return status;
    m.values = values;
    *unit = m.count >= PYTHIA_MEASURED_ROWS ? find_unit(&m) : NULL;
    pythia_free(m.numbers);
    return PYTHIA_OK;
}

int pythia_measured_part(const double *numbers, const double *others, const double *times_ns,
                         size_t n, const char *unit, bool *part)
{
    struct measurements m;
    size_t which = 0, at = 0;
    int status = take_measurements(numbers, others, times_ns, n, &m);
    if (status != PYTHIA_OK)
        return status;
    while (strcmp(units[which].name, unit) != 0)
        which++;
    take_number_out(&m, units[which].ns);
    double both = sum_products(m.scratch, m.scratch, m.count);
    for (size_t i = 0; i < n; i++)
        if (isfinite(numbers[i] + others[i]))
            m.numbers[at++] = numbers[i];
    take_number_out(&m, units[which].ns);
    *part = both < PART_LEFT * sum_products(m.scratch, m.scratch, m.count);
    pythia_free(m.numbers);
    return PYTHIA_OK;
}
