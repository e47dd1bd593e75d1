/* Text from traces as a person may see it, before a form of report escapes its own markup. */
#ifndef PYTHIA_SHOWN_TEXT_H
#define PYTHIA_SHOWN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* One character as it is shown: itself, or its code where it would act on the page or deceive the
 * reader instead of being seen: "\x1b" for a control character or a broken byte, "\u202e" for what
 * turns the direction of text or has no width. */
struct pythia_glyph {
    char bytes[12]; /* UTF-8, NUL-terminated */
    size_t size;
};

/* Take the first character off `rest`; false at its end. */
bool pythia_glyph_next(struct pythia_text *rest, struct pythia_glyph *glyph);

/* How many characters `text` has, those shown by their code as one. */
size_t pythia_glyph_count(struct pythia_text text);

/* Append `text` as it is shown, at most `limit` >= 3 characters (SIZE_MAX: all): of a longer one
 * the middle is left out, because names differ at their ends. Returns whether something was left
 * out. */
bool pythia_shown_add(struct pythia_buf *to, struct pythia_text text, size_t limit);

/* Append all of `text` as it is shown, with what XML and HTML give a meaning escaped: as content
 * and as the value of an attribute in either kind of quotes. */
void pythia_shown_markup(struct pythia_buf *to, struct pythia_text text);

/* Append all of `text` as it is shown, for a quoted label of Graphviz: quotes and backslashes are
 * escaped, control characters and blanks become blanks. */
void pythia_shown_dot_label(struct pythia_buf *to, struct pythia_text text);

/* Append `text` as a JSON string with its quotes. What would be shown by its code is escaped
 * (\u202e), so that neither a terminal nor an editor acts on it; read back it is what it was. A
 * byte that is not UTF-8 stays as it is. */
void pythia_shown_json_text(struct pythia_buf *to, struct pythia_text text);

/* As above, for a JSON document, or a part of one that cuts no character, as a library wrote it. */
void pythia_shown_json(struct pythia_buf *to, const char *json, size_t size);

#endif
