/* A search and its verdicts as text, so that another process goes on where this one stands.
 *
 * Values follow each other, each with a blank after it: whole numbers in decimal; floating numbers as
 * their 64 bits in hexadecimal, because decisions must come out the same to the last bit; texts as
 * "SIZE:BYTES". Trace points are numbered by a table at the beginning, types are named, and nodes of a
 * type's tree stand in the order of their names: numbers of a vocabulary mean nothing elsewhere. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "pythia/verdict.h"
#include "search_parts.h"

#define FORMAT          "pythia.search/1 "
#define VERDICTS_FORMAT "pythia.verdicts/1 "

/* ---- the order of nodes ---- */

static bool node_before(const void *context, uint32_t a, uint32_t b)
{
    return pythia_cct_compare_nodes(context, a, b) < 0;
}

/* The nodes of a type by their names, owned by the caller; NULL when out of memory. */
static uint32_t *sort_nodes(const struct pythia_space_type *type)
{
    uint32_t count = pythia_cct_nodes(type->cct);
    uint32_t *nodes = pythia_calloc((size_t)count * 2, sizeof(*nodes));
    for (uint32_t i = 0; nodes && i < count; i++)
        nodes[i] = i;
    if (nodes)
        pythia_sort_indexes(nodes, count, nodes + count, node_before, type->cct);
    return nodes;
}

/* ---- writing ---- */

static void put_number(struct pythia_buf *out, uint64_t value)
{
    pythia_buf_printf(out, "%" PRIu64 " ", value);
}

static void put_double(struct pythia_buf *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    pythia_buf_printf(out, "%" PRIx64 " ", bits);
}

static void put_text(struct pythia_buf *out, struct pythia_text text)
{
    pythia_buf_printf(out, "%zu:", text.size);
    pythia_buf_text_add(out, text);
    pythia_buf_putc(out, ' ');
}

/* 0 is no point. */
static void put_point(struct pythia_buf *out, uint32_t point)
{
    put_number(out, point == PYTHIA_NONE ? 0 : (uint64_t)point + 1);
}

static void put_spending(struct pythia_buf *out, const struct pythia_spending *s)
{
    put_number(out, s->points);
    put_double(out, s->added_ns);
    put_double(out, s->bytes_per_second);
}

static void put_finding(struct pythia_buf *out, const struct pythia_finding *f)
{
    put_point(out, f->place.context);
    put_point(out, f->place.from_tracepoint);
    put_point(out, f->place.to_tracepoint);
    put_number(out, f->place.from_event);
    put_number(out, f->place.to_event);
    put_number(out, f->place.own);
    put_double(out, f->share);
    put_double(out, f->low);
    put_double(out, f->high);
}

static void put_problem(const struct pythia_search *s, const struct pythia_problem *p,
                        struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    put_text(out, pythia_vocabulary_text(v, p->type));
    put_text(out, pythia_vocabulary_text(v, p->unsplit));
    put_number(out, p->state);
    put_number(out, p->why);
    put_point(out, p->blocked);
    put_spending(out, &p->needs);
    put_number(out, p->cycles);
    put_number(out, p->requests);
    put_number(out, p->carried);
    put_number(out, p->waited);
    put_double(out, p->variance_share);
    put_double(out, p->rest);
    put_finding(out, &p->top);
    put_number(out, p->cause_count);
    for (size_t i = 0; i < p->cause_count; i++)
        put_finding(out, &p->causes[i]);
}

static int put_belief(const struct pythia__belief *b, struct pythia_buf *out)
{
    uint32_t *nodes = b->nodes ? sort_nodes(b->type) : NULL;
    put_number(out, b->nodes);
    if (b->nodes && !nodes)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < b->nodes; i++)
        put_double(out, b->log_weight[nodes[i]]);
    pythia_free(nodes);
    return PYTHIA_OK;
}

