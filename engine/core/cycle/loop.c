#include "loop.h"

#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

static int keep_switches(struct pythia_loop_cycle *c, const struct pythia_cycle *found)
{
    size_t opened = 0;
    for (size_t i = 0; i < found->switch_count; i++)
        opened += found->switches[i].open;
    c->opened = pythia_calloc(opened, sizeof(*c->opened));
    c->closed = pythia_calloc(found->switch_count - opened, sizeof(*c->closed));
    if (!c->opened || !c->closed)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < found->switch_count; i++) {
        const struct pythia_switch *s = &found->switches[i];
        struct pythia_loop_switch *to =
            s->open ? &c->opened[c->opened_count] : &c->closed[c->closed_count];
        *to = (struct pythia_loop_switch){.tracepoint = s->tracepoint,
                                          .type = s->type,
                                          .gain = s->inside,
                                          .price_ns = s->price_ns,
                                          .cost_ns = s->cost_ns,
                                          .bytes_per_second = s->bytes_per_second,
                                          .reason = pythia_strndup(s->reason, strlen(s->reason))};
        if (!to->reason)
            return PYTHIA_ENOMEM;
        *(s->open ? &c->opened_count : &c->closed_count) += 1;
    }
    c->leading = (struct pythia_problem){.type = PYTHIA_NONE};
    if (found->leading != SIZE_MAX)
        c->leading = found->problems[found->leading];
    return PYTHIA_OK;
}

/* Was a cause known before this cycle? Problems stay where they are. */
static bool is_known(const struct pythia_loop *l, size_t problem, const struct pythia_place *place)
{
    const struct pythia_problem *p = problem < l->problem_count ? &l->problems[problem] : NULL;
    for (size_t i = 0; p && i < p->cause_count; i++)
        if (pythia_place_equal(&p->causes[i].place, place))
            return true;
    return false;
}

/* List the causes that were not known before this cycle; NULL: only count them. */
static size_t list_found(const struct pythia_loop *l, const struct pythia_cycle *found,
                         struct pythia_loop_found *to)
{
    size_t count = 0;
    for (size_t i = 0; i < found->problem_count; i++)
        for (size_t k = 0; k < found->problems[i].cause_count; k++) {
            const struct pythia_finding *cause = &found->problems[i].causes[k];
            if (is_known(l, i, &cause->place))
                continue;
            if (to)
                to[count] = (struct pythia_loop_found){found->problems[i].type, *cause};
            count++;
        }
    return count;
}

/* Most cycles find nothing that is new, and hundreds of them are retained: the array has no slack
 * for all causes that there may be. */
static int keep_found(const struct pythia_loop *l, struct pythia_loop_cycle *c,
                      const struct pythia_cycle *found)
{
    size_t count = list_found(l, found, NULL);
    c->found = pythia_calloc(count, sizeof(*c->found));
    if (!c->found)
        return PYTHIA_ENOMEM;
    c->found_count = list_found(l, found, c->found);
    return PYTHIA_OK;
}

static int keep_problems(struct pythia_loop *l, struct pythia_loop_cycle *c,
                         const struct pythia_cycle *found, const struct pythia_problem *unknown,
                         size_t unknown_count)
{
    size_t count = found->problem_count;
    struct pythia_problem *copy = pythia_calloc(count + unknown_count + 1, sizeof(*copy));
    if (!copy)
        return PYTHIA_ENOMEM;
    if (count)
        memcpy(copy, found->problems, count * sizeof(*copy));
    for (size_t u = 0; u < unknown_count; u++) {
        bool known = false;
        for (size_t i = 0; i < found->problem_count; i++)
            known = known || copy[i].type == unknown[u].type;
        if (!known)
            copy[count++] = unknown[u];
    }
    pythia_free(l->problems);
    l->problems = copy;
    l->problem_count = count;
    for (size_t i = 0; i < count; i++)
        c->states[copy[i].state]++;
    l->finished = found->finished;
    return PYTHIA_OK;
}

static int keep_effects(struct pythia_loop_cycle *c, const struct pythia_cycle *found)
{
    c->effects = pythia_calloc(found->effect_count, sizeof(*found->effects));
    if (!c->effects)
        return PYTHIA_ENOMEM;
    if (found->effect_count)
        memcpy(c->effects, found->effects, found->effect_count * sizeof(*found->effects));
    c->effect_count = found->effect_count;
    return PYTHIA_OK;
}

/* How the group of the leading type stands that is followed. */
static int follow_leading(struct pythia_loop *l, struct pythia_loop_cycle *c,
                          const struct pythia_groups *groups)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++) {
        if (types[i].name != c->leading.type)
            continue;
        status =
            pythia_reach(&l->followed, &l->followed_capacity, types[i].name, sizeof(*l->followed));
        if (status == PYTHIA_OK)
            status = pythia_followed_find(&types[i], l->followed[types[i].name], &c->group);
        if (status == PYTHIA_OK)
            l->followed[types[i].name] = c->group.id;
    }
    return status;
}

