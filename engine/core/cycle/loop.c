#include "loop.h"

#include <string.h>

#include "pythia/live_snapshot.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* Switches point to problems that the next cycle overwrites, and borrow the text of their reason:
 * the log has copies. */
static int log_cycle_switches(struct pythia_loop_cycle *c, const struct pythia_cycle *found)
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
            return PYTHIA_ENOMEM; /* before it is counted: free_cycle frees the counted reasons */
        *(s->open ? &c->opened_count : &c->closed_count) += 1;
    }
    c->leading = (struct pythia_problem){.type = PYTHIA_NONE};
    if (found->leading != SIZE_MAX)
        c->leading = found->problems[found->leading];
    return PYTHIA_OK;
}

/* Was a cause found before this cycle? Problems keep their indices from cycle to cycle. */
static bool was_found(const struct pythia_loop *l, size_t problem, const struct pythia_place *place)
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
            if (was_found(l, i, &cause->place))
                continue;
            if (to)
                to[count] = (struct pythia_loop_found){found->problems[i].type, *cause};
            count++;
        }
    return count;
}

/* Most cycles find nothing that is new, and hundreds of them are retained: the array has no slack
 * for all causes that there may be. */
static int log_found(const struct pythia_loop *l, struct pythia_loop_cycle *c,
                     const struct pythia_cycle *found)
{
    size_t count = list_found(l, found, NULL);
    c->found = pythia_calloc(count, sizeof(*c->found));
    if (!c->found)
        return PYTHIA_ENOMEM;
    c->found_count = list_found(l, found, c->found);
    return PYTHIA_OK;
}

/* The search gives all problems in each cycle, so that the last list is the state of all. A type
 * that the search has seen after all is not unknown any more. */