static int put_keeping(const struct pythia_search *s, const struct pythia__search_keeping *k,
                       struct pythia_buf *out)
{
    uint64_t retired = 0;
    int status = put_belief(&k->belief, out);
    if (status != PYTHIA_OK)
        return status;
    put_number(out, k->duration_count);
    for (size_t i = 0; i < k->duration_count; i++)
        put_double(out, k->log_durations[i]);
    for (uint32_t point = 0; k->retired && point < s->points; point++)
        retired += k->retired[point] > 0;
    put_number(out, retired);
    for (uint32_t point = 0; k->retired && point < s->points; point++)
        if (k->retired[point] > 0) {
            put_point(out, point);
            put_number(out, k->retired[point]);
        }
    const uint64_t numbers[] = {k->forgotten, k->looked,  k->asked,   k->unanswered,
                                k->idle,      k->against, k->starved, k->quiet,
                                k->past,      k->judged,  k->matters, k->violated};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        put_number(out, numbers[i]);
    put_double(out, k->sd_ns);
    return PYTHIA_OK;
}

static void put_type(const struct pythia_search *s, const struct pythia__search_type *t,
                     struct pythia_buf *out)
{
    uint64_t open = 0;
    for (uint32_t point = 0; point < s->points; point++)
        open += pythia__search_was_opened(t, point);
    put_text(out, pythia_vocabulary_text(pythia_space_vocabulary(s->space), t->name));
    put_double(out, t->requests);
    put_number(out, open);
    for (uint32_t point = 0; point < s->points; point++)
        if (pythia__search_was_opened(t, point))
            put_point(out, point);
}

static void put_table(const struct pythia_vocabulary *v, uint32_t points, struct pythia_buf *out)
{
    put_number(out, points);
    for (uint32_t point = 0; point < points; point++)
        put_text(out, pythia_vocabulary_tracepoint_id(v, point));
}

