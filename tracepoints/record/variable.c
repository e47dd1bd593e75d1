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
#include <sys/mman.h>

#include "memory/names.h"
#include "memory/sized.h"
#include "variables.h"

#define FRESH_NS  1000000 /* so long a function is not asked again */
#define PREFIX    "variable."
#define KEY_BYTES (sizeof(PREFIX) - 1 + PYTHIA_VARIABLE_NAME_BYTES)

/* By how much a byte is shifted that stands so far behind the first of a word in memory. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_AT(i) (56 - 8 * (i))
#else
#define BYTE_AT(i) (8 * (i))
#endif

#define SIGN     (UINT64_C(1) << 63)
#define INFINITE UINT64_C(0x7ff0000000000000) /* as bits of a double */

_Static_assert(KEY_BYTES <= PYTHIA_KEY_BYTES, "a key is not cut");

struct variable {
    char key[KEY_BYTES]; /* the prefix, and the name */
    uint16_t key_bytes;
    uint8_t of_class, binding, type; /* what spans need of these is in the page of the process */
    struct pythia_variable_source source;
    uint64_t asked_ns; /* when the function was last asked; 1 while it is being asked */
};

static struct {
    struct variable all[PYTHIA_VARIABLES];
    uint32_t count;
} variables;

/* The last value of each, as bits of a double, until there is an area, which has them from then on;
 * NaN: there is none yet. */
static uint64_t lasts[PYTHIA_VARIABLES];

/* Additional state of a thread that reports more variables than fit into pythia__self. */
struct pythia__more {
    struct pythia__value_said values[PYTHIA_VARIABLES - 1][PYTHIA__SAYING];
    uint64_t told[PYTHIA_VARIABLES - PYTHIA__TOLD];
};

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

/* The place of the last values. */
static inline uint64_t *notes_of(const struct pythia__thread *t)
{
    return pythia__has_ring(t) ? t->page->variables : lasts;
}

static inline void note_value(const struct pythia__thread *t, uint32_t index, uint64_t bits)
{
    __atomic_store_n(&notes_of(t)[index], bits, __ATOMIC_RELAXED);
}

