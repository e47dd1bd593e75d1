#include "pythia/call_summaries.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "summary_parts.h"

#define CLIENT "client" /* service of a caller that no RPC has called, as in traces */

int pythia_call_summaries_create(struct pythia_vocabulary *vocabulary,
                                 void (*broken)(void *context, const struct pythia_error *why),
                                 void *context, struct pythia_call_summaries **out)
{
    struct pythia_call_summaries *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return PYTHIA_ENOMEM;
    s->vocabulary = vocabulary;
    s->broken = broken;
    s->context = context;
    *out = s;
    return PYTHIA_OK;
}

void pythia_call_summaries_destroy(struct pythia_call_summaries *s)
{
    if (!s)
        return;
    pythia_arena_free(&s->arena);
    pythia_hash_table_free(&s->by_hash);
    pythia_hash_table_free(&s->by_id);
    pythia_free(s->seen);
    pythia_free(s->processes);
    pythia_free(s->rpcs);
    pythia_free(s->all);
    pythia_free(s);
}

struct pythia_call_summaries_counts
pythia_call_summaries_counts(const struct pythia_call_summaries *s)
{
    return s->counts;
}

void pythia__summary_refuse(struct pythia_call_summaries *s, const char *name, uint64_t line,
                            uint64_t offset, const char *format, ...)
{
    struct pythia_error why = {0};
    char sentence[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    pythia_error_set(&why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(&why, name, line, offset);
    s->counts.refused++;
    s->broken(s->context, &why);
}

/* The number of a name; text that is no UTF-8 is repaired. PYTHIA_NONE when out of memory. */
static uint32_t intern_name(struct pythia_call_summaries *s, struct pythia_text text)
{
    if (pythia_text_is_sound(text))
        return pythia_vocabulary_string(s->vocabulary, text);
    char *repaired = pythia_arena_alloc(&s->arena, 3 * text.size + 1);
    if (!repaired)
        return PYTHIA_NONE;
    return pythia_vocabulary_string(
        s->vocabulary, (struct pythia_text){repaired, pythia_text_repair(text, repaired)});
}

/* ---- processes ---- */

static bool has_process_hash(const void *owner, uint32_t index, const void *hash)
{
    return ((const struct pythia_call_summaries *)owner)->processes[index].hash ==
           *(const uint64_t *)hash;
}

static uint32_t find_process(const struct pythia_call_summaries *s, uint64_t hash)
{
    return pythia_hash_table_find(&s->by_hash, pythia_hash_mix(hash, 0), has_process_hash, s,
                                  &hash);
}

/* Two processes of one hash cannot be told apart as peers: the first one counts. */
int pythia__summary_add_process(struct pythia_call_summaries *s, const char *file, uint64_t hash,
                                struct pythia_text address, uint32_t *process)
{
    struct pythia__summary_process made = {.hash = hash, .address = intern_name(s, address)};
    char *copy = pythia_arena_alloc(&s->arena, strlen(file) + 1);
    if (!copy || made.address == PYTHIA_NONE ||
        pythia_grow(&s->processes, &s->process_capacity, s->process_count, sizeof(made)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    memcpy(copy, file, strlen(file) + 1);
    made.file = copy;
    *process = (uint32_t)s->process_count;
    if (find_process(s, hash) == PYTHIA_HASH_TABLE_NONE &&
        pythia_hash_table_add(&s->by_hash, pythia_hash_mix(hash, 0), *process) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->processes[s->process_count++] = made;
    return PYTHIA_OK;
}

/* ---- names of RPCs ---- */

static bool is_rpc(const void *owner, uint32_t index, const void *key)
{
    const struct pythia__summary_rpc *x = &((const struct pythia_call_summaries *)owner)
                                               ->rpcs[index],
                                     *wanted = key;
    return x->id == wanted->id && x->process == wanted->process;
}

static uint32_t find_rpc(const struct pythia_call_summaries *s, uint32_t process, uint64_t id)
{
    const struct pythia__summary_rpc key = {.id = id, .process = process};
    return pythia_hash_table_find(&s->by_id, pythia_hash_mix(id, process), is_rpc, s, &key);
}

static int append_rpc(struct pythia_call_summaries *s, uint32_t process, uint64_t id, uint32_t name)
{
    if (pythia_grow(&s->rpcs, &s->rpc_capacity, s->rpc_count, sizeof(*s->rpcs)) != PYTHIA_OK ||
        pythia_hash_table_add(&s->by_id, pythia_hash_mix(id, process), (uint32_t)s->rpc_count) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->rpcs[s->rpc_count++] = (struct pythia__summary_rpc){id, process, name};
    return PYTHIA_OK;
}

/* A process names the RPCs that it calls or answers; those further up the callpath may be named by
 * others only. */
int pythia__summary_add_rpc(struct pythia_call_summaries *s, uint32_t process, uint64_t id,
                            struct pythia_text name, bool *first)
{
    *first = find_rpc(s, process, id) == PYTHIA_HASH_TABLE_NONE;
    uint32_t number = *first ? intern_name(s, name) : 0;
    if (!*first)
        return PYTHIA_OK;
    if (number == PYTHIA_NONE || append_rpc(s, process, id, number) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    return find_rpc(s, PYTHIA_NONE, id) == PYTHIA_HASH_TABLE_NONE
               ? append_rpc(s, PYTHIA_NONE, id, number)
               : PYTHIA_OK;
}

/* The name of an RPC (a string): as the process has it, else as any other; 0 if none has. */
static uint32_t find_rpc_name(const struct pythia_call_summaries *s, uint32_t process, uint64_t id)
{
    uint32_t found = find_rpc(s, process, id);
    if (found == PYTHIA_HASH_TABLE_NONE)
        found = find_rpc(s, PYTHIA_NONE, id);
    return found == PYTHIA_HASH_TABLE_NONE ? 0 : s->rpcs[found].name;
}

int pythia__summary_add(struct pythia_call_summaries *s, const struct pythia__summary_seen *seen)
{
    if (seen->calls == 0) {
        s->counts.unused++;
        return PYTHIA_OK;
    }
    if (pythia_grow(&s->seen, &s->seen_capacity, s->seen_count, sizeof(*seen)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    s->seen[s->seen_count++] = *seen;
    return PYTHIA_OK;
}

/* ---- callpaths ---- */

static uint32_t find_resource(const struct pythia_call_summaries *s, uint32_t service,
                              uint32_t address)
{
    const struct pythia_resource resource = {.service = service, .instance = address};
    return pythia_vocabulary_resource(s->vocabulary, &resource);
}

/* "sdskv" of sdskv_put_rpc; PYTHIA_NONE when out of memory. */
static uint32_t find_service(const struct pythia_call_summaries *s, uint32_t rpc)
{
    struct pythia_text name = pythia_vocabulary_text(s->vocabulary, rpc);
    const char *end = memchr(name.bytes, '_', name.size);
    return pythia_vocabulary_string(
        s->vocabulary,
        (struct pythia_text){name.bytes, end ? (size_t)(end - name.bytes) : name.size});
}

/* Each RPC is a client span in the service before it and a server span in its own. The services at
 * both ends of the last call are put into `ends`. NULL when out of memory. */
static const uint32_t *make_callpath(struct pythia_call_summaries *s, const uint32_t *names,
                                     uint32_t depth, uint32_t ends[2])
{
    uint32_t *points = pythia_arena_alloc(&s->arena, depth * sizeof(*points));
    ends[0] = ends[1] = pythia_vocabulary_string(s->vocabulary, PYTHIA_TEXT(CLIENT));
    for (uint32_t at = 0; points && at < depth; at++) {
        if (at % 2 == 0) {
            ends[0] = ends[1];
            ends[1] = find_service(s, names[at / 2]);
        }
        if (ends[0] == PYTHIA_NONE || ends[1] == PYTHIA_NONE)
            return NULL;
        points[at] = pythia_vocabulary_tracepoint(s->vocabulary, ends[at % 2], 0, names[at / 2]);
        if (points[at] == PYTHIA_NONE)
            return NULL;
    }
    return points;
}

/* False: an RPC of it has no name anywhere, which was told. */
static bool name_rpcs(struct pythia_call_summaries *s, const struct pythia__summary_seen *seen,
                      uint32_t names[PYTHIA__SUMMARY_RPCS_MAX])
{
    for (uint32_t i = 0; i < seen->depth; i++) {
        names[i] = find_rpc_name(s, seen->process, seen->rpcs[i]);
        if (names[i])
            continue;
        pythia__summary_refuse(s, s->processes[seen->process].file, seen->line, seen->offset,
                               "RPC 0x%04" PRIx64 " of a callpath has a name in no file",
                               seen->rpcs[i]);
        return false;
    }
    return true;
}

static int resolve_summary(struct pythia_call_summaries *s, const struct pythia__summary_seen *seen,
                           struct pythia_call_summary *to)
{
    uint32_t names[PYTHIA__SUMMARY_RPCS_MAX] = {0}, ends[2];
    assert(seen->depth >= 1);
    if (!name_rpcs(s, seen, names))
        return 1;
    const uint32_t *points = make_callpath(s, names, 2 * seen->depth, ends);
    if (!points)
        return PYTHIA_ENOMEM;
    uint32_t peer = find_process(s, seen->peer_hash);
    *to = (struct pythia_call_summary){
        .points = points,
        .depth = 2 * seen->depth - !seen->target,
        .resource = find_resource(s, ends[seen->target], s->processes[seen->process].address),
        .peer = PYTHIA_NONE,
        .peer_service = ends[!seen->target],
        .target = seen->target,
        .calls = seen->calls,
        .sum_ns = seen->sum_ns,
        .min_ns = seen->min_ns,
        .max_ns = seen->max_ns,
        .variance_ns2 = seen->variance_ns2,
        .told = seen->told,
        .has_pools = seen->has_pools,
        .runnable = seen->runnable,
        .all = seen->all};
    memcpy(to->parts_ns, seen->parts_ns, sizeof(to->parts_ns));
    if (peer != PYTHIA_HASH_TABLE_NONE)
        to->peer = find_resource(s, to->peer_service, s->processes[peer].address);
    bool failed =
        to->resource == PYTHIA_NONE || (peer != PYTHIA_HASH_TABLE_NONE && to->peer == PYTHIA_NONE);
    return failed ? PYTHIA_ENOMEM : PYTHIA_OK;
}

const struct pythia_call_summary *pythia_call_summaries_all(struct pythia_call_summaries *s,
                                                            size_t *count)
{
    if (pythia_reach(&s->all, &s->all_capacity, s->seen_count, sizeof(*s->all)) != PYTHIA_OK)
        return NULL;
    s->counts.read = 0;
    for (size_t i = 0; i < s->seen_count; i++) {
        int status = resolve_summary(s, &s->seen[i], &s->all[s->counts.read]);
        if (status < 0)
            return NULL;
        s->counts.read += status == PYTHIA_OK;
    }
    *count = (size_t)s->counts.read;
    return s->all;
}
