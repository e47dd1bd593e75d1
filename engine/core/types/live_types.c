#include "live_types.h"

#include "pythia/mem.h"
#include "pythia/status.h"

/* Bounds of memory, far above what services have; not tuned. */
#define LEARNING_MAX      1024               /* types at once, with a few kB each */
#define CONTEXTS_MAX      ((uint64_t)100000) /* of a type */
#define CONTEXTS_LEARNING ((uint64_t)200000) /* of all types that are being learnt */
#define CONTEXTS_LEARNT   ((uint64_t)400000) /* of all types that have been learnt */

int pythia__live_types_init(struct pythia__live_types *t, struct pythia_vocabulary *vocabulary,
                            struct pythia_space *space, size_t learnt_max)
{
    *t = (struct pythia__live_types){
        .vocabulary = vocabulary, .space = space, .learnt_max = learnt_max};
    return pythia_space_create(vocabulary, &t->nursery);
}

void pythia__live_types_free(struct pythia__live_types *t)
{
    pythia_space_destroy(t->nursery);
    pythia_free(t->types);
    pythia_free(t->index);
    *t = (struct pythia__live_types){0};
}

static uint64_t contexts_of(const struct pythia__live_types *t, uint32_t name)
{
    const struct pythia_space_type *type = pythia_space_type(t->nursery, name);
    return type ? pythia_cct_nodes(type->cct) : 0;
}

static void unlearn_type(struct pythia__live_types *t, uint32_t name)
{
    t->contexts -= contexts_of(t, name);
    pythia_space_remove(t->nursery, name);
}

static void remove_type(struct pythia__live_types *t, size_t at)
{
    unlearn_type(t, t->types[at].name);
    t->index[t->types[at].name] = 0;
    t->types[at] = t->types[--t->count];
    if (at < t->count)
        t->index[t->types[at].name] = (uint32_t)at + 1;
}

/* Evict at least a quarter of the types that are being learnt, the least frequent ones: evicting
 * one by one would cost a walk over all of them for each new type. */
static void evict_types(struct pythia__live_types *t)
{
    size_t few = 0, learning = t->count - t->learnt;
    uint64_t most = 1;
    /* The bound doubles until a quarter is at or below it: no sort, and no memory. */
    for (; few < learning / 4; most *= 2) {
        few = 0;
        for (size_t i = 0; i < t->count; i++)
            few += !t->types[i].learnt && t->types[i].requests <= most;
    }
    for (size_t i = t->count;
         i-- > 0;) /* backwards: the last one takes the place of a removed one */
        if (!t->types[i].learnt && !t->types[i].chosen && !t->types[i].learnt_late &&
            t->types[i].requests <= most / 2)
            remove_type(t, i);
}

struct pythia__live_type *pythia__live_types_meet(struct pythia__live_types *t, uint32_t name)
{
    if (pythia_reach(&t->index, &t->index_capacity, name, sizeof(*t->index)) != PYTHIA_OK)
        return NULL;
    if (t->index[name])
        return &t->types[t->index[name] - 1];
    /* A space that was loaded from a file may have it already. */
    bool learnt = pythia_space_type(t->space, name) != NULL;
    if (!learnt && t->count - t->learnt >= LEARNING_MAX)
        evict_types(t);
    if (pythia_grow(&t->types, &t->capacity, t->count, sizeof(*t->types)) != PYTHIA_OK)
        return NULL;
    struct pythia_text text = pythia_vocabulary_text(t->vocabulary, name);
    t->types[t->count++] = (struct pythia__live_type){
        .name = name,
        .learnt = learnt,
        .other = !learnt && pythia_text_contains(text, PYTHIA_TEXT("(other)"))};
    t->index[name] = (uint32_t)t->count;
    t->learnt += learnt;
    return &t->types[t->count - 1];
}

size_t pythia__live_types_merge(struct pythia__live_types *t,
                                const struct pythia_path_templates *templates)
{
    size_t before = t->count;
    for (size_t i = t->count; i-- > 0;) {
        const struct pythia__live_type *type = &t->types[i];
        if (type->path && !type->learnt && !type->chosen && !type->learnt_late &&
            pythia_path_templates_replaced(templates,
                                           pythia_vocabulary_text(t->vocabulary, type->name)))
            remove_type(t, i);
    }
    return before - t->count;
}

