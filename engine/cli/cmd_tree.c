#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "command.h"
#include "pythia/attributes.h"
#include "pythia/bill.h"
#include "pythia/critical_path.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/text.h"

struct settings {
    struct pythia__read_settings read;
    const char *trace, *output;
    int64_t slowest;
    bool keys;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("trace", 0, "ID", offsetof(struct settings, trace),
                       "Show the trace with this id (hexadecimal digits or a UUID) instead"),
    PYTHIA_INTEGER("slowest", 'n', "N", "1", 1, 1000, offsetof(struct settings, slowest),
                   "Show the N requests that took longest"),
    PYTHIA_FLAG("keys", 'k', offsetof(struct settings, keys), "Show the key-values of each span"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "File to write to (default standard output)"),
    {0},
};

/* A request that was printed, and how long it took. */
struct printed {
    uint64_t duration_ns, hash;
    struct pythia_buf text;
};

struct looking {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_trace_id wanted;
    struct pythia_critical_path path;
    struct printed *best; /* [slowest], longest first */
    size_t count;
};

/* ---- one request ---- */

static void add_keys(const struct looking *l, const struct pythia_trace_span *span, int indent,
                     struct pythia_buf *to)
{
    const struct pythia_vocabulary *v = l->reading.vocabulary;
    struct pythia_text packed = span->attributes;
    struct pythia_attribute a;
    while (pythia_attributes_next(&packed, &a)) {
        pythia_buf_printf(to, "%*s", indent, "");
        pythia_shown_add(to, pythia_vocabulary_text(v, a.key), SIZE_MAX);
        pythia_buf_puts(to, " = ");
        if (a.kind == PYTHIA_ATTRIBUTE_TEXT)
            pythia_shown_add(to, a.text, SIZE_MAX);
        else if (a.kind == PYTHIA_ATTRIBUTE_REAL)
            pythia_buf_printf(to, "%.15g", a.real);
        else if (a.kind == PYTHIA_ATTRIBUTE_BOOL)
            pythia_buf_puts(to, a.integer ? "true" : "false");
        else
            pythia_buf_printf(to, "%" PRId64, a.integer);
        pythia_buf_putc(to, '\n');
    }
}

static void add_flags(const struct pythia_trace_span *span, const struct pythia_trace *trace,
                      struct pythia_buf *to)
{
    if (span->error)
        pythia_buf_puts(to, "  [error]");
    if (span->parent != PYTHIA_NO_SPAN && span->end_ns > trace->spans[span->parent].end_ns)
        pythia_buf_puts(to, "  [outlives its parent]");
    for (uint32_t bits = span->repairs; bits; bits &= bits - 1)
        pythia_buf_printf(to, "  [%s]",
                          pythia_repair_name((enum pythia_repair)__builtin_ctz(bits)));
}

static void add_span(const struct looking *l, const struct pythia_trace *trace, uint32_t i,
                     int depth, bool critical, struct pythia_buf *to)
{
    const struct pythia_trace_span *span = &trace->spans[i];
    pythia_buf_printf(to, "%11.3f %11.3f %c %*s", (double)(span->start_ns - trace->start_ns) / 1e6,
                      (double)(span->end_ns - span->start_ns) / 1e6, critical ? '*' : ' ',
                      2 * depth, "");
    pythia_shown_add(to, pythia_vocabulary_tracepoint_id(l->reading.vocabulary, span->tracepoint),
                     SIZE_MAX);
    if (span->annotation)
        pythia_buf_puts(to, "  [annotation]");
    add_flags(span, trace, to);
    pythia_buf_putc(to, '\n');
    if (l->s->keys)
        add_keys(l, span, 2 * depth + 30, to);
}

/* What tracing has cost this request, if its trace points measure that. */
static void add_cost(const struct looking *l, const struct pythia_trace *trace,
                     struct pythia_buf *to)
{
    struct pythia_bill bill;
    pythia_bill_of(l->reading.vocabulary, trace, &bill);
    if (bill.billed == 0)
        return;
    pythia_buf_printf(to, "tracing it has cost %.3f us, %.3g %% of what its client has waited",
                      bill.cost_ns / 1e3,
                      100 * bill.cost_ns / (double)(trace->end_ns - trace->start_ns));
    if (bill.unbilled > 0)
        pythia_buf_printf(to, " (and what %u spans of others have cost)", bill.unbilled);
    pythia_buf_putc(to, '\n');
}

