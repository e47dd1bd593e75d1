/* A C interface to the part of simdjson that we use: the places of structure in a piece of JSON.
 * The one C++ file of the project is behind this header. */
#ifndef PYTHIA_JSON_STRUCTURE_H
#define PYTHIA_JSON_STRUCTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pythia__structure;

#define PYTHIA__STRUCTURE_PADDING 64 /* bytes that must be readable behind the text */

enum pythia__structure_result {
    PYTHIA__STRUCTURE_OK,
    PYTHIA__STRUCTURE_EMPTY,    /* nothing but white space */
    PYTHIA__STRUCTURE_BAD_UTF8, /* the indexes are good, some text between them is not UTF-8 */
    PYTHIA__STRUCTURE_BROKEN,   /* a control character in a string, or a string without its end */
    PYTHIA__STRUCTURE_NO_MEMORY,
};

/* For pieces of up to `capacity` bytes; NULL when out of memory, or without simdjson, which is
 * logged. */
struct pythia__structure *pythia__structure_create(size_t capacity);
void pythia__structure_destroy(struct pythia__structure *s);

/* The offsets of { } [ ] : , and of the first byte of each string, number and word outside of
 * strings, ascending, to *indexes (borrowed until the next call) and *count. `partial`: the text
 * may end anywhere, also inside a string: the last index may then belong to something incomplete.
 */
enum pythia__structure_result pythia__structure_find(struct pythia__structure *s, const char *text,
                                                     size_t size, int partial,
                                                     const uint32_t **indexes, size_t *count);

/* Are these bytes UTF-8? */
int pythia__structure_is_utf8(const struct pythia__structure *s, const char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