/* Give up learning a type. One that is known stays as it is, and may be learnt once more later. */
static void refuse_type(struct pythia__live_types *t, struct pythia__live_type *type)
{
    type->refused = !type->learnt;
    type->chosen = type->chosen && !type->learnt;
    unlearn_type(t, type->name);
}

/* Give up the type that takes the most memory while it is learnt. */
static void refuse_largest(struct pythia__live_types *t)
{
    size_t largest = SIZE_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < t->count; i++)
        if (contexts_of(t, t->types[i].name) > most) {
            most = contexts_of(t, t->types[i].name);
            largest = i;
        }
    if (largest != SIZE_MAX)
        refuse_type(t, &t->types[largest]);
}

int pythia__live_types_learn(struct pythia__live_types *t, struct pythia__live_type *type,
                             const struct pythia_trace *trace,
                             const struct pythia_critical_path *path)
{
    uint64_t before = contexts_of(t, type->name);
    int status = type->refused ? PYTHIA_OK : pythia_space_add(t->nursery, type->name, trace, path);
    uint64_t now = contexts_of(t, type->name);
    t->contexts += now - before; /* also after a failure, which may have added a part */
    if (status != PYTHIA_OK)
        return status;
    type->requests++;
    if (now > CONTEXTS_MAX || (!type->learnt && t->learnt >= t->learnt_max))
        refuse_type(t, type);
    while (t->contexts > CONTEXTS_LEARNING)
        refuse_largest(t);
    return PYTHIA_OK;
}

void pythia__live_types_restart(struct pythia__live_types *t, struct pythia__live_type *type)
{
    unlearn_type(t, type->name);
    type->requests = 0;
}

static bool is_ready(const struct pythia__live_type *type, uint64_t requests)
{
    return !type->learnt && !type->refused && type->requests > 0 &&
           (type->learnt_late || type->requests >= requests);
}

struct pythia__live_ready pythia__live_types_ready(const struct pythia__live_types *t,
                                                   uint64_t requests, uint64_t few)
{
    struct pythia__live_ready out = {.all = true};
    for (size_t i = 0; i < t->count; i++) {
        const struct pythia__live_type *type = &t->types[i];
        bool ready = is_ready(type, requests);
        out.any = out.any || ready;
        out.all = out.all && (ready || type->learnt || type->refused || type->requests < few);
    }
    out.all = out.all && out.any;
    return out;
}

/* Move the types that are ready to the search space, as long as there is memory for their contexts;
 * `names` gets the *count types that were moved, also after a failure. */
static int move_ready(struct pythia__live_types *t, uint64_t requests, uint32_t *names,
                      size_t *count, uint64_t *contexts)
{
    for (size_t i = 0; i < t->count; i++) {
        struct pythia__live_type *type = &t->types[i];
        uint64_t more = contexts_of(t, type->name);
        if (!is_ready(type, requests))
            continue;
        if (t->learnt + *count >= t->learnt_max || *contexts + more > CONTEXTS_LEARNT) {
            type->refused = true;
            type->learnt_late = false;
            unlearn_type(t, type->name);
            continue;
        }
        int status = pythia_space_move(t->space, t->nursery, type->name);
        if (status != PYTHIA_OK)
            return status;
        t->contexts -= more;
        *contexts += more;
        names[(*count)++] = type->name;
    }
    return PYTHIA_OK;
}

/* Moving a type back needs no memory: the nursery still has a place for it. */
static void move_back(struct pythia__live_types *t, const uint32_t *names, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        (void)pythia_space_move(t->nursery, t->space, names[i]);
        t->contexts += contexts_of(t, names[i]);
    }
}

int pythia__live_types_renew(struct pythia__live_types *t, const struct pythia_space_type *seen,
                             bool *renewed)
{
    const struct pythia_space_type *known = pythia_space_type(t->space, seen->name);
    uint64_t before = pythia_cct_nodes(known->cct);
    *renewed = false;
    if (t->learnt_contexts + pythia_cct_nodes(seen->cct) > CONTEXTS_LEARNT)
        return PYTHIA_OK;
    int status = pythia_space_renew_type(t->space, seen);
    uint64_t more = pythia_cct_nodes(known->cct) - before; /* also after a failure */
    t->learnt_contexts += more;
    *renewed = more > 0;
    t->renewed += status == PYTHIA_OK && more > 0;
    return status;
}

