/* A search as text, so that another process goes on where this one stands.
 *
 * Values follow each other, each with a blank after it: whole numbers in decimal; floating numbers
 * as their 64 bits in hexadecimal, because decisions must come out the same to the last bit; texts
 * as "SIZE:BYTES". Trace points are numbered by a table at the beginning, types are named, and
 * nodes of a type's tree stand in the order of their names: numbers of a vocabulary mean nothing
 * elsewhere. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "search_parts.h"
#include "search_text.h"

#define FORMAT "pythia.search/6 "

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

void pythia__saved_put_number(struct pythia_buf *out, uint64_t value)
{
    pythia_buf_printf(out, "%" PRIu64 " ", value);
}

void pythia__saved_put_double(struct pythia_buf *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    pythia_buf_printf(out, "%" PRIx64 " ", bits);
}

void pythia__saved_put_text(struct pythia_buf *out, struct pythia_text text)
{
    pythia_buf_printf(out, "%zu:", text.size);
    pythia_buf_text_add(out, text);
    pythia_buf_putc(out, ' ');
}

/* 0 is no point. */
static void put_point(struct pythia_buf *out, uint32_t point)
{
    pythia__saved_put_number(out, point == PYTHIA_NONE ? 0 : (uint64_t)point + 1);
}

static void put_spending(struct pythia_buf *out, const struct pythia_spending *s)
{
    pythia__saved_put_number(out, s->points);
    pythia__saved_put_double(out, s->added_ns);
    pythia__saved_put_double(out, s->bytes_per_second);
}

void pythia__saved_put_finding(struct pythia_buf *out, const struct pythia_finding *f)
{
    put_point(out, f->place.context);
    put_point(out, f->place.from_tracepoint);
    put_point(out, f->place.to_tracepoint);
    pythia__saved_put_number(out, f->place.from_event);
    pythia__saved_put_number(out, f->place.to_event);
    pythia__saved_put_number(out, f->place.own);
    put_point(out, f->place.hosted ? f->place.host : PYTHIA_NONE);
    pythia__saved_put_double(out, f->share);
    pythia__saved_put_double(out, f->low);
    pythia__saved_put_double(out, f->high);
}

static void put_problem(const struct pythia_search *s, const struct pythia_problem *p,
                        struct pythia_buf *out)
{
    const struct pythia_vocabulary *v = pythia_space_vocabulary(s->space);
    pythia__saved_put_text(out, pythia_vocabulary_text(v, p->type));
    pythia__saved_put_text(out, pythia_vocabulary_text(v, p->unsplit));
    pythia__saved_put_number(out, p->state);
    pythia__saved_put_number(out, p->why);
    put_point(out, p->blocked);
    put_spending(out, &p->needs);
    pythia__saved_put_number(out, p->cycles);
    pythia__saved_put_number(out, p->requests);
    pythia__saved_put_number(out, p->carried);
    pythia__saved_put_number(out, p->waited);
    pythia__saved_put_number(out, p->retries);
    pythia__saved_put_number(out, p->retry_in);
    pythia__saved_put_double(out, p->variance_share);
    pythia__saved_put_double(out, p->rest);
    pythia__saved_put_number(out, p->part);
    put_point(out, p->part > 1 ? p->part_point : PYTHIA_NONE);
    pythia__saved_put_finding(out, &p->top);
    pythia__saved_put_number(out, p->cause_count);
    for (size_t i = 0; i < p->cause_count; i++)
        pythia__saved_put_finding(out, &p->causes[i]);
}

static int put_belief(const struct pythia__belief *b, struct pythia_buf *out)
{
    uint32_t *nodes = b->nodes ? sort_nodes(b->type) : NULL;
    pythia__saved_put_number(out, b->nodes);
    if (b->nodes && !nodes)
        return PYTHIA_ENOMEM;
    for (uint32_t i = 0; i < b->nodes; i++)
        pythia__saved_put_double(out, b->log_weight[nodes[i]]);
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
    pythia__saved_put_number(out, k->duration_count);
    for (size_t i = 0; i < k->duration_count; i++)
        pythia__saved_put_double(out, k->log_durations[i]);
    for (uint32_t point = 0; k->retired && point < s->points; point++)
        retired += k->retired[point] > 0;
    pythia__saved_put_number(out, retired);
    for (uint32_t point = 0; k->retired && point < s->points; point++)
        if (k->retired[point] > 0) {
            put_point(out, point);
            pythia__saved_put_number(out, k->retired[point]);
        }
    const uint64_t numbers[] = {k->forgotten, k->looked,  k->asked,    k->unanswered, k->idle,
                                k->judged,    k->matters, k->violated, k->grown,      k->spread};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        pythia__saved_put_number(out, numbers[i]);
    const struct pythia__search_run *const runs[] = {&k->against, &k->starved, &k->quiet, &k->past};
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        pythia__saved_put_number(out, runs[i]->cycles);
        pythia__saved_put_double(out, runs[i]->since);
    }
    put_point(out, k->spread ? k->keyed : PYTHIA_NONE);
    pythia__saved_put_double(out, k->sd_ns);
    return PYTHIA_OK;
}

