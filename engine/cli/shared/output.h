/* Writing piece by piece what must be there wholly or not at all. */
#ifndef PYTHIA_CLI_OUTPUT_H
#define PYTHIA_CLI_OUTPUT_H

#include <signal.h>
#include <stdbool.h>

#include "pythia/text.h"

struct pythia__output {
    const char *path; /* for messages */
    int file, number; /* the errno that ended it; 0: none */
    bool replaces;    /* moved to its place at the end */
    bool copies;      /* copied to standard output at the end */
    bool told;
    struct sigaction interrupt, terminate; /* what was before */
};

/* Begin to write to a file, or to stdout for NULL or "-"; one at a time. PYTHIA_OK, or PYTHIA_EIO
 * after saying why; _end comes after either. */
int pythia__output_begin(struct pythia__output *o, const char *path);
/* The file that is written, beside its place, for a library that opens files itself; NULL: what is
 * written is not replaced at the end. Static. */
const char *pythia__output_file_name(const struct pythia__output *o);
int pythia__output_add(struct pythia__output *o, struct pythia_text text);
/* Put the file in its place if `status` is PYTHIA_OK, else leave nothing. Returns `status`, or
 * PYTHIA_EIO after logging why. */
int pythia__output_end(struct pythia__output *o, int status);

/* Write all bytes to a file descriptor. 0, or the errno that ended it. */
int pythia__write_bytes(int file, struct pythia_text text);

/* From now on a line of progress may be on the terminal: a signal that ends the command takes it
 * away, so that the shell's next prompt does not stand in it. */
void pythia__output_clears_progress(void);

#endif
