#include "pythia/mode_cuts.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/ranks.h"
#include "pythia/status.h"

/* Neighbouring values between which no cut is tried. */
struct block {
    double low, high; /* its smallest and its largest key */
    size_t rows;
    size_t of[PYTHIA_MODES_MAX]; /* rows of each mode */
};

struct cutting {
    size_t modes, places; /* modes; between different values */
    struct block *blocks;
    size_t count;
    double *x_log_x; /* of 0 to the number of rows */
    /* best[k * (count + 1) + j]: the fewest nats for the first j blocks in k + 1 intervals, and
     * from[...] where the last of these begins. */
    double *best;
    uint32_t *from;
};

/* ---- blocks ---- */

static bool is_pure(const struct block *b, size_t mode)
{
    return b->of[mode] == b->rows;
}

static void join_blocks(struct block *to, const struct block *b, size_t modes)
{
    to->high = b->high;
    to->rows += b->rows;
    for (size_t m = 0; m < modes; m++)
        to->of[m] += b->of[m];
}

/* One block for each value. */
static int make_blocks(struct cutting *c, const double *keys, const size_t *modes, size_t n)
{
    size_t *order = pythia_calloc(n, sizeof(*order));
    c->blocks = pythia_calloc(n, sizeof(*c->blocks));
    int status = order && c->blocks ? pythia_ranks_order(keys, n, order) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < n && !isnan(keys[order[i]]); i++) {
        double key = keys[order[i]];
        struct block *b = &c->blocks[c->count ? c->count - 1 : 0];
        assert(modes[order[i]] < c->modes);
        /* Equal keys cannot be cut apart, so they share a block. */
        if (c->count == 0 || key > b->high) {
            b = &c->blocks[c->count++];
            b->low = b->high = key;
        }
        b->rows++;
        b->of[modes[order[i]]]++;
    }
    c->places = c->count ? c->count - 1 : 0;
out:
    pythia_free(order);
    return status;
}

/* A cut between two values whose rows all have the same mode is never better than one at the end of
 * such a run. */
static void join_pure(struct cutting *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        bool same = false;
        for (size_t m = 0; kept > 0 && m < c->modes; m++)
            same = same || (is_pure(&c->blocks[kept - 1], m) && is_pure(&c->blocks[i], m));
        if (same)
            join_blocks(&c->blocks[kept - 1], &c->blocks[i], c->modes);
        else
            c->blocks[kept++] = c->blocks[i];
    }
    c->count = kept;
}

/* Still too many: take neighbours together until each block has its part of the rows. */
static void join_small(struct cutting *c, size_t n)
{
    size_t least = n / PYTHIA_MODE_CUTS_BLOCKS + 1, kept = 0;
    if (c->count <= PYTHIA_MODE_CUTS_BLOCKS)
        return;
    for (size_t i = 0; i < c->count; i++) {
        if (kept > 0 && c->blocks[kept - 1].rows < least)
            join_blocks(&c->blocks[kept - 1], &c->blocks[i], c->modes);
        else
            c->blocks[kept++] = c->blocks[i];
    }
    c->count = kept;
}

/* ---- intervals ---- */

/* The nats that name the modes of the rows counted in `of`. */
static double code_length_nats(const struct cutting *c, const size_t *of, size_t rows)
{
    double sum = c->x_log_x[rows];
    for (size_t m = 0; m < c->modes; m++)
        sum -= c->x_log_x[of[m]];
    return sum;
}

/* Fill the table for all ends of the last interval, interval by interval from its end backwards. */
static void compare_all(struct cutting *c)
{
    size_t width = c->count + 1;
    for (size_t i = 0; i < c->modes * width; i++)
        c->best[i] = INFINITY;
    for (size_t end = 1; end <= c->count; end++) {
        size_t of[PYTHIA_MODES_MAX] = {0}, rows = 0;
        for (size_t begin = end; begin-- > 0;) {
            rows += c->blocks[begin].rows;
            for (size_t m = 0; m < c->modes; m++)
                of[m] += c->blocks[begin].of[m];
            /* An interval of a few rows is pure by chance. */
            if (rows < PYTHIA_MODE_CUTS_ROWS_MIN)
                continue;
            double own = code_length_nats(c, of, rows);
            if (begin == 0)
                c->best[end] = own;
            for (size_t k = 1; begin > 0 && k < c->modes; k++) {
                double sum = c->best[(k - 1) * width + begin] + own;
                if (sum < c->best[k * width + end]) {
                    c->best[k * width + end] = sum;
                    c->from[k * width + end] = (uint32_t)begin;
                }
            }
        }
    }
}

static double half_way(double below, double above)
{
    double middle = below / 2 + above / 2; /* the difference may be too large */
    return middle > below && middle <= above ? middle : above;
}

static void choose_mode_cuts(const struct cutting *c, double rows, struct pythia_mode_cuts *out)
{
    size_t width = c->count + 1, most = 0;
    double whole = c->best[c->count], least = whole;
    /* The code length of a cut: its place, and the modes of one interval more (Rissanen,
     * 1978). More cuts always fit better; only those that pay for themselves are taken. */
    double price = log((double)c->places) + .5 * (double)(c->modes - 1) * log(rows);
    for (size_t k = 1; k < c->modes; k++) {
        double all = c->best[k * width + c->count] + price * (double)k;
        if (all < least) {
            least = all;
            most = k;
        }
    }
    out->count = most;
    out->information = whole > 0 ? 1 - c->best[most * width + c->count] / whole : NAN;
    for (size_t k = most, end = c->count; k > 0; k--) {
        end = c->from[k * width + end];
        out->cuts[k - 1] = half_way(c->blocks[end - 1].high, c->blocks[end].low);
    }
}

int pythia_mode_cuts_find(const double *keys, const size_t *modes, size_t n, size_t mode_count,
                          struct pythia_mode_cuts *out)
{
    assert(mode_count >= 1 && mode_count <= PYTHIA_MODES_MAX);
    struct cutting c = {.modes = mode_count};
    struct pythia_mode_cuts found = {.information = NAN};
    size_t rows = 0;
    int status = make_blocks(&c, keys, modes, n);
    if (status != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < c.count; i++)
        rows += c.blocks[i].rows;
    if (c.places == 0 || rows < PYTHIA_MODE_CUTS_ROWS_MIN) {
        *out = found;
        goto out;
    }
    /* Fewer blocks before the dynamic program, which is quadratic in them: an optimal cut never
     * lies within a run of one mode (Fayyad and Irani, 1992). */
    join_pure(&c);
    join_small(&c, rows);
    c.x_log_x = pythia_calloc(rows + 1, sizeof(*c.x_log_x));
    c.best = pythia_calloc(mode_count * (c.count + 1), sizeof(*c.best));
    c.from = pythia_calloc(mode_count * (c.count + 1), sizeof(*c.from));
    if (!c.x_log_x || !c.best || !c.from) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    /* A table of x log x: the dynamic program needs it for every pair of blocks, and counts are
     * whole numbers. */
    for (size_t i = 2; i <= rows; i++)
        c.x_log_x[i] = (double)i * log((double)i);
    compare_all(&c);
    choose_mode_cuts(&c, (double)rows, &found);
    *out = found;
out:
    pythia_free(c.blocks);
    pythia_free(c.x_log_x);
    pythia_free(c.best);
    pythia_free(c.from);
    return status;
}