static void put_type(const struct pythia_search *s, const struct pythia__search_type *t,
                     struct pythia_buf *out)
{
    uint64_t open = 0;
    for (uint32_t point = 0; point < s->points; point++)
        open += pythia__search_was_opened(t, point);
    pythia__saved_put_text(out, pythia_vocabulary_text(pythia_space_vocabulary(s->space), t->name));
    pythia__saved_put_double(out, t->requests);
    pythia__saved_put_number(out, open);
    for (uint32_t point = 0; point < s->points; point++)
        if (pythia__search_was_opened(t, point))
            put_point(out, point);
}

/* The points that are open at one instance only, and at one of how many. */
static void put_parts(const struct pythia_search *s, struct pythia_buf *out)
{
    uint64_t parted = 0;
    for (uint32_t point = 0; point < s->points; point++)
        parted += s->part[point] > 1;
    pythia__saved_put_number(out, parted);
    for (uint32_t point = 0; point < s->points; point++)
        if (s->part[point] > 1) {
            put_point(out, point);
            pythia__saved_put_number(out, s->part[point]);
        }
}

void pythia__saved_put_points(const struct pythia_vocabulary *v, uint32_t points,
                              struct pythia_buf *out)
{
    pythia__saved_put_number(out, points);
    for (uint32_t point = 0; point < points; point++)
        pythia__saved_put_text(out, pythia_vocabulary_tracepoint_id(v, point));
}

int pythia_search_save(const struct pythia_search *s, struct pythia_buf *out)
{
    uint64_t wide = 0;
    pythia_buf_puts(out, FORMAT);
    pythia__saved_put_points(pythia_space_vocabulary(s->space), s->points, out);
    pythia__saved_put_number(out, s->cycle);
    pythia__saved_put_double(out, s->seconds);
    pythia__saved_put_double(out, s->clock);
    for (uint32_t point = 0; point < s->points; point++)
        wide += s->wide[point];
    pythia__saved_put_number(out, wide);
    for (uint32_t point = 0; point < s->points; point++)
        if (s->wide[point])
            put_point(out, point);
    put_parts(s, out);
    pythia__saved_put_number(out, s->type_count);
    for (size_t i = 0; i < s->type_count; i++)
        put_type(s, &s->types[i], out);
    pythia__saved_put_number(out, s->problem_count);
    for (size_t i = 0; i < s->problem_count; i++) {
        put_problem(s, &s->problems[i], out);
        int status = put_keeping(s, &s->keeping[i], out);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_buf_status(out);
}

/* ---- reading: the text comes from elsewhere ---- */

void pythia__saved_fail(struct pythia__saved *r, int status)
{
    r->status = r->status == PYTHIA_OK ? status : r->status;
    r->left.size = 0;
}

/* The text up to a byte, which is skipped. */
static struct pythia_text take_until(struct pythia__saved *r, char end)
{
    const char *at = r->left.size > 0 ? memchr(r->left.bytes, end, r->left.size) : NULL;
    struct pythia_text taken = {r->left.bytes, at ? (size_t)(at - r->left.bytes) : 0};
    if (!at || taken.size == 0) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return (struct pythia_text){"0", 1};
    }
    r->left.bytes += taken.size + 1;
    r->left.size -= taken.size + 1;
    return taken;
}

/* 0 after a failure, or when it is more than `most`, which is one. */
static uint64_t take_number_until(struct pythia__saved *r, char end, uint64_t most)
{
    uint64_t value = 0;
    if (!pythia_text_unsigned(take_until(r, end), most, &value)) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return 0;
    }
    return value;
}

uint64_t pythia__saved_number(struct pythia__saved *r, uint64_t most)
{
    return take_number_until(r, ' ', most);
}

/* A number of values that follow: each takes two bytes at least, which bounds what is allocated. */
size_t pythia__saved_count(struct pythia__saved *r)
{
    uint64_t count = pythia__saved_number(r, UINT64_MAX);
    if (count > r->left.size / 2) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return 0;
    }
    return (size_t)count;
}

