/* The table that cqlsh prints around the rows of SELECT JSON, made JSON again:
 *
 *      [json]
 *     -----------------------------------------
 *      {"trace_id": "0x1f", "span_id": 2, …}
 *               {"trace_id": "0x1f", …, "tags": [{"key": "path", "value_string": "C:\\\\x"}]}
 *
 *     (2 rows)
 *
 * Rows stand at the right end of the column, which is as wide as the longest one, and cqlsh doubles
 * each backslash in them. Rows lose both; the lines around them become empty. Any other line stays
 * and is an error of JSON; it counts as a row. On a terminal cqlsh repeats the header for each page
 * of rows. A file may have several tables. */
#ifndef PYTHIA_JAEGER_CQLSH_TABLE_H
#define PYTHIA_JAEGER_CQLSH_TABLE_H

#include "shared/line_source.h"

#define PYTHIA__CQLSH_HEADER "[json]"

struct pythia__cqlsh_table {
    struct pythia__line_source lines; /* what is read from its source is JSON */
    uint64_t line;                    /* number of the last one */
    uint64_t rows;                    /* since the last number of rows was stated */
    uint64_t faults;                  /* tables that have another number of rows than stated */
    struct pythia_error fault;        /* of the first of them */
};

/* Begin to rewrite the table that `from` holds; `from` is borrowed. */
void pythia__cqlsh_table_init(struct pythia__cqlsh_table *t, struct pythia_source *from);

/* The end of the input was reached: rows after which no number is stated are a fault as well. */
void pythia__cqlsh_table_end(struct pythia__cqlsh_table *t);
void pythia__cqlsh_table_free(struct pythia__cqlsh_table *t);

/* Does an input begin with such a table? Then its first lines, of which the last may be cut off,
 * as JSON to `out`. */
bool pythia__cqlsh_table_head(struct pythia_text head, struct pythia_buf *out);

#endif
