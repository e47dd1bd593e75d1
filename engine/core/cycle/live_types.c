#include "live_types.h"

#include "pythia/mem.h"
#include "pythia/status.h"

#define LEARNING_MAX      1024               /* types at once, with a few kB each */
#define CONTEXTS_MAX      ((uint64_t)100000) /* of a type */
#define CONTEXTS_LEARNING ((uint64_t)200000) /* of all that are being learnt */
#define CONTEXTS_LEARNT   ((uint64_t)400000) /* of all that were */

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

/* Forget what was learnt of a type so far. */
static void unlearn_type(struct pythia__live_types *t, uint32_t name)
{
    t->contexts -= contexts_of(t, name);
    pythia_space_remove(t->nursery, name);
}

static void take_out(struct pythia__live_types *t, size_t at)
{
    unlearn_type(t, t->types[at].name);
    t->index[t->types[at].name] = 0;
    t->types[at] = t->types[--t->count];
    if (at < t->count)
        t->index[t->types[at].name] = (uint32_t)at + 1;
}

/* A quarter of the types that are being learnt go, at least: those that were seen least. */
static void make_room(struct pythia__live_types *t)
{
    size_t few = 0, learning = t->count - t->learnt;
    uint64_t most = 1;
    for (; few < learning / 4; most *= 2) {
        few = 0;
        for (size_t i = 0; i < t->count; i++)
            few += !t->types[i].learnt && t->types[i].requests <= most;
    }
    for (size_t i = t->count; i-- > 0;)
        if (!t->types[i].learnt && !t->types[i].pupil && !t->types[i].taught &&
            t->types[i].requests <= most / 2)
            take_out(t, i);
}

struct pythia__live_type *pythia__live_types_meet(struct pythia__live_types *t, uint32_t name)
{
    if (pythia_reach(&t->index, &t->index_capacity, name, sizeof(*t->index)) != PYTHIA_OK)
        return NULL;
    if (t->index[name])
        return &t->types[t->index[name] - 1];
    bool learnt = pythia_space_type(t->space, name) != NULL;
    if (!learnt && t->count - t->learnt >= LEARNING_MAX)
        make_room(t);
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
        if (type->path && !type->learnt && !type->pupil && !type->taught &&
            pythia_path_templates_replaced(templates,
                                           pythia_vocabulary_text(t->vocabulary, type->name)))
            take_out(t, i);
    }
    return before - t->count;
}

/* Of the types that are being learnt, the one with most contexts is not. */
static void refuse_largest(struct pythia__live_types *t)
{
    size_t largest = SIZE_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < t->count; i++)
        if (!t->types[i].learnt && contexts_of(t, t->types[i].name) > most) {
            most = contexts_of(t, t->types[i].name);
            largest = i;
        }
    if (largest == SIZE_MAX)
        return;
    t->types[largest].refused = true;
    unlearn_type(t, t->types[largest].name);
}

int pythia__live_types_learn(struct pythia__live_types *t, struct pythia__live_type *type,
                             const struct pythia_trace *trace,
                             const struct pythia_critical_path *path)
{
    uint64_t before = contexts_of(t, type->name);
    int status = type->refused ? PYTHIA_OK : pythia_space_add(t->nursery, type->name, trace, path);
    uint64_t now = contexts_of(t, type->name);
    t->contexts += now - before;
    type->requests += status == PYTHIA_OK;
    if (now > CONTEXTS_MAX || t->learnt >= t->learnt_max) {
        type->refused = true;
        unlearn_type(t, type->name);
    }
    while (t->contexts > CONTEXTS_LEARNING)
        refuse_largest(t);
    return status;
}

void pythia__live_types_restart(struct pythia__live_types *t, struct pythia__live_type *type)
{
    unlearn_type(t, type->name);
    type->requests = 0;
}

static bool is_ready(const struct pythia__live_type *type, uint64_t requests)
{
    return !type->learnt && !type->refused && type->requests > 0 &&
           (type->taught || type->requests >= requests);
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

/* Take back what was moved: there is room for it where it came from. */
static void move_back(struct pythia__live_types *t, uint32_t name)
{
    (void)pythia_space_move(t->nursery, t->space, name);
    t->contexts += contexts_of(t, name);
}

int pythia__live_types_settle(struct pythia__live_types *t, uint64_t requests,
                              struct pythia_search *search, size_t *moved)
{
    uint32_t *names = pythia_calloc(t->count, sizeof(*names));
    uint64_t contexts = t->learnt_contexts;
    size_t count = 0;
    int status = names ? PYTHIA_OK : PYTHIA_ENOMEM;
    *moved = 0;
    for (size_t i = 0; i < t->count && status == PYTHIA_OK; i++) {
        struct pythia__live_type *type = &t->types[i];
        uint64_t more = contexts_of(t, type->name);
        if (!is_ready(type, requests))
            continue;
        if (t->learnt + count >= t->learnt_max || contexts + more > CONTEXTS_LEARNT) {
            type->refused = true;
            type->taught = false;
            unlearn_type(t, type->name);
            continue;
        }
        status = pythia_space_move(t->space, t->nursery, type->name);
        if (status != PYTHIA_OK)
            break;
        t->contexts -= more;
        contexts += more;
        names[count++] = type->name;
    }
    if (search && (count > 0 || status != PYTHIA_OK)) { /* also because types may have moved */
        int grown = pythia_search_grow(search);
        status = status == PYTHIA_OK ? grown : status;
    }
    for (size_t i = count; i-- > 0;) {
        if (status != PYTHIA_OK)
            move_back(t, names[i]);
        else {
            struct pythia__live_type *type = &t->types[t->index[names[i]] - 1];
            type->learnt = true;
            type->taught = false;
        }
    }
    if (status == PYTHIA_OK) {
        t->learnt += count;
        t->learnt_contexts = contexts;
        *moved = count;
    }
    pythia_free(names);
    return status;
}
