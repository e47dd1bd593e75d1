/* Redis replies as redis-cli prints them, made JSON again:
 *
 *     1) "{\"name\": \"wsgi-start\", …}"     quoted and numbered, as on a terminal
 *     {"name": …}{"name": …}                 as they are, as into a pipe
 *     osprofiler:5af41674-…                  keys between them
 *
 * What is quoted is unquoted, lines that are neither become empty; the number of lines stays the
 * same, so that places in messages are right. */
#ifndef PYTHIA_OSPROFILER_REDIS_TEXT_H
#define PYTHIA_OSPROFILER_REDIS_TEXT_H

#include "shared/line_source.h"

struct pythia__redis_text {
    struct pythia__line_source lines; /* what is read from its source is JSON */
    uint64_t other_lines; /* lines that are neither JSON nor quoted nor keys of OSProfiler's */
};

/* Begin to rewrite the text that `from` holds (borrowed until _free). */
void pythia__redis_text_init(struct pythia__redis_text *r, struct pythia_source *from);
void pythia__redis_text_free(struct pythia__redis_text *r);

#endif
