/* Spans as rows of a table: as CSV (RFC 4180) for COPY of PostgreSQL, CrateDB and others, and as
 * SQL for SQLite. */
#include <inttypes.h>
#include <stdio.h>

#include "formats.h"

static const char *const kinds[] = {"", "internal", "server", "client", "producer", "consumer"};

/* Writes one value; `text` is not yet quoted. */
typedef void write_cell(struct pythia_buf *out, struct pythia_text text);

/* The cells of a span, with commas between them. Key-values are one cell, an object of JSON, which
 * databases take apart. */
static void write_cells(struct pythia_buf *out, const struct pythia_vocabulary *v,
                        const struct pythia_trace *trace, const struct pythia_trace_span *span,
                        write_cell *cell)
{
    const struct pythia_tracepoint *point = pythia_vocabulary_tracepoint_at(v, span->tracepoint);
    struct pythia_buf values = {0};
    pythia_buf_putc(&values, '{');
    pythia__add_json_attributes(&values, v, span, false);
    pythia_buf_putc(&values, '}');
    const struct pythia_text texts[] = {
        pythia_vocabulary_tracepoint_id(v, span->tracepoint),
        pythia_vocabulary_text(v, point->service), pythia_vocabulary_text(v, point->name),
        pythia_text_of(kinds[span->kind]), pythia_buf_text(&values)};
    char id[48];
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, trace->id.high, trace->id.low);
    cell(out, pythia_text_of(id));
    pythia_buf_putc(out, ',');
    snprintf(id, sizeof(id), "%016" PRIx64, span->id);
    cell(out, pythia_text_of(id));
    pythia_buf_putc(out, ',');
    id[0] = '\0';
    if (span->parent != PYTHIA_NO_SPAN)
        snprintf(id, sizeof(id), "%016" PRIx64, trace->spans[span->parent].id);
    cell(out, pythia_text_of(id));
    for (size_t i = 0; i < 4; i++) {
        pythia_buf_putc(out, ',');
        cell(out, texts[i]);
    }
    pythia_buf_printf(out, ",%" PRIu64 ",%" PRIu64 ",%d,", span->start_ns,
                      span->end_ns - span->start_ns, span->error);
    cell(out, texts[4]);
    out->failed |= values.failed;
    pythia_buf_free(&values);
}

static void write_doubled(struct pythia_buf *out, struct pythia_text text, char quote)
{
    pythia_buf_putc(out, quote);
    for (size_t i = 0; i < text.size; i++) {
        if (text.bytes[i] == quote)
            pythia_buf_putc(out, quote);
        pythia_buf_putc(out, text.bytes[i]);
    }
    pythia_buf_putc(out, quote);
}

/* ---- CSV ---- */

/* An empty cell is NULL to COPY; one with quotes would be an empty text. */
static void write_csv_cell(struct pythia_buf *out, struct pythia_text text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.size && !quoted; i++)
        quoted = text.bytes[i] == ',' || text.bytes[i] == '"' || text.bytes[i] == '\n' ||
                 text.bytes[i] == '\r';
    if (quoted)
        write_doubled(out, text, '"');
    else
        pythia_buf_text_add(out, text);
}

static void begin_csv(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "trace_id,span_id,parent_id,trace_point,service,name,kind,start_ns,"
                         "duration_ns,error,attributes\n");
}

static void write_csv_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                            const struct pythia_critical_path *path, struct pythia_buf *out)
{
    (void)path;
    state->traces++;
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        write_cells(out, state->vocabulary, trace, &trace->spans[i], write_csv_cell);
        pythia_buf_putc(out, '\n');
    }
}

static void end_nothing(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    (void)out;
}

const struct pythia_export_ops pythia__export_csv = {
    .name = "csv",
    .help = "a row for each span, for COPY into a database",
    .begin = begin_csv,
    .trace = write_csv_trace,
    .end = end_nothing,
};

/* ---- SQL ---- */

static void write_sql_cell(struct pythia_buf *out, struct pythia_text text)
{
    if (text.size == 0)
        pythia_buf_puts(out, "NULL");
    else
        write_doubled(out, text, '\'');
}

static void begin_sql(struct pythia_export_state *state, struct pythia_buf *out)
{
    state->traces = 0;
    pythia_buf_puts(out, "BEGIN;\n"
                         "CREATE TABLE trace (trace_id TEXT PRIMARY KEY, start_ns BIGINT, "
                         "duration_ns BIGINT, spans INTEGER);\n"
                         "CREATE TABLE span (trace_id TEXT, span_id TEXT, parent_id TEXT, "
                         "trace_point TEXT, service TEXT, name TEXT, kind TEXT, start_ns BIGINT, "
                         "duration_ns BIGINT, error INTEGER, attributes TEXT);\n");
}

/* The duration of a request is that of its critical path. */
static void write_sql_trace(struct pythia_export_state *state, const struct pythia_trace *trace,
                            const struct pythia_critical_path *path, struct pythia_buf *out)
{
    uint64_t duration_ns =
        path->count > 0 ? path->events[path->count - 1].at_ns - path->events[0].at_ns : 0;
    state->traces++;
    pythia_buf_puts(out, "INSERT INTO trace VALUES ('");
    pythia__add_trace_id(out, trace->id);
    pythia_buf_printf(out, "',%" PRIu64 ",%" PRIu64 ",%" PRIu32 ");\n", trace->start_ns,
                      duration_ns, trace->count);
    for (uint32_t i = trace->first_root; i != PYTHIA_NO_SPAN; i = pythia_trace_next(trace, i)) {
        pythia_buf_puts(out, i == trace->first_root ? "INSERT INTO span VALUES (" : ",\n(");
        write_cells(out, state->vocabulary, trace, &trace->spans[i], write_sql_cell);
        pythia_buf_putc(out, ')');
    }
    pythia_buf_puts(out, trace->first_root == PYTHIA_NO_SPAN ? "" : ";\n");
}

static void end_sql(struct pythia_export_state *state, struct pythia_buf *out)
{
    (void)state;
    pythia_buf_puts(out, "CREATE INDEX span_by_trace ON span (trace_id);\n"
                         "CREATE INDEX span_by_trace_point ON span (trace_point);\n"
                         "COMMIT;\n");
}

const struct pythia_export_ops pythia__export_sql = {
    .name = "sql",
    .help = "an SQLite database with tables of traces and spans",
    .begin = begin_sql,
    .trace = write_sql_trace,
    .end = end_sql,
};