int pythia_search_save(const struct pythia_search *s, struct pythia_buf *out)
{
    uint64_t wide = 0;
    pythia_buf_puts(out, FORMAT);
    put_table(pythia_space_vocabulary(s->space), s->points, out);
    put_number(out, s->cycle);
    put_double(out, s->seconds);
    for (uint32_t point = 0; point < s->points; point++)
        wide += s->wide[point];
    put_number(out, wide);
    for (uint32_t point = 0; point < s->points; point++)
        if (s->wide[point])
            put_point(out, point);
    put_number(out, s->type_count);
    for (size_t i = 0; i < s->type_count; i++)
        put_type(s, &s->types[i], out);
    put_number(out, s->problem_count);
    for (size_t i = 0; i < s->problem_count; i++) {
        put_problem(s, &s->problems[i], out);
        int status = put_keeping(s, &s->keeping[i], out);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_buf_status(out);
}

static void put_places(const struct pythia_verdict_place *places, size_t count,
                       struct pythia_buf *out)
{
    put_number(out, count);
    for (size_t i = 0; i < count; i++) {
        put_finding(out, &places[i].finding);
        put_number(out, places[i].doubts);
        put_number(out, places[i].seen);
        put_number(out, places[i].given_up);
    }
}

int pythia_verdicts_save(const struct pythia_verdicts *v,
                         const struct pythia_vocabulary *vocabulary, struct pythia_buf *out)
{
    pythia_buf_puts(out, VERDICTS_FORMAT);
    put_table(vocabulary, pythia_vocabulary_tracepoints(vocabulary), out);
    put_number(out, v->count);
    for (size_t i = 0; i < v->count; i++) {
        const struct pythia_verdict *one = &v->list[i];
        put_text(out, pythia_vocabulary_text(vocabulary, one->type));
        put_places(one->found, one->found_count, out);
        put_places(one->candidates, one->candidate_count, out);
        put_number(out, one->also_count);
        for (size_t k = 0; k < one->also_count; k++)
            put_finding(out, &one->also[k]);
        put_number(out, one->key != NULL);
        put_text(out, pythia_text_of(one->key ? one->key : ""));
        const uint64_t numbers[] = {
            one->state,    one->confidence, one->searched,     one->why,   one->reason,
            one->was,      one->group,      one->key_doubt,    one->since, one->looks,
            one->requests, one->changes,    one->since_unix_ns};
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            put_number(out, numbers[k]);
        put_double(out, one->explained);
        put_double(out, one->q);
        put_finding(out, &one->was_found);
    }
    return pythia_buf_status(out);
}

/* ---- reading: the text comes from elsewhere ---- */

struct reader {
    struct pythia_search *s;
    struct pythia_vocabulary *vocabulary;
    struct pythia_text left;
    uint32_t *points; /* owned: by number in the text */
    uint64_t point_count;
    int status; /* the first failure */
};

static void fail_reading(struct reader *r, int status)
{
    r->status = r->status == PYTHIA_OK ? status : r->status;
    r->left.size = 0;
}

/* The text up to a byte, which is skipped. */
static struct pythia_text take_until(struct reader *r, char end)
{
    const char *at = r->left.size > 0 ? memchr(r->left.bytes, end, r->left.size) : NULL;
    struct pythia_text taken = {r->left.bytes, at ? (size_t)(at - r->left.bytes) : 0};
    if (!at || taken.size == 0) {
        fail_reading(r, PYTHIA_EFORMAT);
        return (struct pythia_text){"0", 1};
    }
    r->left.bytes += taken.size + 1;
    r->left.size -= taken.size + 1;
    return taken;
}

/* 0 after a failure, or when it is more than `most`, which is one. */
static uint64_t take_number_until(struct reader *r, char end, uint64_t most)
{
    uint64_t value = 0;
    if (!pythia_text_unsigned(take_until(r, end), most, &value)) {
        fail_reading(r, PYTHIA_EFORMAT);
        return 0;
    }
    return value;
}

static uint64_t take_number(struct reader *r, uint64_t most)
{
    return take_number_until(r, ' ', most);
}

/* A number of values that follow: each takes two bytes at least, which bounds what is allocated. */
static size_t take_count(struct reader *r)
{
    uint64_t count = take_number(r, UINT64_MAX);
    if (count > r->left.size / 2) {
        fail_reading(r, PYTHIA_EFORMAT);
        return 0;
    }
    return (size_t)count;
}

static double take_double(struct reader *r)
{
    struct pythia_text text = take_until(r, ' ');
    uint64_t bits = 0;
    double value;
    if (text.size > 16)
        fail_reading(r, PYTHIA_EFORMAT);
    for (size_t i = 0; i < text.size && text.size <= 16; i++) {
        const char *const digits = "0123456789abcdef";
        const char *digit = text.bytes[i] ? strchr(digits, text.bytes[i]) : NULL;
        if (!digit) {
            fail_reading(r, PYTHIA_EFORMAT);
            return 0;
        }
        bits = bits << 4 | (uint64_t)(digit - digits);
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static struct pythia_text take_text(struct reader *r)
{
    size_t size = (size_t)take_number_until(r, ':', UINT32_MAX);
    if (size >= r->left.size || r->left.bytes[size] != ' ') {
        fail_reading(r, PYTHIA_EFORMAT);
        return (struct pythia_text){"", 0};
    }
    struct pythia_text text = {r->left.bytes, size};
    r->left.bytes += size + 1;
    r->left.size -= size + 1;
    return text;
}

static uint32_t take_string(struct reader *r)
{
    struct pythia_text text = take_text(r);
    uint32_t number =
        r->status == PYTHIA_OK ? pythia_vocabulary_string(r->vocabulary, text) : PYTHIA_NONE;
    if (number == PYTHIA_NONE)
        fail_reading(r, PYTHIA_ENOMEM);
    return number;
}

static uint32_t take_point_or_none(struct reader *r)
{
    uint64_t number = take_number(r, r->point_count);
    return number ? r->points[number - 1] : PYTHIA_NONE;
}

/* 0 after a failure. */
static uint32_t take_point(struct reader *r)
{
    uint32_t point = take_point_or_none(r);
    if (point == PYTHIA_NONE) {
        fail_reading(r, PYTHIA_EFORMAT);
        return 0;
    }
    return point;
}

static void take_points(struct reader *r)
{
    r->point_count = take_count(r);
    r->points = pythia_calloc(r->point_count + 1, sizeof(*r->points));
    if (!r->points)
        fail_reading(r, PYTHIA_ENOMEM);
    for (uint64_t i = 0; i < r->point_count && r->status == PYTHIA_OK; i++) {
        struct pythia_text id = take_text(r);
        if (r->status != PYTHIA_OK)
            return;
        r->points[i] = pythia_vocabulary_tracepoint_of_id(r->vocabulary, id, 0, 0);
        if (r->points[i] == PYTHIA_NONE)
            fail_reading(r, PYTHIA_ENOMEM);
    }
}

static struct pythia_spending take_spending(struct reader *r)
{
    struct pythia_spending out = {.points = (size_t)take_number(r, SIZE_MAX)};
    out.added_ns = take_double(r);
    out.bytes_per_second = take_double(r);
    return out;
}

/* A place without trace points is one of a finding that there is not: its share is NaN. */
static struct pythia_finding take_finding(struct reader *r)
{
    struct pythia_finding out = {0};
    struct pythia_place *p = &out.place;
    p->context = take_point_or_none(r);
    p->from_tracepoint = take_point_or_none(r);
    p->to_tracepoint = take_point_or_none(r);
    p->from_event = (uint8_t)take_number(r, PYTHIA_EVENT_ANNOTATION);
    p->to_event = (uint8_t)take_number(r, PYTHIA_EVENT_ANNOTATION);
    p->own = take_number(r, 1) > 0;
    out.share = take_double(r);
    out.low = take_double(r);
    out.high = take_double(r);
    bool named = p->from_tracepoint != PYTHIA_NONE && p->to_tracepoint != PYTHIA_NONE &&
                 (!p->own || p->context != PYTHIA_NONE);
    if (!named && !isnan(out.share))
        fail_reading(r, PYTHIA_EFORMAT);
    return out;
}

static struct pythia_problem take_problem(struct reader *r)
{
    struct pythia_problem p = {.type = take_string(r)};
    p.unsplit = take_string(r);
    p.state = (enum pythia_problem_state)take_number(r, PYTHIA_PROBLEM_STATES - 1);
    p.why = (enum pythia_why)take_number(r, PYTHIA_WHY_SMALL);
    p.blocked = take_point_or_none(r);
    bool names =
        p.why == PYTHIA_WHY_BUDGET || p.why == PYTHIA_WHY_PINNED || p.why == PYTHIA_WHY_STRATEGY;
    if (names && p.state != PYTHIA_PROBLEM_DONE && p.blocked == PYTHIA_NONE)
        fail_reading(r, PYTHIA_EFORMAT);
    p.needs = take_spending(r);
    p.cycles = take_number(r, UINT64_MAX);
    p.requests = take_number(r, UINT64_MAX);
    p.carried = take_number(r, UINT64_MAX);
    p.waited = take_number(r, UINT64_MAX);
    p.variance_share = take_double(r);
    p.rest = take_double(r);
    p.top = take_finding(r);
    p.cause_count = (size_t)take_number(r, PYTHIA_PROBLEM_CAUSES);
    for (size_t i = 0; i < p.cause_count; i++) {
        p.causes[i] = take_finding(r);
        if (isnan(p.causes[i].share))
            fail_reading(r, PYTHIA_EFORMAT);
    }
    return p;
}

/* A belief has a weight for each node of the type, or it is none. */
static void take_belief(struct reader *r, uint32_t unsplit, struct pythia__belief *out)
{
    size_t count = take_count(r);
    const struct pythia_space_type *type =
        count > 0 && r->status == PYTHIA_OK ? pythia_space_type(r->s->space, unsplit) : NULL;
    if (count == 0 || r->status != PYTHIA_OK)
        return;
    if (!type || pythia_cct_nodes(type->cct) != count) {
        fail_reading(r, PYTHIA_EFORMAT);
        return;
    }
    uint32_t *nodes = sort_nodes(type);
    double *weights = pythia_calloc(count, sizeof(*weights));
    if (!nodes || !weights || pythia__belief_create_with(type, r->s->o.history, out) != PYTHIA_OK)
        fail_reading(r, PYTHIA_ENOMEM);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++) {
        weights[nodes[i]] = take_double(r);
        if (!isfinite(weights[nodes[i]]))
            fail_reading(r, PYTHIA_EFORMAT);
    }
    if (r->status == PYTHIA_OK)
        pythia__belief_set(out, weights);
    pythia_free(nodes);
    pythia_free(weights);
}

static void take_durations(struct reader *r, struct pythia__search_keeping *k)
{
    size_t count = take_count(r);
    k->log_durations = count > 0 ? pythia_calloc(count, sizeof(*k->log_durations)) : NULL;
    if (count > 0 && !k->log_durations) {
        fail_reading(r, PYTHIA_ENOMEM);
        return;
    }
    k->duration_count = count;
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++) {
        k->log_durations[i] = take_double(r);
        if (!isfinite(k->log_durations[i]))
            fail_reading(r, PYTHIA_EFORMAT);
    }
}

static void take_retired(struct reader *r, struct pythia__search_keeping *k)
{
    size_t count = take_count(r);
    k->retired = count > 0 ? pythia_calloc(r->s->points, sizeof(*k->retired)) : NULL;
    if (count > 0 && !k->retired)
        fail_reading(r, PYTHIA_ENOMEM);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++) {
        uint32_t point = take_point(r);
        uint64_t cycle = take_number(r, r->s->cycle);
        if (r->status == PYTHIA_OK)
            k->retired[point] = cycle;
    }
}

