#include <stddef.h>
#include <string.h>

#include "pythia/critical_path.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/text.h"
#include "shared/command.h"
#include "tree_form.h"

struct settings {
    struct pythia__read_settings read;
    const char *trace, *output, *metric;
    int64_t slowest;
    bool keys;
    int mode, format;
    double min_s;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("trace", 0, "ID", offsetof(struct settings, trace),
                       "Show only the trace with this id (hexadecimal digits or a UUID)"),
    PYTHIA_INTEGER("slowest", 'n', "N", "1", 1, 1000, offsetof(struct settings, slowest),
                   "Show the N requests that took longest"),
    PYTHIA_FLAG("keys", 'k', offsetof(struct settings, keys), "Show the key-values of each span"),
    PYTHIA_TEXT_OPTION(
        "metric", 0, "NAME", offsetof(struct settings, metric),
        "Show this number of each span instead of its duration: rss, read_bytes, "
        "cycles or another metric (its growth during the span, if a declaration of pythia run "
        "asks for it), or any numeric key; time: the duration"),
    PYTHIA_CHOICE(
        "mode", 0, "debug|concise|verbose", "debug", offsetof(struct settings, mode),
        "Spans to show: all; those of at least 100 ns; or also those with key-values. Children of "
        "a hidden span are attached to its nearest shown ancestor"),
    PYTHIA_REAL("min-duration", 0, "SECONDS", "0", 0, 1e9, offsetof(struct settings, min_s),
                "Hide shorter spans, except those with key-values in --mode verbose"),
    PYTHIA_CHOICE(
        "format", 'f', "text|shares|json", "text", offsetof(struct settings, format),
        "Format of the output: starts and durations in milliseconds; or, as HiQ prints them, "
        "times, shares of the whole request, branches or seconds; or JSON"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
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

/* ---- which ones ---- */

static int restart_trees(void *context)
{
    struct looking *l = context;
    l->count = 0;
    return PYTHIA_OK;
}

/* The rank of a request of that duration among the slowest; their number if it is not one of
 * them. */
static size_t place_in_order(const struct looking *l, uint64_t duration_ns, uint64_t hash)
{
    size_t at = l->count;
    while (at > 0 && (l->best[at - 1].duration_ns < duration_ns ||
                      (l->best[at - 1].duration_ns == duration_ns && l->best[at - 1].hash > hash)))
        at--;
    return at;
}

static struct pythia_text measure_trace(const struct settings *s)
{
    bool none = !s->metric || strcmp(s->metric, "time") == 0;
    return none ? PYTHIA_TEXT("") : pythia_text_of(s->metric);
}

static int add_tree(void *context, const struct pythia_trace *trace)
{
    struct looking *l = context;
    if (l->s->trace && !pythia_trace_id_equal(trace->id, l->wanted))
        return PYTHIA_OK;
    int status = pythia_critical_path_find(&l->path, trace, l->reading.groups.latency);
    if (status != PYTHIA_OK)
        return status;
    uint64_t duration_ns = l->path.events[l->path.count - 1].at_ns - l->path.events[0].at_ns;
    uint64_t hash = pythia_hash_mix(trace->id.high, trace->id.low);
    size_t most = (size_t)l->s->slowest, at = place_in_order(l, duration_ns, hash);
    if (at == most)
        return PYTHIA_OK;
    struct pythia_buf text =
        l->best[most - 1].text; /* of the one that leaves, if the list is full */
    if (l->count < most)
        text = l->best[l->count++].text;
    memmove(l->best + at + 1, l->best + at, (l->count - 1 - at) * sizeof(*l->best));
    pythia_buf_clear(&text);
    l->best[at] = (struct printed){duration_ns, hash, text};
    const struct pythia__tree_how how = {.mode = (enum pythia__tree_mode)l->s->mode,
                                         .form = (enum pythia__tree_form)l->s->format,
                                         .min_ns = (uint64_t)(l->s->min_s * 1e9),
                                         .keys = l->s->keys,
                                         .metric = measure_trace(l->s)};
    return pythia__tree_add(&how, l->reading.vocabulary, trace, &l->path, &l->best[at].text);
}

static int print_tree(const struct looking *l)
{
    struct pythia_buf all = {0};
    bool json = l->s->format == PYTHIA__TREE_JSON;
    pythia_buf_puts(&all, json ? "[\n" : "");
    for (size_t i = 0; i < l->count; i++) {
        pythia_buf_puts(&all, json && i ? ",\n" : "");
        pythia_buf_text_add(&all, pythia_buf_text(&l->best[i].text));
    }
    pythia_buf_puts(&all, json ? "\n]\n" : "");
    int status = pythia_buf_status(&all);
    status = pythia__write_text(l->s->output, status, &all);
    return status;
}

/* An unknown trace id is an error only after everything was read, because the trace may be in
 * the last file. */
static int run_tree(const void *settings, char *const *operands, int count)
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
    int code;
    int status =
        pythia__reading_begin(&l.reading, &l.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_consumer consumer = {restart_trees, add_tree, &l, NULL};
    status = l.best ? pythia__reading_run(&l.reading, &consumer) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = print_tree(&l);
out:
    code = pythia__reading_exit(&l.reading, status);
    if (code == PYTHIA__EXIT_DONE && l.s->trace && l.count == 0) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "There is no trace with the id %s (pythia tree --slowest 10 shows ids)",
                   l.s->trace);
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
    .description =
        "Prints the spans of a request as a tree, with start and duration in milliseconds, marks "
        "those on the critical path, and reports repairs. Without --trace, it shows the slowest "
        "requests.\n\n"
        "Where programs measure what their trace points cost, each form reports what tracing has "
        "cost the request: a sentence, [OH:163us] below the root of shares, and tracing_ns as "
        "JSON, null where it is not measured.",
    .examples =
        "# The three slowest requests\n"
        "pythia tree --slowest 3 datasets/openstack/contention.jsonl.zst\n"
        "# Spans of half a second or more, as shares of the request\n"
        "pythia tree --format shares --min-duration 0.5 datasets/openstack/contention.jsonl.zst\n"
        "# One request with its key-values\n"
        "pythia tree --keys --trace abf365c08a364b01878b5a18aec9b8d8 "
        "datasets/openstack/contention.jsonl.zst\n",
    .exits = "0 done, 1 failed (also: part of the input could not be read, or there is no such "
             "trace), 2 wrong usage, 4 no trace.",
    .see_also = "pythia-replay(1), pythia-profile(1)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_tree,
};