double pythia__saved_double(struct pythia__saved *r)
{
    struct pythia_text text = take_until(r, ' ');
    uint64_t bits = 0;
    double value;
    if (text.size > 16)
        pythia__saved_fail(r, PYTHIA_EFORMAT);
    for (size_t i = 0; i < text.size && text.size <= 16; i++) {
        const char *const digits = "0123456789abcdef";
        const char *digit = text.bytes[i] ? strchr(digits, text.bytes[i]) : NULL;
        if (!digit) {
            pythia__saved_fail(r, PYTHIA_EFORMAT);
            return 0;
        }
        bits = bits << 4 | (uint64_t)(digit - digits);
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

struct pythia_text pythia__saved_text(struct pythia__saved *r)
{
    size_t size = (size_t)take_number_until(r, ':', UINT32_MAX);
    if (size >= r->left.size || r->left.bytes[size] != ' ') {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return (struct pythia_text){"", 0};
    }
    struct pythia_text text = {r->left.bytes, size};
    r->left.bytes += size + 1;
    r->left.size -= size + 1;
    if (!pythia_text_is_sound(text)) { /* as all names are that come from traces */
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return (struct pythia_text){"", 0};
    }
    return text;
}

uint32_t pythia__saved_string(struct pythia__saved *r)
{
    struct pythia_text text = pythia__saved_text(r);
    uint32_t number =
        r->status == PYTHIA_OK ? pythia_vocabulary_string(r->vocabulary, text) : PYTHIA_NONE;
    if (number == PYTHIA_NONE)
        pythia__saved_fail(r, PYTHIA_ENOMEM);
    return number;
}

static uint32_t take_point_or_none(struct pythia__saved *r)
{
    uint64_t number = pythia__saved_number(r, r->point_count);
    return number ? r->points[number - 1] : PYTHIA_NONE;
}

/* 0 after a failure. */
static uint32_t take_point(struct pythia__saved *r)
{
    uint32_t point = take_point_or_none(r);
    if (point == PYTHIA_NONE) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return 0;
    }
    return point;
}

static void take_points(struct pythia__saved *r)
{
    r->point_count = pythia__saved_count(r);
    r->points = pythia_calloc(r->point_count + 1, sizeof(*r->points));
    if (!r->points)
        pythia__saved_fail(r, PYTHIA_ENOMEM);
    for (uint64_t i = 0; r->points && i < r->point_count; i++) {
        struct pythia_text id = pythia__saved_text(r);
        if (r->status != PYTHIA_OK)
            return;
        r->points[i] = pythia_vocabulary_tracepoint_of_id(r->vocabulary, id, 0, 0);
        if (r->points[i] == PYTHIA_NONE)
            pythia__saved_fail(r, PYTHIA_ENOMEM);
    }
}

static struct pythia_spending take_spending(struct pythia__saved *r)
{
    struct pythia_spending out = {.points = (size_t)pythia__saved_number(r, SIZE_MAX)};
    out.added_ns = pythia__saved_double(r);
    out.bytes_per_second = pythia__saved_double(r);
    return out;
}

/* A place without trace points is one of a finding that there is not: its share is NaN. */
struct pythia_finding pythia__saved_finding(struct pythia__saved *r)
{
    struct pythia_finding out = {0};
    struct pythia_place *p = &out.place;
    p->context = take_point_or_none(r);
    p->from_tracepoint = take_point_or_none(r);
    p->to_tracepoint = take_point_or_none(r);
    p->from_event = (uint8_t)pythia__saved_number(r, PYTHIA_EVENT_ANNOTATION);
    p->to_event = (uint8_t)pythia__saved_number(r, PYTHIA_EVENT_ANNOTATION);
    p->own = pythia__saved_number(r, 1) > 0;
    uint32_t host = take_point_or_none(r);
    p->hosted = host != PYTHIA_NONE;
    p->host = p->hosted ? host : 0;
    out.share = pythia__saved_double(r);
    out.low = pythia__saved_double(r);
    out.high = pythia__saved_double(r);
    bool named = p->from_tracepoint != PYTHIA_NONE && p->to_tracepoint != PYTHIA_NONE &&
                 (!p->own || p->context != PYTHIA_NONE);
    if (!named && !isnan(out.share))
        pythia__saved_fail(r, PYTHIA_EFORMAT);
    return out;
}

static struct pythia_problem take_problem(struct pythia__saved *r)
{
    struct pythia_problem p = {.type = pythia__saved_string(r)};
    p.unsplit = pythia__saved_string(r);
    p.state = (enum pythia_problem_state)pythia__saved_number(r, PYTHIA_PROBLEM_STATES - 1);
    p.why = (enum pythia_why)pythia__saved_number(r, PYTHIA_WHY_SPREAD);
    p.blocked = take_point_or_none(r);
    bool names =
        p.why == PYTHIA_WHY_BUDGET || p.why == PYTHIA_WHY_PINNED || p.why == PYTHIA_WHY_STRATEGY;
    if (names && p.state != PYTHIA_PROBLEM_DONE && p.blocked == PYTHIA_NONE)
        pythia__saved_fail(r, PYTHIA_EFORMAT);
    p.needs = take_spending(r);
    p.cycles = pythia__saved_number(r, UINT64_MAX);
    p.requests = pythia__saved_number(r, UINT64_MAX);
    p.carried = pythia__saved_number(r, UINT64_MAX);
    p.waited = pythia__saved_number(r, UINT64_MAX);
    p.retries = pythia__saved_number(r, UINT64_MAX);
    p.retry_in = pythia__saved_number(r, UINT64_MAX);
    p.variance_share = pythia__saved_double(r);
    p.rest = pythia__saved_double(r);
    p.part = (uint32_t)pythia__saved_number(r, UINT32_MAX);
    p.part_point = take_point_or_none(r);
    if (p.part > 1 && p.part_point == PYTHIA_NONE)
        pythia__saved_fail(r, PYTHIA_EFORMAT);
    p.top = pythia__saved_finding(r);
    p.cause_count = (size_t)pythia__saved_number(r, PYTHIA_PROBLEM_CAUSES);
    for (size_t i = 0; i < p.cause_count; i++) {
        p.causes[i] = pythia__saved_finding(r);
        if (isnan(p.causes[i].share))
            pythia__saved_fail(r, PYTHIA_EFORMAT);
    }
    return p;
}

/* A belief has a weight for each node of the type, or it is none. */
static void take_belief(struct pythia__saved *r, uint32_t unsplit, struct pythia__belief *out)
{
    size_t count = pythia__saved_count(r);
    if (count == 0 || r->status != PYTHIA_OK)
        return;
    const struct pythia_space_type *type = pythia_space_type(r->s->space, unsplit);
    if (!type || pythia_cct_nodes(type->cct) != count) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return;
    }
    uint32_t *nodes = sort_nodes(type);
    double *weights = pythia_calloc(count, sizeof(*weights));
    if (!nodes || !weights || pythia__belief_create_with(type, r->s->o.history, out) != PYTHIA_OK) {
        pythia__saved_fail(r, PYTHIA_ENOMEM);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        weights[nodes[i]] = pythia__saved_double(r);
        if (!isfinite(weights[nodes[i]]))
            pythia__saved_fail(r, PYTHIA_EFORMAT);
        if (r->status != PYTHIA_OK)
            goto out;
    }
    pythia__belief_set(out, weights);
out:
    pythia_free(nodes);
    pythia_free(weights);
}

