/* A message is a line of JSON, its head, and then a file of evidence, or nothing. Numbers of the
 * head are exact, so that what is worked out from their sums is the same everywhere. */
#include "pythia/live_shared.h"

#include <string.h>

#include "live_parts.h"
#include "pythia/evidence_merge.h"
#include "pythia/evidence_write.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define FORMAT "pythia.round/2"

/* Of one type; merged groups have four times as many in all, the 4096 of a cycle (evidence.c). */
#define ROWS 1024

/* Windows of so many requests each, taken at random from one stream, lie one after the other once
 * in 92 378 rounds; and no gap of a stream is as long as the time that it lasts. */
#define ENOUGH_REQUESTS 10
#define CLOCKS_NS       UINT64_C(60000000000)

static char *copy_text(const char *text)
{
    return pythia_strndup(text, strlen(text));
}

/* ---- sending ---- */

void pythia_live_shared_set_parts(struct pythia_live *l, uint64_t own, uint64_t all)
{
    l->share.own = own > 0 ? own : 1;
    l->share.all = all > l->share.own ? all : l->share.own;
}

/* The types of the learning phase are sent once, and again if the message was lost (_forget). */
static bool has_types(const struct pythia_live *l)
{
    return l->share.learning_over && !l->share.offered;
}

bool pythia_live_shared_is_due(const struct pythia_live *l)
{
    return l->share.on && !l->share.differs && (l->share.complete || has_types(l));
}

/* The types that have been learnt, as a space; an empty text if there are none. */
static int write_types(struct pythia_live *l, struct pythia_buf *out)
{
    struct pythia_space *types = NULL;
    size_t moved = 0;
    uint64_t enough =
        l->search && l->late.o.hourly > 0 ? PYTHIA__LEARNT_LATE_ONLY : l->o.learn_requests;
    if (!l->search && l->owns_space) {
        if (!has_types(l))
            return PYTHIA_OK;
        l->share.offered = true;
        enough = pythia__live_few_to_learn(l);
    }
    int status = pythia_space_create(l->vocabulary, &types);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__live_types_offer(&l->types, enough, types, &moved);
    if (status == PYTHIA_OK && moved > 0)
        status = pythia_space_file_write(types, out);
    pythia_space_destroy(types);
    return status;
}

/* By the ids of the points: their numbers are this engine's own. */
static json_t *pack_hits(const struct pythia_live *l, const struct pythia__evidence *e)
{
    json_t *hits = json_object();
    for (uint32_t point = 0; hits && point < e->hit_capacity; point++) {
        struct pythia_text id = pythia_vocabulary_tracepoint_id(l->vocabulary, point);
        if (e->hits[point] > 0 &&
            json_object_setn_new_nocheck(hits, id.bytes, id.size,
                                         json_integer((json_int_t)e->hits[point])) != 0) {
            json_decref(hits);
            return NULL;
        }
    }
    return hits;
}

static json_t *pack_head(struct pythia_live *l, const char *member,
                         const struct pythia__evidence *e, const struct pythia_buf *types)
{
    json_t *hits = pack_hits(l, e), *layers = pythia__live_pack_layers(l, false);
    if (!hits || !layers) {
        json_decref(hits);
        json_decref(layers);
        return NULL;
    }
    uint64_t begin_ns = e->requests > 0 ? e->begin_ns : 0;
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o, "
                     "s:o}",
                     "format", FORMAT, "group", l->share.group, "settings", l->share.settings,
                     "member", member, "parts", (json_int_t)l->share.own, "of",
                     (json_int_t)l->share.all, "set", (json_int_t)l->share.set, "requests",
                     (json_int_t)e->requests, "spans", (json_int_t)e->spans, "begin_ns",
                     (json_int_t)begin_ns, "end_ns", (json_int_t)e->end_ns, "last_begin_ns",
                     (json_int_t)e->last_begin_ns, "longest_ns", (json_int_t)e->longest_ns, "space",
                     types->bytes ? types->bytes : "", "hits", hits, "layers", layers);
}

static int write_evidence(const struct pythia_live *l, struct pythia__evidence *e,
                          struct pythia_buf *out)
{
    const struct pythia_evidence_input input = {0};
    const struct pythia_pipeline_result result = {.counts.traces = e->requests};
    const struct pythia_evidence_source source = {
        .vocabulary = l->vocabulary,
        .groups = e->groups,
        .result = &result,
        .settings = {.fold = l->o.groups.fold, .rows = ROWS, .asked = ""},
        .inputs = &input,
        .input_count = 1};
    int status = pythia_groups_finish(e->groups);
    return status == PYTHIA_OK ? pythia_evidence_write(&source, out) : status;
}

