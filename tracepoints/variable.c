/* SPDX-License-Identifier: MIT */
/* Variables: a table that only grows, so that looking needs no lock. What a request has of one is
 * kept by the thread that says it, for the innermost spans of its last few requests: a sum must go
 * on where it stood. */
#define _GNU_SOURCE
#include "pythia/variable.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "variables.h"

#define FRESH_NS  1000000 /* so long a function is not asked again */
#define PREFIX    "variable."
#define KEY_BYTES (sizeof(PREFIX) - 1 + PYTHIA_VARIABLE_NAME_BYTES)
#define REQUESTS  4 /* that one thread has in hand by turns */

_Static_assert(KEY_BYTES <= PYTHIA_KEY_BYTES, "a key is not cut");

struct variable {
    char key[KEY_BYTES]; /* the prefix, and the name */
    uint16_t key_bytes;
    uint8_t of_class, binding, type;
    struct pythia_variable_source source;
    uint64_t asked_ns; /* when the function was last asked; 1 while it is being asked */
};

static struct {
    struct variable all[PYTHIA_VARIABLES];
    uint32_t count;
} variables;

/* The last value of each, as bits of a double; NaN: there is none yet. */
static uint64_t lasts[PYTHIA_VARIABLES];

/* Those that are bound to the process, close together: they are looked at in each span. */
static struct {
    const void *address;
    uint32_t index; /* in all */
    uint32_t type;
} watched[PYTHIA_VARIABLES];

uint32_t pythia__variables_of_process; /* of watched */

/* What requests of a thread have: which ones these are, and the values of each so far. A thread
 * that was asleep has to fetch what it touches, so that is little. */
struct of_requests {
    struct {
        uint64_t trace_high, trace_low, epoch, used;
    } which[REQUESTS];
    struct of_request {
        uint32_t count; /* of values */
        uint8_t indexes[PYTHIA_VARIABLES];
        double values[PYTHIA_VARIABLES];
    } of[REQUESTS];
};

static __thread struct of_requests *mine; /* NULL until something is said */
static pthread_key_t forgetting;
static int forgetting_made;

static uint32_t count_now(void)
{
    return __atomic_load_n(&variables.count, __ATOMIC_ACQUIRE);
}

static struct variable *variable_of(int number)
{
    return number >= 1 && (uint32_t)number <= count_now() ? &variables.all[number - 1] : NULL;
}

/* ---- values ---- */

