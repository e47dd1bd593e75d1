#ifndef PYTHIA_INPUT_H
#define PYTHIA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/adapter.h"
#include "pythia/error.h"
#include "pythia/lttng_reader.h"
#include "pythia/lttng_rules.h"
#include "pythia/source.h"

/* The files that a command was given: folders are searched, and each file is opened when its turn
 * comes. */
struct pythia_input;

struct pythia_input_file {
    const char *path;    /* "-" is standard input */
    uint64_t size_bytes; /* 0: not known */
    bool named;          /* by the user, not found in a folder */
    bool again;          /* it can be read a second time: a regular file, or events */
    bool is_events;      /* a folder that LTTng has written, … */
    const char *
        *chunks; /* … or several: those of a session that was rotated, of which `path` is the
                            first; NULL: there is only that */
    size_t chunk_count;
    const struct pythia_lttng_rules *rules; /* of events; borrowed; NULL: there are none */
    struct pythia_lttng_reader *reader;     /* of events with rules; borrowed */
    bool *failed; /* of the input: who reads it notes there that it could not be read, or not
                            to its end; one thread at a time for each file */
    bool *told;   /* likewise: what rules have and its events have not was logged */
};

/* Find the files: a path is a file, a folder (all files in it, and below it, but for hidden ones;
 * no links to folders, no pipes; links to files that are not in or below it only with `follow`; a
 * folder that LTTng has written is one file of its own, with the other chunks of its session that
 * are among these paths), or "-". A path that cannot be read is told by `problem`, which goes on.
 * The files are in order of path, each once. On success *out is owned. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia_input_create(const char *const *paths, size_t count, bool follow,
                        void (*problem)(void *context, const struct pythia_error *why),
                        void *context, struct pythia_input **out);
void pythia_input_destroy(struct pythia_input *in); /* in may be NULL */
const struct pythia_input_file *pythia_input_files(const struct pythia_input *in, size_t *count);

/* The rules by which events become spans (pythia/lttng_events.h), for all folders of them, and the
 * process that reads them, which has one file open at a time; borrowed as long as the input lives.
 */
void pythia_input_use_rules(struct pythia_input *in, const struct pythia_lttng_rules *rules,
                            struct pythia_lttng_reader *reader);

/* The number of links to files outside their folder, which were not followed; *first is the
 * first of them, borrowed, NULL if there is none. */
size_t pythia_input_outward_links(const struct pythia_input *in, const char **first);

/* One file being read: decompressed on the way if its first bytes say gzip or Zstandard, also where
 * each Zstandard frame has its size in 4 bytes in front of it. Events are read as records. */
struct pythia_input_stream;

#define PYTHIA_EXPANSION_MAX                                                                       \
    250 /* times the size of a compressed file, beyond 256 MiB: more is taken for a bomb */

/* Open a file. `read_bytes` (may be NULL) is added to as bytes of the file, not of its content, are
 * read, by this thread. On success *out is owned. Negative with the reason in `e`. */
int pythia_input_open(const struct pythia_input_file *file, double expansion_max,
                      _Atomic uint64_t *read_bytes, struct pythia_input_stream **out,
                      struct pythia_error *e);

/* A part of a file that is not compressed, with a text before it and one after it that make a
 * document of it. */
struct pythia_input_range {
    uint64_t begin, end;              /* end UINT64_MAX: to the end of the file */
    struct pythia_text before, after; /* borrowed as long as the stream lives */
};

/* As pythia_input_open, but for a part of a file, which is read as it is. */
int pythia_input_open_range(const struct pythia_input_file *file,
                            const struct pythia_input_range *range, _Atomic uint64_t *read_bytes,
                            struct pythia_input_stream **out, struct pythia_error *e);
void pythia_input_close(struct pythia_input_stream *s); /* s may be NULL */

/* The source to read from: borrowed until _close. */
struct pythia_source *pythia_input_source(struct pythia_input_stream *s);

/* Is the file compressed? */
bool pythia_input_is_packed(const struct pythia_input_stream *s);

/* Bytes of content read so far. */
uint64_t pythia_input_content(const struct pythia_input_stream *s);

/* The first bytes of the content, up to 64 KiB; they are read again from the source. Negative with
 * the reason in `e`. */
int pythia_input_head(struct pythia_input_stream *s, struct pythia_text *head,
                      struct pythia_error *e);

#endif
