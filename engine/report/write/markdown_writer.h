/* Text from traces in GitHub-flavoured Markdown: it becomes no markup and breaks no table. */
#ifndef PYTHIA_REPORT_MARKDOWN_WRITER_H
#define PYTHIA_REPORT_MARKDOWN_WRITER_H

#include <stdbool.h>

#include "pythia/buf.h"

/* A name as a code span, in which nothing is markup, no address becomes a link and no "@name" a
 * mention. `in_table`: in a cell, which a pipe would end even there. */
void pythia__markdown_name(struct pythia_buf *to, const char *name, bool in_table);

/* As above, for text to be copied, outside of tables: nothing is left out. */
void pythia__markdown_code(struct pythia_buf *to, const char *text);

/* A part of a sentence, in a table or not. It must not begin a line: what is markup only there is
 * left as it is. */
void pythia__markdown_prose(struct pythia_buf *to, const char *text);

#endif
