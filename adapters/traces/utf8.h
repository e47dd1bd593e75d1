/* Texts of sources that promise no encoding. */
#ifndef PYTHIA_TRACES_UTF8_H
#define PYTHIA_TRACES_UTF8_H

#include <stdbool.h>

#include "pythia/buf.h"

/* Is a text UTF-8 (The Unicode Standard, table 3-7) without NUL? */
bool pythia__utf8_is_clean(struct pythia_text text);

/* Append it with each byte that is not, and each NUL, made U+FFFD, as the reader of JSON does. */
void pythia__utf8_repair(struct pythia_text text, struct pythia_buf *out);

#endif
