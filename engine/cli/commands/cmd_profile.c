#include <stddef.h>

#include "profile_folded.h"
#include "pythia/log.h"
#include "pythia/profile_report.h"
#include "pythia/status.h"
#include "read_summaries.h"
#include "shared/command.h"
#include "shared/terminal.h"

struct settings {
    struct pythia__read_settings read;
    int64_t top;
    int by, sort, format;
    bool critical, per_instance, pairs, spark, summaries;
    const char *callpath, *output, *folded;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("top", 'n', "N", "20", 1, 1e9, offsetof(struct settings, top),
                   "Most rows and pairs to show"),
    PYTHIA_CHOICE("by", 0, "callpath|name|leaf|level", "callpath", offsetof(struct settings, by),
                  "What a row is: a callpath, the chain of trace points from the root; a trace "
                  "point, wherever it is called; a trace point, of spans with nothing below them; "
                  "or a trace point and its level, 1 for a root"),
    PYTHIA_CHOICE("sort", 0, "total|exclusive|count|p99|var|cov", "total",
                  offsetof(struct settings, sort),
                  "Order of the rows: most time, most exclusive time, most calls, largest 99th "
                  "percentile, variance or coefficient of variation"),
    PYTHIA_TEXT_OPTION("callpath", 'c', "PATTERN", offsetof(struct settings, callpath),
                       "Show only rows whose name matches, with * and ?; a callpath is named as "
                       "in 'front:call > store:get'"),
    PYTHIA_FLAG("critical", 0, offsetof(struct settings, critical),
                "Count only the time that spans are on the critical path of their request"),
    PYTHIA_FLAG("per-instance", 0, offsetof(struct settings, per_instance),
                "Show each row by process too, and how unevenly calls are spread"),
    PYTHIA_TEXT_OPTION("folded", 0, "DIR", offsetof(struct settings, folded),
                       "Also write the own time of callpaths as folded stacks, a file for each "
                       "process: DIR/profiler.PID.folded"),
    PYTHIA_FLAG("pairs", 0, offsetof(struct settings, pairs),
                "Show calls by the processes that make and that answer them, also where only one "
                "of both is traced"),
    PYTHIA_FLAG("spark", 0, offsetof(struct settings, spark),
                "Show calls and time of each row over time"),
    PYTHIA_FLAG("summaries", 0, offsetof(struct settings, summaries),
                "The files hold sums over calls instead of traces: profiles of SYMBIOSYS or margo "
                "(.csv) or statistics of margo (.stats.json)"),
    PYTHIA_CHOICE("format", 'f', "text|json|markdown|html|dot", "text",
                  offsetof(struct settings, format),
                  "Form of the output; pythia-report(5) describes the JSON; dot is a graph of "
                  "services for Graphviz, with the calls between them"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "Write to a file (default standard output)"),
    {0},
};

struct profiling {
    const struct settings *s;
    struct pythia__reading reading;
    struct pythia_profile *profile;
};

static int restart_profile(void *context)
{
    struct profiling *p = context;
    const struct settings *s = p->s;
    const struct pythia_profile_options options_of_profile = {
        .by = (enum pythia_profile_by)s->by,
        .critical = s->critical,
        .latency = p->reading.groups.latency,
        .processes = s->per_instance || s->pairs || s->folded || s->format == PYTHIA_PROFILE_DOT,
        .slots = s->spark};
    pythia_profile_destroy(p->profile);
    p->profile = NULL;
    return pythia_profile_create(p->reading.vocabulary, &options_of_profile, &p->profile);
}

static int add_to_profile(void *context, const struct pythia_trace *trace)
{
    struct profiling *p = context;
    return pythia_profile_add(p->profile, trace);
}

static int write_profile(const struct profiling *p)
{
    const struct settings *s = p->s;
    const struct pythia__terminal terminal = pythia__terminal_of(s->output);
    const struct pythia_profile_view view = {.top = (size_t)s->top,
                                             .callpath = s->callpath,
                                             .sort = (enum pythia_profile_sort)s->sort,
                                             .format = (enum pythia_profile_format)s->format,
                                             .instances = s->per_instance,
                                             .pairs = s->pairs,
                                             .slots = s->spark,
                                             .width = terminal.width,
                                             .colour = terminal.colour,
                                             .ascii = terminal.ascii};
    struct pythia_buf text = {0};
    int status = pythia_profile_write(p->profile, &view, &text);
    status = pythia__write_text(s->output, status, &text);
    if (status == PYTHIA_OK && s->folded)
        status = pythia__profile_folded(p->profile, s->folded);
    return status;
}

