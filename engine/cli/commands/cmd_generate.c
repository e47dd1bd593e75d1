#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "generate_truth.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/otlp_writer.h"
#include "pythia/service_case.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "pythia/workflow.h"
#include "shared/command.h"
#include "shared/output.h"

struct settings {
    int like, shape, drift, format;
    int64_t nodes, requests, seed, services, hosts, tick, distractors, drift_requests;
    double strength, duration, interval, spread, noise, load, forks, async, retries, loops, unknown,
        spikes, spike_size;
    bool known, timed;
    const char *causes, *open, *output, *truth;
};

#define OF(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_CHOICE("like", 0, "workflow" PYTHIA_SERVICE_CASES(PYTHIA_SERVICE_CASE_CHOICE),
                  "workflow", OF(like),
                  "Make a seeded workflow, or one of the data services whose figures are "
                  "published, to which only --requests, --seed, --format, --output and --truth "
                  "apply"),
    PYTHIA_CHOICE("shape", 0, "bushy|deep|openstack", "bushy", OF(shape),
                  "Shape of the calling context tree: bushy, deep (chains), or openstack "
                  "(services that call each other, repeated database leaves, shared trace points)"),
    PYTHIA_INTEGER("nodes", 'n', "N", "500", 1, PYTHIA_WORKFLOW_NODES, OF(nodes),
                   "Nodes of the tree: calls in context"),
    PYTHIA_INTEGER("requests", 'r', "N", "1000", 1, 1e12, OF(requests), "Requests to write"),
    PYTHIA_TEXT_OPTION("causes", 'c', "LIST", OF(causes),
                       "Causes of the latency variance, up to 8, separated by commas: KIND, "
                       "KIND:PARAMETER or KIND:PARAMETER:STRENGTH; or none (default sleep:0.3)"),
    PYTHIA_REAL("strength", 's', "X", "0.3", 0, 100, OF(strength),
                "Strength of causes that give none, in mean durations of a request"),
    PYTHIA_REAL("noise", 0, "CV", "0.05", 0, 0.5, OF(noise),
                "Coefficient of variation of the time of each call"),
    PYTHIA_REAL("load", 0, "CV", "0", 0, 1, OF(load),
                "Coefficient of variation of a factor common to all calls of a request"),
    PYTHIA_REAL("spread", 0, "SD", "1", 0, 3, OF(spread),
                "Standard deviation of the logarithm of the mean times of nodes"),
    PYTHIA_REAL("forks", 0, "SHARE", "0", 0, 1, OF(forks),
                "Share of the nodes with several children that call them in parallel"),
    PYTHIA_REAL("async", 0, "SHARE", "0", 0, 1, OF(async),
                "Share of the nodes that begin when their parent ends (openstack: of the entry "
                "points)"),
    PYTHIA_REAL("retries", 0, "SHARE", "0", 0, 1, OF(retries),
                "Share of small subtrees that sometimes fail and are called again"),
    PYTHIA_REAL("loops", 0, "SHARE", "0", 0, 1, OF(loops),
                "Share of small subtrees that are called 1 to 5 times"),
    PYTHIA_REAL("unknown", 0, "SHARE", "0", 0, 1, OF(unknown),
                "Share of the nodes to hide from a search space; see --known"),
    PYTHIA_FLAG("known", 0, OF(known),
                "Leave out the nodes that --unknown hides: to make a search space"),
    PYTHIA_REAL("spikes", 0, "RATE", "0", 0, 1, OF(spikes),
                "Probability that a call takes very much longer, such as 0.004"),
    PYTHIA_REAL("spike-size", 0, "X", "10", 0, 1000, OF(spike_size),
                "Smallest spike, in mean times of a call"),
    PYTHIA_INTEGER("tick", 0, "NS", "1", 1, 1e12, OF(tick),
                   "Resolution of the clocks; 1000000 is "
                   "1 ms"),
    PYTHIA_CHOICE("drift", 0, "none|grow|move", "none", OF(drift),
                  "How causes change over time: not at all, grow from nothing, or move to other "
                  "nodes"),
    PYTHIA_INTEGER("drift-requests", 0, "N", "1000", 1, 1e12, OF(drift_requests),
                   "Requests until causes are fully grown, or move"),
    PYTHIA_REAL("duration", 0, "MS", "1000", 1e-3, 1e7, OF(duration),
                "Mean duration of a request without causes"),
    PYTHIA_REAL("interval", 0, "MS", "0", 0, 1e7, OF(interval),
                "Time between the starts of requests; 0: the mean duration"),
    PYTHIA_INTEGER("services", 0, "N", "0", 0, PYTHIA_WORKFLOW_HOSTS, OF(services),
                   "Services; 0: 1, or 6 for openstack"),
    PYTHIA_INTEGER("hosts", 0, "N", "4", 1, PYTHIA_WORKFLOW_HOSTS, OF(hosts),
                   "Hosts of each service"),
    PYTHIA_INTEGER("distractors", 0, "N", "8", 0, 1000, OF(distractors),
                   "Keys of requests that are unrelated to the causes"),
    PYTHIA_FLAG("timed", 0, OF(timed),
                "Give each span the keys busy_ns and idle_ns, which measure its duration"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, OF(seed),
                   "Random seed; the same seed gives the "
                   "same bytes"),
    PYTHIA_TEXT_OPTION(
        "open", 0, "FILE", OF(open),
        "Write only spans of the trace points in FILE: one id or pattern (* ?) per line"),
    PYTHIA_CHOICE("format", 'f', "otlp-json|otlp-proto", "otlp-json", OF(format),
                  "otlp-json (a batch of spans per line) or otlp-proto (one TracesData)"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OF(output),
                       "Write to a file (default standard output)"),
    PYTHIA_TEXT_OPTION("truth", 't', "FILE", OF(truth),
                       "Write the truth as JSON: the causes, their places and their keys"),
    {0},
};

