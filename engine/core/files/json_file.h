/* Shared code of files with one JSON value. */
#ifndef PYTHIA_CORE_JSON_FILE_H
#define PYTHIA_CORE_JSON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "pythia/error.h"
#include "pythia/text.h"

/* Read a file whose "schema" has to be `schema`; `what` it is stands in the reason if it is not. On
 * success *out is owned by the caller (json_decref), on failure untouched. PYTHIA_OK, PYTHIA_EIO,
 * PYTHIA_EFORMAT or PYTHIA_ENOMEM, with the reason in `e`. */
int pythia__json_file_read(const char *path, const char *schema, const char *what, json_t **out,
                           struct pythia_error *e);

/* As pythia__json_file_read, but from memory; `name` is for messages. */
int pythia__json_parse(const char *name, struct pythia_text bytes, const char *schema,
                       const char *what, json_t **out, struct pythia_error *e);

/* The `count` whole numbers, none negative, that stand in a row from place `first` to its end;
 * false if that is not what is there. */
bool pythia__json_numbers(const json_t *row, size_t first, uint64_t *values, size_t count);

#endif
