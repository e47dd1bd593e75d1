#include "cqlsh_table.h"

#include <inttypes.h>
#include <string.h>

#include "pythia/status.h"

static struct pythia_text trim_line(struct pythia_text line)
{
    line = pythia__skip_white(line);
    while (line.size > 0 && (line.bytes[line.size - 1] == ' ' || line.bytes[line.size - 1] == '\r'))
        line.size--;
    return line;
}

/* A row of dashes, or the question for the next page between two of them. */
static bool is_rule(struct pythia_text line)
{
    if (pythia_text_equal(line, PYTHIA_TEXT("---MORE---")))
        return true;
    for (size_t i = 0; i < line.size; i++)
        if (line.bytes[i] != '-')
            return false;
    return line.size > 1;
}

/* "(2 rows)" */
static bool is_row_count(struct pythia_text line, uint64_t *count)
{
    struct pythia_text end = PYTHIA_TEXT(" rows)");
    if (!pythia_text_starts(line, PYTHIA_TEXT("(")) || !pythia_text_ends(line, end) ||
        line.size > 1 + 18 + end.size)
        return false;
    *count = 0;
    for (size_t i = 1; i < line.size - end.size; i++) {
        if (line.bytes[i] < '0' || line.bytes[i] > '9')
            return false;
        *count = *count * 10 + (uint64_t)(line.bytes[i] - '0');
    }
    return line.size > 1 + end.size;
}

/* Two backslashes become one; a single one was not printed by cqlsh, and stays. */
static void add_table_row(struct pythia_buf *out, struct pythia_text row)
{
    const char *backslash;
    while ((backslash = memchr(row.bytes, '\\', row.size))) {
        size_t size = (size_t)(backslash - row.bytes) + 1, next = size;
        next += next < row.size && row.bytes[next] == '\\';
        pythia_buf_add(out, row.bytes, size);
        row = (struct pythia_text){row.bytes + next, row.size - next};
    }
    pythia_buf_text_add(out, row);
}

static void note_fault(struct pythia__cqlsh_table *t)
{
    pythia_error_place(&t->fault, t->lines.source.name, t->line, 0);
    t->faults++;
}

static void check_row_count(struct pythia__cqlsh_table *t, uint64_t stated)
{
    if (stated != t->rows) {
        pythia_error_set(&t->fault, PYTHIA_EFORMAT,
                         "a table of cqlsh says that it has %" PRIu64 " rows and has %" PRIu64,
                         stated, t->rows);
        note_fault(t);
    }
    t->rows = 0;
}

static void rewrite_table(struct pythia__line_source *source, struct pythia_text line)
{
    struct pythia__cqlsh_table *t = (struct pythia__cqlsh_table *)source;
    uint64_t stated;
    line = trim_line(line);
    t->line++;
    if (line.size == 0 || is_rule(line) ||
        pythia_text_equal(line, PYTHIA_TEXT(PYTHIA__CQLSH_HEADER)))
        return;
    if (is_row_count(line, &stated)) {
        check_row_count(t, stated);
        return;
    }
    t->rows++;
    add_table_row(&source->out, line);
}

void pythia__cqlsh_table_init(struct pythia__cqlsh_table *t, struct pythia_source *from)
{
    *t = (struct pythia__cqlsh_table){.rows = 0};
    pythia__line_source_init(&t->lines, from, rewrite_table);
}

void pythia__cqlsh_table_end(struct pythia__cqlsh_table *t)
{
    if (t->rows == 0)
        return;
    pythia_error_set(&t->fault, PYTHIA_EFORMAT,
                     "a table of cqlsh ends after %" PRIu64
                     " rows without their number: it may have been cut off",
                     t->rows);
    note_fault(t);
}

void pythia__cqlsh_table_free(struct pythia__cqlsh_table *t)
{
    pythia__line_source_free(&t->lines);
}

bool pythia__cqlsh_table_head(struct pythia_text head, struct pythia_buf *out)
{
    struct pythia_text begin = pythia__skip_white(head);
    const char *newline = memchr(begin.bytes, '\n', begin.size);
    struct pythia_text first = {begin.bytes,
                                newline ? (size_t)(newline - begin.bytes) : begin.size};
    if (!pythia_text_equal(trim_line(first), PYTHIA_TEXT(PYTHIA__CQLSH_HEADER)))
        return false;
    struct pythia_memory_source memory;
    struct pythia__cqlsh_table table;
    size_t got = 1;
    pythia_memory_source_init(&memory, "head", begin.bytes, begin.size);
    pythia__cqlsh_table_init(&table, &memory.source);
    while (got > 0) {
        char *to = pythia_buf_reserve(out, begin.size + 1);
        if (!to || table.lines.source.read(&table.lines.source, to, begin.size + 1, &got, NULL) < 0)
            break;
        out->size += got;
    }
    pythia__cqlsh_table_free(&table);
    return true;
}
