#include "lateness.h"

#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

/* Lags are kept by slice: the smallest and the largest of each, as they are, so that a clock that
 * turns out to be further off than was thought changes nothing that was kept. */
#define SLICES   16
#define SLICE_NS (5 * SECOND)

/* A largest lag of a slice that is above OUTLIER times the middle one, and a second, is an outlier:
 * a retry, or a pause of the sender. One of them says nothing, two are followed. */
#define OUTLIER 3
#define MARGIN  (500 * MS)
#define FEW     20             /* spans, before the lags of a sender say anything */
#define SEEN_NS (6 * SECOND)   /* and how long it must have been known */
#define GONE_NS (120 * SECOND) /* a sender that is silent for longer has ended */
#define REFRESH (SECOND / 2)   /* waits of services are looked at so often */
#define KNOWN   20             /* requests of a kind, before its services are expected */
#define FADE    2000           /* requests of a kind, after which its counts are halved */
#define FEWER   50 /* one of so many requests may have fewer spans of a service than usual */
#define COUNTS  32 /* as many spans and more count as one less */

struct slice {
    int64_t least_ns, most_ns;
};

struct sender {
    uint32_t service;
    uint64_t first_ns, last_ns, spans;
    struct slice slices[SLICES]; /* a ring */
    size_t count;                /* slices ever begun; the last one grows */
    uint64_t slice_ns;           /* when that began */
};

struct presence {
    uint32_t service;
    double requests;         /* that it took part in */
    uint32_t counts[COUNTS]; /* of these, by the number of its spans in them */
};

/* The services that requests of a type involve. */
struct kind {
    double requests;
    struct presence *services; /* owned */
    size_t count, capacity;
    uint64_t looked_ns, wait_ns; /* as of that time */
};

/* The lateness of all senders of a service. */
struct service {
    uint64_t wait_ns; /* of the slowest, however long; 0: there is none */
    uint64_t last_ns; /* the earliest last arrival of any instance that has not ended */
};

struct pythia__lateness {
    const struct pythia_vocabulary *vocabulary;
    struct pythia__lateness_options options;
    struct sender **senders; /* by resource; owned */
    size_t sender_capacity, sender_count;
    uint32_t *known; /* resources that have a sender, in no order */
    size_t known_capacity;
    struct kind *kinds; /* by trace point; the last is PYTHIA_NONE's */
    size_t kind_capacity;
    struct service *services; /* by number of a string */
    size_t service_capacity;
    uint64_t looked_ns, longest_ns;
};

int pythia__lateness_create(const struct pythia_vocabulary *vocabulary,
                            const struct pythia__lateness_options *options,
                            struct pythia__lateness **out)
{
    struct pythia__lateness *l = pythia_calloc(1, sizeof(*l));
    if (!l)
        return PYTHIA_ENOMEM;
    l->vocabulary = vocabulary;
    l->options = *options;
    l->options.initial_ns = options->initial_ns ? options->initial_ns : 6 * SECOND;
    *out = l;
    return PYTHIA_OK;
}

void pythia__lateness_destroy(struct pythia__lateness *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->sender_count; i++)
        pythia_free(l->senders[l->known[i]]);
    for (size_t i = 0; i < l->kind_capacity; i++)
        pythia_free(l->kinds[i].services);
    pythia_free(l->senders);
    pythia_free(l->known);
    pythia_free(l->kinds);
    pythia_free(l->services);
    pythia_free(l);
}

static uint64_t limit_wait(const struct pythia__lateness *l, uint64_t wait_ns)
{
    const struct pythia__lateness_options *o = &l->options;
    return wait_ns < o->least_ns ? o->least_ns : wait_ns > o->most_ns ? o->most_ns : wait_ns;
}

/* ---- senders ---- */

static void add_lag(struct sender *s, int64_t lag_ns, uint64_t now_ns)
{
    if (s->count == 0 || now_ns - s->slice_ns >= SLICE_NS) {
        s->slices[s->count++ % SLICES] = (struct slice){lag_ns, lag_ns};
        s->slice_ns = now_ns;
    }
    struct slice *slice = &s->slices[(s->count - 1) % SLICES];
    slice->least_ns = lag_ns < slice->least_ns ? lag_ns : slice->least_ns;
    slice->most_ns = lag_ns > slice->most_ns ? lag_ns : slice->most_ns;
    s->spans++;
    s->last_ns = now_ns;
}

/* The place of the sender that was silent for longest. */
static size_t find_oldest(const struct pythia__lateness *l)
{
    size_t oldest = 0;
    for (size_t i = 1; i < l->sender_count; i++)
        if (l->senders[l->known[i]]->last_ns < l->senders[l->known[oldest]]->last_ns)
            oldest = i;
    return oldest;
}

