/* Writing JSON documents about traces. */
#ifndef PYTHIA_REPORT_JSON_WRITER_H
#define PYTHIA_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "pythia/buf.h"
#include "pythia/cct.h"
#include "pythia/pipeline.h"

/* jansson tells of missing memory by NULL, and takes NULL for a missing value: `failed` remembers.
 */
struct pythia__json {
    const struct pythia_vocabulary *vocabulary;
    bool failed;
    json_t **points; /* by trace point: its id, of which all places in the document are one value */
    size_t point_capacity;
};

/* Give back what writing needed; the document stays. */
void pythia__json_close(struct pythia__json *w);

/* Set a member, append an item; `value` is taken. NULL, or no memory, sets w->failed. */
void pythia__json_set(struct pythia__json *w, json_t *object, const char *key, json_t *value);
void pythia__json_append(struct pythia__json *w, json_t *array, json_t *value);

/* Append a document, or a part of one, with a line's end: `digits` of reals, in lines of `indent`.
 * PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__json_write(const json_t *document, size_t indent, size_t digits, struct pythia_buf *to);

/* A number; null unless it is finite. */
json_t *pythia__json_real(double number);
json_t *pythia__json_count(uint64_t number);
/* Text from a trace, which is UTF-8 when it comes from JSON; what else gets here must not break the
 * document. */
json_t *pythia__json_text(struct pythia_text text);
/* The id of a trace point; of several, an array. */
json_t *pythia__json_point(struct pythia__json *w, uint32_t tracepoint);
json_t *pythia__json_points(struct pythia__json *w, const uint32_t *tracepoints, size_t count);
/* "trace_point" and "event" */
json_t *pythia__json_event(struct pythia__json *w, uint32_t tracepoint, uint8_t kind);
/* Give `to` the member `name`: the trace points that are open at a node, outermost first. Of more
 * than 64 the middle ones are left out, and "<name>_depth" says how many there are. */
void pythia__json_set_context(struct pythia__json *w, json_t *to, const char *name,
                              const struct pythia_cct *cct, uint32_t node);
/* Give `to` the members "from", "to" and "context" of an edge. */
void pythia__json_edge(struct pythia__json *w, json_t *to, const struct pythia_cct *cct,
                       uint32_t edge);
/* "input" of a document: what was read, from these operands. */
json_t *pythia__json_input(struct pythia__json *w, const char *const *paths, size_t count,
                           const struct pythia_pipeline_result *in);

#endif