int pythia_live_shared_take(struct pythia_live *l, const char *member, struct pythia_buf *out)
{
    struct pythia__live_stage *s = &l->stages[l->now];
    struct pythia_buf types = {0};
    json_t *head = NULL;
    int status = write_types(l, &types);
    if (status != PYTHIA_OK)
        goto out;
    head = pack_head(l, member, &s->evidence, &types);
    status = pythia_json_put(out, head, JSON_COMPACT | JSON_ENSURE_ASCII, "\n");
    if (status == PYTHIA_OK && s->evidence.requests > 0)
        status = write_evidence(l, &s->evidence, out);
out:
    json_decref(head);
    pythia_buf_free(&types);
    if (status != PYTHIA_OK)
        pythia__live_set_apart(l, s->evidence.requests);
    pythia__live_end_stage(l);
    return status;
}

void pythia_live_shared_forget(struct pythia_live *l)
{
    pythia__live_empty_stage(l, &l->stages[l->now]);
    pythia__live_end_stage(l);
    pythia__live_types_withdraw(&l->types);
    l->share.offered = false;
}

/* ---- deciding ---- */

static uint64_t head_number(const json_t *head, const char *name)
{
    json_int_t number = json_integer_value(json_object_get(head, name));
    return number > 0 ? (uint64_t)number : 0;
}

