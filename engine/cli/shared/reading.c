#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "command.h"
#include "output.h"
#include "pythia/adapter.h"
#include "pythia/confine.h"
#include "pythia/log.h"
#include "pythia/lttng_reader.h"
#include "pythia/lttng_rules.h"
#include "pythia/redaction.h"
#include "pythia/secret_file.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/symbols.h"

#define MEMBER(member) offsetof(struct pythia__read_settings, member)

static const struct pythia_option read_options[] = {
    PYTHIA_CHOICE("input-format", 0, "auto" PYTHIA_FORMATS(PYTHIA_FORMAT_CHOICE), "auto",
                  MEMBER(input_format),
                  "Format of the traces; auto detects it from the first bytes of each file"),
    PYTHIA_TEXT_OPTION("events", 0, "FILE", MEMBER(events),
                       "Rules by which events of LTTng become spans (pythia-control-lttng(7)): "
                       "required for folders that LTTng has written"),
    PYTHIA_CHOICE("latency", 0, "completion|client", "completion", MEMBER(latency),
                  "Measure a request until all its work has ended, or only until its client has "
                  "the answer"),
    PYTHIA_FLAG("no-fold", 0, MEMBER(no_fold), "Distinguish requests by how often their loops ran"),
    PYTHIA_TEXT_OPTION("request-type-attribute", 0, "KEY", MEMBER(type_attribute),
                       "Key-value that names the request type (default: request_type, if the "
                       "program sets it; else the route of the root span, for HTTP, RPC or "
                       "messaging; else the names of the roots; else the path of the URL, with {} "
                       "for each segment that has more than 64 values)"),
    {"leave-out-root", 0, PYTHIA_OPTION_TEXTS, "PATTERN", NULL, NULL, 0, 0, MEMBER(left_out),
     "Root trace points to ignore in the request type, with * and ?; may be given several times, "
     "and '' ignores none (default " PYTHIA_LEFT_OUT_DEFAULT ")"},
    {"redact", 0, PYTHIA_OPTION_TEXTS, "KEY-PATTERN:keep|url|hash|drop", NULL, NULL, 0, 0,
     MEMBER(redact),
     "What to do with the values of keys that match; the first match counts. Without it all "
     "values are kept; with it the default rules of pythiad(8) follow; may be given several times"},
    PYTHIA_TEXT_OPTION("redact-secret", 0, "FILE", MEMBER(redact_secret),
                       "Secret for hashes, created if it does not exist; required if a rule "
                       "hashes"),
    {"symbols", 0, PYTHIA_OPTION_TEXTS, "PATH", NULL, NULL, 0, 0, MEMBER(symbols),
     "Program, library, or folder of them: callers in it that pythia run has recorded are shown as "
     "function, file and line; may be given several times"},
    PYTHIA_INTEGER("threads", 0, "N", "0", 0, 256, MEMBER(threads),
                   "Threads; 0: one per processor"),
    PYTHIA_REAL("max-expansion", 0, "N", "250", 1, 1e9, MEMBER(max_expansion),
                "Refuse a compressed file that expands more than this many times"),
    PYTHIA_FLAG("follow-symlinks", 0, MEMBER(follow_symlinks),
                "Follow symbolic links that lead out of a folder"),
    PYTHIA_FLAG("skew", 0, MEMBER(skew),
                "Estimate from calls how far the clocks of processes are apart, report it, and "
                "correct times by it first; reads the traces twice"),
    PYTHIA_FLAG("no-skew", 0, MEMBER(no_skew),
                "Do not correct clocks (default): only spans that begin before their cause are "
                "moved"),
    PYTHIA_FLAG("quiet", 'q', MEMBER(quiet), "Log only warnings and errors"),
    {0},
};

static void append_options(struct pythia_option *table, size_t *count,
                           const struct pythia_option *more, size_t offset)
{
    for (; more && more->name; more++) {
        assert(*count + 1 < PYTHIA__OPTIONS_MAX);
        table[*count] = *more;
        table[(*count)++].offset += offset;
    }
}

