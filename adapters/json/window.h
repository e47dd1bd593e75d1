/* The window over the text that the cursor walks: json.c's other half. */
#ifndef PYTHIA_JSON_WINDOW_H
#define PYTHIA_JSON_WINDOW_H

#include "pythia/json.h"
#include "structure.h"

struct pythia__json_input {
    struct pythia_source *from;
    struct pythia__structure *structure;
    struct pythia_arena strings; /* unescaped text of the current document */
    char *memory;                /* owned; STRUCTURE_PADDING more than capacity */
    size_t capacity, limit;
    char *buffer;              /* the window, somewhere in the memory */
    size_t filled, cut;        /* bytes of it */
    size_t step;               /* to index at once: few after broken text, SIZE_MAX normally */
    size_t fault;              /* a string at fault in the window; 0: none, or at the cursor */
    uint64_t offset, line;     /* of buffer[0] */
    size_t counted;            /* lines have been counted up to here ... */
    uint64_t counted_lines;    /* ... and these were found */
    uint64_t document;         /* offset at which the current document begins */
    bool line_starts;          /* buffer[0] is the first byte of a line */
    bool ended;                /* the source has no more */
    struct pythia_error cause; /* why the source failed: told once what was read is used up */
};

/* Offset in the window of the current value. */
static inline size_t pythia__json_here(const struct pythia_json *j)
{
    return j->at < j->last ? *j->at : j->input->cut;
}

/* Is nothing left to index? */
static inline bool pythia__json_used_up(const struct pythia_json *j)
{
    return j->input->ended && j->input->cut == j->input->filled;
}

/* Index the next part of the window; `keep` is the offset that must stay in it. 0, 1 at the end of
 * the input, or negative. */
int pythia__json_refill(struct pythia_json *j, size_t keep);

#endif
