/* One walk through the spans of a trace, callers first. Each span gets the part of its call that
 * it tells of, and the piece of the call that no earlier sibling has taken; what its children leave
 * of that piece is its own. Timers are taken off what is left at the end. */
#include "pythia/call_parts.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static const struct {
    const char *name, *words, *variable; /* variable: SYMBIOSYS' name for the timer, or NULL */
} parts[PYTHIA_CALL_TIMES] = {
    [PYTHIA_CALL_IN_SER] = {"in_ser", "input serialization", "input_serialization_time"},
    [PYTHIA_CALL_RDMA] = {"rdma", "bulk transfer", "internal_rdma_transfer_time"},
    [PYTHIA_CALL_HANDLER] = {"handler", "wait in the queue", "handler_time"},
    [PYTHIA_CALL_IN_DESER] = {"in_deser", "input deserialization", "input_deserialization_time"},
    [PYTHIA_CALL_CALLS] = {"calls", "calls of its own", NULL},
    [PYTHIA_CALL_OWN] = {"own", "the rest of the target", NULL},
    [PYTHIA_CALL_OUT_SER] = {"out_ser", "output serialization", "output_serialization_time"},
    [PYTHIA_CALL_O_CB] = {"o_cb", "caller's completion callback",
                          "origin_completion_callback_time"},
    [PYTHIA_CALL_UNACCOUNTED] = {"unaccounted", "unaccounted", NULL},
    [PYTHIA_CALL_T_CB] = {"t_cb", "target's completion callback",
                          "target_completion_callback_time"},
};

const char *pythia_call_part_name(enum pythia_call_part part)
{
    return parts[part].name;
}

const char *pythia_call_part_words(enum pythia_call_part part)
{
    return parts[part].words;
}

/* The part that the name of a span stands for, whichever side it is on. */
enum action {
    ACTION_UNKNOWN, /* not looked at */
    ACTION_NONE,
    ACTION_WRITE,
    ACTION_READ,
    ACTION_QUEUE,
    ACTION_FETCH,
    ACTION_OF_RULE /* + part */
};

/* Names, or the last components of names with dots. */
static const struct {
    const char *name;
    enum action action;
} actions[] = {
    {"pack", ACTION_WRITE},      {"encode", ACTION_WRITE},        {"serialize", ACTION_WRITE},
    {"serialise", ACTION_WRITE}, {"marshal", ACTION_WRITE},       {"unpack", ACTION_READ},
    {"decode", ACTION_READ},     {"deserialize", ACTION_READ},    {"deserialise", ACTION_READ},
    {"unmarshal", ACTION_READ},  {"queue", ACTION_QUEUE},         {"queue_wait", ACTION_QUEUE},
    {"rdma", ACTION_FETCH},      {"bulk_transfer", ACTION_FETCH},
};

/* Where the time of a span goes. */
struct place {
    uint64_t from_ns, to_ns; /* the piece of the call; cut to the parent's */
    uint64_t taken_ns;       /* up to here children have taken it */
    uint64_t own_ns;
    uint32_t call;              /* PYTHIA_NO_SPAN: it is outside of all calls */
    enum pythia_call_part part; /* of own_ns */
    bool in_target;
    bool outer; /* a client span around another one: no call */
};

/* A key-value that is a timer. */
struct timer {
    uint32_t key;
    enum pythia_call_part part;
    double unit_ns;
};

struct pythia_call_parts {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_call_rule *rules;
    size_t rule_count;
    uint8_t *actions; /* by trace point */
    size_t action_capacity;
    struct timer timers[2 * PYTHIA_CALL_TIMES];
    size_t timer_count;
    uint32_t looked_at; /* strings */
    struct place *places;
    size_t place_capacity;
    struct pythia_call *calls;
    size_t call_count, call_capacity;
};

int pythia_call_parts_create(const struct pythia_vocabulary *vocabulary,
                             const struct pythia_call_rule *rules, size_t count,
                             struct pythia_call_parts **out)
{
    struct pythia_call_parts *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return PYTHIA_ENOMEM;
    c->vocabulary = vocabulary;
    c->rules = rules;
    c->rule_count = count;
    *out = c;
    return PYTHIA_OK;
}

void pythia_call_parts_destroy(struct pythia_call_parts *c)
{
    if (!c)
        return;
    pythia_free(c->actions);
    pythia_free(c->places);
    pythia_free(c->calls);
    pythia_free(c);
}

int64_t pythia_call_exec_ns(const struct pythia_call *call)
{
    return call->parts_ns[PYTHIA_CALL_IN_DESER] + call->parts_ns[PYTHIA_CALL_CALLS] +
           call->parts_ns[PYTHIA_CALL_OWN];
}

/* ---- which part a span tells of ---- */

