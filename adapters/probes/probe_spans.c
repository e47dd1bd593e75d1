#define _GNU_SOURCE
#include "pythia/probe_spans.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "kernel_time.h"
#include "pairs.h"
#include "pythia/hash.h"
#include "pythia/hash_table.h"
#include "pythia/mem.h"
#include "pythia/process_files.h"
#include "pythia/records.h"
#include "pythia/status.h"

#define THREADS_MAX   16384                /* that are in a request at once */
#define PROCESSES_MAX 64                   /* in which requests began; no one asks for so many */
#define REQUEST_BYTES ((size_t)256 * 1024) /* records of a request; a larger one is abandoned */
#define NUMBERS_MAX   (1u << 20) /* a helper gives one more for each time that it attaches */
#define REASONS       (PYTHIA_DROPPED_OVERSIZE + 1)
#define FINISHED_MAX  (PYTHIA_PAYLOAD_BYTES - REASONS * sizeof(struct pythia_record_dropped))

struct definition {
    uint32_t point;        /* index + 1; 0: not defined */
    uint32_t kernel_event; /* + 1; 0: none */
    bool done;
};

/* A thread that is in a request. */
struct thread {
    uint64_t id; /* as in hits */
    uint64_t trace_high, trace_low;
    uint64_t caller;     /* span of another program that has sent the request; 0: not known */
    uint64_t start_time; /* of the thread, as /proc has it; 0: not looked at yet */
    struct pythia__pairs pairs;
    uint64_t open[PYTHIA__PAIRS_DEPTH];                           /* spans of these */
    uint64_t begun_ns[PYTHIA__PAIRS_DEPTH];                       /* when these began */
    int64_t kernel_sums[PYTHIA__PAIRS_DEPTH][PYTHIA_KERNEL_SUMS]; /* then */
    uint32_t kernel_events; /* that were reported since its request began: bits */
    struct pythia__kernel_time kernel;
    uint64_t last_ns; /* its last hit */
    uint32_t spans;
    bool lossy;    /* hits of its request may be missing */
    bool switched; /* probes were switched during its request */
    struct pythia_buf records;
};

struct pythia_probe_spans {
    const struct pythia_probe_rules *rules;
    struct definition *definitions;
    size_t definition_capacity;
    struct thread *threads; /* owned; in no order */
    size_t thread_count, thread_capacity;
    struct pythia_hash_table by_id;
    struct pythia_probe_process *processes; /* owned; in no order */
    size_t process_count, process_capacity;
    struct pythia_buf finished;
    uint64_t process[2], last_span, position;
    uint32_t kernel_events;              /* that are reported: bits */
    uint32_t waits[PYTHIA_KERNEL_WAITS]; /* the point that is open for it: index + 1; 0: none is */
    uint64_t lossy_ns;                   /* requests that begin until then may lack hits */
    uint64_t switched_ns;                /* until when probes are being switched */
    uint64_t lost_told;                  /* in frames */
    uint64_t dropped_told[REASONS];      /* in records */
    char *host;                          /* owned: of a trace; NULL: it is this machine */
    bool begun;                          /* the definitions were written */
    struct pythia_probe_numbers numbers;
    uint64_t *outside;                             /* owned; hits, by point of the rules */
    uint64_t kernel_outside[PYTHIA_KERNEL_EVENTS]; /* hits */
};

int pythia_probe_spans_create(const struct pythia_probe_rules *rules,
                              struct pythia_probe_spans **out)
{
    struct pythia_probe_spans *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->rules = rules;
    s->outside = pythia_calloc(rules->point_count + 1, sizeof(*s->outside));
    if (!s->outside) {
        pythia_free(s);
        return PYTHIA_ENOMEM;
    }
    if (getrandom(s->process, sizeof(s->process), GRND_NONBLOCK) != (ssize_t)sizeof(s->process))
        s->process[0] = (uint64_t)(uintptr_t)s ^ (uint64_t)getpid() << 32;
    s->process[0] |= 1; /* no trace has the id 0 */
    *out = s;
    return PYTHIA_OK;
}

