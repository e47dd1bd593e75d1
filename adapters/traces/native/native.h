/* Shared by the files of this folder: the state of one decoder of native records.
 *
 *   frames.c        where frames begin and end
 *   definitions.c   which processes, trace points and variables there are, and what points cost
 *   open_spans.c    the spans that are held
 *   losses.c        what the traced program could not record, and why
 *   native.c        spans and their key-values, frames in their order */
#ifndef PYTHIA_NATIVE_NATIVE_H
#define PYTHIA_NATIVE_NATIVE_H

#include "frames.h"
#include "open_spans.h"
#include "pythia/strtab.h"
#include "shared/decoder.h"

#define POINTS_CACHED 1024 /* a power of two */

struct pythia__native_process {
    uint32_t resource, service; /* service: number of a string */
    bool known;                 /* its PROCESS was seen */
    uint32_t *variables;        /* by number - 1: its key + 1; NULL: it has none */
};

struct pythia__native_stream {
    uint64_t next;    /* the position after what was read */
    uint64_t lost;    /* as it was reported last */
    uint64_t told_ns; /* when, by the anchor of the frame */
    bool begun;
    bool lied; /* `lost` was more than can have been lost */
};

struct pythia__native_point {
    uint32_t process, number; /* number 0: an empty entry */
    uint32_t tracepoint;
};

struct pythia__native {
    struct pythia__decoder d;
    struct pythia_strtab *process_ids, *stream_ids, *point_ids;
    struct pythia__native_process *processes; /* by index of process_ids */
    struct pythia__native_stream *streams;
    uint32_t *tracepoints; /* + 1; 0: not defined */
    size_t process_capacity, stream_capacity, point_capacity;
    struct pythia__native_point points[POINTS_CACHED];
    struct pythia__open_spans open;
    uint32_t *ended; /* numbers of spans of which the EXIT has come, oldest first */
    size_t ended_count, ended_capacity, waiting; /* waiting: at the last look, for their ENTER */
    uint32_t moment_process;                     /* when these ended: whose frames, and … */
    uint64_t moment_ticks;                       /* … at which look at it */
    struct pythia_buf text;                      /* scratch */
    /* the current frame */
    struct pythia__frames *frames;
    const struct pythia_frame *frame;
    uint32_t process;
    uint64_t droppable; /* spans that its records of kind DROPPED may claim */
    uint64_t offset;    /* of the current record, in the source */
};

/* Something could not be read; decoding goes on. Returns PYTHIA_OK. */
int pythia__native_tell(struct pythia__native *n, const char *sentence);

/* As above, for another place than that of the current record. */
void pythia__native_tell_at(struct pythia__native *n, uint64_t frame, uint64_t offset,
                            const char *sentence);

/* A text as UTF-8: it may be the scratch, and is good until the next one. */
struct pythia_text pythia__native_clean(struct pythia__native *n, struct pythia_text text);

/* The number of a pair, in one of the tables; PYTHIA_STRTAB_NONE when out of memory. */
uint32_t pythia__native_intern(struct pythia_strtab *table, uint64_t a, uint64_t b);

/* Records of stream 0, and of cost: PYTHIA_OK, also after a report, or PYTHIA_ENOMEM. */
int pythia__native_process(struct pythia__native *n, struct pythia_text record);
int pythia__native_point(struct pythia__native *n, struct pythia_text record);
int pythia__native_variable(struct pythia__native *n, struct pythia_text record);
int pythia__native_cost(struct pythia__native *n, struct pythia_text record);

/* A record of spans that were dropped: PYTHIA_OK, also after a report. Its count is bounded as that
 * of losses. */
int pythia__native_dropped(struct pythia__native *n, struct pythia_text record);

/* Count what was lost, as the header of the current frame tells it, unless that cannot be: it comes
 * out of memory that the traced program writes. */
void pythia__native_count_losses(struct pythia__native *n, struct pythia__native_stream *s,
                                 const struct pythia_frame *f);

/* The process of the current frame becomes the one at hand. */
int pythia__native_enter_process(struct pythia__native *n);

/* A trace point, and the key of a variable, of the current process; PYTHIA_NONE: not defined. */
uint32_t pythia__native_find_point(struct pythia__native *n, uint32_t number);
uint32_t pythia__native_find_variable(const struct pythia__native *n, uint64_t number);

#endif
