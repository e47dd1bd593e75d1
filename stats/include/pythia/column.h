#ifndef PYTHIA_COLUMN_H
#define PYTHIA_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One key of many rows, as it comes - numbers or levels, some missing - and as regressors: what may
 * explain a duration, and what must not be asked because it would explain anything. */

#define PYTHIA_COLUMN_MISSING UINT32_MAX

struct pythia_column {
    const double *numbers; /* unless categorical: one for each row, NaN: missing */
    /* One for each row, below level_count, or PYTHIA_COLUMN_MISSING. Numbers may have them too: the
     * same values as levels, because there are few of them. NULL: they have none. */
    const uint32_t *levels;
    uint32_t level_count;
    bool categorical;
    bool looks_like_id; /* the caller's judgement of the key's name; counts for numbers only */
    /* Another key says which rows have a value (a span that some paths lack, say). A key with
     * several values is then tested among the rows that have it, and gets no credit for being
     * absent. */
    bool present_only;
    bool confounder; /* for association.h: taken out of everything, never tested itself */
};

/* Why a column is not asked. */
enum pythia_column_skip {
    PYTHIA_COLUMN_USED,
    PYTHIA_COLUMN_CONSTANT,    /* one value, and present (or missing) in all but a few rows */
    PYTHIA_COLUMN_TOO_FEW,     /* present in fewer than PYTHIA_COLUMN_PRESENT_MIN rows */
    PYTHIA_COLUMN_MANY_LEVELS, /* more levels than a fifth of its rows: an identifier */
    PYTHIA_COLUMN_RARE_LEVELS, /* most of its rows have a level of fewer than 5 rows: the same */
    PYTHIA_COLUMN_SEQUENCE,    /* numbers that differ and follow the clock */
    PYTHIA_COLUMN_ID,          /* whole numbers that differ, under a name like an id */
    PYTHIA_COLUMN_CONFOUNDER,  /* asked of association.h, where these two come from */
    PYTHIA_COLUMN_CONFOUNDED,  /* nothing is left of it without the confounders */
};
#define PYTHIA_COLUMN_PRESENT_MIN 10
/* Numbers of which this part differ may be different in each request. */
#define PYTHIA_COLUMN_MOSTLY    0.95
#define PYTHIA_COLUMN_LEVEL_MIN 5 /* rows of a level, or without a value, to count on their own */

/* Is `support` of `rows` rows only a handful: fewer than PYTHIA_COLUMN_LEVEL_MIN, and fewer than a
 * tenth? What rests on so few may be chance of a kind that no test of equal rows sees. */
bool pythia_rests_on_few(size_t support, size_t rows);

/* The reason as text for a person, a static string; "" for PYTHIA_COLUMN_USED. Thread-safe. */
const char *pythia_column_skip_text(enum pythia_column_skip skip);

/* Are so many levels an identifier, for all of `present` rows, of which `rare` have a level with
 * fewer than PYTHIA_COLUMN_LEVEL_MIN? PYTHIA_COLUMN_USED if not, or why. Thread-safe, O(1). */
enum pythia_column_skip pythia_column_judge_identifier(size_t levels, size_t rare, size_t present);

/* A column as regressors. */
struct pythia_column_code {
    enum pythia_column_skip skip; /* not PYTHIA_COLUMN_USED: there are no regressors */
    size_t present;               /* rows with a value */
    size_t distinct;              /* different values among them */
    size_t support; /* rows that do not have the most common value, missing being one of them */
    size_t rows, columns;
    double *values; /* regressor j of row i: values[j * rows + i]; owned */
};

/* Encode one column of `n` rows. Numbers become their average ranks, with the missing ones at the
 * median rank, and an indicator of the missing ones where either kind has PYTHIA_COLUMN_LEVEL_MIN
 * rows or more: so the tail of a number has no more weight than any other value, and being absent
 * may explain something, too. Levels become indicators, but for the most frequent one; those of
 * fewer than PYTHIA_COLUMN_LEVEL_MIN rows are pooled, missing is a level, and a pool that is still
 * too small joins the most frequent level. A column of one value that some rows lack is encoded by
 * its absence alone. Of other columns that are `present_only`, missing rows have no regressor: they
 * get the mean of the present rows in each column, so that no column correlates with presence.
 *
 * `places` is each row's place in time: its time's average rank, or NULL if that is not known.
 * Numbers of which 95 % differ are an identifier if they are whole and correlate by rank with the
 * place by 0.9 or more, or have a name like one; and if they do so by 0.999 even if they are not
 * whole. Counts and sizes stay.
 *
 * Returns PYTHIA_OK or PYTHIA_ENOMEM, and then *out is untouched; clear what it gave. Infinite
 * numbers are missing. Thread-safe; O(n log n + n *
 * columns + level_count). */
int pythia_column_encode(const struct pythia_column *column, size_t n, const double *places,
                         struct pythia_column_code *out);
void pythia_column_code_clear(struct pythia_column_code *code); /* a zeroed one is fine */

#endif