static void take_keeping(struct reader *r, uint32_t unsplit, struct pythia__search_keeping *k)
{
    take_belief(r, unsplit, &k->belief);
    take_durations(r, k);
    take_retired(r, k);
    k->forgotten = take_number(r, UINT64_MAX);
    k->looked = take_number(r, UINT64_MAX);
    k->asked = take_number(r, UINT64_MAX);
    size_t *const numbers[] = {&k->unanswered, &k->idle,  &k->against,
                               &k->starved,    &k->quiet, &k->past};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = (size_t)take_number(r, SIZE_MAX);
    k->judged = take_number(r, 1) > 0;
    k->matters = take_number(r, 1) > 0;
    k->violated = take_number(r, 1) > 0;
    k->sd_ns = take_double(r);
}

static void take_type(struct reader *r)
{
    uint32_t name = take_string(r);
    double requests = take_double(r);
    size_t open = take_count(r);
    if (r->status != PYTHIA_OK)
        return;
    if (pythia__search_meet_type(r->s, name) != PYTHIA_OK) {
        fail_reading(r, PYTHIA_ENOMEM);
        return;
    }
    struct pythia__search_type *t = pythia__search_type(r->s, name);
    if (!t) { /* the space has no such type: it is another one */
        fail_reading(r, PYTHIA_EFORMAT);
        return;
    }
    t->requests = requests;
    for (size_t i = 0; i < open && r->status == PYTHIA_OK; i++) {
        uint32_t point = take_point(r);
        if (r->status == PYTHIA_OK && pythia__search_switch(r->s, t, point, true) != PYTHIA_OK)
            fail_reading(r, PYTHIA_ENOMEM);
    }
}