static void take_durations(struct pythia__saved *r, struct pythia__search_keeping *k)
{
    size_t count = pythia__saved_count(r);
    if (count == 0)
        return;
    k->log_durations = pythia_calloc(count, sizeof(*k->log_durations));
    if (!k->log_durations) {
        pythia__saved_fail(r, PYTHIA_ENOMEM);
        return;
    }
    k->duration_count = count;
    for (size_t i = 0; i < count; i++) {
        k->log_durations[i] = pythia__saved_double(r);
        if (!isfinite(k->log_durations[i]))
            pythia__saved_fail(r, PYTHIA_EFORMAT);
        if (r->status != PYTHIA_OK)
            return;
    }
}

static void take_retired(struct pythia__saved *r, struct pythia__search_keeping *k)
{
    size_t count = pythia__saved_count(r);
    if (count == 0)
        return;
    k->retired = pythia_calloc(r->s->points, sizeof(*k->retired));
    if (!k->retired) {
        pythia__saved_fail(r, PYTHIA_ENOMEM);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t point = take_point(r);
        uint64_t cycle = pythia__saved_number(r, r->s->cycle);
        if (r->status != PYTHIA_OK)
            return;
        k->retired[point] = cycle;
    }
}

static void take_keeping(struct pythia__saved *r, uint32_t unsplit,
                         struct pythia__search_keeping *k)
{
    take_belief(r, unsplit, &k->belief);
    take_durations(r, k);
    take_retired(r, k);
    k->forgotten = pythia__saved_number(r, UINT64_MAX);
    k->looked = pythia__saved_number(r, UINT64_MAX);
    k->asked = pythia__saved_number(r, UINT64_MAX);
    k->unanswered = (size_t)pythia__saved_number(r, SIZE_MAX);
    k->idle = (size_t)pythia__saved_number(r, SIZE_MAX);
    k->judged = pythia__saved_number(r, 1) > 0;
    k->matters = pythia__saved_number(r, 1) > 0;
    k->violated = pythia__saved_number(r, 1) > 0;
    k->grown = pythia__saved_number(r, 1) > 0;
    k->spread = pythia__saved_number(r, 1) > 0;
    struct pythia__search_run *const runs[] = {&k->against, &k->starved, &k->quiet, &k->past};
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        runs[i]->cycles = (size_t)pythia__saved_number(r, SIZE_MAX);
        runs[i]->since = pythia__saved_double(r);
    }
    k->keyed = take_point_or_none(r);
    k->sd_ns = pythia__saved_double(r);
}