/* A batch is written once it has so many spans and its request is complete; or so many, whatever is
 * complete: readers hold a line of JSON in memory. */
#define BATCH_SPANS 512
#define BATCH_MOST  4096
#define PIECE_BYTES ((size_t)1024 * 1024)

struct generating {
    const struct settings *s;
    struct pythia_workflow_options options;
    struct pythia_vocabulary *vocabulary;
    struct pythia_workflow *workflow;         /* or this: */
    struct pythia_service_case *service_case; /* NULL: a workflow */
    struct pythia_otlp_writer *writer;
    bool *open; /* by trace point; NULL: all */
    struct pythia_buf piece;
    struct pythia__output output;
};

/* ---- what is asked for ---- */

static int wrong_cause(const char *cause, size_t size, const char *why)
{
    pythia_log(PYTHIA_LOG_ERROR, "--causes: '%.*s': %s (see pythia generate --help)", (int)size,
               cause, why);
    return PYTHIA_EUSAGE;
}

/* A number up to the next colon or comma. */
static bool read_cause_number(const char **at, double *out)
{
    char *end;
    if (!strchr("+-.0123456789", **at) || **at == '\0')
        return false;
    *out = strtod(*at, &end);
    bool good = end != *at && strchr(":,", *end);
    *at = end;
    return good;
}

/* KIND[:PARAMETER[:STRENGTH]] of `size` characters. */
static int read_cause(const char *text, size_t size, double strength,
                      struct pythia_workflow_cause *out)
{
    size_t name = strcspn(text, ":,");
    *out = (struct pythia_workflow_cause){.kind = PYTHIA_PLANTED_KINDS, .strength = strength};
    for (int i = 0; i < PYTHIA_PLANTED_KINDS; i++) {
        const char *known = pythia_planted_name((enum pythia_planted_kind)i);
        if (strlen(known) == name && memcmp(known, text, name) == 0)
            out->kind = (enum pythia_planted_kind)i;
    }
    if (out->kind == PYTHIA_PLANTED_KINDS && size == 4 && memcmp(text, "none", size) == 0)
        return wrong_cause(text, size, "means no cause, so it cannot be combined with others");
    if (out->kind == PYTHIA_PLANTED_KINDS)
        return wrong_cause(text, size, "there is no such kind of cause");
    const char *at = text + name, *end = text + size;
    double *const numbers[] = {&out->parameter, &out->strength};
    for (size_t i = 0; i < 2 && at < end && *at == ':'; i++) {
        at++;
        if (i == 0 && *at == ':') /* the parameter is left to its default */
            continue;
        if (!read_cause_number(&at, numbers[i]))
            return wrong_cause(text, size, "expected a number after the colon");
        if (i == 0 && *numbers[i] == 0)
            return wrong_cause(text, size, "the parameter has to be above 0");
    }
    return at == end ? PYTHIA_OK : wrong_cause(text, size, "there are more than two numbers");
}