static struct sender *make_sender(struct pythia__lateness *l, uint32_t resource, uint64_t now_ns)
{
    if (l->sender_count == PYTHIA__LATENESS_SENDERS) {
        size_t oldest = find_oldest(l);
        if (now_ns - l->senders[l->known[oldest]]->last_ns < GONE_NS)
            return NULL;
        pythia_free(l->senders[l->known[oldest]]);
        l->senders[l->known[oldest]] = NULL;
        l->known[oldest] = l->known[--l->sender_count];
    }
    struct sender *s = pythia_calloc(1, sizeof(*s));
    if (!s || pythia_grow(&l->known, &l->known_capacity, l->sender_count, sizeof(*l->known)) !=
                  PYTHIA_OK) {
        pythia_free(s);
        return NULL;
    }
    s->service = pythia_vocabulary_resource_at(l->vocabulary, resource).service;
    s->first_ns = now_ns;
    l->known[l->sender_count++] = resource;
    l->senders[resource] = s;
    return s;
}

int pythia__lateness_arrived(struct pythia__lateness *l, const struct pythia_span *span,
                             uint64_t now_ns)
{
    if (span->part != PYTHIA_PART_WHOLE)
        return PYTHIA_OK;
    if (pythia_reach(&l->senders, &l->sender_capacity, span->resource, sizeof(struct sender *)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint64_t end_ns = span->start_ns + (span->duration_ns > 0 ? (uint64_t)span->duration_ns : 0);
    struct sender *s = l->senders[span->resource];
    if (!s && !(s = make_sender(l, span->resource, now_ns)))
        return l->sender_count == PYTHIA__LATENESS_SENDERS ? PYTHIA_OK : PYTHIA_ENOMEM;
    add_lag(s, (int64_t)(now_ns - end_ns), now_ns);
    return PYTHIA_OK;
}

static int compare_lags(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t learnt_wait(const struct pythia__lateness *l, const struct sender *s,
                            uint64_t now_ns)
{
    uint64_t lags[SLICES];
    size_t n = s->count < SLICES ? s->count : SLICES;
    int64_t reference = INT64_MAX;
    if (s->spans < FEW || now_ns - s->first_ns < SEEN_NS)
        return l->options.initial_ns;
    for (size_t i = 0; i < n; i++)
        reference = s->slices[i].least_ns < reference ? s->slices[i].least_ns : reference;
    for (size_t i = 0; i < n; i++)
        lags[i] = (uint64_t)s->slices[i].most_ns - (uint64_t)reference;
    qsort(lags, n, sizeof(*lags), compare_lags);
    uint64_t usual = OUTLIER * lags[n / 2] + SECOND, most = lags[n - 1];
    if (n > 2 && most > usual && lags[n - 2] <= usual)
        most = lags[n - 2];
    return most + MARGIN;
}

/* ---- services ---- */

/* Look at all senders, if that is due. Without memory the waits stay as they were. */
static void refresh_waits(struct pythia__lateness *l, uint64_t now_ns)
{
    if (l->looked_ns && now_ns - l->looked_ns < REFRESH)
        return;
    l->looked_ns = now_ns;
    l->longest_ns = 0;
    if (l->service_capacity)
        memset(l->services, 0, l->service_capacity * sizeof(*l->services));
    for (size_t i = 0; i < l->sender_count; i++) {
        const struct sender *s = l->senders[l->known[i]];
        if (now_ns - s->last_ns > GONE_NS ||
            pythia_reach(&l->services, &l->service_capacity, s->service, sizeof(*l->services)) !=
                PYTHIA_OK)
            continue;
        struct service *of = &l->services[s->service];
        uint64_t wait_ns = learnt_wait(l, s, now_ns);
        of->last_ns = of->wait_ns == 0 || s->last_ns < of->last_ns ? s->last_ns : of->last_ns;
        of->wait_ns = wait_ns > of->wait_ns ? wait_ns : of->wait_ns;
        l->longest_ns = wait_ns > l->longest_ns ? wait_ns : l->longest_ns;
    }
    l->longest_ns = limit_wait(l, l->longest_ns ? l->longest_ns : l->options.initial_ns);
}

uint64_t pythia__lateness_longest(struct pythia__lateness *l, uint64_t now_ns)
{
    refresh_waits(l, now_ns);
    return l->longest_ns;
}

/* ---- kinds ---- */

static uint32_t service_of(const struct pythia__lateness *l, uint32_t resource)
{
    if (resource < l->sender_capacity && l->senders[resource])
        return l->senders[resource]->service;
    return pythia_vocabulary_resource_at(l->vocabulary, resource).service;
}

/* Spans of a service, of all its instances. */
static uint32_t spans_of_service(const struct pythia__lateness *l, uint32_t service,
                                 const struct pythia_assembler_sender *senders, size_t count)
{
    uint32_t spans = 0;
    for (size_t i = 0; i < count; i++)
        if (service_of(l, senders[i].resource) == service)
            spans += senders[i].spans;
    return spans;
}

static void fade_kind(struct kind *k)
{
    k->requests /= 2;
    for (size_t i = k->count; i-- > 0;) {
        struct presence *p = &k->services[i];
        p->requests /= 2;
        for (size_t n = 0; n < COUNTS; n++)
            p->counts[n] /= 2;
        if (p->requests < .5)
            *p = k->services[--k->count];
    }
}

static void note_spans(struct presence *p, uint32_t spans)
{
    p->requests++;
    p->counts[spans < COUNTS ? spans : COUNTS - 1]++;
}

/* Nearly all requests have so many spans of the service, or more. A few that have fewer, as those
 * that a program had begun before it was watched, do not count. */
static uint32_t usual_spans(const struct presence *p)
{
    double fewer = 0;
    uint32_t usual = 0;
    while (usual < COUNTS - 1 && (fewer + p->counts[usual]) * FEWER <= p->requests)
        fewer += p->counts[usual++];
    return usual;
}

static int add_service(struct kind *k, uint32_t service, uint32_t spans)
{
    for (size_t i = 0; i < k->count; i++)
        if (k->services[i].service == service) {
            note_spans(&k->services[i], spans);
            return PYTHIA_OK;
        }
    if (k->count == PYTHIA__LATENESS_SERVICES)
        return PYTHIA_OK;
    if (pythia_grow(&k->services, &k->capacity, k->count, sizeof(*k->services)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    k->services[k->count] = (struct presence){.service = service};
    note_spans(&k->services[k->count++], spans);
    return PYTHIA_OK;
}

int pythia__lateness_finished(struct pythia__lateness *l, uint32_t kind,
                              const struct pythia_assembler_sender *senders, size_t count)
{
    if (kind == PYTHIA_NONE)
        return PYTHIA_OK;
    if (pythia_reach(&l->kinds, &l->kind_capacity, kind, sizeof(*l->kinds)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct kind *k = &l->kinds[kind];
    if (k->requests >= FADE)
        fade_kind(k);
    k->requests++;
    for (size_t i = 0; i < count; i++) {
        uint32_t service = service_of(l, senders[i].resource);
        if (spans_of_service(l, service, senders, i) > 0)
            continue; /* it was counted with another instance */
        if (add_service(k, service, spans_of_service(l, service, senders, count)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

static struct kind *find_kind(struct pythia__lateness *l, uint32_t kind)
{
    struct kind *k = kind < l->kind_capacity ? &l->kinds[kind] : NULL;
    return k && k->requests >= KNOWN ? k : NULL;
}

uint64_t pythia__lateness_wait(struct pythia__lateness *l, uint32_t kind, uint64_t now_ns)
{
    refresh_waits(l, now_ns);
    struct kind *k = find_kind(l, kind);
    if (!k)
        return l->longest_ns;
    if (k->looked_ns == l->looked_ns)
        return k->wait_ns;
    uint64_t longest = 0;
    for (size_t i = 0; i < k->count; i++) {
        uint32_t service = k->services[i].service;
        uint64_t wait_ns = service < l->service_capacity ? l->services[service].wait_ns : 0;
        longest = wait_ns > longest ? wait_ns : longest;
    }
    k->looked_ns = l->looked_ns;
    k->wait_ns = limit_wait(l, longest ? longest : l->longest_ns);
    return k->wait_ns;
}

enum pythia_assembler_lacks pythia__lateness_lacks(struct pythia__lateness *l, uint32_t kind,
                                                   const struct pythia_assembler_sender *senders,
                                                   size_t count, uint64_t since_ns, uint64_t now_ns)
{
    enum pythia_assembler_lacks lacks = PYTHIA_LACKS_NOTHING;
    const struct kind *k = find_kind(l, kind);
    refresh_waits(l, now_ns);
    for (size_t i = 0; k && i < k->count; i++) {
        const struct presence *p = &k->services[i];
        if (p->requests < k->requests / 2 || p->service >= l->service_capacity ||
            l->services[p->service].wait_ns == 0)
            continue;
        uint32_t spans = spans_of_service(l, p->service, senders, count);
        if (spans >= usual_spans(p) || (l->services[p->service].last_ns > since_ns &&
                                        l->services[p->service].wait_ns <= l->options.most_ns))
            continue;
        if (spans == 0)
            return PYTHIA_LACKS_SENDER;
        lacks = PYTHIA_LACKS_SPANS;
    }
    return lacks;
}

size_t pythia__lateness_bytes(const struct pythia__lateness *l)
{
    size_t bytes = sizeof(*l) + l->sender_count * sizeof(struct sender) +
                   l->sender_capacity * sizeof(struct sender *) +
                   l->known_capacity * sizeof(*l->known) + l->kind_capacity * sizeof(*l->kinds) +
                   l->service_capacity * sizeof(*l->services);
    for (size_t i = 0; i < l->kind_capacity; i++)
        bytes += l->kinds[i].capacity * sizeof(*l->kinds[i].services);
    return bytes;
}
