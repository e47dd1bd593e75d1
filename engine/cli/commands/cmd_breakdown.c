#include <stddef.h>
#include <string.h>

#include "pythia/breakdown_report.h"
#include "pythia/log.h"
#include "pythia/status.h"
#include "read_summaries.h"
#include "shared/command.h"
#include "shared/terminal.h"

struct settings {
    struct pythia__read_settings read;
    int64_t top;
    int format;
    struct pythia_option_texts parts;
    const char *callpath, *output;
    bool summaries;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("top", 'n', "N", "10", 1, 1e9, offsetof(struct settings, top),
                   "Most callpaths to show, ordered by time"),
    PYTHIA_TEXT_OPTION(
        "callpath", 'c', "PATTERN", offsetof(struct settings, callpath),
        "Show only callpaths whose name matches a pattern with * and ?; a name lists all calls, "
        "as in 'front:call > store:get > *'"),
    {"part", 'p', PYTHIA_OPTION_TEXTS, "PART=PATTERN", NULL, NULL, 0, 0,
     offsetof(struct settings, parts),
     "Count spans of trace points that match the pattern as this interval of a call: in_ser, "
     "rdma, handler, in_deser, out_ser or o_cb; may be given several times"},
    PYTHIA_FLAG("summaries", 0, offsetof(struct settings, summaries),
                "The files hold sums over calls instead of traces: profiles of SYMBIOSYS or margo "
                "(.csv) or statistics of margo (.stats.json)"),
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html", "text",
                  offsetof(struct settings, format),
                  "Format of the output; pythia-report(5) describes the JSON"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

struct breaking {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_call_rule rules[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_breakdown *breakdown;
};

/* "handler=*:pool.wait". What is left of a call has no spans of its own. */
static bool read_breakdown_rule(const char *text, struct pythia_call_rule *rule)
{
    const char *equals = strchr(text, '=');
    size_t size = equals ? (size_t)(equals - text) : 0;
    for (int i = 0; equals && equals[1] && i < PYTHIA_CALL_PARTS; i++) {
        const char *name = pythia_call_part_name((enum pythia_call_part)i);
        bool rest = i == PYTHIA_CALL_CALLS || i == PYTHIA_CALL_OWN || i == PYTHIA_CALL_UNACCOUNTED;
        if (!rest && strlen(name) == size && strncmp(name, text, size) == 0) {
            *rule = (struct pythia_call_rule){(enum pythia_call_part)i, equals + 1};
            return true;
        }
    }
    return false;
}

static int read_rules(struct breaking *b)
{
    for (size_t i = 0; i < b->s->parts.count; i++)
        if (!read_breakdown_rule(b->s->parts.texts[i], &b->rules[i])) {
            pythia_log(PYTHIA_LOG_ERROR,
                       "--part %s: expected PART=PATTERN, where PART is in_ser, rdma, handler, "
                       "in_deser, out_ser or o_cb",
                       b->s->parts.texts[i]);
            return PYTHIA_EUSAGE;
        }
    return PYTHIA_OK;
}

static int begin_breakdown(void *context)
{
    struct breaking *b = context;
    pythia_breakdown_destroy(b->breakdown);
    b->breakdown = NULL;
    return pythia_breakdown_create(b->reading.vocabulary, b->rules, b->s->parts.count,
                                   &b->breakdown);
}

static int add_to_breakdown(void *context, const struct pythia_trace *trace)
{
    struct breaking *b = context;
    return pythia_breakdown_add(b->breakdown, trace);
}

static int write_breakdown(const struct breaking *b)
{
    const struct pythia__terminal terminal = pythia__terminal_of(b->s->output);
    const struct pythia_breakdown_view view = {.top = (size_t)b->s->top,
                                               .callpath = b->s->callpath,
                                               .format = (enum pythia_report_format)b->s->format,
                                               .width = terminal.width,
                                               .colour = terminal.colour,
                                               .ascii = terminal.ascii};
    struct pythia_buf text = {0};
    int status = pythia_breakdown_write(b->breakdown, &view, &text);
    status = pythia__write_text(b->s->output, status, &text);
    return status;
}

/* Sums have no spans. */
static int check_breakdown_use(const struct settings *s)
{
    const char *with = s->parts.count > 0          ? "--part"
                       : s->read.skew              ? "--skew"
                       : s->read.input_format != 0 ? "--input-format"
                                                   : NULL;
    return pythia__check_summaries(s->summaries, with);
}

static int add_breakdown_summaries(void *context, const struct pythia_call_summary *all,
                                   size_t count)
{
    const struct breaking *b = context;
    return pythia_breakdown_add_summaries(b->breakdown, all, count);
}

static int run_breakdown(const void *settings, char *const *operands, int count)
{
    struct breaking b = {.s = settings};
    if (check_breakdown_use(b.s) != PYTHIA_OK || read_rules(&b) != PYTHIA_OK)
        return PYTHIA__EXIT_USAGE;
    const struct pythia_consumer consumer = {begin_breakdown, add_to_breakdown, &b, NULL};
    int code;
    int status =
        pythia__reading_begin(&b.reading, &b.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__read_calls(&b.reading, b.s->summaries, &consumer, add_breakdown_summaries);
    if (status != PYTHIA_OK)
        goto out;
    status = write_breakdown(&b);
out:
    code = pythia__reading_exit(&b.reading, status);
    pythia_breakdown_destroy(b.breakdown);
    pythia__reading_end(&b.reading);
    return code;
}

const struct pythia__command pythia__cmd_breakdown = {
    .name = "breakdown",
    .operands = "PATH...",
    .summary = "Show where the time of calls between services goes",
    .description =
        "Splits each call from one service to another into the intervals of SYMBIOSYS: "
        "serializing the request, transferring it, waiting in the target's queue, deserializing "
        "it, the target itself and the calls that it makes, serializing the answer, receiving the "
        "answer. The rest is unaccounted: the network, and everything without a trace point. The "
        "intervals add up to the call, to the nanosecond. For each callpath it lists the mean of "
        "each interval, its share of the call, and its share of the variance of the call's time. "
        "A large share of the variance that is unaccounted shows where a trace point is "
        "missing.\n\n"
        "A call is a pair of spans of kind client and server, or producer and consumer, or a span "
        "whose parent belongs to another service. The names of the other spans tell their "
        "interval (pack, encode, serialize, marshal; unpack, decode, deserialize, unmarshal; "
        "queue; rdma, bulk_transfer; alone or after a dot), or --part does. Where there is no "
        "such span, key-values of the client or server span are used: iv.in_ser, iv.rdma, "
        "iv.handler, iv.in_deser, iv.out_ser, iv.o_cb and iv.t_cb in nanoseconds, or variables of "
        "SYMBIOSYS (variable.input_serialization_time and so on) in seconds.\n\n"
        "With --summaries it reads what programs have summed up themselves, as pythia profile "
        "--summaries does. Profiles of SYMBIOSYS have the intervals and the pools of the target: "
        "how many tasks there were as a call arrived, and how many of them could run. What one "
        "side has measured is the mean of the calls that it counted; sums have no variance.",
    .examples = "# Where does the time of calls go?\n"
                "pythia breakdown requests.jsonl\n"
                "# Count spans of a connection pool as waiting in the queue\n"
                "pythia breakdown --part 'handler=*:pool.wait' requests.jsonl\n"
                "# The same of the profiles that the processes of SYMBIOSYS wrote\n"
                "pythia breakdown --summaries profiles/\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-profile(1), pythia-tree(1), pythia-report(5)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_breakdown,
};