void pythia__options_of(const struct pythia__command *c, struct pythia_option *table)
{
    size_t count = 0;
    append_options(table, &count, c->shared_options, c->shared_offset);
    append_options(table, &count, c->options, 0);
    if (c->read_offset != PYTHIA__READS_NOTHING)
        append_options(table, &count, read_options, c->read_offset);
    table[count] = (struct pythia_option){0};
}

void pythia__read_defaults(struct pythia__read_settings *settings)
{
    *settings = (struct pythia__read_settings){0};
    pythia_options_default(read_options, settings);
}

static void log_input_problem(void *context, const struct pythia_error *why)
{
    struct pythia__reading *r = context;
    r->problems++;
    pythia_log_error(PYTHIA_LOG_ERROR, why);
}

/* Is a path that was named not there? It has been told; a report without it would answer another
 * question than the one that was asked. */
static bool is_missing(const char *const *paths, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(paths[i], "-") != 0 && access(paths[i], F_OK) != 0)
            return true;
    return false;
}

static unsigned choose_threads(int64_t wanted)
{
    unsigned processors = uv_available_parallelism();
    return wanted > 0 ? (unsigned)wanted : processors > 0 ? processors : 1;
}

/* ---- clocks ---- */

/* A process may lack a service, host or instance; only the known parts are joined. */
static void tell_clock(const struct pythia__reading *r, const struct pythia_skew_clock *c)
{
    struct pythia_buf name[2] = {{0}, {0}};
    const uint32_t processes[2] = {c->process, c->reference};
    for (int i = 0; i < 2; i++) {
        struct pythia_resource of = pythia_vocabulary_resource_at(r->vocabulary, processes[i]);
        const uint32_t parts[] = {of.service, of.host, of.instance};
        for (size_t k = 0; k < 3; k++) {
            struct pythia_text text = pythia_vocabulary_text(r->vocabulary, parts[k]);
            if (k > 0 && text.size > 0 && parts[k])
                pythia_buf_putc(&name[i], '/');
            if (parts[k])
                pythia_shown_add(&name[i], text, 100);
        }
    }
    const char *process = name[0].bytes ? name[0].bytes : "?",
               *reference = name[1].bytes ? name[1].bytes : "?";
    if (c->process == c->reference)
        pythia_log(PYTHIA_LOG_INFO, "Clock of %s: the reference for all others, calls=%" PRIu64,
                   process, c->calls);
    else
        pythia_log(PYTHIA_LOG_INFO,
                   "Clock of %s: %+.3f ms from that of %s, drift-ppm=%+.1f, calls=%" PRIu64
                   ", shortest-way-ms=%.3f",
                   process, c->offset_ns / 1e6, reference, c->drift * 1e6, c->calls,
                   c->error_ns * 2 / 1e6);
    pythia_buf_free(&name[0]);
    pythia_buf_free(&name[1]);
}

static int begin_calls(void *context)
{
    pythia_skew_clear(context);
    return PYTHIA_OK;
}

static int take_nothing(void *context, const struct pythia_trace *trace)
{
    (void)context;
    (void)trace;
    return PYTHIA_OK;
}

/* Read all once, for the calls in it, and put times right from then on. */
static int find_clocks(struct pythia__reading *r)
{
    struct pythia_pipeline_options how = r->pipeline;
    struct pythia_pipeline_result unused;
    uint64_t impossible, beyond;
    size_t count;
    if (pythia__reading_again(r) != PYTHIA_OK)
        return PYTHIA_EUSAGE;
    int status = pythia_skew_create(r->vocabulary, &r->skew);
    if (status != PYTHIA_OK)
        return status;
    const struct pythia_consumer consumer = {begin_calls, take_nothing, r->skew, NULL};
    how.calls = r->skew;
    status = pythia_pipeline_run(r->vocabulary, r->input, &how, &consumer, &unused);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_skew_solve(r->skew);
    if (status != PYTHIA_OK)
        return status;
    r->pipeline.told = true;
    r->pipeline.clocks = r->skew;
    const struct pythia_skew_clock *clocks = pythia_skew_clocks(r->skew, &count);
    for (size_t i = 0; i < count; i++)
        tell_clock(r, &clocks[i]);
    if (count == 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "No clocks were compared: there are no calls between processes");
    pythia_skew_left_out(r->skew, &impossible, &beyond);
    if (impossible + beyond > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "These calls say nothing about clocks: answered-too-late=%" PRIu64
                   ", beyond-the-most-pairs=%" PRIu64,
                   impossible, beyond);
    return PYTHIA_OK;
}