static int add_hits(struct pythia_live *l, struct pythia__evidence *e, const json_t *head)
{
    const char *id;
    json_t *number;
    json_object_foreach ((json_t *)json_object_get(head, "hits"), id, number) {
        uint32_t point =
            pythia_vocabulary_tracepoint_of_id(l->vocabulary, pythia_text_of(id), 0, 0);
        if (point == PYTHIA_NONE ||
            pythia_reach(&e->hits, &e->hit_capacity, point, sizeof(*e->hits)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        e->hits[point] += (uint64_t)json_integer_value(number);
    }
    return PYTHIA_OK;
}

static int add_head(struct pythia_live *l, struct pythia__evidence *e, const json_t *head)
{
    uint64_t begin_ns = head_number(head, "begin_ns"), end_ns = head_number(head, "end_ns"),
             last_ns = head_number(head, "last_begin_ns"),
             longest_ns = head_number(head, "longest_ns");
    e->requests += head_number(head, "requests");
    e->spans += head_number(head, "spans");
    e->begin_ns = begin_ns < e->begin_ns ? begin_ns : e->begin_ns;
    e->end_ns = end_ns > e->end_ns ? end_ns : e->end_ns;
    e->last_begin_ns = last_ns > e->last_begin_ns ? last_ns : e->last_begin_ns;
    e->longest_ns = longest_ns > e->longest_ns ? longest_ns : e->longest_ns;
    return add_hits(l, e, head);
}

/* Do the clocks of engines differ? They see requests of the same time, at random, so that their
 * windows overlap; these do not, by far. Returns how far they are apart, or 0, and in *longest_ns
 * the longest window of an engine. */
static uint64_t compare_clocks(const struct pythia__live_share *share, uint64_t *longest_ns)
{
    uint64_t latest_ns = 0, earliest_ns = UINT64_MAX, lengths_ns[2] = {0};
    *longest_ns = 0;
    for (size_t i = 0; i < share->part_count; i++) {
        const json_t *head = share->parts[i].head;
        uint64_t begin_ns = head_number(head, "begin_ns"),
                 last_ns = head_number(head, "last_begin_ns");
        if (head_number(head, "requests") < ENOUGH_REQUESTS || last_ns < begin_ns)
            continue;
        uint64_t length_ns = last_ns - begin_ns;
        *longest_ns = length_ns > *longest_ns ? length_ns : *longest_ns;
        if (begin_ns > latest_ns) {
            latest_ns = begin_ns;
            lengths_ns[0] = length_ns;
        }
        if (last_ns < earliest_ns) {
            earliest_ns = last_ns;
            lengths_ns[1] = length_ns;
        }
    }
    if (latest_ns <= earliest_ns)
        return 0;
    uint64_t apart_ns = latest_ns - earliest_ns;
    return apart_ns > CLOCKS_NS + lengths_ns[0] + lengths_ns[1] ? apart_ns : 0;
}

/* A round of clocks that differ would seem as long as they do, and rates of it far too low. */
static void mend_clocks(struct pythia_live *l, struct pythia__evidence *e)
{
    uint64_t longest_ns;
    l->share.numbers.clocks_apart_ns = compare_clocks(&l->share, &longest_ns);
    if (l->share.numbers.clocks_apart_ns > 0)
        e->begin_ns = e->last_begin_ns - longest_ns;
}

/* All files are looked at before the first is added. *bad: the part that cannot be merged with
 * those before it, such as one that is there already; else it is left as it is. */
static int look_and_add(struct pythia_live *l, struct pythia_evidence_merge *m, size_t *bad,
                        struct pythia_error *why)
{
    const struct pythia__live_share *share = &l->share;
    int status = PYTHIA_OK;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < share->part_count; i++) {
            const struct pythia__live_part *part = &share->parts[i];
            struct pythia_text file = pythia_buf_text(&part->file);
            if (file.size > 0)
                status = (pass == 0 ? pythia_evidence_merge_look
                                    : pythia_evidence_merge_add)(m, part->member, file, why);
            if (status == PYTHIA_EUSAGE || status == PYTHIA_EFORMAT)
                *bad = i;
            if (status != PYTHIA_OK)
                return status;
        }
    return PYTHIA_OK;
}

/* A part that cannot be merged is left out by all engines alike, and counted as broken. */
static int merge_files(struct pythia_live *l, struct pythia__evidence *e, struct pythia_error *why)
{
    for (;;) {
        struct pythia_evidence_merge *m = NULL;
        size_t bad = SIZE_MAX;
        int status = pythia_evidence_merge_create(l->vocabulary, false, &m);
        if (status == PYTHIA_OK)
            status = look_and_add(l, m, &bad, why);
        if (status == PYTHIA_OK)
            e->groups = pythia_evidence_merge_take(m);
        pythia_evidence_merge_destroy(m);
        if (bad == SIZE_MAX) {
            if (status != PYTHIA_OK || e->groups)
                return status;
            return pythia__evidence_begin(&l->context, e, l->points.skeleton, NULL);
        }
        pythia_buf_free(&l->share.parts[bad].file);
        l->share.numbers.broken++;
        *why = (struct pythia_error){0};
    }
}

/* A known type that a member has learnt once more. All members read the same messages in the same
 * order, so that they renew it alike. */
static int renew_known(struct pythia_live *l, const struct pythia_space_type *seen, size_t *moved)
{
    bool renewed = false;
    int status = l->search ? pythia_search_grow(l->search) : PYTHIA_OK;
    if (status == PYTHIA_OK)
        status = pythia__live_types_renew(&l->types, seen, &renewed);
    *moved += renewed;
    return status;
}

/* A type of a message; the space that it is taken from must not be walked over meanwhile. */
static int adopt_type(struct pythia_live *l, struct pythia_space *from, uint32_t name,
                      size_t *moved)
{
    if (pythia_space_type(l->space, name))
        return renew_known(l, pythia_space_type(from, name), moved);
    ++*moved;
    int status = pythia_space_move(l->space, from, name);
    return status == PYTHIA_OK ? pythia__live_types_adopt(&l->types, name) : status;
}

int pythia__live_adopt_types(struct pythia_live *l, const char *member, const char *text,
                             size_t *moved, struct pythia_error *why)
{
    struct pythia_space *types = NULL;
    size_t count = 0;
    uint32_t *names = NULL;
    if (!text || !*text)
        return PYTHIA_OK;
    int status = pythia_space_create(l->vocabulary, &types);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_space_file_parse(member, pythia_text_of(text), types, why);
    if (status != PYTHIA_OK)
        goto out;
    const struct pythia_space_type *all = pythia_space_types(types, &count);
    names = pythia_calloc(count + 1, sizeof(*names));
    status = names ? PYTHIA_OK : PYTHIA_ENOMEM;
    /* A type that is adopted leaves the list, and others take its place. */
    for (size_t i = 0; names && i < count; i++)
        names[i] = all[i].name;
    for (size_t i = 0; names && i < count; i++) {
        status = adopt_type(l, types, names[i], moved);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(names);
    pythia_space_destroy(types);
    return status;
}

static const char *space_of(const struct pythia__live_part *part)
{
    return json_string_value(json_object_get(part->head, "space"));
}

static int grow_search(struct pythia_live *l, bool *switched, struct pythia_error *why)
{
    size_t moved = 0;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < l->share.part_count; i++) {
        const struct pythia__live_part *part = &l->share.parts[i];
        status = pythia__live_adopt_types(l, part->member, space_of(part), &moved, why);
        *switched = *switched || moved > 0;
        if (status != PYTHIA_OK)
            return status;
    }
    return moved > 0 ? pythia_search_grow(l->search) : PYTHIA_OK;
}

/* As for an engine alone (live.c), but also while it is paused: its search is that of all. */
static int decide_merged(struct pythia_live *l, struct pythia__evidence *e, bool *switched,
                         struct pythia_error *why)
{
    struct pythia_cycle found = l->last;
    found.switches = NULL;
    found.switch_count = 0;
    found.effects = NULL;
    found.effect_count = 0;
    int status =
        pythia__evidence_decide(e, l->search, l->last.number + 1, pythia__live_seconds(e), &found);
    if (status != PYTHIA_OK)
        return status;
    l->last = found;
    *switched = found.switch_count > 0;
    pythia__live_review_retried(l);
    return l->search ? grow_search(l, switched, why) : PYTHIA_OK;
}

static size_t count_senders(const struct pythia__live_share *share)
{
    size_t senders = 0;
    for (size_t i = 0; i < share->part_count; i++)
        senders += share->parts[i].file.size > 0;
    return senders;
}

/* The evidence of a round, of which the parts are the share's. */
static int merge_round(struct pythia_live *l, struct pythia__evidence *e, struct pythia_error *why)
{
    e->begin_ns = UINT64_MAX;
    int status = merge_files(l, e, why);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < l->share.part_count; i++) {
        const struct pythia__live_part *part = &l->share.parts[i];
        status = part->file.size > 0 ? add_head(l, e, part->head) : PYTHIA_OK;
        if (status != PYTHIA_OK)
            return status;
    }
    mend_clocks(l, e);
    return PYTHIA_OK;
}