static int read_causes(struct generating *g)
{
    const char *at = g->s->causes ? g->s->causes : "sleep:0.3";
    if (strcmp(at, "none") == 0)
        return PYTHIA_OK;
    for (;;) {
        size_t size = strcspn(at, ",");
        if (g->options.cause_count == PYTHIA_WORKFLOW_CAUSES)
            return wrong_cause(at, size, "at most 8 causes are possible");
        struct pythia_workflow_cause *cause = &g->options.causes[g->options.cause_count];
        int status = read_cause(at, size, g->s->strength, cause);
        if (status != PYTHIA_OK)
            return status;
        g->options.cause_count++;
        if (at[size] == '\0')
            return PYTHIA_OK;
        at += size + 1;
    }
}

/* A truth in the place of the traces would be all that is there. */
static int check_outputs(const struct settings *s)
{
    const char *output = s->output ? s->output : "-";
    if (!s->truth || strcmp(s->truth, output) != 0)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "--truth and --output name the same file (pythia generate "
                                 "--help lists the options)");
    return PYTHIA_EUSAGE;
}

static int read_settings(struct generating *g)
{
    const struct settings *s = g->s;
    pythia_workflow_options_default(&g->options);
    struct pythia_workflow_options *o = &g->options;
    o->shape = (enum pythia_workflow_shape)s->shape;
    o->drift = (enum pythia_workflow_drift)s->drift;
    o->nodes = (uint32_t)s->nodes;
    o->services = (uint32_t)s->services;
    o->hosts = (uint32_t)s->hosts;
    o->distractors = (uint32_t)s->distractors;
    o->timed = s->timed;
    o->seed = (uint64_t)s->seed;
    o->tick_ns = (uint64_t)s->tick;
    o->drift_requests = (uint64_t)s->drift_requests;
    o->duration_ns = s->duration * 1e6;
    o->interval_ns = s->interval * 1e6;
    o->spread = s->spread;
    o->noise = s->noise;
    o->load = s->load;
    o->forks = s->forks;
    o->async = s->async;
    o->retries = s->retries;
    o->loops = s->loops;
    o->unknown = s->unknown;
    o->spikes = s->spikes;
    o->spike_size = s->spike_size;
    return read_causes(g);
}