int pythia__loop_keep(struct pythia_loop *l, struct pythia_loop_cycle *c,
                      const struct pythia_cycle *found, const struct pythia_groups *groups,
                      const struct pythia_problem *unknown, size_t unknown_count, uint64_t unix_ns)
{
    int status = keep_effects(c, found);
    if (status == PYTHIA_OK)
        status = keep_switches(c, found);
    if (status == PYTHIA_OK)
        status = keep_found(l, c, found);
    if (status == PYTHIA_OK)
        status = keep_problems(l, c, found, unknown, unknown_count);
    if (status == PYTHIA_OK)
        status =
            pythia_verdicts_update(&l->verdicts, c->number, unix_ns, l->problems, l->problem_count);
    if (status == PYTHIA_OK)
        status = follow_leading(l, c, groups);
    c->waiting = found->waiting;
    c->spent = found->spent;
    c->planned = found->planned;
    return status;
}

static void free_cycle(struct pythia_loop_cycle *c)
{
    for (size_t k = 0; k < c->opened_count; k++)
        pythia_free(c->opened[k].reason);
    for (size_t k = 0; k < c->closed_count; k++)
        pythia_free(c->closed[k].reason);
    pythia_free(c->opened);
    pythia_free(c->closed);
    pythia_free(c->effects);
    pythia_free(c->found);
}

/* Did nothing happen in a cycle? */
static bool is_idle(const struct pythia_loop_cycle *c)
{
    return c->leading.type == PYTHIA_NONE && c->opened_count == 0 && c->closed_count == 0 &&
           c->found_count == 0 && c->effect_count == 0;
}

/* Of two cycles in which nothing happened the last one stands for both. */
static void join_idle(struct pythia_loop *l)
{
    if (l->cycle_count < 2)
        return;
    struct pythia_loop_cycle *before = &l->cycles[l->cycle_count - 2], *last = before + 1;
    if (!is_idle(before) || !is_idle(last) || (before->number == 0) != (last->number == 0) ||
        memcmp(before->states, last->states, sizeof(last->states)) != 0)
        return;
    last->more = before->more + 1;
    last->seconds += before->seconds;
    last->requests += before->requests;
    last->under_way += before->under_way;
    last->unseen += before->unseen;
    last->spans_seen += before->spans_seen;
    last->spans_saved += before->spans_saved;
    free_cycle(before);
    *before = *last;
    l->cycle_count--;
}

static void evict_oldest(struct pythia_loop *l)
{
    free_cycle(&l->cycles[0]);
    memmove(&l->cycles[0], &l->cycles[1], --l->cycle_count * sizeof(*l->cycles));
}

static uint64_t switch_bytes(const struct pythia_loop_switch *list, size_t count)
{
    uint64_t bytes = count * sizeof(*list);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(list[i].reason) + 1;
    return bytes;
}

static uint64_t cycle_bytes(const struct pythia_loop_cycle *c)
{
    return sizeof(*c) + switch_bytes(c->opened, c->opened_count) +
           switch_bytes(c->closed, c->closed_count) + c->found_count * sizeof(*c->found) +
           c->effect_count * sizeof(*c->effects);
}

uint64_t pythia_loop_bytes(const struct pythia_loop *l)
{
    uint64_t bytes = l->problem_count * sizeof(*l->problems) +
                     l->verdicts.capacity * sizeof(*l->verdicts.list) +
                     (l->cycle_capacity - l->cycle_count) * sizeof(*l->cycles) +
                     l->followed_capacity * sizeof(*l->followed);
    for (size_t i = 0; i < l->cycle_count; i++)
        bytes += cycle_bytes(&l->cycles[i]);
    return bytes;
}

/* The oldest cycles go until the others take no more than that; the last one stays. */
static void keep_below(struct pythia_loop *l, uint64_t bytes_max)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->cycle_count; i++)
        bytes += cycle_bytes(&l->cycles[i]);
    while (l->cycle_count > 1 && bytes > bytes_max) {
        bytes -= cycle_bytes(&l->cycles[0]);
        evict_oldest(l);
    }
}

/* Make room for one more, at the expense of the oldest. */
static int make_room(struct pythia_loop *l, size_t max)
{
    if (l->cycle_count >= max && l->cycle_count > 0)
        evict_oldest(l);
    return pythia_grow(&l->cycles, &l->cycle_capacity, l->cycle_count, sizeof(*l->cycles));
}