static void take_one_problem(struct reader *r)
{
    struct pythia_search *s = r->s;
    struct pythia_problem p = take_problem(r);
    if (r->status != PYTHIA_OK)
        return;
    if (pythia_reach(&s->problem_of, &s->problem_of_capacity, p.type, sizeof(*s->problem_of)) !=
            PYTHIA_OK ||
        pythia_grow(&s->problems, &s->problem_capacity, s->problem_count, sizeof(*s->problems)) !=
            PYTHIA_OK ||
        pythia_grow(&s->keeping, &s->keeping_capacity, s->problem_count, sizeof(*s->keeping)) !=
            PYTHIA_OK) {
        fail_reading(r, PYTHIA_ENOMEM);
        return;
    }
    if (s->problem_of[p.type]) { /* it is there twice */
        fail_reading(r, PYTHIA_EFORMAT);
        return;
    }
    s->problems[s->problem_count] = p;
    s->keeping[s->problem_count] = (struct pythia__search_keeping){0};
    s->problem_of[p.type] = (uint32_t)++s->problem_count;
    take_keeping(r, p.unsplit, &s->keeping[s->problem_count - 1]);
}

static void take_search(struct reader *r)
{
    r->s->cycle = take_number(r, UINT64_MAX);
    r->s->seconds = take_double(r);
    size_t count = take_count(r);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++) {
        uint32_t point = take_point(r);
        if (r->status == PYTHIA_OK)
            r->s->wide[point] = true;
    }
    count = take_count(r);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++)
        take_type(r);
    count = take_count(r);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++)
        take_one_problem(r);
    if (r->left.size > 0)
        fail_reading(r, PYTHIA_EFORMAT);
}