/* The trace points in a file, as flags of those of the workflow. */
static int read_open_list(struct generating *g)
{
    struct pythia_open_points *open = NULL;
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    if (!g->s->open)
        return PYTHIA_OK;
    uint32_t count = pythia_vocabulary_tracepoints(g->vocabulary), found = 0;
    g->open = pythia_calloc(count, sizeof(*g->open));
    int status = g->open ? pythia_file_read(g->s->open, &text, &why) : PYTHIA_ENOMEM;
    if (why.status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    if (status != PYTHIA_OK ||
        (status = pythia_open_points_create(g->vocabulary, &open)) != PYTHIA_OK ||
        (status = pythia_open_points_read(open, pythia_buf_text(&text))) != PYTHIA_OK)
        goto out;
    for (uint32_t i = 0; i < count; i++)
        found += g->open[i] = pythia_open_points_has(open, i);
    if (found == 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "%s: matches no trace point of this workflow, so no span is written",
                   g->s->open);
out:
    pythia_open_points_destroy(open);
    pythia_buf_free(&text);
    return status;
}

/* ---- writing ---- */

static int flush_piece(struct generating *g)
{
    int status = pythia_otlp_writer_flush(g->writer, &g->piece);
    if (status != PYTHIA_OK || g->piece.size < PIECE_BYTES)
        return status;
    status = pythia__output_add(&g->output, pythia_buf_text(&g->piece));
    pythia_buf_clear(&g->piece);
    return status;
}

static int write_generated_span(void *context, const struct pythia_trace_id *trace,
                                const struct pythia_span *span)
{
    struct generating *g = context;
    int status = pythia_otlp_writer_add(g->writer, trace, span);
    if (status != PYTHIA_OK)
        return status;
    return pythia_otlp_writer_spans(g->writer) >= BATCH_MOST ? flush_piece(g) : PYTHIA_OK;
}

static int write_request(struct generating *g, uint64_t number)
{
    const struct pythia_workflow_view view = {.open = g->open, .known_only = g->s->known};
    return g->service_case
               ? pythia_service_case_request(g->service_case, number, write_generated_span, g)
               : pythia_workflow_request(g->workflow, number, &view, write_generated_span, g);
}

static int write_generated_requests(struct generating *g)
{
    int status = PYTHIA_OK;
    for (uint64_t i = 0; i < (uint64_t)g->s->requests; i++) {
        if ((status = write_request(g, i)) != PYTHIA_OK)
            return status;
        if (pythia_otlp_writer_spans(g->writer) >= BATCH_SPANS)
            status = flush_piece(g);
        if (status != PYTHIA_OK)
            return status;
    }
    if ((status = pythia_otlp_writer_flush(g->writer, &g->piece)) != PYTHIA_OK)
        return status;
    return pythia__output_add(&g->output, pythia_buf_text(&g->piece));
}

/* Records of SYMBIOSYS instead of spans. */
static int write_records(struct generating *g)
{
    for (uint64_t i = 0; i < PYTHIA_SYMB_REQUESTS; i++) {
        pythia_service_case_records(i, &g->piece);
        if (g->piece.size < PIECE_BYTES && i + 1 < PYTHIA_SYMB_REQUESTS)
            continue;
        int status = pythia_buf_status(&g->piece);
        if (status != PYTHIA_OK ||
            (status = pythia__output_add(&g->output, pythia_buf_text(&g->piece))) != PYTHIA_OK)
            return status;
        pythia_buf_clear(&g->piece);
    }
    return PYTHIA_OK;
}

static int write_capture(struct generating *g)
{
    const bool records = g->s->like == PYTHIA_CASE_SYMB_1M + 1;
    int status = pythia__output_begin(&g->output, g->s->output);
    if (status == PYTHIA_OK)
        status = records ? write_records(g) : write_generated_requests(g);
    status = pythia__output_end(&g->output, status);
    if (status != PYTHIA_OK || !g->s->truth)
        return status;
    pythia_buf_clear(&g->piece);
    status = g->s->like
                 ? pythia__truth_of_case((enum pythia_service_case_name)(g->s->like - 1), &g->piece)
                 : pythia__truth_of(g->workflow, &g->options, g->vocabulary,
                                    (uint64_t)g->s->requests, &g->piece);
    if (status != PYTHIA_OK)
        return status;
    return pythia__write_output(g->s->truth, pythia_buf_text(&g->piece));
}

static int make_service_case(struct generating *g)
{
    if (g->s->causes || g->s->open || g->s->known) {
        pythia_log(PYTHIA_LOG_ERROR, "--like: its causes are planted and all its trace points are "
                                     "open; leave out --causes, --open and --known");
        return PYTHIA_EUSAGE;
    }
    return pythia_service_case_create(g->vocabulary,
                                      (enum pythia_service_case_name)(g->s->like - 1),
                                      (uint64_t)g->s->seed, &g->service_case);
}

static int make_asked_workflow(struct generating *g)
{
    struct pythia_error why = {0};
    int status = read_settings(g);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_workflow_create(g->vocabulary, &g->options, &g->workflow, &why);
    if (why.status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "--causes: %s (pythia generate --help lists the options)",
                   why.sentence);
    return status == PYTHIA_OK ? read_open_list(g) : status;
}

static int generate_all(struct generating *g)
{
    int status = check_outputs(g->s);
    if (status != PYTHIA_OK || (status = pythia_vocabulary_create(&g->vocabulary)) != PYTHIA_OK)
        return status;
    if ((status = g->s->like ? make_service_case(g) : make_asked_workflow(g)) != PYTHIA_OK)
        return status;
    status = pythia_otlp_writer_create(
        g->vocabulary, g->s->format ? PYTHIA_OTLP_PROTO : PYTHIA_OTLP_JSON, &g->writer);
    if (status != PYTHIA_OK)
        return status;
    return write_capture(g);
}

static int run_generate(const void *settings, char *const *operands, int count)
{
    (void)operands;
    (void)count;
    struct generating g = {.s = settings};
    int status = generate_all(&g);
    pythia_otlp_writer_destroy(g.writer);
    pythia_workflow_destroy(g.workflow);
    pythia_service_case_destroy(g.service_case);
    pythia_vocabulary_destroy(g.vocabulary);
    pythia_free(g.open);
    pythia_buf_free(&g.piece);
    return pythia__exit_of(status);
}

const struct pythia__command pythia__cmd_generate = {
    .name = "generate",
    .operands = "",
    .summary = "Generate requests whose cause of variance is known",
    .description =
        "Writes traces of a random workflow: one type of request, with a calling context tree, a "
        "time for each node, and causes of variance, planted on random nodes on which the "
        "duration depends. With --truth it also writes what a diagnosis should find.\n\n"
        "Causes (--causes), each with its parameter and the default of it: sleep:0.3, in that "
        "share of requests a node takes longer by the strength; exponential:1 and uniform:1, as "
        "sleep, but of random size with the strength as mean; contention:0.6, a lock of that "
        "utilisation, with the key queue_length; host, one host of a service is slow; "
        "compensating:1, one node takes longer by the time that another takes less, or by that "
        "share of it; numeric, time that grows with the key item_count; categorical:0.2, extra "
        "time for one value of the key plan, which that share of requests has; shift:0.5, time at "
        "one node or at another, depending on the key cache; failing:0.5, that share of requests "
        "ends at a node, and the others continue for the strength, with the key free_units; "
        "own-time:1, as uniform, but spread over the time that a node spends before, between and "
        "after its children; difference, time that grows with the key arrived_count and shrinks "
        "with the key served_count; replica, three of the hosts of a service serve a request, and "
        "one host is slow; rare:0.01, only that share of requests makes a call, which takes the "
        "strength; middle, time for one value of the key shard, in the middle of its numbers; "
        "slow, one host of a service is slow in each call, by that part of its time; setting, a "
        "wait of one of four lengths, with the key pause_ms; tenant, four of 40 values of that key "
        "are slow. "
        "contention::0.5 is a lock of strength 0.5.\n\n"
        "Strengths are in mean durations of a request without causes. A cause affects the first "
        "call of its node in a request. --spikes and --tick make a diagnosis harder: rare huge "
        "values, and clocks of low resolution. --open and --known leave out spans without "
        "changing the times, ids and key-values of the rest.\n\n"
        "With --like it writes calls to data services with the proportions that are published of "
        "them "
        "(Ramesh et al., SYMBIOSYS, IPDPS 2021): mobject, two operations and what they call, of "
        "which every eighth write makes 11 calls instead of 12; sonata, 27 % of whose time is "
        "input deserialization; hepnos-c1 to hepnos-c7, configurations of one service, in each of "
        "which another key goes with the time; and symb-1m, a million records of a process of "
        "SYMBIOSYS, of 250 000 requests, in its own format.",
    .examples =
        "# Diagnose a slow path in 5 % of the requests\n"
        "pythia generate --causes sleep:0.05 --truth truth.json | pythia replay -\n"
        "# A lock and a slow host in a system like OpenStack, with forks and asynchronous work\n"
        "pythia generate --shape openstack --causes contention,host --forks 0.3 --async 0.5 "
        "--output requests.jsonl\n"
        "# Where the time of a service goes, and what goes with it\n"
        "pythia generate --like hepnos-c1 | pythia breakdown -\n"
        "# A search space that knows 90 % of a workflow\n"
        "pythia generate --unknown 0.1 --known | pythia space build --output space.json -\n",
    .exits = PYTHIA__EXITS_ALONE,
    .see_also = "pythia-evaluate(1), pythia-replay(1)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_generate,
};