/* Equal input must give equal output, so a secret generated for one run would not do. */
static int create_redaction(struct pythia__reading *r, const struct pythia__read_settings *s)
{
    const char *const *rules = s->redact.texts;
    size_t count = s->redact.count;
    struct pythia_hash_key secret = {{0}};
    struct pythia_error why = {0};
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count; i++)
        if ((status = pythia_redaction_check(rules[i], &why)) != PYTHIA_OK)
            goto out;
    if (pythia_redaction_hashes(rules, count))
        status = s->redact_secret ? pythia_secret_read(s->redact_secret, &secret, &why)
                                  : pythia_error_set(&why, PYTHIA_EUSAGE,
                                                     "--redact with hash requires --redact-secret");
    if (status != PYTHIA_OK)
        goto out;
    status = pythia_redaction_create(r->vocabulary, rules, count, &secret, &r->redaction, &why);
    if (status != PYTHIA_OK)
        goto out;
    r->pipeline.redaction = r->redaction;
    return PYTHIA_OK;
out:
    if (why.status)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

static int create_symbols(struct pythia__reading *r, const struct pythia__read_settings *s)
{
    struct pythia_error why = {0};
    if (s->symbols.count == 0)
        return PYTHIA_OK;
    int status = pythia_symbols_create(s->symbols.texts, s->symbols.count, &r->symbols, &why);
    if (status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    r->pipeline.symbols = r->symbols;
    return status;
}

static int read_event_rules(struct pythia__reading *r, const struct pythia__read_settings *s)
{
    struct pythia_error why = {0};
    if (!s->events)
        return PYTHIA_OK;
    int status = pythia_lttng_rules_read(s->events, &r->rules, &why);
    if (status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

/* The process that reads folders of LTTng, if there are rules for them. */
static int start_events_reader(struct pythia__reading *r, const struct pythia__read_settings *s)
{
    struct pythia_error why = {0};
    if (!s->events || r->reader)
        return PYTHIA_OK;
    int status = pythia_lttng_reader_start(&r->reader, &why);
    if (status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

int pythia__reading_confine(struct pythia__reading *r, const struct pythia__read_settings *settings,
                            const char *const *outputs, size_t count)
{
    struct pythia_confinement held;
    int status = start_events_reader(r, settings);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_confine(outputs, count, 0, &held);
    if (status == PYTHIA_OK && !held.calls)
        pythia_log(PYTHIA_LOG_INFO, "This kernel has no seccomp: network access is not blocked");
    return status;
}

static void report_links(const struct pythia_input *input)
{
    const char *first;
    size_t count = pythia_input_outward_links(input, &first);
    if (count > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Skipped symbolic links that lead out of their folder (--follow-symlinks "
                   "follows them): count=%zu, first=%s",
                   count, first);
}

int pythia__reading_begin(struct pythia__reading *r, const struct pythia__read_settings *settings,
                          const char *const *paths, int count)
{
    return pythia__reading_begin_with(r, settings, paths, count, NULL);
}

/* A second reading borrows vocabulary and path templates of the first, so that equal names have
 * equal numbers and requests of both sides equal types. */
int pythia__reading_begin_with(struct pythia__reading *r,
                               const struct pythia__read_settings *settings,
                               const char *const *paths, int count,
                               const struct pythia__reading *other)
{
    size_t count_of_formats;
    const struct pythia_adapter_ops *const *formats = pythia_adapters(&count_of_formats);
    *r = (struct pythia__reading){.vocabulary = other ? other->vocabulary : NULL,
                                  .borrows = other != NULL,
                                  .reader = r->reader};
    pythia_log_setup("pythia", settings->quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO);
    size_t left_out = 0;
    for (size_t i = 0; i < settings->left_out.count; i++)
        if (settings->left_out.texts[i][0])
            r->left_out[left_out++] = settings->left_out.texts[i];
    if (settings->left_out.count == 0)
        r->left_out[left_out++] = PYTHIA_LEFT_OUT_DEFAULT;
    r->groups = (struct pythia_groups_options){
        .latency = settings->latency ? PYTHIA_LATENCY_CLIENT : PYTHIA_LATENCY_COMPLETION,
        .fold = !settings->no_fold,
        .types = {.attribute = settings->type_attribute,
                  .left_out = r->left_out,
                  .left_out_count = left_out,
                  .templates = other ? other->groups.types.templates : NULL}};
    int format = settings->input_format; /* 0: auto */
    r->pipeline =
        (struct pythia_pipeline_options){.format = format > 0 ? formats[format - 1] : NULL,
                                         .threads = choose_threads(settings->threads),
                                         .expansion_max = settings->max_expansion,
                                         .progress = !settings->quiet && isatty(STDERR_FILENO)};
    if (r->pipeline.progress)
        pythia__output_clears_progress();
    int status = PYTHIA_OK;
    if (!other &&
        ((status = pythia_vocabulary_create(&r->vocabulary)) != PYTHIA_OK ||
         (status = pythia_path_templates_create(&r->groups.types.templates)) != PYTHIA_OK))
        return status;
    r->pipeline.templates = r->groups.types.templates;
    if ((status = create_redaction(r, settings)) != PYTHIA_OK ||
        (status = create_symbols(r, settings)) != PYTHIA_OK ||
        (status = read_event_rules(r, settings)) != PYTHIA_OK ||
        (status = start_events_reader(r, settings)) != PYTHIA_OK)
        return status;
    status = pythia_input_create(paths, (size_t)count, settings->follow_symlinks, log_input_problem,
                                 r, &r->input);
    if (status != PYTHIA_OK)
        return status;
    pythia_input_use_rules(r->input, r->rules, r->reader);
    if (is_missing(paths, count))
        return PYTHIA_EIO;
    report_links(r->input);
    if (settings->skew && settings->no_skew) {
        pythia_log(PYTHIA_LOG_ERROR, "--skew and --no-skew exclude each other: give one of them");
        return PYTHIA_EUSAGE;
    }
    return settings->skew ? find_clocks(r) : PYTHIA_OK;
}

void pythia__reading_tell(const struct pythia__reading *r)
{
    const struct pythia_pipeline_result *in = &r->result;
    pythia_log(PYTHIA_LOG_INFO,
               "Read %" PRIu64 " spans: records=%" PRIu64 ", traces=%" PRIu64
               ", files=%zu, bytes=%" PRIu64,
               in->counts.kept, in->counts.spans, in->counts.traces, in->files, in->bytes);
    pythia__reading_tell_losses(r);
}

/* Repairs keep the data and are only information; drops lose some, so they are warnings. */
void pythia__reading_tell_losses(const struct pythia__reading *r)
{
    const struct pythia_pipeline_result *in = &r->result;
    if (in->counts.hidden)
        pythia_log(PYTHIA_LOG_INFO, "Hidden: count=%" PRIu64 " (spans of closed trace points)",
                   in->counts.hidden);
    if (in->counts.long_values)
        pythia_log(PYTHIA_LOG_INFO,
                   "Truncated values: count=%" PRIu64
                   " (longer than 160 bytes; the beginning and a hash of the whole value are "
                   "kept)",
                   in->counts.long_values);
    if (in->counts.hashed_values)
        pythia_log(PYTHIA_LOG_INFO, "Hashed values: count=%" PRIu64 " (--redact)",
                   in->counts.hashed_values);
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        if (in->counts.repaired[i])
            pythia_log(PYTHIA_LOG_INFO, "Repaired %s: count=%" PRIu64 " (%s)",
                       pythia_repair_name((enum pythia_repair)i), in->counts.repaired[i],
                       pythia_repair_help((enum pythia_repair)i));
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        if (in->counts.dropped[i])
            pythia_log(i == PYTHIA_DROP_SWITCHED ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
                       "Dropped %s: count=%" PRIu64 " (%s)", pythia_drop_name((enum pythia_drop)i),
                       in->counts.dropped[i], pythia_drop_help((enum pythia_drop)i));
    if (in->skipped_files)
        pythia_log(PYTHIA_LOG_INFO, "Skipped files that hold no traces: count=%zu",
                   in->skipped_files);
}

/* The first file that can be read only once; NULL: none. */
static const char *readable_once(const struct pythia__reading *r)
{
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(r->input, &count);
    for (size_t i = 0; i < count; i++)
        if (!files[i].again)
            return strcmp(files[i].path, "-") == 0 ? "standard input" : files[i].path;
    return NULL;
}

int pythia__reading_again(const struct pythia__reading *r)
{
    const char *once = readable_once(r);
    if (!once)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be read more than once; write it to a file", once);
    return PYTHIA_EUSAGE;
}

int pythia__reading_run(struct pythia__reading *r, const struct pythia_consumer *consumer)
{
    const char *once = r->twice ? readable_once(r) : NULL;
    if (once) {
        pythia_log(
            PYTHIA_LOG_ERROR,
            "%s: cannot be read twice, for the search space and for the report; write it to a "
            "file, or give a search space (--space)",
            once);
        return PYTHIA_EUSAGE;
    }
    int status = pythia_pipeline_run(r->vocabulary, r->input, &r->pipeline, consumer, &r->result);
    if (status != PYTHIA_OK)
        return status;
    if (!r->twice)
        pythia__reading_tell(r);
    r->pipeline.told = r->twice;
    r->twice = false;
    return PYTHIA_OK;
}

uint64_t pythia__reading_changes(const struct pythia__reading *r)
{
    return pythia_path_templates_changes(r->groups.types.templates);
}

void pythia__reading_end(struct pythia__reading *r)
{
    pythia_input_destroy(r->input);
    pythia_skew_destroy(r->skew);
    pythia_redaction_destroy(r->redaction);
    pythia_symbols_destroy(r->symbols);
    pythia_lttng_rules_free(r->rules);
    pythia_lttng_reader_end(r->reader);
    if (r->borrows)
        return;
    pythia_path_templates_destroy(r->groups.types.templates);
    pythia_vocabulary_destroy(r->vocabulary);
}

/* Could a file not be read in any of the passes? The last one may have read it all. */
static bool has_failed(const struct pythia__reading *r)
{
    size_t count;
    const struct pythia_input_file *files = pythia_input_files(r->input, &count);
    for (size_t i = 0; i < count; i++)
        if (*files[i].failed)
            return true;
    return false;
}

int pythia__reading_exit(const struct pythia__reading *r, int status)
{
    if (status != PYTHIA_OK)
        return status == PYTHIA_ENOMEM   ? pythia__fail(status)
               : status == PYTHIA_EUSAGE ? PYTHIA__EXIT_USAGE
                                         : PYTHIA__EXIT_FAILED;
    if (r->problems > 0 || r->result.failed_files > 0 || has_failed(r))
        return PYTHIA__EXIT_FAILED;
    return r->result.counts.traces == 0 ? PYTHIA__EXIT_TOO_FEW : PYTHIA__EXIT_DONE;
}

int pythia__fail(int status)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_status_text(status));
    return PYTHIA__EXIT_FAILED;
}

int pythia__exit_of(int status)
{
    return status == PYTHIA_OK       ? PYTHIA__EXIT_DONE
           : status == PYTHIA_EUSAGE ? PYTHIA__EXIT_USAGE
           : status == PYTHIA_ENOMEM ? pythia__fail(status)
                                     : PYTHIA__EXIT_FAILED;
}