/* What begins so, up to its table of trace points. */
static void begin_reading(struct reader *r, struct pythia_text format)
{
    if (!pythia_text_starts(r->left, format)) {
        fail_reading(r, PYTHIA_EFORMAT);
        return;
    }
    r->left.bytes += format.size;
    r->left.size -= format.size;
    take_points(r);
}

int pythia_search_load(struct pythia_search *s, struct pythia_text saved)
{
    struct reader r = {.s = s, .vocabulary = pythia_space_vocabulary(s->space), .left = saved};
    begin_reading(&r, PYTHIA_TEXT(FORMAT));
    if (r.status == PYTHIA_OK && pythia_vocabulary_tracepoints(r.vocabulary) > s->points)
        r.status = pythia_search_grow(s);
    if (r.status == PYTHIA_OK)
        take_search(&r);
    pythia_free(r.points);
    return r.status;
}

static size_t take_places(struct reader *r, struct pythia_verdict_place *places)
{
    size_t count = (size_t)take_number(r, PYTHIA_PROBLEM_CAUSES);
    for (size_t i = 0; i < count; i++) {
        places[i].finding = take_finding(r);
        places[i].doubts = (unsigned)take_number(r, UINT_MAX);
        places[i].seen = (unsigned)take_number(r, UINT_MAX);
        places[i].given_up = take_number(r, 1) > 0;
        if (isnan(places[i].finding.share))
            fail_reading(r, PYTHIA_EFORMAT);
    }
    return count;
}

/* NULL: there is none, or a failure. */
static char *take_key(struct reader *r)
{
    bool has = take_number(r, 1) > 0;
    struct pythia_text text = take_text(r);
    char *key = has && r->status == PYTHIA_OK ? pythia_strndup(text.bytes, text.size) : NULL;
    if (has && r->status == PYTHIA_OK && !key)
        fail_reading(r, PYTHIA_ENOMEM);
    return key;
}

static void take_verdict(struct reader *r, struct pythia_verdict *one)
{
    one->type = take_string(r);
    one->found_count = take_places(r, one->found);
    one->candidate_count = take_places(r, one->candidates);
    one->also_count = (size_t)take_number(r, PYTHIA_PROBLEM_CAUSES + 1);
    for (size_t i = 0; i < one->also_count; i++) {
        one->also[i] = take_finding(r);
        if (isnan(one->also[i].share))
            fail_reading(r, PYTHIA_EFORMAT);
    }
    one->key = take_key(r);
    one->state = (enum pythia_verdict_state)take_number(r, PYTHIA_VERDICT_STATES - 1);
    one->confidence = (enum pythia_confidence)take_number(r, PYTHIA_CONFIDENCE_HIGH);
    one->searched = take_number(r, 1) > 0;
    one->why = (enum pythia_why)take_number(r, PYTHIA_WHY_SMALL);
    one->reason = (enum pythia_verdict_reason)take_number(r, PYTHIA_VERDICT_LEARNT);
    one->was = (enum pythia_verdict_state)take_number(r, PYTHIA_VERDICT_STATES - 1);
    uint64_t *const numbers[] = {&one->group,    &one->key_doubt, &one->since,        &one->looks,
                                 &one->requests, &one->changes,   &one->since_unix_ns};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = take_number(r, UINT64_MAX);
    one->explained = take_double(r);
    one->q = take_double(r);
    one->was_found = take_finding(r);
}

int pythia_verdicts_load(struct pythia_verdicts *v, struct pythia_vocabulary *vocabulary,
                         struct pythia_text saved)
{
    struct reader r = {.vocabulary = vocabulary, .left = saved};
    begin_reading(&r, PYTHIA_TEXT(VERDICTS_FORMAT));
    size_t count = take_count(&r);
    for (size_t i = 0; i < count && r.status == PYTHIA_OK; i++) {
        if (pythia_grow(&v->list, &v->capacity, v->count, sizeof(*v->list)) != PYTHIA_OK) {
            fail_reading(&r, PYTHIA_ENOMEM);
            break;
        }
        v->list[v->count] = (struct pythia_verdict){0};
        take_verdict(&r, &v->list[v->count++]);
    }
    if (r.left.size > 0)
        fail_reading(&r, PYTHIA_EFORMAT);
    pythia_free(r.points);
    return r.status;
}