static int report_round(struct pythia_live *l, struct pythia__live_stage *s)
{
    l->share.numbers.rounds++;
    l->share.numbers.requests += s->evidence.requests;
    l->share.deciding = true;
    int status = pythia__live_report(l, s);
    l->share.deciding = false;
    return status;
}

/* What is not decided, because memory is short, is gone all the same. */
static int decide_round(struct pythia_live *l, struct pythia_error *why)
{
    struct pythia__live_stage *s = &l->share.round;
    bool switched = false;
    int status = merge_round(l, &s->evidence, why);
    if (status == PYTHIA_OK)
        status = decide_merged(l, &s->evidence, &switched, why);
    l->share.numbers.members = count_senders(&l->share);
    pythia__live_share_clear(&l->share);
    if (status != PYTHIA_OK)
        goto out;
    status = switched ? pythia__live_desire(l) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    status = report_round(l, s);
out:
    pythia__evidence_free(&s->evidence);
    *s = (struct pythia__live_stage){.number = 0};
    if (switched) {
        l->share.set++;
        pythia__live_drop_evidence(l);
    }
    return status;
}

static int merge_offer(const struct pythia_live *l, const struct pythia__live_part *offer,
                       struct pythia_space *all, struct pythia_error *why)
{
    struct pythia_space *one = NULL;
    int status = pythia_space_create(l->vocabulary, &one);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_space_file_parse(offer->member, pythia_text_of(space_of(offer)), one, why);
    if (status == PYTHIA_OK)
        status = pythia_space_merge(all, one);
    pythia_space_destroy(one);
    return status;
}

/* All that was learnt by any of those who offered types, as one space; and that as text: names
 * alone decide the numbers of its nodes, whoever reads it. */
static int merge_offers(const struct pythia_live *l, struct pythia_buf *out,
                        struct pythia_error *why)
{
    struct pythia_space *all = NULL;
    int status = pythia_space_create(l->vocabulary, &all);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < l->share.offer_count; i++) {
        status = merge_offer(l, &l->share.offers[i], all, why);
        if (status != PYTHIA_OK)
            goto out;
    }
    status = pythia_space_file_write(all, out);
out:
    pythia_space_destroy(all);
    return status;
}

/* The first types: all begin the search with them, and nobody's evidence counts that was gathered
 * before. */
