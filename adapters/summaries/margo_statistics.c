/* The statistics that margo's monitoring writes when a process ends
 * (<name>.<host>.<pid>.stats.json), from margo-default-monitoring.c of mochi-margo 0.11 to 0.22:
 *
 *     {"address": "ofi+tcp://10.0.0.1:41", "rpcs": {"65535:65535:77:1": {
 *         "rpc_id": 77, "parent_rpc_id": 65535, "name": "yokan_put",
 *         "origin": {"sent to ADDRESS":
 *             {"forward_cb": {"relative_timestamp_from_iforward_start": S}}},
 *         "target": {"received from ADDRESS": {"ult": {"duration": S}}}}}}
 *
 * with S = {"num", "min", "max", "avg", "var", "sum"}, in seconds. The time of a call at its origin
 * is from its forwarding until its completion callback, and at its target that of its task (ULT),
 * as in the profile of SYMBIOSYS; the other steps of a call lie inside these. A callpath is an RPC
 * and the one that has called it. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "pythia/hash.h"
#include "pythia/status.h"
#include "summary_parts.h"

#define NO_RPC     65535 /* the id of a caller that is no RPC */
#define SECOND_NS  1e9
#define TIME_MAX_S 9e9 /* in ns just below 2^63 */

struct margo {
    struct pythia_call_summaries *s;
    const char *file;
    uint32_t process;
};

bool pythia__is_margo_statistics(struct pythia_text content)
{
    struct pythia_text text = pythia_text_trim(content);
    return text.size > 0 && text.bytes[0] == '{';
}

static uint64_t hash_address(struct pythia_text address)
{
    return pythia_hash_bytes(address.bytes, address.size);
}

static bool read_number(const json_t *statistics, const char *key, double *out)
{
    const json_t *value = json_object_get(statistics, key);
    if (!json_is_number(value))
        return false;
    *out = json_number_value(value);
    return isfinite(*out) && *out >= 0 && *out <= TIME_MAX_S;
}

/* False: these are no statistics of a time. */
static bool read_statistics(const json_t *statistics, struct pythia__summary_seen *seen)
{
    double least, most, sum, variance;
    double calls;
    if (!read_number(statistics, "num", &calls) || !read_number(statistics, "min", &least) ||
        !read_number(statistics, "max", &most) || !read_number(statistics, "sum", &sum))
        return false;
    seen->calls = (uint64_t)calls;
    seen->sum_ns = (uint64_t)llround(sum * SECOND_NS);
    seen->min_ns = (uint64_t)llround(least * SECOND_NS);
    seen->max_ns = (uint64_t)llround(most * SECOND_NS);
    seen->variance_ns2 =
        read_number(statistics, "var", &variance) ? variance * SECOND_NS * SECOND_NS : NAN;
    return true;
}

/* One side of an RPC: an object for each peer, named by its address behind `before`. */
static int read_side(struct margo *m, json_t *side, bool target, const char *rpc,
                     struct pythia__summary_seen *seen)
{
    const char *before = target ? "received from " : "sent to ", *key;
    const char *step = target ? "ult" : "forward_cb",
               *time = target ? "duration" : "relative_timestamp_from_iforward_start";
    json_t *peer;
    json_object_foreach (side, key, peer) {
        struct pythia_text address = pythia_text_of(key), wanted = pythia_text_of(before);
        if (!pythia_text_starts(address, wanted) ||
            !read_statistics(json_object_get(json_object_get(peer, step), time), seen)) {
            pythia__summary_refuse(m->s, m->file, 0, 0,
                                   "RPC %s, \"%s\": no statistics of %s.%s of an address", rpc, key,
                                   step, time);
            continue;
        }
        seen->target = target;
        seen->peer_hash = hash_address(
            (struct pythia_text){address.bytes + wanted.size, address.size - wanted.size});
        if (pythia__summary_add(m->s, seen) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    return PYTHIA_OK;
}

/* Ids of the caller and the RPC, in "caller:provider:rpc:provider": as members they may be too
 * large for numbers of JSON. */
static bool split_key(struct pythia_text key, uint64_t ids[2])
{
    for (size_t i = 0; i < 4; i++) {
        const char *colon = key.size > 0 ? memchr(key.bytes, ':', key.size) : NULL;
        size_t size = colon ? (size_t)(colon - key.bytes) : key.size;
        uint64_t number;
        if (!pythia_text_unsigned((struct pythia_text){key.bytes, size}, UINT64_MAX, &number) ||
            !colon != (i == 3))
            return false;
        if (i % 2 == 0)
            ids[i / 2] = number;
        key.bytes += size + (colon != NULL);
        key.size -= size + (colon != NULL);
    }
    return true;
}

/* Work outside of RPCs is listed as an RPC without a name; it is not a call. */
static int read_rpc(struct margo *m, const char *key, const json_t *rpc)
{
    struct pythia__summary_seen seen = {.process = m->process};
    const char *name = json_string_value(json_object_get(rpc, "name"));
    uint64_t ids[2] = {0, 0};
    bool first, known = split_key(pythia_text_of(key), ids);
    if (known && ids[1] == NO_RPC)
        return PYTHIA_OK;
    if (!known || !name || !*name) {
        pythia__summary_refuse(m->s, m->file, 0, 0,
                               "RPC %s has no name, or is not CALLER:PROVIDER:RPC:PROVIDER", key);
        return PYTHIA_OK;
    }
    if (ids[0] != NO_RPC)
        seen.rpcs[seen.depth++] = ids[0];
    seen.rpcs[seen.depth++] = ids[1];
    int status = pythia__summary_add_rpc(m->s, m->process, ids[1], pythia_text_of(name), &first);
    if (status == PYTHIA_OK)
        status = read_side(m, json_object_get(rpc, "origin"), false, key, &seen);
    return status == PYTHIA_OK ? read_side(m, json_object_get(rpc, "target"), true, key, &seen)
                               : status;
}

static int refuse_file(struct pythia_error *e, const char *name, const char *sentence)
{
    pythia_error_set(e, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(e, name, 0, 0);
    return PYTHIA_EFORMAT;
}

int pythia__read_margo_statistics(struct pythia_call_summaries *s, const char *name,
                                  struct pythia_text content, struct pythia_error *e)
{
    struct margo m = {.s = s, .file = name};
    json_error_t why;
    json_t *all =
        json_loadb(content.bytes, content.size, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &why);
    const char *address = json_string_value(json_object_get(all, "address")), *key;
    json_t *rpcs = json_object_get(all, "rpcs"), *rpc;
    int status = PYTHIA_OK;
    if (!all && json_error_code(&why) == json_error_out_of_memory)
        return PYTHIA_ENOMEM;
    if (!all) {
        pythia_error_set(e, PYTHIA_EFORMAT, "is not a JSON document: %s", why.text);
        pythia_error_place(e, name, why.line > 0 ? (uint64_t)why.line : 0,
                           why.position > 0 ? (uint64_t)why.position : 0);
        return PYTHIA_EFORMAT;
    }
    if (!address || !json_is_object(rpcs)) {
        status = refuse_file(e, name,
                             "is JSON, but not the statistics of margo: \"address\" or \"rpcs\" is "
                             "missing");
        goto out;
    }
    status = pythia__summary_add_process(s, name, hash_address(pythia_text_of(address)),
                                         pythia_text_of(address), &m.process);
    json_object_foreach (rpcs, key, rpc) {
        if (status != PYTHIA_OK)
            break;
        status = read_rpc(&m, key, rpc);
    }
out:
    json_decref(all);
    return status;
}