static void note(uint32_t index, uint64_t bits)
{
    const struct pythia__process *p = &pythia__process;
    __atomic_store_n(&lasts[index], bits, __ATOMIC_RELAXED);
    if (__atomic_load_n(&p->recording, __ATOMIC_ACQUIRE) > 0)
        __atomic_store_n(&p->area.header->variables[index], bits, __ATOMIC_RELAXED);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double last_of(uint32_t index)
{
    uint64_t bits = __atomic_load_n(&lasts[index], __ATOMIC_RELAXED);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A function is asked by one thread, and not too often; others take what it said last. */
static double ask(uint32_t index)
{
    struct variable *v = &variables.all[index];
    uint64_t now = pythia__clock_ns(CLOCK_MONOTONIC),
             asked = __atomic_load_n(&v->asked_ns, __ATOMIC_ACQUIRE);
    if (asked != 1 && now - asked >= FRESH_NS &&
        __atomic_compare_exchange_n(&v->asked_ns, &asked, 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
        note(index, bits_of(v->source.ask(v->source.context)));
        __atomic_store_n(&v->asked_ns, now, __ATOMIC_RELEASE);
    }
    return last_of(index);
}

static inline double read_word(uint32_t type, const void *at)
{
    uint64_t bits;
    double value;
    switch (type) {
    case PYTHIA_VARIABLE_INT:
        return __atomic_load_n((const int *)at, __ATOMIC_RELAXED);
    case PYTHIA_VARIABLE_UNSIGNED:
        return __atomic_load_n((const unsigned *)at, __ATOMIC_RELAXED);
    case PYTHIA_VARIABLE_LONG:
        return (double)__atomic_load_n((const long *)at, __ATOMIC_RELAXED);
    case PYTHIA_VARIABLE_UNSIGNED_LONG:
        return (double)__atomic_load_n((const unsigned long *)at, __ATOMIC_RELAXED);
    default: /* PYTHIA_VARIABLE_DOUBLE */
        bits = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
}

/* What this thread told last: of which request, and the values. A request has some fifty spans, and
 * most variables do not change between them; to tell them all each time would cost more than all
 * the rest of tracing. */
struct told {
    uint64_t trace_high, trace_low, epoch;
    uint32_t count;                  /* variables that were told */
    uint64_t bits[PYTHIA_VARIABLES]; /* of the values */
};

/* How many are told of the request at hand? Of another one, none. */
static uint32_t told_of(struct told *last, const struct pythia_context *c, uint64_t epoch)
{
    if (last->trace_high != c->trace_high || last->trace_low != c->trace_low ||
        last->epoch != epoch) {
        last->trace_high = c->trace_high;
        last->trace_low = c->trace_low;
        last->epoch = epoch;
        last->count = 0;
    }
    return last->count;
}

void pythia__variables_look(const struct pythia__thread *t, const struct pythia_context *c,
                            struct pythia__values *out)
{
    static __thread unsigned char looking; /* a function that is asked may pass points itself */
    static __thread struct told last;
    uint32_t count = __atomic_load_n(&pythia__variables_of_process, __ATOMIC_ACQUIRE);
    if (looking)
        return;
    looking = 1;
    uint32_t told = told_of(&last, c, t->epoch);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = watched[i].type, index = watched[i].index;
        double value =
            type == PYTHIA_VARIABLE_ASKED ? ask(index) : read_word(type, watched[i].address);
        uint64_t bits = bits_of(value);
        if (i < told && bits == last.bits[i])
            continue;
        last.bits[i] = bits;
        if (type != PYTHIA_VARIABLE_ASKED)
            note(index, bits);
        if (isnan(value))
            continue;
        out->numbers[out->count] = (uint8_t)(index + 1);
        out->bits[out->count++] = bits;
    }
    last.count = count;
    looking = 0;
}

/* ---- what is said of a request ---- */

static struct of_requests *take_mine(void)
{
    if (!mine && __atomic_load_n(&forgetting_made, __ATOMIC_ACQUIRE)) {
        mine = calloc(1, sizeof(*mine));
        if (mine)
            pthread_setspecific(forgetting, mine);
    }
    return mine;
}

/* What this thread has of a request; the one that was not used for longest makes room. */
static struct of_request *request_of(const struct pythia_scope *here)
{
    static __thread uint64_t uses;
    struct of_requests *all = take_mine();
    uint64_t epoch = pythia__epoch_now();
    int oldest = 0;
    if (!all)
        return NULL;
    for (int i = 0; i < REQUESTS; i++) {
        if (all->which[i].used && all->which[i].trace_high == here->trace_high &&
            all->which[i].trace_low == here->trace_low && all->which[i].epoch == epoch) {
            all->which[i].used = ++uses;
            return &all->of[i];
        }
        oldest = all->which[i].used < all->which[oldest].used ? i : oldest;
    }
    all->which[oldest].trace_high = here->trace_high;
    all->which[oldest].trace_low = here->trace_low;
    all->which[oldest].epoch = epoch;
    all->which[oldest].used = ++uses;
    all->of[oldest].count = 0;
    return &all->of[oldest];
}

/* Where the value of a variable is, or the place for it, which has none yet. */
static uint32_t place_of(struct of_request *r, uint32_t index)
{
    uint32_t at = 0;
    while (at < r->count && r->indexes[at] != index)
        at++;
    r->indexes[at] = (uint8_t)index;
    return at;
}

/* The value of a request's variable, of which `value` was said; `more`: by how much it changes. */
static void say(int number, double value, int more)
{
    struct pythia_scope room;
    struct variable *v = variable_of(number);
    const struct pythia_scope *here;
    if (!v || v->binding != PYTHIA_BIND_REQUEST || isnan(value) || pythia__self.busy ||
        !(here = pythia_here(&room)))
        return;
    struct of_request *r = request_of(here);
    if (!r)
        return;
    uint32_t at = place_of(r, (uint32_t)number - 1);
    int has = at < r->count;
    double before = has ? r->values[at] : 0;
    if (v->of_class == PYTHIA_CLASS_TIMER || v->of_class == PYTHIA_CLASS_COUNTER ||
        (more && v->of_class == PYTHIA_CLASS_LEVEL))
        value = has ? before + value : value;
    else if (has && v->of_class == PYTHIA_CLASS_HIGHWATERMARK)
        value = before > value ? before : value;
    else if (has && v->of_class == PYTHIA_CLASS_LOWWATERMARK)
        value = before < value ? before : value;
    r->count += !has;
    r->values[at] = value;
    note((uint32_t)number - 1, bits_of(value));
    pythia__set_variable(here, (uint32_t)number, value);
}

void pythia_variable_set(int variable, double value)
{
    say(variable, value, 0);
}

void pythia_variable_add(int variable, double change)
{
    say(variable, change, 1);
}

/* ---- defining ---- */

static int define_one(const struct variable *v)
{
    struct pythia_record_variable record = {
        .head = {.kind = PYTHIA_RECORD_VARIABLE, .number = (uint32_t)(v - variables.all) + 1},
        .of_class = v->of_class,
        .binding = v->binding,
        .type = v->type,
        .name_bytes = (uint8_t)(v->key_bytes - (sizeof(PREFIX) - 1)),
    };
    return pythia__define(&record, sizeof(record), v->key + sizeof(PREFIX) - 1, record.name_bytes,
                          "", 0);
}

void pythia__variables_define(void)
{
    for (uint32_t i = 0; i < variables.count; i++) {
        define_one(&variables.all[i]);
        pythia__process.area.header->variables[i] = lasts[i];
    }
}

/* Under the lock. */
static int add(const struct variable *wanted)
{
    for (uint32_t i = 0; i < variables.count; i++) {
        const struct variable *v = &variables.all[i];
        if (v->key_bytes == wanted->key_bytes && memcmp(v->key, wanted->key, v->key_bytes) == 0)
            return v->of_class == wanted->of_class && v->binding == wanted->binding ? (int)i + 1
                                                                                    : -EINVAL;
    }
    if (variables.count == PYTHIA_VARIABLES)
        return -ENOSPC;
    if (!forgetting_made) {
        if (pthread_key_create(&forgetting, free) != 0)
            return -ENOMEM;
        __atomic_store_n(&forgetting_made, 1, __ATOMIC_RELEASE);
    }
    variables.all[variables.count] = *wanted;
    lasts[variables.count] = bits_of(NAN);
    if (pythia__process.recording > 0) {
        pythia__process.area.header->variables[variables.count] = lasts[variables.count];
        if (!define_one(&variables.all[variables.count]))
            return -ENOSPC;
    }
    if (wanted->binding == PYTHIA_BIND_PROCESS) {
        uint32_t at = pythia__variables_of_process;
        watched[at].address = wanted->source.address;
        watched[at].index = variables.count;
        watched[at].type = wanted->type;
        __atomic_store_n(&pythia__variables_of_process, at + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&variables.count, variables.count + 1, __ATOMIC_RELEASE);
    return (int)variables.count;
}

static int is_sound(enum pythia_variable_class of_class, enum pythia_variable_binding binding,
                    const struct pythia_variable_source *s)
{
    if ((unsigned)of_class > PYTHIA_CLASS_LOWWATERMARK || (unsigned)binding > PYTHIA_BIND_REQUEST ||
        (s != NULL) != (binding == PYTHIA_BIND_PROCESS))
        return 0;
    return !s || ((unsigned)s->type <= PYTHIA_VARIABLE_ASKED &&
                  (s->type == PYTHIA_VARIABLE_ASKED ? s->ask != NULL : s->address != NULL));
}

int pythia_variable_define(const char *name, enum pythia_variable_class of_class,
                           enum pythia_variable_binding binding,
                           const struct pythia_variable_source *source)
{
    struct variable v = {.of_class = (uint8_t)of_class, .binding = (uint8_t)binding};
    size_t size = name ? strnlen(name, PYTHIA_VARIABLE_NAME_BYTES + 1) : 0;
    int cut = 0;
    if (size == 0 || size > PYTHIA_VARIABLE_NAME_BYTES || !is_sound(of_class, binding, source))
        return -EINVAL;
    memcpy(v.key, PREFIX, sizeof(PREFIX) - 1);
    size = pythia__name_clean(name, size, v.key + sizeof(PREFIX) - 1, PYTHIA_VARIABLE_NAME_BYTES,
                              &cut);
    v.key_bytes = (uint16_t)(sizeof(PREFIX) - 1 + size);
    v.type = (uint8_t)(source ? source->type : PYTHIA_VARIABLE_DOUBLE);
    if (source)
        v.source = *source;
    if (!pythia__lock(&pythia__self))
        return -EBUSY;
    int number = add(&v);
    pythia__unlock(&pythia__self);
    return number;
}

int pythia_variable_count(void)
{
    return (int)count_now();
}

int pythia_variable_get(int variable, struct pythia_variable_info *out)
{
    const struct variable *v = variable_of(variable);
    if (!v)
        return -ENOENT;
    *out = (struct pythia_variable_info){.of_class = (enum pythia_variable_class)v->of_class,
                                         .binding = (enum pythia_variable_binding)v->binding,
                                         .type = (enum pythia_variable_type)v->type,
                                         .value = last_of((uint32_t)variable - 1)};
    memcpy(out->name, v->key + sizeof(PREFIX) - 1, v->key_bytes - (sizeof(PREFIX) - 1));
    return 0;
}