/* Sums have no spans: neither their time on critical paths nor when they were. */
static int check_summaries(const struct settings *s)
{
    const char *with = s->critical                    ? "--critical"
                       : s->spark                     ? "--spark"
                       : s->folded                    ? "--folded"
                       : s->by == PYTHIA_PROFILE_LEAF ? "--by leaf"
                       : s->read.skew                 ? "--skew"
                       : s->read.input_format != 0    ? "--input-format"
                                                      : NULL;
    return pythia__check_summaries(s->summaries, with);
}

static int add_profile_summaries(void *context, const struct pythia_call_summary *all, size_t count)
{
    const struct profiling *p = context;
    return pythia_profile_add_summaries(p->profile, all, count);
}

static int run_profile(const void *settings, char *const *operands, int count)
{
    struct profiling p = {.s = settings};
    const struct pythia_consumer consumer = {restart_profile, add_to_profile, &p, NULL};
    int code, status = check_summaries(p.s);
    if (p.s->folded && p.s->by != PYTHIA_PROFILE_CALLPATH) {
        pythia_log(PYTHIA_LOG_ERROR, "--folded requires --by callpath");
        status = PYTHIA_EUSAGE;
    }
    if (status != PYTHIA_OK)
        return PYTHIA__EXIT_USAGE;
    status = pythia__reading_begin(&p.reading, &p.s->read, (const char *const *)operands, count);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__read_calls(&p.reading, p.s->summaries, &consumer, add_profile_summaries);
    if (status != PYTHIA_OK)
        goto out;
    status = write_profile(&p);
out:
    code = pythia__reading_exit(&p.reading, status);
    pythia_profile_destroy(p.profile);
    pythia__reading_end(&p.reading);
    return code;
}

const struct pythia__command pythia__cmd_profile = {
    .name = "profile",
    .operands = "PATH...",
    .summary = "Show how often trace points are hit and how long they take, by callpath",
    .description =
        "Adds up the spans of all requests by callpath: how often it was called, the time of all "
        "calls and its share of the time of all requests, the share during which nothing below it "
        "ran (own), and mean, quantiles and extremes of a call. Quantiles are within 1 %. Spans of "
        "a call between services say to which service it goes, or from which it comes; calls of "
        "which only one side has spans are counted.\n\n"
        "With --critical a span counts only while it is on the critical path of its request: the "
        "time that, if it were shorter, would make the request shorter. Its calls are how often it "
        "is on the path.\n\n"
        "With --summaries it reads what programs have summed up themselves, a file for each "
        "process: profile-HOST-PID.csv of SYMBIOSYS or of margo before 0.11, and NAME.stats.json "
        "of margo since, compressed or not; of a folder the files with such names. Callpaths are "
        "those that traces of the same programs have: client and server of each RPC, below each "
        "other. SYMBIOSYS keeps four RPCs of a callpath, margo two. Time of its own is what calls "
        "below do not take. Sums have no quantiles, and "
        "those of SYMBIOSYS no variance. pythia breakdown --summaries shows intervals "
        "and queues; sizes and slots of time are not shown.",
    .examples =
        "# The ten callpaths with most time\n"
        "pythia profile --top 10 datasets/openstack/contention.jsonl.zst\n"
        "# Which of them make requests as long as they are\n"
        "pythia profile --critical --sort exclusive datasets/openstack/contention.jsonl.zst\n"
        "# The time of each name, wherever it is called\n"
        "pythia profile --by name datasets/openstack/contention.jsonl.zst\n"
        "# Does one process have more than its share of the load?\n"
        "pythia profile --per-instance --top 3 datasets/openstack/contention.jsonl.zst\n"
        "# A flame graph of each process\n"
        "pythia profile -q --folded stacks datasets/openstack/contention.jsonl.zst\n"
        "# What the processes of a data service have summed up themselves\n"
        "pythia profile --summaries --pairs profiles/\n"
        "# The services and the calls between them, to be drawn by Graphviz\n"
        "pythia profile --format dot datasets/openstack/contention.jsonl.zst > services.dot\n",
    .exits = PYTHIA__EXITS_READING,
    .see_also = "pythia-breakdown(1), pythia-replay(1), pythia-tree(1), pythia-report(5)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_profile,
};