/* The search takes in the points of the vocabulary first, because it must not meet one in a tree
 * that it has no place for. */
static int renew_types(struct pythia__live_types *t, struct pythia_search *search, size_t *moved)
{
    int status = PYTHIA_OK;
    bool any = false;
    for (size_t i = 0; i < t->count; i++)
        any = any || (t->types[i].learnt && t->types[i].learnt_late);
    if (any)
        status = pythia_search_grow(search);
    for (size_t i = 0; any && i < t->count && status == PYTHIA_OK; i++) {
        struct pythia__live_type *type = &t->types[i];
        bool renewed = false;
        if (!type->learnt || !type->learnt_late)
            continue;
        status = pythia__live_types_renew(t, pythia_space_type(t->nursery, type->name), &renewed);
        *moved += renewed;
        type->learnt_late = status != PYTHIA_OK;
        if (status == PYTHIA_OK)
            unlearn_type(t, type->name);
    }
    int grown = any ? pythia_search_grow(search) : PYTHIA_OK;
    return status != PYTHIA_OK ? status : grown;
}

/* All types move, or none, so that no type is both searched and being learnt. */
static int move_types(struct pythia__live_types *t, uint64_t requests, struct pythia_search *search,
                      size_t *moved)
{
    uint32_t *names = pythia_calloc(t->count, sizeof(*names));
    uint64_t contexts = t->learnt_contexts;
    size_t count = 0;
    *moved = 0;
    if (!names)
        return PYTHIA_ENOMEM;
    int status = move_ready(t, requests, names, &count, &contexts);
    /* After a failure too, because trees of the space may have moved in memory. */
    int grown =
        search && (count > 0 || status != PYTHIA_OK) ? pythia_search_grow(search) : PYTHIA_OK;
    if (status != PYTHIA_OK || (status = grown) != PYTHIA_OK) {
        move_back(t, names, count);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        struct pythia__live_type *type = &t->types[t->index[names[i]] - 1];
        type->learnt = true;
        type->learnt_late = false;
    }
    t->learnt += count;
    t->learnt_contexts = contexts;
    *moved = count;
out:
    pythia_free(names);
    return status;
}

int pythia__live_types_settle(struct pythia__live_types *t, uint64_t requests,
                              struct pythia_search *search, size_t *moved)
{
    int status = move_types(t, requests, search, moved);
    return status == PYTHIA_OK && search ? renew_types(t, search, moved) : status;
}

int pythia__live_types_offer(struct pythia__live_types *t, uint64_t requests,
                             struct pythia_space *to, size_t *moved)
{
    struct pythia_space *own = t->space;
    size_t learnt = t->learnt;
    uint64_t contexts = t->learnt_contexts;
    t->space = to;
    int status = move_types(t, requests, NULL, moved);
    t->space = own;
    t->learnt = learnt;
    t->learnt_contexts = contexts;
    for (size_t i = 0; i < t->count && status == PYTHIA_OK; i++) {
        struct pythia__live_type *type = &t->types[i];
        uint64_t more = contexts_of(t, type->name);
        if (!type->learnt || !type->learnt_late)
            continue;
        status = pythia_space_move(to, t->nursery, type->name);
        t->contexts -= status == PYTHIA_OK ? more : 0;
        type->learnt_late = status != PYTHIA_OK;
        *moved += status == PYTHIA_OK;
    }
    return status;
}

int pythia__live_types_adopt(struct pythia__live_types *t, uint32_t name)
{
    size_t learnt = t->learnt; /* a type that is new here is counted when it is met */
    struct pythia__live_type *type = pythia__live_types_meet(t, name);
    const struct pythia_space_type *known = pythia_space_type(t->space, name);
    if (!type)
        return PYTHIA_ENOMEM;
    unlearn_type(t, name);
    type->learnt = true;
    type->learnt_late = type->refused = false;
    t->learnt = learnt + 1;
    t->learnt_contexts += known ? pythia_cct_nodes(known->cct) : 0;
    return PYTHIA_OK;
}

void pythia__live_types_withdraw(struct pythia__live_types *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->types[i].learnt && !pythia_space_type(t->space, t->types[i].name)) {
            t->types[i].learnt = false;
            t->types[i].requests = 0;
        }
}
