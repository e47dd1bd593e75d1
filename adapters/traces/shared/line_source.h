/* Sources that decoders put between an input and their cursor: one that was looked into, and one
 * that rewrites each line. */
#ifndef PYTHIA_TRACES_LINE_SOURCE_H
#define PYTHIA_TRACES_LINE_SOURCE_H

#include "pythia/buf.h"
#include "pythia/source.h"

/* A text without the white space, and the mark of UTF-8, that it begins with. */
struct pythia_text pythia__skip_white(struct pythia_text text);

/* A source whose first bytes are known. `input` gives all bytes, those too. */
struct pythia__peeked_source {
    struct pythia_source source;
    struct pythia_source *from;         /* borrowed */
    struct pythia_memory_source memory; /* of a source that lends its bytes */
    struct pythia_source *input;        /* read from this */
    char head[4096];
    size_t size, given; /* of head */
};

/* Look into `from`: read until it is known whether it begins with `word` ("": with anything) after
 * white space. What has come, without white space before it, goes into *begin: borrowed from *p or
 * the source, empty at the end of the input. PYTHIA_OK, or what reading gave. Nothing has to be
 * freed. */
int pythia__peek_source(struct pythia__peeked_source *p, struct pythia_source *from,
                        struct pythia_text word, struct pythia_text *begin, struct pythia_error *e);

/* A source that gives the lines of another one, rewritten. Embed it as the first member. Each line
 * gives one line, so that places in messages stay right. */
struct pythia__line_source {
    struct pythia_source source;
    struct pythia_source *from; /* borrowed */
    /* Append what stands for a line, both without the newline, to source->out. A line that is
     * longer than 64 MiB comes in pieces. */
    void (*rewrite)(struct pythia__line_source *source, struct pythia_text line);
    struct pythia_buf line, out; /* read, not rewritten yet; rewritten, not given yet */
    size_t given;                /* of out */
    bool ended;
};

/* Begin to rewrite the lines of `from` (borrowed until _free) by `rewrite`. */
void pythia__line_source_init(struct pythia__line_source *l, struct pythia_source *from,
                              void (*rewrite)(struct pythia__line_source *, struct pythia_text));
/* Free both buffers; the source that was read is not closed. */
void pythia__line_source_free(struct pythia__line_source *l);

#endif