static uint64_t encode_variable_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double read_last_value(uint32_t index)
{
    const struct pythia__process *p = &pythia__process;
    int recording = __atomic_load_n(&p->recording, __ATOMIC_ACQUIRE) > 0;
    uint64_t bits = __atomic_load_n(recording ? &p->area.header->variables[index] : &lasts[index],
                                    __ATOMIC_RELAXED);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A function is asked by one thread, and not too often; others take what it said last. */
static double ask_value(const struct pythia__thread *t, uint32_t index)
{
    struct variable *v = &variables.all[index];
    uint64_t now = pythia__clock_ns(CLOCK_MONOTONIC),
             asked = __atomic_load_n(&v->asked_ns, __ATOMIC_ACQUIRE);
    if (asked != 1 && now - asked >= FRESH_NS &&
        __atomic_compare_exchange_n(&v->asked_ns, &asked, 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
        note_value(t, index, encode_variable_double(v->source.ask(v->source.context)));
        __atomic_store_n(&v->asked_ns, now, __ATOMIC_RELEASE);
    }
    return read_last_value(index);
}

static inline double read_typed_word(uint32_t type, const void *at)
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

/* ---- what is said of a request ---- */

static void forget_more(void *more)
{
    pythia__self.more = NULL;
    pythia__self.told.count = 0;
    munmap(more, sizeof(struct pythia__more));
}

/* Room for it, which a signal handler may ask for, too. NULL: there is none. */
static PYTHIA__COLD struct pythia__more *begin_more(struct pythia__thread *t)
{
    void *room = MAP_FAILED;
    if (__atomic_load_n(&forgetting_made, __ATOMIC_ACQUIRE))
        room = mmap(NULL, sizeof(*t->more), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    if (room == MAP_FAILED)
        return NULL;
    t->more = room;
    pthread_setspecific(forgetting, t->more);
    return t->more;
}

/* A child goes on with nothing. */
static PYTHIA__COLD void begin_saying(struct pythia__saying *all, uint64_t epoch)
{
    *all = (struct pythia__saying){.epoch = epoch};
}

/* Find the slot of a request; the least recently used one is evicted. */
static inline uint32_t request_of(struct pythia__saying *all, const struct pythia_scope *here)
{
    uint32_t oldest = 0, now = (uint32_t)++all->uses;
    for (uint32_t i = 0; i < PYTHIA__SAYING; i++) {
        struct pythia__said_of *r = &all->of[i];
        if (r->count > 0 && r->trace_high == here->trace_high && r->trace_low == here->trace_low) {
            r->used = now;
            return i;
        }
        oldest = now - r->used > now - all->of[oldest].used ? i : oldest;
    }
    all->of[oldest] = (struct pythia__said_of){here->trace_high, here->trace_low, now, 0};
    return oldest;
}

static inline struct pythia__value_said *value_at(struct pythia__thread *t, uint32_t request,
                                                  uint32_t at)
{
    return at == 0 ? &t->saying.first[request] : &t->more->values[at - 1][request];
}

/* The last value of a variable of a request, or the slot for it; NULL: out of memory. */
static inline struct pythia__value_said *
find_said_value(struct pythia__thread *t, const struct pythia_scope *here, uint32_t index, int *has)
{
    struct pythia__saying *all = &t->saying;
    uint64_t epoch = pythia__epoch_of(t);
    if (__builtin_expect(all->epoch != epoch, 0))
        begin_saying(all, epoch);
    uint32_t request = request_of(all, here), count = all->of[request].count, at = 0;
    while (at < count && value_at(t, request, at)->index != index)
        at++;
    *has = at < count;
    if (__builtin_expect(at > 0, 0) && !t->more && !begin_more(t))
        return NULL;
    all->of[request].count += !*has;
    value_at(t, request, at)->index = index;
    return value_at(t, request, at);
}

/* What of it the page says is what all know, unless this is a child that has not noticed yet. */
static inline const struct pythia__page *page_of(const struct pythia__thread *t)
{
    return pythia__has_ring(t) ? t->page : &pythia__first_page;
}

/* The value of a request's variable, of which `value` was said; `more`: by how much it changes. A
 * span is open here. */
static PYTHIA__HOT __attribute__((noinline)) void record_said_value(int number, double value,
                                                                    int more)
{
    struct pythia__thread *t = &pythia__self;
    struct pythia_scope room;
    const struct pythia_scope *here = pythia_here(&room);
    uint32_t index = (uint32_t)number - 1;
    int has;
    const struct pythia__page *page = page_of(t);
    if (index >= __atomic_load_n(&page->defined, __ATOMIC_ACQUIRE) || !page->requests[index] ||
        isnan(value) || t->busy)
        return;
    enum pythia_variable_class of_class = (enum pythia_variable_class)page->classes[index];
    struct pythia__value_said *said = find_said_value(t, here, index, &has);
    if (!said)
        return;
    double before = has ? said->value : 0;
    if (of_class == PYTHIA_CLASS_TIMER || of_class == PYTHIA_CLASS_COUNTER ||
        (more && of_class == PYTHIA_CLASS_LEVEL))
        value = has ? before + value : value;
    else if (has && of_class == PYTHIA_CLASS_HIGHWATERMARK)
        value = before > value ? before : value;
    else if (has && of_class == PYTHIA_CLASS_LOWWATERMARK)
        value = before < value ? before : value;
    said->value = value;
    note_value(t, index, encode_variable_double(value));
    pythia__set_variable(here, index + 1, value);
}

/* Before anything else is touched: all points may be closed. */
PYTHIA__HOT_CLOSED void pythia_variable_set(int variable, double value)
{
    if (pythia__is_below_span(&pythia__self.context))
        record_said_value(variable, value, 0);
}

PYTHIA__HOT_CLOSED void pythia_variable_add(int variable, double change)
{
    if (pythia__is_below_span(&pythia__self.context))
        record_said_value(variable, change, 1);
}

/* ---- what spans tell ---- */

void pythia__variables_ask(struct pythia__thread *t, uint32_t watched)
{
    t->looking = 1;
    for (uint32_t i = 0; i < watched; i++)
        if (t->page->watched[i].type == PYTHIA_VARIABLE_ASKED)
            ask_value(t, t->page->watched[i].index);
    t->looking = 0;
}

/* A request has some fifty spans, and most variables do not change between them; to tell them all
 * each time would cost more than all the rest of tracing. How many are told of the current request?
 * Of another one, none. */
static inline uint32_t told_of(struct pythia__told *last, const struct pythia_context *c,
                               uint64_t epoch)
{
    if (last->trace_high != c->trace_high || last->trace_low != c->trace_low ||
        last->epoch != epoch) {
        last->trace_high = c->trace_high;
        last->trace_low = c->trace_low;
        last->epoch = epoch;
        last->count = 0;
    }
    return (uint32_t)last->count;
}

static inline uint64_t look_at_value(const struct pythia__thread *t,
                                     const struct pythia__watched *w)
{
    if (w->type == PYTHIA_VARIABLE_ASKED) /* it was, just now */
        return __atomic_load_n(&t->page->variables[w->index], __ATOMIC_RELAXED);
    return encode_variable_double(read_typed_word(w->type, w->address));
}

static inline uint64_t *told_at(struct pythia__thread *t, uint32_t i)
{
    return i < PYTHIA__TOLD ? &t->told.bits[i] : &t->more->told[i - PYTHIA__TOLD];
}

uint32_t pythia__variables_write(struct pythia__thread *t, const struct pythia_context *c,
                                 uint32_t watched, uint64_t *to)
{
    uint64_t numbers[PYTHIA_VARIABLES / 8], word = 0, *notes = notes_of(t);
    uint32_t count = 0, told = told_of(&t->told, c, t->epoch);
    if (__builtin_expect(watched > PYTHIA__TOLD, 0) && !t->more && !begin_more(t))
        watched = PYTHIA__TOLD;
    for (uint32_t i = 0; i < watched; i++) {
        const struct pythia__watched *w = &t->page->watched[i];
        uint64_t bits = look_at_value(t, w), *last = told_at(t, i);
        if (i < told && bits == *last)
            continue;
        *last = bits;
        if (w->type != PYTHIA_VARIABLE_ASKED)
            __atomic_store_n(&notes[w->index], bits, __ATOMIC_RELAXED);
        if ((bits & ~SIGN) > INFINITE) /* not a number */
            continue;
        word |= (uint64_t)(w->index + 1) << BYTE_AT(count % 8);
        to[count++] = bits;
        if (count % 8 == 0) {
            numbers[count / 8 - 1] = word;
            word = 0;
        }
    }
    t->told.count = watched;
    for (uint32_t i = 0; i < count / 8; i++)
        to[count + i] = numbers[i];
    if (count % 8 != 0)
        to[count + count / 8] = word;
    return count;
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

/* Let spans see it. */
static void show_variable(struct pythia__page *page, const struct variable *v, uint32_t index)
{
    page->classes[index] = v->of_class;
    page->requests[index] = v->binding == PYTHIA_BIND_REQUEST;
    if (v->binding == PYTHIA_BIND_PROCESS) {
        page->watched[page->watched_count] =
            (struct pythia__watched){v->source.address, index, v->type};
        uint32_t asked = page->asked_count + (v->type == PYTHIA_VARIABLE_ASKED);
        __atomic_store_n(&page->asked_count, asked, __ATOMIC_RELAXED);
        __atomic_store_n(&page->watched_count, page->watched_count + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&page->defined, index + 1, __ATOMIC_RELEASE);
}

/* Under the lock. */
static int add_process_variable(const struct variable *wanted)
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
        if (pthread_key_create(&forgetting, forget_more) != 0)
            return -ENOMEM;
        __atomic_store_n(&forgetting_made, 1, __ATOMIC_RELEASE);
    }
    variables.all[variables.count] = *wanted;
    lasts[variables.count] = encode_variable_double(NAN);
    if (pythia__process.recording > 0) {
        pythia__process.area.header->variables[variables.count] = lasts[variables.count];
        if (!define_one(&variables.all[variables.count]))
            return -ENOSPC;
    }
    show_variable(&pythia__first_page, wanted, variables.count);
    if (pythia__page != &pythia__first_page)
        show_variable(pythia__page, wanted, variables.count);
    __atomic_store_n(&variables.count, variables.count + 1, __ATOMIC_RELEASE);
    return (int)variables.count;
}

static int is_variable_sound(enum pythia_variable_class of_class,
                             enum pythia_variable_binding binding,
                             const struct pythia_variable_source *s)
{
    if ((unsigned)of_class > PYTHIA_CLASS_LOWWATERMARK || (unsigned)binding > PYTHIA_BIND_REQUEST ||
        (s != NULL) != (binding == PYTHIA_BIND_PROCESS))
        return 0;
    return !s || ((unsigned)s->type <= PYTHIA_VARIABLE_ASKED &&
                  (s->type == PYTHIA_VARIABLE_ASKED ? s->ask != NULL : s->address != NULL));
}

/* Callers may have been compiled with an earlier, shorter struct: only the bytes that they have are
 * read. */
int pythia_variable_define_sized(const char *name, enum pythia_variable_class of_class,
                                 enum pythia_variable_binding binding,
                                 const struct pythia_variable_source *given, size_t given_bytes)
{
    struct pythia_variable_source taken;
    const struct pythia_variable_source *source = given ? &taken : NULL;
    int status = given ? pythia__sized_take(&taken, sizeof(taken), given, given_bytes) : 0;
    if (status != 0)
        return status;
    struct variable v = {.of_class = (uint8_t)of_class, .binding = (uint8_t)binding};
    size_t size = name ? strnlen(name, PYTHIA_VARIABLE_NAME_BYTES + 1) : 0;
    int cut = 0;
    if (size == 0 || size > PYTHIA_VARIABLE_NAME_BYTES ||
        !is_variable_sound(of_class, binding, source))
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
    int number = add_process_variable(&v);
    pythia__unlock(&pythia__self);
    return number;
}

int pythia_variable_count(void)
{
    return (int)count_now();
}

int pythia_variable_get_sized(int variable, struct pythia_variable_info *out, size_t out_bytes)
{
    const struct variable *v = variable_of(variable);
    if (!v)
        return -ENOENT;
    struct pythia_variable_info info = {.of_class = (enum pythia_variable_class)v->of_class,
                                        .binding = (enum pythia_variable_binding)v->binding,
                                        .type = (enum pythia_variable_type)v->type,
                                        .value = read_last_value((uint32_t)variable - 1)};
    memcpy(info.name, v->key + sizeof(PREFIX) - 1, v->key_bytes - (sizeof(PREFIX) - 1));
    pythia__sized_give(out, out_bytes, &info, sizeof(info));
    return 0;
}