static int begin_with_offers(struct pythia_live *l, struct pythia_error *why)
{
    struct pythia_buf types = {0};
    size_t moved = 0;
    int status = merge_offers(l, &types, why);
    if (status == PYTHIA_OK)
        status = pythia__live_adopt_types(l, "all members", types.bytes, &moved, why);
    pythia_buf_free(&types);
    pythia__live_share_clear_offers(&l->share);
    if (status != PYTHIA_OK || moved == 0)
        return status;
    pythia__live_share_clear(&l->share);
    l->share.set++;
    l->share.offered = false;
    pythia__live_drop_evidence(l);
    return pythia__live_begin_search(l);
}

static bool has_offered(const struct pythia__live_share *share, const char *member)
{
    for (size_t i = 0; i < share->offer_count; i++)
        if (strcmp(share->offers[i].member, member) == 0)
            return true;
    return false;
}

/* ---- reading ---- */

static int read_head(struct pythia_text *message, json_t **head, struct pythia_error *e)
{
    const char *end = memchr(message->bytes, '\n', message->size);
    size_t size = end ? (size_t)(end - message->bytes) : 0;
    json_t *read = end ? json_loadb(message->bytes, size, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(read, "format"));
    bool whole = json_string_value(json_object_get(read, "group")) &&
                 json_string_value(json_object_get(read, "settings")) &&
                 json_string_value(json_object_get(read, "member"));
    if (!format || strcmp(format, FORMAT) != 0 || !whole) {
        int status =
            pythia_error_set(e, PYTHIA_EFORMAT,
                             format && strcmp(format, FORMAT) != 0
                                 ? "it has the format %.40s, and this pythiad reads " FORMAT
                                   "; run the same version of pythiad everywhere"
                                 : "it is no evidence of a pythiad",
                             format ? format : "");
        json_decref(read);
        return status;
    }
    *head = read;
    *message = (struct pythia_text){end + 1, message->size - size - 1};
    return PYTHIA_OK;
}

/* The first message of the group settles with which settings the search is made. */
static int check_settings(struct pythia_live *l, const char *settings, bool *same)
{
    struct pythia__live_share *share = &l->share;
    if (!share->log_settings) {
        share->log_settings = copy_text(settings);
        if (!share->log_settings)
            return PYTHIA_ENOMEM;
        share->differs = strcmp(settings, share->settings) != 0;
    }
    *same = strcmp(settings, share->log_settings) == 0;
    share->numbers.other_settings += !*same;
    return PYTHIA_OK;
}

static bool has_sent(const struct pythia__live_share *share, const char *member)
{
    for (size_t i = 0; i < share->part_count; i++)
        if (share->parts[i].file.size > 0 && strcmp(share->parts[i].member, member) == 0)
            return true;
    return false;
}

static uint64_t count_parts(const struct pythia__live_share *share)
{
    uint64_t parts = 0;
    for (size_t i = 0; i < share->part_count; i++)
        if (share->parts[i].file.size > 0)
            parts += head_number(share->parts[i].head, "parts");
    return parts;
}

/* A file that cannot be merged would stop all, and so would types that cannot be read: each is
 * looked at alone, before it counts. */
int pythia__live_check_file(const struct pythia_live *l, const char *member,
                            struct pythia_text file, struct pythia_error *e)
{
    struct pythia_evidence_merge *m = NULL;
    int status = pythia_evidence_merge_create(l->vocabulary, false, &m);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_evidence_merge_look(m, member, file, e);
    if (status == PYTHIA_OK)
        status = pythia_evidence_merge_add(m, member, file, e);
    pythia_evidence_merge_destroy(m);
    return status == PYTHIA_EUSAGE ? PYTHIA_EFORMAT : status;
}

static int check_types(const struct pythia_live *l, const char *member, const char *text,
                       struct pythia_error *e)
{
    struct pythia_space *types = NULL;
    if (!*text)
        return PYTHIA_OK;
    int status = pythia_space_create(l->vocabulary, &types);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_space_file_parse(member, pythia_text_of(text), types, e);
    pythia_space_destroy(types);
    return status;
}

static int append_part(struct pythia__live_part **list, size_t *count, size_t *capacity,
                       json_t *head, struct pythia_text file)
{
    struct pythia__live_part part = {
        .member = copy_text(json_string_value(json_object_get(head, "member")))};
    int status = part.member ? pythia_grow(list, capacity, *count, sizeof(**list)) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    pythia_buf_text_add(&part.file, file);
    status = pythia_buf_status(&part.file);
    if (status != PYTHIA_OK)
        goto out;
    part.head = json_incref(head);
    (*list)[(*count)++] = part;
    part = (struct pythia__live_part){.member = NULL};
out:
    pythia__live_part_free(&part);
    return status;
}