void pythia_probe_spans_destroy(struct pythia_probe_spans *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->thread_count; i++)
        pythia_buf_free(&s->threads[i].records);
    pythia_hash_table_free(&s->by_id);
    pythia_buf_free(&s->finished);
    pythia_free(s->host);
    pythia_free(s->definitions);
    pythia_free(s->outside);
    pythia_free(s->processes);
    pythia_free(s->threads);
    pythia_free(s);
}

int pythia_probe_spans_of_trace(struct pythia_probe_spans *s, uint64_t identity, const char *host)
{
    char *copy = pythia_strndup(host, strlen(host));
    if (!copy)
        return PYTHIA_ENOMEM;
    pythia_free(s->host);
    s->host = copy;
    s->process[0] = identity;
    s->process[1] = pythia_hash_mix(identity, 1);
    return PYTHIA_OK;
}

int pythia_probe_spans_define(struct pythia_probe_spans *s, uint32_t number, size_t point,
                              bool done)
{
    if (number >= NUMBERS_MAX || point >= s->rules->point_count)
        return PYTHIA_ELIMIT;
    if (pythia_reach(&s->definitions, &s->definition_capacity, number, sizeof(*s->definitions)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->definitions[number] = (struct definition){.point = (uint32_t)point + 1, .done = done};
    return PYTHIA_OK;
}

int pythia_probe_spans_define_kernel(struct pythia_probe_spans *s, enum pythia_kernel_event event,
                                     uint32_t number)
{
    if (number >= NUMBERS_MAX)
        return PYTHIA_ELIMIT;
    if (number == 0) {
        s->kernel_events &= ~(UINT32_C(1) << event);
        for (size_t i = 0; i < s->thread_count; i++)
            s->threads[i].kernel_events &= s->kernel_events;
        return PYTHIA_OK;
    }
    if (pythia_reach(&s->definitions, &s->definition_capacity, number, sizeof(*s->definitions)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->definitions[number] = (struct definition){.kernel_event = (uint32_t)event + 1};
    s->kernel_events |= UINT32_C(1) << event;
    return PYTHIA_OK;
}

void pythia_probe_spans_open_wait(struct pythia_probe_spans *s, size_t point, bool open)
{
    const struct pythia_probe_point *rule = &s->rules->points[point];
    assert(rule->is_wait);
    s->waits[rule->wait] = open ? (uint32_t)point + 1 : 0;
}

struct pythia_probe_numbers pythia_probe_spans_numbers(const struct pythia_probe_spans *s)
{
    return s->numbers;
}

/* ---- threads ---- */

static bool is_thread(const void *owner, uint32_t index, const void *key)
{
    return ((const struct pythia_probe_spans *)owner)->threads[index].id == *(const uint64_t *)key;
}

static struct thread *find_thread(const struct pythia_probe_spans *s, uint64_t id)
{
    uint32_t index = pythia_hash_table_find(&s->by_id, id, is_thread, s, &id);
    return index == PYTHIA_HASH_TABLE_NONE ? NULL : &s->threads[index];
}

/* NULL: there is no memory, or (*full) no place. */
static struct thread *add_thread(struct pythia_probe_spans *s, uint64_t id, bool *full)
{
    *full = s->thread_count == THREADS_MAX;
    if (*full ||
        pythia_grow(&s->threads, &s->thread_capacity, s->thread_count, sizeof(*s->threads)) !=
            PYTHIA_OK ||
        pythia_hash_table_add(&s->by_id, id, (uint32_t)s->thread_count) != PYTHIA_OK)
        return NULL;
    struct thread *t = &s->threads[s->thread_count++];
    *t = (struct thread){.id = id, .kernel_events = s->kernel_events};
    return t;
}

static void remove_thread(struct pythia_probe_spans *s, struct thread *t)
{
    size_t index = (size_t)(t - s->threads), last = s->thread_count - 1;
    pythia_buf_free(&t->records);
    pythia_hash_table_remove(&s->by_id, t->id, (uint32_t)index);
    if (index != last) {
        *t = s->threads[last];
        pythia_hash_table_renumber(&s->by_id, t->id, (uint32_t)last, (uint32_t)index);
    }
    s->thread_count = last;
}

/* A request without an end. */
static void abandon_request(struct pythia_probe_spans *s, struct thread *t)
{
    *(t->switched ? &s->numbers.switched : &s->numbers.abandoned) += t->spans;
    remove_thread(s, t);
}

static void drop_oversize(struct pythia_probe_spans *s, struct thread *t)
{
    s->numbers.oversize += t->spans;
    remove_thread(s, t);
}

void pythia_probe_spans_switch(struct pythia_probe_spans *s, uint64_t until_ns)
{
    for (size_t i = 0; i < s->thread_count; i++)
        s->threads[i].switched = true;
    s->switched_ns = until_ns;
}

void pythia_probe_spans_lose(struct pythia_probe_spans *s, uint64_t until_ns)
{
    for (size_t i = 0; i < s->thread_count; i++)
        s->threads[i].lossy = true;
    s->lossy_ns = until_ns > s->lossy_ns ? until_ns : s->lossy_ns;
}

void pythia_probe_spans_abandon(struct pythia_probe_spans *s, uint64_t time_ns)
{
    for (size_t i = s->thread_count; i-- > 0;)
        if (s->threads[i].last_ns < time_ns)
            abandon_request(s, &s->threads[i]);
}

/* Note in which process a request begins. */
static int add_process(struct pythia_probe_spans *s, uint32_t pid)
{
    for (size_t i = 0; i < s->process_count; i++)
        if (s->processes[i].pid == pid)
            return PYTHIA_OK;
    struct pythia_probe_process p = {pid, pythia_thread_start_time((uint64_t)pid << 32 | pid)};
    if (p.start_time == 0 || s->process_count == PROCESSES_MAX)
        return PYTHIA_OK;
    int status =
        pythia_grow(&s->processes, &s->process_capacity, s->process_count, sizeof(*s->processes));
    if (status == PYTHIA_OK)
        s->processes[s->process_count++] = p;
    return status;
}

size_t pythia_probe_spans_processes(const struct pythia_probe_spans *s,
                                    struct pythia_probe_process *out, size_t max)
{
    for (size_t i = 0; i < s->process_count && i < max; i++)
        out[i] = s->processes[i];
    return s->process_count;
}

void pythia_probe_spans_forget_dead(struct pythia_probe_spans *s)
{
    for (size_t i = s->process_count; i-- > 0;) {
        struct pythia_probe_process *p = &s->processes[i];
        if (pythia_thread_start_time((uint64_t)p->pid << 32 | p->pid) != p->start_time)
            *p = s->processes[--s->process_count];
    }
    for (size_t i = s->thread_count; i-- > 0;) {
        struct thread *t = &s->threads[i];
        uint64_t start_time = pythia_thread_start_time(t->id);
        if (start_time == 0 || (t->start_time && t->start_time != start_time))
            abandon_request(s, t);
        else
            t->start_time = start_time;
    }
}

/* ---- records ---- */

static void add_record(struct pythia_buf *to, const void *head, size_t size, struct pythia_text a,
                       struct pythia_text b)
{
    static const char zeros[8] = "";
    struct pythia_record record;
    size_t bytes = (size + a.size + b.size + 7) & ~(size_t)7;
    memcpy(&record, head, sizeof(record));
    record.bytes = (uint16_t)bytes;
    pythia_buf_add(to, &record, sizeof(record));
    pythia_buf_add(to, (const char *)head + sizeof(record), size - sizeof(record));
    pythia_buf_text_add(to, a);
    pythia_buf_text_add(to, b);
    pythia_buf_add(to, zeros, bytes - size - a.size - b.size);
}

static void add_exit(struct thread *t, uint32_t index, uint64_t time_ns, bool failed)
{
    const struct pythia_record_exit record = {
        .head = {.kind = PYTHIA_RECORD_EXIT,
                 .flags = (uint8_t)((failed ? PYTHIA_RECORD_ERROR : 0) |
                                    (t->lossy ? PYTHIA_RECORD_LOSSY : 0))},
        .ticks = time_ns,
        .trace_high = t->trace_high,
        .trace_low = t->trace_low,
        .span = t->open[index]};
    add_record(&t->records, &record, sizeof(record), PYTHIA_TEXT(""), PYTHIA_TEXT(""));
}

/* The text that is in argument `argument` of a hit; size 0 if none was read. */
static struct pythia_text find_text(const struct pythia_probe_hit *hit, const int64_t *values,
                                    const char *texts, unsigned argument)
{
    size_t slots = (size_t)__builtin_popcount(hit->texts),
           before = (size_t)__builtin_popcount(hit->texts & ((1u << argument) - 1)),
           bytes = slots ? PYTHIA_PROBE_TEXT_BYTES / slots : 0;
    if (!(hit->texts >> argument & 1) || values[argument] <= 1)
        return PYTHIA_TEXT("");
    const char *at = texts + before * bytes;
    return (struct pythia_text){at, strnlen(at, bytes)};
}

static void add_value(struct thread *t, uint64_t span, struct pythia_text key, uint8_t kind,
                      struct pythia_text value)
{
    const struct pythia_record_value record = {.head = {.kind = PYTHIA_RECORD_VALUE},
                                               .trace_high = t->trace_high,
                                               .trace_low = t->trace_low,
                                               .span = span,
                                               .value_kind = kind,
                                               .key_bytes = (uint8_t)key.size,
                                               .value_bytes = (uint16_t)value.size};
    add_record(&t->records, &record, sizeof(record), key, value);
}

/* Add the keys of a point that are arguments of this probe. An argument that the program's site
 * does not have, and a text that could not be read, are left out. */
static void add_keys(struct pythia_probe_spans *s, struct thread *t, uint32_t index, bool done,
                     const struct pythia_probe_hit *hit, const int64_t *values, const char *texts)
{
    const struct pythia_probe_point *point = &s->rules->points[t->pairs.points[index]];
    for (size_t i = 0; i < point->key_count; i++) {
        const struct pythia_probe_key *key = &point->keys[i];
        if (key->done != done || key->argument >= hit->values ||
            key->text != (hit->texts >> key->argument & 1))
            continue;
        const char *number = (const char *)&values[key->argument];
        int64_t narrow = (int32_t)(uint32_t)values[key->argument];
        number = key->is_int ? (const char *)&narrow : number;
        struct pythia_text value = key->text ? find_text(hit, values, texts, key->argument)
                                             : (struct pythia_text){number, sizeof(*values)};
        if (value.size > 0)
            add_value(t, t->open[index], pythia_text_of(key->name),
                      key->text      ? PYTHIA_VALUE_TEXT
                      : key->is_real ? PYTHIA_VALUE_REAL
                                     : PYTHIA_VALUE_INTEGER,
                      value);
    }
}

/* Add what the kernel did while the span was open, as far as its events were reported. */
static void add_kernel_keys(const struct pythia_probe_spans *s, struct thread *t, uint32_t index)
{
    const struct pythia_probe_point *point = &s->rules->points[t->pairs.points[index]];
    uint32_t sums = 0;
    for (const struct pythia_kernel_topic *topic = pythia_kernel_topics; topic->name; topic++)
        if ((topic->events & ~t->kernel_events) == 0)
            sums |= topic->sums & point->kernel_sums;
    for (unsigned i = 0; i < PYTHIA_KERNEL_SUMS; i++) {
        int64_t sum = t->kernel.sums[i] - t->kernel_sums[index][i];
        if (sums >> i & 1)
            add_value(t, t->open[index], pythia_text_of(pythia_kernel_sum_key(i)),
                      PYTHIA_VALUE_INTEGER, (struct pythia_text){(const char *)&sum, sizeof(sum)});
    }
}

static void add_enter(struct pythia_probe_spans *s, struct thread *t,
                      const struct pythia_probe_hit *hit, const int64_t *values, const char *texts)
{
    uint32_t index = t->pairs.depth - 1, number = t->pairs.points[index];
    const struct pythia_probe_point *point = &s->rules->points[number];
    char type[PYTHIA__TYPE_BYTES];
    struct pythia_text name = {type, 0};
    if (index == 0 && point->type >= 0 && point->keys[point->type].argument < hit->values) {
        struct pythia_text text = find_text(hit, values, texts, point->keys[point->type].argument);
        name.size = pythia__statement_type(text.bytes, text.size, type);
    }
    const struct pythia_record_enter record = {
        .head = {.kind = PYTHIA_RECORD_ENTER,
                 .flags = index == 0 ? PYTHIA_RECORD_LOCAL_ROOT : 0,
                 .number = number + 1},
        .ticks = hit->time_ns,
        .trace_high = t->trace_high,
        .trace_low = t->trace_low,
        .span = t->open[index],
        .parent = index > 0 ? t->open[index - 1] : t->caller,
        .type_bytes = (uint8_t)name.size};
    add_record(&t->records, &record, sizeof(record), name, PYTHIA_TEXT(""));
    add_keys(s, t, index, false, hit, values, texts);
}

/* ---- callers ---- */

/* Read hexadecimal digits. False if something else is among them. */
static bool read_hex(const char *text, size_t digits, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = text[i];
        bool letter = c >= 'a' && c <= 'f';
        if (!letter && (c < '0' || c > '9'))
            return false;
        *out = *out << 4 | (uint64_t)(letter ? c - 'a' + 10 : c - '0');
    }
    return true;
}

/* Find the span of the caller in a comment of a statement. The request then belongs to the trace of
 * its caller, below that span. */
static void join_caller(struct thread *t, struct pythia_text text)
{
    uint64_t version, high, low, span;
    const char *at = pythia__statement_caller(text.bytes, text.size);
    if (at && read_hex(at, 2, &version) && version != 0xff && at[2] == '-' &&
        read_hex(at + 3, 16, &high) && read_hex(at + 19, 16, &low) && (high | low) != 0 &&
        at[35] == '-' && read_hex(at + 36, 16, &span) && span != 0) {
        t->trace_high = high;
        t->trace_low = low;
        t->caller = span;
    }
}

/* Begin the trace of a request: that of its caller, if a text of it says so. */
static void begin_trace(const struct pythia_probe_spans *s, struct thread *t,
                        const struct pythia_probe_point *point, const struct pythia_probe_hit *hit,
                        const int64_t *values, const char *texts)
{
    t->trace_high = s->process[0];
    t->trace_low = pythia_hash_mix(hit->thread, hit->time_ns) | 1;
    for (size_t i = 0; i < point->key_count; i++)
        if (point->keys[i].text && !point->keys[i].done && point->keys[i].argument < hit->values)
            join_caller(t, find_text(hit, values, texts, point->keys[i].argument));
}

/* ---- hits ---- */

/* A hit is of a point if its texts are as "only" has them. The second probe has them in the same
 * places as the first. */
static bool is_of_point(const struct pythia_probe_point *point, const struct pythia_probe_hit *hit,
                        const int64_t *values, const char *texts)
{
    for (size_t i = 0; i < point->key_count; i++) {
        const struct pythia_probe_key *key = &point->keys[i];
        if (key->only && (key->argument >= hit->values ||
                          !pythia_text_equal(find_text(hit, values, texts, key->argument),
                                             pythia_text_of(key->only))))
            return false;
    }
    return true;
}

/* Spans of other programs may be in the same trace: numbers that count up could be theirs, too. */
static uint64_t number_span(struct pythia_probe_spans *s)
{
    uint64_t span = 0;
    while (span == 0)
        span = pythia_hash_mix(s->process[1], ++s->last_span);
    return span;
}

/* t: NULL if a request begins here. */
static int begin_span(struct pythia_probe_spans *s, struct thread *t, uint32_t point,
                      const struct pythia_probe_hit *hit, const int64_t *values, const char *texts)
{
    bool full = false;
    if (!t && (s->host || add_process(s, (uint32_t)(hit->thread >> 32)) == PYTHIA_OK))
        t = add_thread(s, hit->thread, &full);
    if (!t) {
        s->numbers.outside += full;
        return full ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    if (t->records.size > REQUEST_BYTES) {
        drop_oversize(s, t);
        return PYTHIA_OK;
    }
    t->last_ns = hit->time_ns;
    t->lossy |= hit->time_ns <= s->lossy_ns;
    t->switched |= hit->time_ns <= s->switched_ns;
    if (t->pairs.depth == 0)
        begin_trace(s, t, &s->rules->points[point], hit, values, texts);
    t->open[t->pairs.depth] = number_span(s);
    t->begun_ns[t->pairs.depth] = hit->time_ns;
    memcpy(t->kernel_sums[t->pairs.depth], t->kernel.sums, sizeof(t->kernel.sums));
    t->pairs.points[t->pairs.depth++] = point;
    t->spans++;
    add_enter(s, t, hit, values, texts);
    return pythia_buf_status(&t->records);
}

/* The request goes to the finished ones, if there is place for it. */
static int finish_request(struct pythia_probe_spans *s, struct thread *t)
{
    int status = pythia_buf_status(&t->records);
    if (status == PYTHIA_OK && s->finished.size + t->records.size <= FINISHED_MAX) {
        pythia_buf_text_add(&s->finished, pythia_buf_text(&t->records));
        s->numbers.spans += t->spans;
        status = pythia_buf_status(&s->finished);
    } else {
        s->numbers.crowded += t->spans;
    }
    remove_thread(s, t);
    return status;
}

/* End the span number `left`, and those inside of it. */
static int end_span(struct pythia_probe_spans *s, struct thread *t, uint32_t left,
                    const struct pythia_probe_hit *hit, const int64_t *values, const char *texts)
{
    for (; t->pairs.depth > left + 1; t->pairs.depth--) {
        add_kernel_keys(s, t, t->pairs.depth - 1);
        add_exit(t, t->pairs.depth - 1, hit->time_ns, true);
    }
    t->last_ns = hit->time_ns;
    add_keys(s, t, left, true, hit, values, texts);
    add_kernel_keys(s, t, left);
    add_exit(t, left, hit->time_ns, false);
    t->pairs.depth--;
    return t->pairs.depth == 0 ? finish_request(s, t) : pythia_buf_status(&t->records);
}

static int take_hit(struct pythia_probe_spans *s, uint32_t point, bool done,
                    const struct pythia_probe_hit *hit, const int64_t *values, const char *texts)
{
    static const struct pythia__pairs none;
    struct thread *t = find_thread(s, hit->thread);
    uint32_t left = 0; /* a thread that is in no request has nothing to end or to abandon */
    switch (pythia__pair_decide(t ? &t->pairs : &none, point, done, s->rules->points[point].request,
                                &left)) {
    case PYTHIA__PAIR_ANEW:
        assert(t);
        abandon_request(s, t);
        return begin_span(s, NULL, point, hit, values, texts);
    case PYTHIA__PAIR_BEGIN:
        return begin_span(s, t, point, hit, values, texts);
    case PYTHIA__PAIR_DEEP: /* or ends are missing, because of a switch */
        assert(t);
        if (t->switched)
            abandon_request(s, t);
        else
            drop_oversize(s, t);
        return PYTHIA_OK;
    case PYTHIA__PAIR_END:
        assert(t);
        return end_span(s, t, left, hit, values, texts);
    case PYTHIA__PAIR_OUTSIDE:
        s->numbers.outside++;
        return PYTHIA_OK;
    case PYTHIA__PAIR_UNMATCHED:
        break;
    }
    s->numbers.unmatched++;
    return PYTHIA_OK;
}

/* Add a wait as a child of the span that is open, if a point is open for it. */
static void add_wait(struct pythia_probe_spans *s, struct thread *t, enum pythia_kernel_sum wait,
                     uint64_t start_ns, uint64_t end_ns)
{
    if (s->waits[wait] == 0 || end_ns <= start_ns)
        return;
    const struct pythia_record_enter enter = {
        .head = {.kind = PYTHIA_RECORD_ENTER, .number = s->waits[wait]},
        .ticks = start_ns,
        .trace_high = t->trace_high,
        .trace_low = t->trace_low,
        .span = number_span(s),
        .parent = t->open[t->pairs.depth - 1]};
    const struct pythia_record_exit left = {.head = {.kind = PYTHIA_RECORD_EXIT},
                                            .ticks = end_ns,
                                            .trace_high = t->trace_high,
                                            .trace_low = t->trace_low,
                                            .span = enter.span};
    add_record(&t->records, &enter, sizeof(enter), PYTHIA_TEXT(""), PYTHIA_TEXT(""));
    add_record(&t->records, &left, sizeof(left), PYTHIA_TEXT(""), PYTHIA_TEXT(""));
    t->spans++;
}

/* The thread that was off its processor has one again: what it waited for, and then the queue. */
static void add_waits(struct pythia_probe_spans *s, struct thread *t, uint64_t now_ns)
{
    const struct pythia__kernel_time *k = &t->kernel;
    uint64_t woken_ns = k->woken_ns ? k->woken_ns : now_ns;
    if (k->out_ns == 0 || (pythia_kernel_wait_events() & ~t->kernel_events) != 0)
        return;
    add_wait(s, t, k->reason, k->out_ns, woken_ns);
    add_wait(s, t, PYTHIA_KERNEL_RUN_QUEUE_NS, woken_ns, now_ns);
}

/* A segment is repeated some time after it was sent, and by a timer: spans that have begun since
 * then have not sent it. All of them, if it is of the request before. */
static void leave_out_later_spans(struct thread *t, uint64_t sent_ns)
{
    for (uint32_t i = 0; i < t->pairs.depth; i++)
        if (t->begun_ns[i] > sent_ns)
            t->kernel_sums[i][PYTHIA_KERNEL_RETRANSMITS]++;
}

/* An event of the kernel. The mark of a thread may outlive its request by some of them. */
static int add_kernel(struct pythia_probe_spans *s, enum pythia_kernel_event event,
                      const struct pythia_probe_hit *hit, const int64_t *values)
{
    struct thread *t = find_thread(s, hit->thread);
    if (!t) {
        s->numbers.outside++;
        return PYTHIA_OK;
    }
    if (event == PYTHIA_KERNEL_SWITCH_IN)
        add_waits(s, t, hit->time_ns);
    int64_t value = hit->values > 0 ? values[0] : 0;
    if (event == PYTHIA_KERNEL_RETRANSMIT)
        leave_out_later_spans(t, (uint64_t)value);
    pythia__kernel_time_add(&t->kernel, event, hit->time_ns, value);
    int status = pythia_buf_status(&t->records);
    if (t->records.size > REQUEST_BYTES)
        drop_oversize(s, t);
    return status;
}

int pythia_probe_spans_add(struct pythia_probe_spans *s, const struct pythia_probe_hit *hit,
                           const int64_t *values, const char *texts)
{
    struct definition d = {0};
    uint32_t number = hit->number & ~PYTHIA_PROBE_OUTSIDE;
    if (number < s->definition_capacity)
        d = s->definitions[number];
    if (number != hit->number) {
        s->numbers.outside += PYTHIA_PROBE_OUTSIDE_ONE_OF;
        if (d.point > 0)
            s->outside[d.point - 1] += PYTHIA_PROBE_OUTSIDE_ONE_OF;
        if (d.kernel_event > 0)
            s->kernel_outside[d.kernel_event - 1] += PYTHIA_PROBE_OUTSIDE_ONE_OF;
        return PYTHIA_OK;
    }
    if (d.kernel_event)
        return add_kernel(s, (enum pythia_kernel_event)(d.kernel_event - 1), hit, values);
    if (d.point == 0 || hit->values > PYTHIA_USDT_OPERANDS_MAX ||
        hit->texts >> PYTHIA_USDT_OPERANDS_MAX) {
        s->numbers.outside++;
        return PYTHIA_OK;
    }
    if (!is_of_point(&s->rules->points[d.point - 1], hit, values, texts))
        return PYTHIA_OK;
    return take_hit(s, d.point - 1, d.done, hit, values, texts);
}

uint64_t pythia_probe_spans_outside(const struct pythia_probe_spans *s, size_t point)
{
    return s->outside[point];
}

uint64_t pythia_probe_spans_kernel_outside(const struct pythia_probe_spans *s,
                                           enum pythia_kernel_event event)
{
    return s->kernel_outside[event];
}

/* ---- frames ---- */

static void add_frame(const struct pythia_probe_spans *s, uint32_t stream, uint64_t position,
                      struct pythia_frame *head, struct pythia_text payload, struct pythia_buf *to)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    memcpy(head->magic, PYTHIA_FRAME_MAGIC, sizeof(head->magic));
    head->version = PYTHIA_FRAME_VERSION;
    head->header_bytes = sizeof(*head);
    head->payload_bytes = (uint32_t)payload.size;
    head->process_high = s->process[0];
    head->process_low = s->process[1];
    head->stream = stream;
    head->position = position;
    for (size_t i = 0; i < offsetof(struct pythia_frame, check); i++)
        hash = (hash ^ ((const unsigned char *)head)[i]) * UINT64_C(0x100000001b3);
    head->check = hash;
    pythia_buf_add(to, head, sizeof(*head));
    pythia_buf_text_add(to, payload);
}

/* Say who writes and what its points are called. */
static int add_definitions(const struct pythia_probe_spans *s, struct pythia_frame *head,
                           struct pythia_buf *to)
{
    char host[PYTHIA_SERVICE_BYTES + 1] = "";
    struct pythia_buf payload = {0};
    struct pythia_text service = pythia_text_of(s->rules->service);
    if (s->host)
        snprintf(host, sizeof(host), "%s", s->host);
    else
        (void)gethostname(host, sizeof(host) - 1);
    const struct pythia_record_process process = {.head = {.kind = PYTHIA_RECORD_PROCESS},
                                                  .service_bytes = (uint16_t)service.size,
                                                  .host_bytes = (uint16_t)strlen(host)};
    add_record(&payload, &process, sizeof(process), service, pythia_text_of(host));
    for (size_t i = 0; i < s->rules->point_count; i++) {
        struct pythia_text name = pythia_text_of(s->rules->points[i].name);
        const struct pythia_record_point point = {
            .head = {.kind = PYTHIA_RECORD_POINT, .number = (uint32_t)i + 1},
            .name_bytes = (uint16_t)name.size};
        add_record(&payload, &point, sizeof(point), name, PYTHIA_TEXT(""));
    }
    int status = pythia_buf_status(&payload);
    if (status == PYTHIA_OK)
        add_frame(s, 0, 0, head, pythia_buf_text(&payload), to);
    pythia_buf_free(&payload);
    return status;
}

/* Say how many spans were dropped since the last time, for each reason. */
static void add_dropped(struct pythia_probe_spans *s)
{
    const uint64_t dropped[REASONS] = {
        [PYTHIA_DROPPED_SWITCHED] = s->numbers.switched,
        [PYTHIA_DROPPED_ABANDONED] = s->numbers.abandoned,
        [PYTHIA_DROPPED_OVERSIZE] = s->numbers.oversize,
    };
    for (uint32_t reason = 0; reason < REASONS; reason++) {
        const struct pythia_record_dropped record = {
            .head = {.kind = PYTHIA_RECORD_DROPPED, .number = reason},
            .spans = dropped[reason] - s->dropped_told[reason]};
        if (record.spans > 0)
            add_record(&s->finished, &record, sizeof(record), PYTHIA_TEXT(""), PYTHIA_TEXT(""));
        s->dropped_told[reason] = dropped[reason];
    }
}

int pythia_probe_spans_take(struct pythia_probe_spans *s, uint64_t now_ns, int64_t epoch_ns,
                            uint64_t lost, struct pythia_buf *to)
{
    struct pythia_frame head = {.anchor_ticks = now_ns,
                                .anchor_ns = now_ns,
                                .epoch_ns = epoch_ns,
                                .ns_per_tick = 1,
                                .flags = PYTHIA_FRAME_LAST};
    lost += s->numbers.crowded;
    add_dropped(s);
    if (s->finished.size == 0 && lost == s->lost_told)
        return PYTHIA_OK;
    if (!s->begun && add_definitions(s, &head, to) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->begun = true;
    s->lost_told = head.lost_spans = lost;
    add_frame(s, 1, s->position, &head, pythia_buf_text(&s->finished), to);
    s->position += s->finished.size;
    pythia_buf_clear(&s->finished);
    return pythia_buf_status(to);
}