static void take_type(struct pythia__saved *r)
{
    uint32_t name = pythia__saved_string(r);
    double requests = pythia__saved_double(r);
    size_t open = pythia__saved_count(r);
    if (r->status != PYTHIA_OK)
        return;
    if (pythia__search_meet_type(r->s, name) != PYTHIA_OK) {
        pythia__saved_fail(r, PYTHIA_ENOMEM);
        return;
    }
    struct pythia__search_type *t = pythia__search_type(r->s, name);
    if (!t) { /* the space has no such type: it is another one */
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return;
    }
    t->requests = requests;
    for (size_t i = 0; i < open; i++) {
        uint32_t point = take_point(r);
        if (r->status != PYTHIA_OK)
            return;
        if (pythia__search_switch(r->s, t, point, true) != PYTHIA_OK)
            pythia__saved_fail(r, PYTHIA_ENOMEM);
    }
}

static void take_one_problem(struct pythia__saved *r)
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
        pythia__saved_fail(r, PYTHIA_ENOMEM);
        return;
    }
    if (s->problem_of[p.type]) { /* it is there twice */
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return;
    }
    s->problems[s->problem_count] = p;
    s->keeping[s->problem_count] = (struct pythia__search_keeping){0};
    s->problem_of[p.type] = (uint32_t)++s->problem_count;
    take_keeping(r, p.unsplit, &s->keeping[s->problem_count - 1]);
}

/* Before what is open, which sums up costs by them. */
static void take_parts(struct pythia__saved *r)
{
    size_t count = pythia__saved_count(r);
    for (size_t i = 0; i < count; i++) {
        uint32_t point = take_point(r);
        uint64_t part = pythia__saved_number(r, UINT32_MAX);
        /* Nothing could be open at one instance where they cannot be told apart. */
        if (part < 2 || !r->s->o.instances)
            pythia__saved_fail(r, PYTHIA_EFORMAT);
        if (r->status != PYTHIA_OK)
            return;
        r->s->part[point] = (uint32_t)part;
        r->s->parted = true;
    }
}

static void take_search(struct pythia__saved *r)
{
    r->s->cycle = pythia__saved_number(r, UINT64_MAX);
    r->s->seconds = pythia__saved_double(r);
    r->s->clock = pythia__saved_double(r);
    size_t count = pythia__saved_count(r);
    for (size_t i = 0; i < count; i++) {
        uint32_t point = take_point(r);
        if (r->status != PYTHIA_OK)
            return;
        r->s->wide[point] = true;
    }
    take_parts(r);
    count = pythia__saved_count(r);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++)
        take_type(r);
    count = pythia__saved_count(r);
    for (size_t i = 0; i < count && r->status == PYTHIA_OK; i++)
        take_one_problem(r);
    if (r->left.size > 0)
        pythia__saved_fail(r, PYTHIA_EFORMAT);
}

/* What begins so, up to its table of trace points. */
void pythia__saved_begin(struct pythia__saved *r, struct pythia_text format)
{
    if (!pythia_text_starts(r->left, format)) {
        pythia__saved_fail(r, PYTHIA_EFORMAT);
        return;
    }
    r->left.bytes += format.size;
    r->left.size -= format.size;
    take_points(r);
}

int pythia_search_load(struct pythia_search *s, struct pythia_text saved)
{
    struct pythia__saved r = {
        .s = s, .vocabulary = pythia_space_vocabulary(s->space), .left = saved};
    pythia__saved_begin(&r, PYTHIA_TEXT(FORMAT));
    if (r.status != PYTHIA_OK)
        goto out;
    if (pythia_vocabulary_tracepoints(r.vocabulary) > s->points)
        r.status = pythia_search_grow(s);
    if (r.status != PYTHIA_OK)
        goto out;
    take_search(&r);
out:
    pythia_free(r.points);
    return r.status;
}