int pythia_loop_tell(struct pythia_loop *l, const struct pythia_live_cycle *cycle, size_t max,
                     uint64_t bytes_max)
{
    const struct pythia_cycle *d = &cycle->decisions;
    size_t opened = 0;
    if (make_room(l, max) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_loop_cycle *c = &l->cycles[l->cycle_count++];
    for (size_t i = 0; i < d->switch_count; i++)
        opened += d->switches[i].open;
    *c = (struct pythia_loop_cycle){.number = d->number,
                                    .open_count = d->open_count + d->switch_count - 2 * opened,
                                    .seconds = cycle->seconds,
                                    .requests = cycle->requests,
                                    .under_way = cycle->under_way,
                                    .unseen = cycle->hidden_requests,
                                    .spans_seen = cycle->spans,
                                    .spans_saved = cycle->spans_saved,
                                    .leading = {.type = PYTHIA_NONE}};
    l->skeleton_count = cycle->skeleton_count;
    l->point_count = cycle->point_count;
    l->rounds = 1;
    l->lessons = cycle->lessons;
    l->lessons_cut = cycle->lessons_cut;
    l->types_waiting = cycle->types_waiting;
    l->unknown = cycle->unknown;
    l->opened_count += opened;
    int status = pythia__loop_keep(l, c, d, cycle->groups, NULL, 0, cycle->end_ns);
    if (status == PYTHIA_OK)
        join_idle(l);
    keep_below(l, bytes_max);
    return status;
}

/* ---- copies ---- */

/* `count` elements; NULL when out of memory, and never for none. */
static void *copy_of(const void *array, size_t count, size_t size)
{
    void *copy = pythia_calloc(count + 1, size);
    if (copy && count)
        memcpy(copy, array, count * size);
    return copy;
}

static int copy_switches(const struct pythia_loop_switch *list, size_t count,
                         struct pythia_loop_switch **out, size_t *copied)
{
    *out = pythia_calloc(count + 1, sizeof(**out));
    *copied = 0;
    for (size_t i = 0; *out && i < count; i++) {
        (*out)[i] = list[i];
        (*out)[i].reason = pythia_strndup(list[i].reason, strlen(list[i].reason));
        if (!(*out)[i].reason)
            return PYTHIA_ENOMEM;
        ++*copied;
    }
    return *out ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Whatever comes of it, free_cycle frees it. */
static int copy_cycle(const struct pythia_loop_cycle *c, struct pythia_loop_cycle *out)
{
    *out = *c;
    out->opened = out->closed = NULL;
    out->opened_count = out->closed_count = 0;
    out->found = copy_of(c->found, c->found_count, sizeof(*c->found));
    out->effects = copy_of(c->effects, c->effect_count, sizeof(*c->effects));
    int status = out->found && out->effects ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = copy_switches(c->opened, c->opened_count, &out->opened, &out->opened_count);
    if (status == PYTHIA_OK)
        status = copy_switches(c->closed, c->closed_count, &out->closed, &out->closed_count);
    return status;
}

int pythia_loop_copy(const struct pythia_loop *l, struct pythia_loop *out)
{
    struct pythia_loop copy = *l;
    copy.cycles = pythia_calloc(l->cycle_count + 1, sizeof(*copy.cycles));
    copy.cycle_capacity = l->cycle_count + 1;
    copy.cycle_count = 0;
    copy.problems = copy_of(l->problems, l->problem_count, sizeof(*l->problems));
    copy.always = copy_of(l->always, l->always_count, sizeof(*l->always));
    copy.never = copy_of(l->never, l->never_count, sizeof(*l->never));
    copy.followed = copy_of(l->followed, l->followed_capacity, sizeof(*l->followed));
    copy.verdicts = (struct pythia_verdicts){0};
    int status = copy.cycles && copy.problems && copy.always && copy.never && copy.followed
                     ? PYTHIA_OK
                     : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = pythia_verdicts_copy(&l->verdicts, &copy.verdicts);
    while (status == PYTHIA_OK && copy.cycle_count < l->cycle_count) {
        status = copy_cycle(&l->cycles[copy.cycle_count], &copy.cycles[copy.cycle_count]);
        copy.cycle_count++;
    }
    if (status == PYTHIA_OK)
        *out = copy;
    else
        pythia_loop_free(&copy);
    return status;
}

void pythia_loop_free(struct pythia_loop *l)
{
    for (size_t i = 0; i < l->cycle_count; i++)
        free_cycle(&l->cycles[i]);
    pythia_free(l->cycles);
    pythia_free(l->problems);
    pythia_verdicts_free(&l->verdicts);
    pythia_free(l->followed);
    pythia_free(l->always);
    pythia_free(l->never);
    *l = (struct pythia_loop){0};
}