int pythia__live_add_part(struct pythia__live_share *share, json_t *head, struct pythia_text file)
{
    return append_part(&share->parts, &share->part_count, &share->part_capacity, head, file);
}

/* The search begins when all parts of the requests have been learnt from, as one engine alone would
 * have; or, so that nobody waits for a member to which few requests come, when one sends again that
 * has offered its types. */
static int take_offer(struct pythia_live *l, json_t *head, struct pythia_error *e)
{
    struct pythia__live_share *share = &l->share;
    uint64_t parts = 0;
    if (*json_string_value(json_object_get(head, "space"))) {
        int status = append_part(&share->offers, &share->offer_count, &share->offer_capacity, head,
                                 PYTHIA_TEXT(""));
        if (status != PYTHIA_OK)
            return status;
    }
    for (size_t i = 0; i < share->offer_count; i++)
        parts += head_number(share->offers[i].head, "parts");
    return share->offer_count > 0 && parts >= head_number(head, "of") ? begin_with_offers(l, e)
                                                                      : PYTHIA_OK;
}

static int take_part(struct pythia_live *l, json_t *head, struct pythia_text file,
                     struct pythia_error *e)
{
    struct pythia__live_share *share = &l->share;
    const char *member = json_string_value(json_object_get(head, "member"));
    /* Without evidence, or with evidence that is late, a message may still have types, which join
     * the search with the round. */
    bool types = *json_string_value(json_object_get(head, "space"));
    int status = file.size > 0 && has_sent(share, member) ? decide_round(l, e) : PYTHIA_OK;
    if (status == PYTHIA_OK && !l->search)
        status = has_offered(share, member) ? begin_with_offers(l, e) : take_offer(l, head, e);
    if (status != PYTHIA_OK)
        return status;
    if (file.size > 0 && head_number(head, "set") != share->set) {
        share->numbers.late_requests += head_number(head, "requests");
        file.size = 0;
    }
    if (file.size == 0 && (!types || !l->search))
        return PYTHIA_OK;
    if ((status = pythia__live_add_part(share, head, file)) != PYTHIA_OK)
        return status;
    return count_parts(share) >= head_number(head, "of") ? decide_round(l, e) : PYTHIA_OK;
}

/* A message of this search: nothing of it counts before all of it was looked at. */
static int take_message(struct pythia_live *l, json_t *head, struct pythia_text file,
                        struct pythia_error *e)
{
    const char *member = json_string_value(json_object_get(head, "member")),
               *space = json_string_value(json_object_get(head, "space"));
    if (!space)
        return pythia_error_set(e, PYTHIA_EFORMAT, "it has no space");
    int status = file.size > 0 ? pythia__live_check_file(l, member, file, e) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    status = check_types(l, member, space, e);
    if (status != PYTHIA_OK)
        return status;
    status = pythia__live_take_layers(l, json_object_get(head, "layers"), l->share.layers, e);
    if (status != PYTHIA_OK)
        return status;
    return take_part(l, head, file, e);
}

int pythia_live_shared_read(struct pythia_live *l, struct pythia_text message,
                            struct pythia_error *e)
{
    struct pythia__live_share *share = &l->share;
    json_t *head = NULL;
    bool same = false;
    share->numbers.messages++;
    int status = read_head(&message, &head, e);
    if (status != PYTHIA_OK)
        goto out;
    if (strcmp(json_string_value(json_object_get(head, "group")), share->group) != 0) {
        share->numbers.other_groups++;
        goto out;
    }
    status = check_settings(l, json_string_value(json_object_get(head, "settings")), &same);
    if (status != PYTHIA_OK || !same || share->differs)
        goto out;
    status = take_message(l, head, message, e);
out:
    share->numbers.broken += status == PYTHIA_EFORMAT;
    json_decref(head);
    return status;
}

struct pythia_live_shared_numbers pythia_live_shared_numbers(const struct pythia_live *l)
{
    struct pythia_live_shared_numbers n = l->share.numbers;
    n.set = l->share.set;
    n.waiting = l->share.part_count;
    for (size_t i = 0; i < l->share.part_count; i++)
        if (l->share.parts[i].file.size > 0)
            n.waiting_requests += head_number(l->share.parts[i].head, "requests");
    n.differs = l->share.differs;
    return n;
}

const char *pythia_live_shared_settings(const struct pythia_live *l)
{
    return l->share.log_settings;
}
