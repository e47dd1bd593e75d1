/* Shared by the parts of the reader of Jaeger's JSON; jaeger.c describes the formats. */
#ifndef PYTHIA_TRACES_JAEGER_PARTS_H
#define PYTHIA_TRACES_JAEGER_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/hash_table.h"
#include "shared/held.h"
#include "shared/json_decoder.h"
#include "shared/timestamp.h"

/* A process of the current trace. */
struct pythia__jaeger_process {
    uint32_t id; /* number of the string that names it */
    uint32_t resource;
};

struct pythia__jaeger_reader {
    struct pythia__decoder d;
    struct pythia__held held; /* spans of the current trace, in wait of its id or its processes */
    struct pythia_buf aside;  /* attributes of a span while those of its process are read */
    struct pythia__jaeger_process *processes; /* of the current trace */
    size_t process_count, process_capacity;
    struct pythia_hash_table processes_by_id;
    bool processes_known;         /* no more will come in the current trace */
    struct pythia_trace_id trace; /* at hand; none: not known yet */
    struct pythia__day day;       /* of the times that are written as dates */
    uint32_t key_hostname, key_host, key_ip, key_instance;
};

/* A span as far as it has been read. */
struct pythia__jaeger_span {
    struct pythia__held_span out;
    struct pythia_text parent;  /* of old versions: parentSpanID */
    const uint32_t *references; /* where they stand; NULL: nowhere */
    uint64_t parent_id;         /* of a row; 0: none */
    bool has_id, has_start, has_duration;
    bool has_process; /* in the span itself */
};

/* ---- values: jaeger_values.c; PYTHIA_OK or negative, of each that returns an int ---- */

/* An id; none if it is empty or all zeros. */
struct pythia_trace_id pythia__jaeger_parse_id(struct pythia_text text);
bool pythia__jaeger_is_none(struct pythia_trace_id id);
int pythia__jaeger_read_id(struct pythia__jaeger_reader *j, struct pythia_trace_id *out);
/* The blob of a row, which is an id; a text without the sign of a blob is what it is elsewhere. */
int pythia__jaeger_read_blob(struct pythia__jaeger_reader *j, struct pythia_trace_id *out);
/* The id of a span in a row: a number of 64 bits with a sign, also written as a string. */
int pythia__jaeger_read_number_id(struct pythia__jaeger_reader *j, struct pythia_trace_id *out);
/* An id of `size` bytes in base64, which is padded; any other text is what it is elsewhere. */
int pythia__jaeger_read_model_id(struct pythia__jaeger_reader *j, size_t size,
                                 struct pythia_trace_id *out);
/* A date, or microseconds. */
int pythia__jaeger_read_time(struct pythia__jaeger_reader *j, uint64_t *out_ns);
/* A number with its unit, or microseconds. */
int pythia__jaeger_read_duration(struct pythia__jaeger_reader *j, int64_t *out_ns);

/* ---- tags and logs: jaeger_tags.c ---- */

/* Read an array of tags: into a span, or (NULL) only into the attributes that the decoder collects;
 * and the array of a span's logs. PYTHIA_OK, or negative with the reason in the decoder's error. */
int pythia__jaeger_read_tags(struct pythia__jaeger_reader *j, struct pythia__jaeger_span *r);
int pythia__jaeger_read_logs(struct pythia__jaeger_reader *j);

#endif
