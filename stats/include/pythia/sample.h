#ifndef PYTHIA_SAMPLE_H
#define PYTHIA_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A uniform sample without replacement of at most k rows out of a stream of any length: those with
 * the k lowest keys, a key being a 64-bit hash of the row's identity and, where hashes are equal, a
 * second number `tie`. The kept set depends on the keys alone, not on the order of adds and merges,
 * and two machines that hash the same identities keep the same rows. Rows are opaque. Bottom-k
 * sampling: Cohen and Kaplan, "Summarizing Data Using Bottom-k Sketches", PODC 2007.
 *
 * Rows whose hash and tie are both equal count as the same row seen twice: both take part, as twins
 * that may stand for each other. Give parts of the identity that make the pair unique.
 *
 * A heap that grows with the rows to 24 bytes a row. One thread at a time per sample. */
struct pythia_sample;

/* Make an empty sample of at most k >= 1 rows. `drop` is called with `context` and with each row
 * that leaves, to give it back; NULL if rows need no giving back. On success *out is owned by the
 * caller, on failure it is untouched. Returns PYTHIA_OK, PYTHIA_EINVAL or PYTHIA_ENOMEM. */
int pythia_sample_create(size_t k, void (*drop)(void *context, void *row), void *context,
                         struct pythia_sample **out);
void pythia_sample_destroy(struct pythia_sample *s); /* drops every row; s may be NULL */

/* Could a row of this hash be kept? False is certain: the row need not even be made. O(1). */
bool pythia_sample_wants(const struct pythia_sample *s, uint64_t hash);

/* Add a row, which the sample takes, even on failure. Over k, the row of the highest key is
 * dropped, which may be this one. Returns PYTHIA_OK, or PYTHIA_ENOMEM, and then the row was dropped
 * and the others are as they were. O(log k). */
int pythia_sample_add(struct pythia_sample *s, uint64_t hash, uint64_t tie, void *row);

/* Keep at most k >= 1 rows from now on; a larger k than the present one changes nothing, as what
 * has left cannot come back. O(k log k). */
void pythia_sample_shrink(struct pythia_sample *s, size_t k);

/* Move all rows of a sample, which is empty then, to another one, whose `drop` has to do for them.
 * Neither has been sorted. PYTHIA_OK, or PYTHIA_ENOMEM with both as they were. O(k log k). */
int pythia_sample_move(struct pythia_sample *from, struct pythia_sample *to);

/* Are the rows those that it would have if all rows had been added to it, and none to the samples
 * that were moved to it? These may have been smaller, so that they dropped rows that it would have
 * kept. Of a sample that has not been sorted. O(1). */
bool pythia_sample_is_whole(const struct pythia_sample *s);

/* Drop the rows i for which keep[i] is false, of a sample that has been sorted since it last
 * changed; it stays sorted. O(k). */
void pythia_sample_leave(struct pythia_sample *s, const bool *keep);

/* Put the rows in rising order of (hash, tie). O(k log k). */
void pythia_sample_sort(struct pythia_sample *s);

/* As above, but deferred until the first row is read: where there are many samples, and few of
 * them are read. `finish` (NULL: nothing) is called with each row then, once. O(1). Until then
 * reading changes the sample, and is for one thread. */
void pythia_sample_sort_when_read(struct pythia_sample *s, void (*finish)(void *row));

/* The number of rows that are kept. */
size_t pythia_sample_count(const struct pythia_sample *s);
/* Row i < count. Borrowed: valid until the sample changes. After a _sort, until the next change, in
 * that order; else in none. */
void *pythia_sample_row(struct pythia_sample *s, size_t i);
uint64_t pythia_sample_hash(struct pythia_sample *s, size_t i);

#endif
