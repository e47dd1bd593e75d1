#ifndef PYTHIA_ERROR_H
#define PYTHIA_ERROR_H

#include <stdarg.h>
#include <stdint.h>

/* Why reading something failed, and where: what a reader fills in last. The first cause stays:
 * setting an error that is set already does nothing. */
struct pythia_error {
    int status;       /* PYTHIA_OK: no error yet */
    char source[256]; /* file or stream; the end of it if it is longer; "" if there is none */
    uint64_t line;    /* 1 for the first; 0: not known, or there are none */
    uint64_t offset;  /* byte, 0 for the first; without a line, 0 says nothing */
    char sentence[320];
};

static inline void pythia_error_clear(struct pythia_error *e)
{
    e->status = 0;
    e->source[0] = e->sentence[0] = '\0';
    e->line = e->offset = 0;
}

/* Record `status` with a sentence (no full stop, no newline) and return `status`; e may be NULL. */
int pythia_error_set(struct pythia_error *e, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Say where it was, if that is not known yet; e may be NULL. */
void pythia_error_place(struct pythia_error *e, const char *source, uint64_t line, uint64_t offset);

/* "file:line: sentence (byte offset)" with what is known of it, into `out` of `size` bytes; control
 * characters of hostile names become '?'. Returns out. */
const char *pythia_error_text(const struct pythia_error *e, char *out, unsigned long size);

#endif
