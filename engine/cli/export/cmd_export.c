#include <stddef.h>
#include <string.h>

#include "export_shares.h"
#include "export_sink.h"
#include "ordered_traces.h"
#include "pythia/critical_path.h"
#include "pythia/export.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "shared/command.h"

struct settings {
    struct pythia__read_settings read;
    int64_t traces;
    const char *to, *output, *headers;
    bool shares;
};

static const struct pythia_option options[] = {
    {"to", 't', PYTHIA_OPTION_TEXT, "FORMAT", "chrome",
     "chrome|csv|dot|flamegraph|folded|jaeger|otlp|sql|zipkin", 0, 0, offsetof(struct settings, to),
     "Format to write: chrome (Perfetto), csv (a row for each span, for COPY into a database), dot "
     "(Graphviz), flamegraph (SVG), folded (stacks, for flame graphs), jaeger, otlp, otlp=URL "
     "(posted to a collector, such as http://127.0.0.1:4318/v1/traces), sql (an SQLite database) "
     "or zipkin"},
    PYTHIA_INTEGER("traces", 0, "N", "0", 0, 1e12, offsetof(struct settings, traces),
                   "Write only the N traces that began first; 0: all"),
    PYTHIA_FLAG(
        "shares", 's', offsetof(struct settings, shares),
        "Colour spans on critical paths by the share of the latency variance that their trace "
        "points account for, and show it as a counter; only for chrome. Reads the input twice"),
    PYTHIA_TEXT_OPTION("headers", 0, "FILE", offsetof(struct settings, headers),
                       "File with headers to send to the collector with each document, \"Name: "
                       "value\" on a line each, such as a token"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

#define PIECE_BYTES ((size_t)1024 * 1024)

struct exporting {
    const struct settings *s;
    struct pythia__reading reading;
    const struct pythia_export_ops *ops;
    struct pythia_export_state state;
    struct pythia_critical_path path;
    struct pythia_buf piece; /* made, not yet written */
    struct pythia__ordered_traces ordered;
    struct pythia__export_shares *shares; /* NULL: not asked for */
    struct pythia__export_sink sink;
};

static int write_piece(struct exporting *x)
{
    int status = pythia_buf_status(&x->piece);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__export_sink_add(&x->sink, pythia_buf_text(&x->piece));
    pythia_buf_clear(&x->piece);
    return status;
}

/* Collectors limit what they take at once, so that documents end where they can. */
static int end_piece(struct exporting *x)
{
    if (x->ops->pieces)
        x->ops->end(&x->state, &x->piece);
    int status = write_piece(x);
    if (status == PYTHIA_OK && x->ops->pieces)
        x->ops->begin(&x->state, &x->piece);
    return status;
}

static int export_trace(void *context, const struct pythia_trace *trace)
{
    struct exporting *x = context;
    int status = pythia_critical_path_find(&x->path, trace, x->reading.groups.latency);
    if (status != PYTHIA_OK)
        return status;
    if (x->shares)
        x->state.shares = pythia__export_shares_of(x->shares, trace, &x->state.share_count);
    x->ops->trace(&x->state, trace, &x->path, &x->piece);
    return x->piece.size < PIECE_BYTES ? pythia_buf_status(&x->piece) : end_piece(x);
}

static int restart_traces(void *context)
{
    return pythia__ordered_traces_restart(context);
}

static int keep_trace(void *context, const struct pythia_trace *trace)
{
    return pythia__ordered_traces_add(context, trace);
}

/* Threads finish traces in any order, and a capture may be read twice: traces are written when all
 * of them are known. */
static int export_all(struct exporting *x)
{
    const struct pythia_consumer consumer = {restart_traces, keep_trace, &x->ordered, NULL};
    int status = pythia__reading_run(&x->reading, &consumer);
    if (status != PYTHIA_OK)
        return status;
    x->state = (struct pythia_export_state){.vocabulary = x->reading.vocabulary};
    x->ops->begin(&x->state, &x->piece);
    status = pythia__ordered_traces_each(&x->ordered, export_trace, x);
    if (status != PYTHIA_OK)
        return status;
    x->ops->end(&x->state, &x->piece);
    return write_piece(x);
}

/* ---- the settings ---- */

/* Choose the format, and where it goes. NULL, told: there is none of that name. */
static const struct pythia_export_ops *choose_format(struct exporting *x)
{
    static const struct {
        const char *format;
        enum pythia__sink_kind kind;
    } sinks[] = {{"sql", PYTHIA__SINK_DATABASE}, {"flamegraph", PYTHIA__SINK_PICTURE}};
    const struct pythia_export_ops *found = NULL;
    const char *name = x->s->to;
    size_t formats;
    if (strncmp(name, "otlp=", 5) == 0) {
        x->sink.kind = PYTHIA__SINK_COLLECTOR;
        x->sink.url = name + 5;
        name = "otlp";
    }
    const struct pythia_export_ops *const *all = pythia_exports(&formats);
    for (size_t i = 0; i < formats; i++)
        if (strcmp(all[i]->name, name) == 0)
            found = all[i];
    for (size_t i = 0; i < sizeof(sinks) / sizeof(sinks[0]); i++)
        if (strcmp(sinks[i].format, name) == 0)
            x->sink.kind = sinks[i].kind;
    if (!found)
        pythia_log(PYTHIA_LOG_ERROR, "--to %s: there is no such format: see pythia help export",
                   x->s->to);
    return found;
}

static int check_export(const struct exporting *x)
{
    const struct settings *s = x->s;
    const char *wrong = NULL;
    if (!x->ops)
        return PYTHIA_EUSAGE;
    if (s->shares && strcmp(x->ops->name, "chrome") != 0)
        wrong = "--shares requires --to chrome: other formats cannot show them";
    else if (x->sink.kind == PYTHIA__SINK_DATABASE && !s->output)
        wrong = "--to sql requires --output FILE";
    else if (x->sink.kind == PYTHIA__SINK_COLLECTOR && s->output)
        wrong = "--output does not go together with --to otlp=URL";
    else if (x->sink.kind != PYTHIA__SINK_COLLECTOR && s->headers)
        wrong = "--headers requires --to otlp=URL";
    if (wrong)
        pythia_log(PYTHIA_LOG_ERROR, "%s", wrong);
    return wrong ? PYTHIA_EUSAGE : PYTHIA_OK;
}

static int read_headers(struct exporting *x)
{
    struct pythia_error why = {0};
    int status =
        x->s->headers ? pythia_headers_read(x->s->headers, &x->sink.headers, &why) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

/* The output is opened only after shares are learnt, which may fail, so that an older file stays
 * as it is. */
static int run_export_command(const void *settings, char *const *operands, int count)
{
    struct exporting x = {.s = settings};
    x.ordered.limit = (uint64_t)x.s->traces;
    int code;
    int status =
        pythia__reading_begin(&x.reading, &x.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    x.ops = choose_format(&x);
    if ((status = check_export(&x)) != PYTHIA_OK || (status = read_headers(&x)) != PYTHIA_OK)
        goto out;
    if (x.s->shares)
        status = pythia__export_shares_learn(&x.reading, &x.shares);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__export_sink_begin(&x.sink, x.s->output);
    status = pythia__export_sink_end(&x.sink, status == PYTHIA_OK ? export_all(&x) : status);
out:
    code = pythia__reading_exit(&x.reading, status);
    pythia__export_shares_destroy(x.shares);
    pythia__ordered_traces_free(&x.ordered);
    pythia_headers_free(&x.sink.headers);
    pythia_critical_path_free(&x.path);
    pythia_buf_free(&x.piece);
    pythia__reading_end(&x.reading);
    return code;
}

const struct pythia__command pythia__cmd_export = {
    .name = "export",
    .operands = "PATH...",
    .summary = "Write traces in the format of another tool",
    .description =
        "Reads traces in any format that pythia replay reads and writes them, repaired, "
        "complete and in the order in which they began, for Perfetto, Graphviz, flame graph tools, "
        "Jaeger, Zipkin, OpenTelemetry "
        "collectors or a database. The critical path is marked where the format allows it.\n\n"
        "OTLP is JSON, in documents of about 1 MB on a line each, and keeps all that pythia "
        "knows of spans: read again, spans of OpenTelemetry give the same report. Jaeger and "
        "Zipkin know whole microseconds only. A collector gets the documents when all has been "
        "read; one that does "
        "not answer, or is busy, is asked ten times within a minute.\n\n"
        "An SQLite database has the tables trace (trace_id, start_ns, duration_ns, spans) and span "
        "(trace_id, span_id, parent_id, trace_point, service, name, kind, start_ns, duration_ns, "
        "error, attributes); the columns of csv are those of span. Key-values are an object of "
        "JSON.",
    .examples =
        "# Look at requests in Perfetto\n"
        "pythia export --to chrome --traces 20 --output requests.json "
        "datasets/openstack/contention.jsonl.zst\n"
        "# The same, coloured by what accounts for the variance of their latency\n"
        "pythia export --to chrome --shares --traces 20 --output requests.json "
        "datasets/openstack/contention.jsonl.zst\n"
        "# A flame graph of all critical paths\n"
        "pythia export --to folded datasets/openstack/contention.jsonl.zst > paths.folded\n"
        "# The same as a picture\n"
        "pythia export --to flamegraph --output paths.svg datasets/openstack/contention.jsonl.zst\n"
        "# Which trace points fail most?\n"
        "pythia export --to sql --output traces.db datasets/openstack/contention.jsonl.zst\n"
        "sqlite3 traces.db 'SELECT trace_point, count(*) FROM span WHERE error GROUP BY 1 ORDER BY "
        "2 DESC LIMIT 10'\n"
        "# For COPY span FROM 'spans.csv' (FORMAT csv, HEADER)\n"
        "pythia export --to csv --output spans.csv datasets/openstack/contention.jsonl.zst\n"
        "# To a collector\n"
        "pythia export --to otlp=http://127.0.0.1:4318/v1/traces traces/\n"
        "# To one that wants a token: the file has the line \"Authorization: Bearer ...\"\n"
        "pythia export --to otlp=https://collector/v1/traces --headers token traces/\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-replay(1), pythia-profile(1)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_export_command,
};