static int log_problems(struct pythia_loop *l, struct pythia_loop_cycle *c,
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

static int log_effects(struct pythia_loop_cycle *c, const struct pythia_cycle *found)
{
    c->effects = pythia_calloc(found->effect_count, sizeof(*found->effects));
    if (!c->effects)
        return PYTHIA_ENOMEM;
    if (found->effect_count)
        memcpy(c->effects, found->effects, found->effect_count * sizeof(*found->effects));
    c->effect_count = found->effect_count;
    return PYTHIA_OK;
}

/* Log the state of the group that is followed in the leading type: the group is chosen once, so
 * that its share can be compared between cycles. */
static int follow_leading(struct pythia_loop *l, struct pythia_loop_cycle *c,
                          const struct pythia_groups *groups)
{
    size_t count;
    const struct pythia_type *types = pythia_groups_types(groups, &count);
    for (size_t i = 0; i < count; i++) {
        uint32_t name = types[i].name;
        if (name != c->leading.type)
            continue;
        if (pythia_reach(&l->followed, &l->followed_capacity, name, sizeof(*l->followed)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        int status = pythia_followed_find(&types[i], l->followed[name], &c->group);
        if (status != PYTHIA_OK)
            return status;
        l->followed[name] = c->group.id;
    }
    return PYTHIA_OK;
}

int pythia__loop_log(struct pythia_loop *l, struct pythia_loop_cycle *c,
                     const struct pythia_cycle *found, const struct pythia_groups *groups,
                     const struct pythia_problem *unknown, size_t unknown_count,
                     struct pythia_verdict_cycle cycle)
{
    int status = log_effects(c, found);
    if (status != PYTHIA_OK || (status = log_cycle_switches(c, found)) != PYTHIA_OK ||
        (status = log_found(l, c, found)) != PYTHIA_OK ||
        (status = log_problems(l, c, found, unknown, unknown_count)) != PYTHIA_OK)
        return status;
    status = pythia_verdicts_update(&l->verdicts, cycle, l->problems, l->problem_count);
    if (status != PYTHIA_OK || (status = follow_leading(l, c, groups)) != PYTHIA_OK)
        return status;
    c->waiting = found->waiting;
    c->spent = found->spent;
    c->planned = found->planned;
    return PYTHIA_OK;
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
static bool is_idle_cycle(const struct pythia_loop_cycle *c)
{
    return c->leading.type == PYTHIA_NONE && c->opened_count == 0 && c->closed_count == 0 &&
           c->found_count == 0 && c->effect_count == 0;
}

/* Join the last two cycles if nothing happened in either: a daemon that is idle for a day must not
 * evict the cycles of interest from its log. */
static void join_idle(struct pythia_loop *l)
{
    if (l->cycle_count < 2)
        return;
    struct pythia_loop_cycle *before = &l->cycles[l->cycle_count - 2], *last = before + 1;
    if (!is_idle_cycle(before) || !is_idle_cycle(last) ||
        (before->number == 0) != (last->number == 0) ||
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

/* Evict the oldest cycles until the others take no more than that; the last one stays. */
static void limit_bytes(struct pythia_loop *l, uint64_t bytes_max)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->cycle_count; i++)
        bytes += cycle_bytes(&l->cycles[i]);
    while (l->cycle_count > 1 && bytes > bytes_max) {
        bytes -= cycle_bytes(&l->cycles[0]);
        evict_oldest(l);
    }
}

static int reserve_cycle(struct pythia_loop *l, size_t max)
{
    if (l->cycle_count >= max && l->cycle_count > 0)
        evict_oldest(l);
    return pythia_grow(&l->cycles, &l->cycle_capacity, l->cycle_count, sizeof(*l->cycles));
}

/* The cycle is added before its results are logged, so that a part of them is freed with it. */
int pythia_loop_tell(struct pythia_loop *l, const struct pythia_live_cycle *cycle, size_t max,
                     uint64_t bytes_max)
{
    const struct pythia_cycle *d = &cycle->decisions;
    size_t opened = 0;
    if (reserve_cycle(l, max) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_loop_cycle *c = &l->cycles[l->cycle_count++];
    for (size_t i = 0; i < d->switch_count; i++)
        opened += d->switches[i].open;
    *c = (struct pythia_loop_cycle){
        .number = d->number,
        /* Before the decisions: without those opened, with those closed. */
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
    const struct pythia_verdict_cycle told = {c->number, cycle->end_ns, cycle->hold_ns};
    int status = pythia__loop_log(l, c, d, cycle->groups, NULL, 0, told);
    if (status != PYTHIA_OK)
        return status;
    join_idle(l);
    limit_bytes(l, bytes_max);
    return PYTHIA_OK;
}

/* Copy `count` elements. NULL only when out of memory, also if there are none. */
static void *copy_array(const void *array, size_t count, size_t size)
{
    void *copy = pythia_calloc(count + 1, size);
    if (copy && count)
        memcpy(copy, array, count * size);
    return copy;
}

int pythia_loop_resume(struct pythia_loop *l, const struct pythia_live *live,
                       struct pythia_verdicts *verdicts)
{
    const struct pythia_cycle *last = pythia_live_last(live);
    struct pythia_problem *copy =
        copy_array(last->problems, last->problem_count, sizeof(*last->problems));
    if (!copy)
        return PYTHIA_ENOMEM;
    pythia_free(l->problems);
    l->problems = copy;
    l->problem_count = last->problem_count;
    l->finished = last->finished;
    pythia_live_count_points(live, &l->skeleton_count, &l->point_count);
    pythia_verdicts_free(&l->verdicts);
    l->verdicts = *verdicts;
    *verdicts = (struct pythia_verdicts){0};
    return PYTHIA_OK;
}

/* ---- copies ---- */

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

/* free_cycle frees the copy, also after a failure. */
static int copy_cycle(const struct pythia_loop_cycle *c, struct pythia_loop_cycle *out)
{
    *out = *c;
    out->opened = out->closed = NULL;
    out->opened_count = out->closed_count = 0;
    out->found = copy_array(c->found, c->found_count, sizeof(*c->found));
    out->effects = copy_array(c->effects, c->effect_count, sizeof(*c->effects));
    if (!out->found || !out->effects)
        return PYTHIA_ENOMEM;
    int status = copy_switches(c->opened, c->opened_count, &out->opened, &out->opened_count);
    if (status != PYTHIA_OK)
        return status;
    return copy_switches(c->closed, c->closed_count, &out->closed, &out->closed_count);
}

/* Each pointer is replaced before anything can fail, so that pythia_loop_free frees only what the
 * copy owns. */
int pythia_loop_copy(const struct pythia_loop *l, struct pythia_loop *out)
{
    struct pythia_loop copy = *l;
    copy.cycles = pythia_calloc(l->cycle_count + 1, sizeof(*copy.cycles));
    copy.cycle_capacity = l->cycle_count + 1;
    copy.cycle_count = 0;
    copy.problems = copy_array(l->problems, l->problem_count, sizeof(*l->problems));
    copy.always = copy_array(l->always, l->always_count, sizeof(*l->always));
    copy.never = copy_array(l->never, l->never_count, sizeof(*l->never));
    copy.followed = copy_array(l->followed, l->followed_capacity, sizeof(*l->followed));
    copy.verdicts = (struct pythia_verdicts){0};
    int status = PYTHIA_ENOMEM;
    if (!copy.cycles || !copy.problems || !copy.always || !copy.never || !copy.followed)
        goto out;
    if ((status = pythia_verdicts_copy(&l->verdicts, &copy.verdicts)) != PYTHIA_OK)
        goto out;
    while (copy.cycle_count < l->cycle_count) {
        size_t at =
            copy.cycle_count++; /* counted even if it fails: its copied part is freed then */
        if ((status = copy_cycle(&l->cycles[at], &copy.cycles[at])) != PYTHIA_OK)
            goto out;
    }
    *out = copy;
    return PYTHIA_OK;
out:
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
