#ifndef PYTHIA_RUN_JSON_H
#define PYTHIA_RUN_JSON_H

#include "pythia/buf.h"
#include "pythia/error.h"
#include "pythia/run.h"
#include "pythia/text.h"

/* Runs as JSON: for programs, and as files that the profiler of TileDB-SOMA reads and writes
 * (single-cell-data/TileDB-SOMA, profiler/: a folder for each command, named by the MD5 of it, and
 * in that a file for each run, named by its Unix time). */

/* Append a run as an object, all that is known of it, on one line. Bytes of outputs and artifacts
 * that are no UTF-8 are replaced by U+FFFD. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia_run_json(const struct pythia_run *run, struct pythia_buf *to);

/* Append the same as a record of that profiler, with the object above as its member "pythia", so
 * that reading it back loses nothing. */
int pythia_run_json_record(const struct pythia_run *run, struct pythia_buf *to);

/* The name of the record in the layout of that profiler: "<MD5>/<seconds>.<ns>.json". */
int pythia_run_json_name(const struct pythia_run *run, struct pythia_buf *to);

/* A run that was read, with its texts. */
struct pythia_run_parsed;

/* Read either form. Numbers may be texts, as that profiler writes them; what it does not know stays
 * unknown. On success *out is owned by the caller. PYTHIA_OK, PYTHIA_EFORMAT with the reason in
 * `e`, or PYTHIA_ENOMEM. */
int pythia_run_json_parse(struct pythia_text json, struct pythia_run_parsed **out,
                          struct pythia_error *e);
const struct pythia_run *pythia_run_parsed_run(const struct pythia_run_parsed *p); /* borrowed */
void pythia_run_parsed_destroy(struct pythia_run_parsed *p); /* p may be NULL */

/* The SHA-256 of a text as 64 hexadecimal digits and a NUL. */
void pythia_run_key(const char *text, char key[65]);

/* The arguments as a JSON list, owned by the caller; NULL without memory. Bytes that are no UTF-8
 * are replaced. */
char *pythia_run_command(char *const *arguments);

/* As above, as a shell would read it, for people: words with blanks or quotes are quoted. Appends;
 * `command` that is no JSON list is appended as it is. */
void pythia_run_command_show(const char *command, struct pythia_buf *to);

#endif