static uint8_t find_action(const struct pythia_call_parts *c, uint32_t tracepoint)
{
    const struct pythia_tracepoint *t = pythia_vocabulary_tracepoint_at(c->vocabulary, tracepoint);
    const char *id = pythia_vocabulary_text(c->vocabulary, t->id).bytes,
               *name = pythia_vocabulary_text(c->vocabulary, t->name).bytes,
               *dot = strrchr(name, '.');
    for (size_t i = 0; i < c->rule_count; i++)
        if (fnmatch(c->rules[i].pattern, id, 0) == 0)
            return (uint8_t)(ACTION_OF_RULE + c->rules[i].part);
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (strcmp(dot ? dot + 1 : name, actions[i].name) == 0)
            return (uint8_t)actions[i].action;
    return ACTION_NONE;
}

static int action_of(struct pythia_call_parts *c, uint32_t tracepoint, uint8_t *action)
{
    if (pythia_reach(&c->actions, &c->action_capacity, tracepoint, sizeof(*c->actions)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (c->actions[tracepoint] == ACTION_UNKNOWN)
        c->actions[tracepoint] = find_action(c, tracepoint);
    *action = c->actions[tracepoint];
    return PYTHIA_OK;
}

/* A word means different parts on the two sides: the caller writes the request, the target
 * the answer. Where it means none, the span belongs to what it is in. */
static enum pythia_call_part part_of(uint8_t action, bool in_target, enum pythia_call_part around)
{
    switch (action) {
    case ACTION_WRITE:
        return in_target ? PYTHIA_CALL_OUT_SER : PYTHIA_CALL_IN_SER;
    case ACTION_READ:
        return in_target ? PYTHIA_CALL_IN_DESER : PYTHIA_CALL_O_CB;
    case ACTION_QUEUE:
        return in_target ? PYTHIA_CALL_HANDLER : around;
    case ACTION_FETCH:
        return in_target ? PYTHIA_CALL_RDMA : around;
    default:
        return action >= ACTION_OF_RULE ? (enum pythia_call_part)(action - ACTION_OF_RULE) : around;
    }
}

/* ---- calls ---- */

static uint32_t service_of(const struct pythia_call_parts *c, const struct pythia_trace_span *span)
{
    return pythia_vocabulary_tracepoint_at(c->vocabulary, span->tracepoint)->service;
}

static bool is_served(uint8_t kind)
{
    return kind == PYTHIA_SPAN_SERVER || kind == PYTHIA_SPAN_CONSUMER;
}

/* Is it the target's first span of a call, from what is known of its parent? */
static bool enters_target(const struct pythia_call_parts *c, const struct pythia_trace *trace,
                          uint32_t at)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    if (span->parent == PYTHIA_NO_SPAN)
        return is_served(span->kind);
    const struct place *around = &c->places[span->parent];
    bool elsewhere = service_of(c, span) != service_of(c, &trace->spans[span->parent]);
    if (around->call != PYTHIA_NO_SPAN && !around->in_target)
        return elsewhere || is_served(span->kind);
    return elsewhere || span->kind == PYTHIA_SPAN_CONSUMER ||
           (is_served(span->kind) && around->call == PYTHIA_NO_SPAN);
}

static int begin_call(struct pythia_call_parts *c, const struct pythia_call *call)
{
    if (pythia_grow(&c->calls, &c->call_capacity, c->call_count, sizeof(*c->calls)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    c->calls[c->call_count++] = *call;
    return PYTHIA_OK;
}

/* The call that a span of the target made while it ran; PYTHIA_NO_SPAN: none did. */
static uint32_t caller_of(const struct pythia_call_parts *c, uint32_t parent)
{
    return parent == PYTHIA_NO_SPAN || !c->places[parent].in_target ? PYTHIA_NO_SPAN
                                                                    : c->places[parent].call;
}

/* A message: the time from the end of the producer's span on, it has waited. */
static void add_message(struct pythia_call *call, const struct pythia_trace_span *producer,
                        const struct pythia_trace_span *consumer)
{
    uint64_t sent_ns =
        consumer->start_ns < producer->end_ns ? consumer->start_ns : producer->end_ns;
    call->origin_ns = (int64_t)(consumer->end_ns - producer->start_ns);
    call->parts_ns[PYTHIA_CALL_UNACCOUNTED] = (int64_t)(sent_ns - producer->start_ns);
    call->parts_ns[PYTHIA_CALL_HANDLER] = (int64_t)(consumer->start_ns - sent_ns);
    call->told = 1U << PYTHIA_CALL_HANDLER | 1U << PYTHIA_CALL_UNACCOUNTED;
}

/* A server span whose client span is not there, or is the producer of a message. */
static int begin_served(struct pythia_call_parts *c, const struct pythia_trace *trace, uint32_t at)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    struct pythia_call call = {.client = PYTHIA_NO_SPAN,
                               .server = at,
                               .caller = caller_of(c, span->parent),
                               .origin_ns = (int64_t)(span->end_ns - span->start_ns)};
    if (span->kind == PYTHIA_SPAN_CONSUMER && span->parent != PYTHIA_NO_SPAN &&
        trace->spans[span->parent].kind == PYTHIA_SPAN_PRODUCER) {
        call.client = span->parent;
        add_message(&call, &trace->spans[span->parent], span);
    }
    return begin_call(c, &call);
}

static void give(struct pythia_call_parts *c, const struct place *p, enum pythia_call_part part,
                 uint64_t ns)
{
    if (p->call == PYTHIA_NO_SPAN)
        return;
    c->calls[p->call].parts_ns[part] += (int64_t)ns;
    c->calls[p->call].told |= 1U << part;
}

/* The piece of its parent's piece that a span takes, behind what earlier siblings took. */
static void cut_piece(struct place *p, struct place *around, const struct pythia_trace_span *span)
{
    p->from_ns = span->start_ns > around->taken_ns ? span->start_ns : around->taken_ns;
    p->to_ns = span->end_ns < around->to_ns ? span->end_ns : around->to_ns;
    if (p->to_ns <= p->from_ns) {
        p->to_ns = p->from_ns; /* all of it ran beside others, or behind the end */
        return;
    }
    around->taken_ns = p->to_ns;
    around->own_ns -= p->to_ns - p->from_ns;
}

/* Does a call begin with the span? That of a client span, or of a server span without one. */
enum begins { BEGINS_NONE, BEGINS_ASKED, BEGINS_SERVED };

/* Nobody waits for the consumer of a message. */
static bool is_message(const struct pythia_trace *trace, uint32_t at, enum begins begins)
{
    return begins == BEGINS_SERVED && trace->spans[at].kind == PYTHIA_SPAN_CONSUMER;
}

/* A call takes the whole span; its time inside the call of its parent goes to that one's calls. */
static int begin_place(struct pythia_call_parts *c, const struct pythia_trace *trace, uint32_t at,
                       enum begins begins, const struct place *around)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    struct place *p = &c->places[at];
    const struct pythia_call asked = {.client = at,
                                      .server = PYTHIA_NO_SPAN,
                                      .caller = caller_of(c, span->parent),
                                      .origin_ns = (int64_t)(span->end_ns - span->start_ns)};
    if (around->in_target && !is_message(trace, at, begins))
        give(c, around, PYTHIA_CALL_CALLS, p->to_ns - p->from_ns);
    int status = begins == BEGINS_ASKED ? begin_call(c, &asked) : begin_served(c, trace, at);
    if (status != PYTHIA_OK)
        return status;
    p->call = (uint32_t)c->call_count - 1;
    p->from_ns = span->start_ns;
    p->to_ns = span->end_ns;
    return PYTHIA_OK;
}

/* Where the time of a span goes; its parent has been placed. */
static int place_span(struct pythia_call_parts *c, const struct pythia_trace *trace, uint32_t at)
{
    const struct pythia_trace_span *span = &trace->spans[at];
    struct place outside = {.call = PYTHIA_NO_SPAN, .to_ns = UINT64_MAX}, *p = &c->places[at],
                 *around = span->parent == PYTHIA_NO_SPAN ? &outside : &c->places[span->parent];
    uint8_t action;
    if (action_of(c, span->tracepoint, &action) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    /* The first span of the target below a call answers it. Where no call is around it, the caller
     * is not traced, and the span begins a call of which only this side is known. */
    bool asks = span->kind == PYTHIA_SPAN_CLIENT && !p->outer,
         enters = !asks && enters_target(c, trace, at),
         answers = enters && around->call != PYTHIA_NO_SPAN && !around->in_target;
    enum begins begins = asks ? BEGINS_ASKED : enters && !answers ? BEGINS_SERVED : BEGINS_NONE;
    p->call = around->call;
    p->in_target = enters || (around->in_target && !asks);
    p->part = enters ? PYTHIA_CALL_OWN
              : asks ? PYTHIA_CALL_UNACCOUNTED
                     : part_of(action, around->in_target, around->part);
    if (!is_message(trace, at, begins))
        cut_piece(p, around, span);
    if (begins != BEGINS_NONE && begin_place(c, trace, at, begins, around) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (answers && c->calls[p->call].server == PYTHIA_NO_SPAN)
        c->calls[p->call].server = at;
    p->taken_ns = p->from_ns;
    p->own_ns = p->to_ns - p->from_ns;
    return PYTHIA_OK;
}

/* Mark client spans that have another one below them in their service: the inner one is the call.
 * O(spans): each walk up ends where another has been. */
static void mark_outer(struct pythia_call_parts *c, const struct pythia_trace *trace)
{
    for (uint32_t i = 0; i < trace->count; i++)
        c->places[i].call = 0; /* until spans are placed: has a walk been here? */
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct pythia_trace_span *span = &trace->spans[i];
        if (span->kind != PYTHIA_SPAN_CLIENT)
            continue;
        uint32_t service = service_of(c, span);
        for (uint32_t up = span->parent; up != PYTHIA_NO_SPAN; up = trace->spans[up].parent) {
            const struct pythia_trace_span *around = &trace->spans[up];
            if (c->places[up].call || is_served(around->kind) || service_of(c, around) != service)
                break;
            c->places[up].call = 1;
            c->places[up].outer = around->kind == PYTHIA_SPAN_CLIENT;
        }
    }
}

/* ---- timers ---- */

/* Is the string the key of a timer? */
static void note_timer(struct pythia_call_parts *c, uint32_t string)
{
    struct pythia_text key = pythia_vocabulary_text(c->vocabulary, string);
    bool interval = pythia_text_starts(key, PYTHIA_TEXT("iv.")),
         variable = pythia_text_starts(key, PYTHIA_TEXT("variable."));
    if (!interval && !variable)
        return;
    const char *name = key.bytes + (interval ? strlen("iv.") : strlen("variable."));
    for (int i = 0; i < PYTHIA_CALL_TIMES; i++)
        if (parts[i].variable && strcmp(name, interval ? parts[i].name : parts[i].variable) == 0)
            c->timers[c->timer_count++] =
                (struct timer){string, (enum pythia_call_part)i, interval ? 1 : 1e9};
}

/* Each part has two keys at most, and a string is looked at once, so there is room. */
static void look_at_names(struct pythia_call_parts *c)
{
    uint32_t strings = pythia_vocabulary_numbers(c->vocabulary).strings;
    for (; c->looked_at < strings; c->looked_at++)
        note_timer(c, c->looked_at);
}

static void take_timer(struct pythia_call *call, enum pythia_call_part part, double ns)
{
    enum pythia_call_part from =
        part == PYTHIA_CALL_IN_DESER ? PYTHIA_CALL_OWN : PYTHIA_CALL_UNACCOUNTED;
    /* A time that does not fit did not pass in this call. */
    if (call->told & 1U << part || !(ns >= 0) || ns > 9e18)
        return;
    int64_t whole_ns = llround(ns);
    call->parts_ns[part] = whole_ns;
    call->told |= 1U << part;
    if (part == PYTHIA_CALL_T_CB)
        return;
    if (from == PYTHIA_CALL_UNACCOUNTED && call->client == PYTHIA_NO_SPAN) {
        call->origin_ns += whole_ns; /* it was before the target's span, or behind it */
        return;
    }
    call->parts_ns[from] -= whole_ns;
    call->told |= 1U << from;
}

static void take_timers(const struct pythia_call_parts *c, struct pythia_call *call,
                        struct pythia_text attributes)
{
    struct pythia_attribute a;
    while (pythia_attributes_next(&attributes, &a))
        for (size_t i = 0; i < c->timer_count; i++)
            if (c->timers[i].key == a.key && a.kind == PYTHIA_ATTRIBUTE_INTEGER)
                take_timer(call, c->timers[i].part, (double)a.integer * c->timers[i].unit_ns);
            else if (c->timers[i].key == a.key && a.kind == PYTHIA_ATTRIBUTE_REAL)
                take_timer(call, c->timers[i].part, a.real * c->timers[i].unit_ns);
}

int pythia_call_parts_find(struct pythia_call_parts *c, const struct pythia_trace *trace,
                           const struct pythia_call **calls, uint32_t *count)
{
    c->call_count = 0;
    if (pythia_reach(&c->places, &c->place_capacity, trace->count, sizeof(*c->places)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    memset(c->places, 0, trace->count * sizeof(*c->places));
    mark_outer(c, trace);
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at))
        if (!trace->spans[at].annotation && place_span(c, trace, at) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN; at = pythia_trace_next(trace, at))
        if (!trace->spans[at].annotation)
            give(c, &c->places[at], c->places[at].part, c->places[at].own_ns);
    look_at_names(c);
    for (size_t i = 0; i < c->call_count && c->timer_count > 0; i++) {
        const uint32_t sides[] = {c->calls[i].client, c->calls[i].server};
        for (size_t k = 0; k < 2; k++)
            if (sides[k] != PYTHIA_NO_SPAN)
                take_timers(c, &c->calls[i], trace->spans[sides[k]].attributes);
    }
    *calls = c->calls;
    *count = (uint32_t)c->call_count;
    return PYTHIA_OK;
}