static int print_trace(struct looking *l, const struct pythia_trace *trace, struct pythia_buf *to)
{
    bool *critical = pythia_calloc(trace->count, sizeof(*critical));
    if (!critical)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < l->path.count; i++)
        critical[l->path.events[i].span] = true;
    pythia_buf_printf(to,
                      "trace %016" PRIx64 "%016" PRIx64
                      "  %u spans, %.3f ms for its client, %.3f ms until all was done\n",
                      trace->id.high, trace->id.low, trace->count,
                      (double)(trace->end_ns - trace->start_ns) / 1e6,
                      (double)(trace->completed_ns - trace->start_ns) / 1e6);
    add_cost(l, trace, to);
    pythia_buf_puts(to, "   start ms duration ms * on the critical path\n");
    int depth = 0;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN;) {
        const struct pythia_trace_span *span = &trace->spans[at];
        add_span(l, trace, at, depth, critical[at], to);
        if (span->first_child != PYTHIA_NO_SPAN) {
            at = span->first_child;
            depth++;
            continue;
        }
        while (at != PYTHIA_NO_SPAN && trace->spans[at].next_sibling == PYTHIA_NO_SPAN) {
            at = trace->spans[at].parent;
            depth--;
        }
        at = at == PYTHIA_NO_SPAN ? at : trace->spans[at].next_sibling;
    }
    pythia_buf_putc(to, '\n');
    pythia_free(critical);
    return pythia_buf_status(to);
}

/* ---- which ones ---- */

static int begin(void *context)
{
    struct looking *l = context;
    l->count = 0;
    return PYTHIA_OK;
}

/* Where a request of that duration belongs among the slowest; their number if it does not. */
static size_t place_of(const struct looking *l, uint64_t duration_ns, uint64_t hash)
{
    size_t at = l->count;
    while (at > 0 && (l->best[at - 1].duration_ns < duration_ns ||
                      (l->best[at - 1].duration_ns == duration_ns && l->best[at - 1].hash > hash)))
        at--;
    return at;
}

static int take(void *context, const struct pythia_trace *trace)
{
    struct looking *l = context;
    if (l->s->trace && !pythia_trace_id_equal(trace->id, l->wanted))
        return PYTHIA_OK;
    int status = pythia_critical_path_find(&l->path, trace, l->reading.groups.latency);
    if (status != PYTHIA_OK)
        return status;
    uint64_t duration_ns = l->path.events[l->path.count - 1].at_ns - l->path.events[0].at_ns;
    uint64_t hash = pythia_hash_mix(trace->id.high, trace->id.low);
    size_t most = (size_t)l->s->slowest, at = place_of(l, duration_ns, hash);
    if (at == most)
        return PYTHIA_OK;
    struct pythia_buf text =
        l->best[most - 1].text; /* of the one that leaves, if the list is full */
    if (l->count < most)
        text = l->best[l->count++].text;
    memmove(l->best + at + 1, l->best + at, (l->count - 1 - at) * sizeof(*l->best));
    pythia_buf_clear(&text);
    l->best[at] = (struct printed){duration_ns, hash, text};
    return print_trace(l, trace, &l->best[at].text);
}

static int print(const struct looking *l)
{
    struct pythia_buf all = {0};
    for (size_t i = 0; i < l->count; i++)
        pythia_buf_text_add(&all, pythia_buf_text(&l->best[i].text));
    int status = pythia_buf_status(&all);
    if (status == PYTHIA_OK)
        status = pythia__write_output(l->s->output, pythia_buf_text(&all));
    pythia_buf_free(&all);
    return status;
}

static int run(const void *settings, char *const *operands, int count)
{
    struct looking l = {.s = settings};
    if (l.s->trace) {
        struct pythia_text id = pythia_text_of(l.s->trace);
        if (!pythia_text_uuid(id, &l.wanted.high, &l.wanted.low) &&
            !pythia_text_hex(id, &l.wanted.high, &l.wanted.low)) {
            pythia_log(PYTHIA_LOG_ERROR,
                       "--trace takes up to 32 hexadecimal digits or a UUID, not '%s'", l.s->trace);
            return PYTHIA__EXIT_USAGE;
        }
    }
    l.best = pythia_calloc((size_t)l.s->slowest, sizeof(*l.best));
    int status = pythia__reading_begin(&l.reading, &l.s->read, operands, count);
    struct pythia_consumer consumer = {begin, take, &l};
    if (status == PYTHIA_OK)
        status = l.best ? pythia__reading_run(&l.reading, &consumer) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = print(&l);
    int code = pythia__reading_exit(&l.reading, status);
    if (code == PYTHIA__EXIT_DONE && l.s->trace && l.count == 0) {
        pythia_log(PYTHIA_LOG_ERROR, "There is no trace with the id %s", l.s->trace);
        code = PYTHIA__EXIT_FAILED;
    }
    for (int64_t i = 0; l.best && i < l.s->slowest; i++)
        pythia_buf_free(&l.best[i].text);
    pythia_free(l.best);
    pythia_critical_path_free(&l.path);
    pythia__reading_end(&l.reading);
    return code;
}

const struct pythia__command pythia__cmd_tree = {
    .name = "tree",
    .operands = "PATH...",
    .summary = "Show single requests as trees of spans",
    .description = "Prints the spans of a request under their parents, with start and duration in "
                   "milliseconds, marks those on the "
                   "critical path, and names repairs. Without --trace, the requests that took "
                   "longest are shown.",
    .examples = "# The three slowest requests\n"
                "pythia tree --slowest 3 datasets/openstack/contention.jsonl.zst\n"
                "# One request with its key-values\n"
                "pythia tree --keys --trace abf365c08a364b01878b5a18aec9b8d8 "
                "datasets/openstack/contention.jsonl.zst\n",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run,
};
