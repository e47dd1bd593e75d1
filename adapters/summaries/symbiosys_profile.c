/* The callpath profile of one process as SYMBIOSYS and margo write it (profile-<host>-<pid>.csv):
 *
 *     number of RPCs
 *     hash of the process's address, address
 *     0x<id>,name                              a line for each RPC
 *     name,mean,callpath,peer,side,total,...   two lines for each callpath, peer and side: the
 *     name,side;seconds,calls, slot;...        sums, and how they came about over time
 *
 * A callpath is four ids of 16 bits, the innermost lowest. Times are seconds. Lines of slots do not
 * say how long a slot is, and are passed over. */
#include <math.h>
#include <string.h>

#include "pythia/status.h"
#include "summary_parts.h"

#define FIELDS_MAX 25
#define ID_BITS    16

/* Where the fields of a line are that differ between both forms. */
struct layout {
    size_t fields, min, max, calls;
};
static const struct layout layouts[] = {{25, 13, 14, 15}, {15, 6, 7, 8}};
enum { FIELD_CALLPATH = 2, FIELD_PEER = 3, FIELD_SIDE = 4, FIELD_TOTAL = 5 };

/* Where intervals and the sizes of pools (high, low, sum) are, if a line has all fields. */
enum { FIELD_RUNNABLE = 16, FIELD_ALL = 19 };
static const struct {
    size_t field;
    bool target;
    enum pythia_call_part part;
} intervals[] = {{6, true, PYTHIA_CALL_HANDLER},  {7, false, PYTHIA_CALL_O_CB},
                 {7, true, PYTHIA_CALL_T_CB},     {8, false, PYTHIA_CALL_IN_SER},
                 {9, true, PYTHIA_CALL_IN_DESER}, {10, true, PYTHIA_CALL_OUT_SER},
                 {11, true, PYTHIA_CALL_RDMA}};

struct reader {
    struct pythia_call_summaries *s;
    const char *name;
    struct pythia_text content, rest;
    uint64_t line;
    uint32_t process;
};

/* False: there is no further line. */
static bool take_profile_line(struct reader *r, struct pythia_text *line)
{
    const char *newline = r->rest.size > 0 ? memchr(r->rest.bytes, '\n', r->rest.size) : NULL;
    size_t size = newline ? (size_t)(newline - r->rest.bytes) : r->rest.size;
    if (r->rest.size == 0)
        return false;
    *line = pythia_text_trim((struct pythia_text){r->rest.bytes, size});
    r->rest.bytes += size + (newline != NULL);
    r->rest.size -= size + (newline != NULL);
    r->line++;
    return true;
}

static struct pythia_text cut_at_comma(struct pythia_text *rest)
{
    const char *comma = rest->size > 0 ? memchr(rest->bytes, ',', rest->size) : NULL;
    size_t size = comma ? (size_t)(comma - rest->bytes) : rest->size;
    struct pythia_text field = {rest->bytes, size};
    rest->bytes += size + (comma != NULL);
    rest->size -= size + (comma != NULL);
    return pythia_text_trim(field);
}

static bool read_profile_head(struct reader *r, uint64_t *rpcs, uint64_t *hash,
                              struct pythia_text *address)
{
    struct pythia_text line;
    if (!take_profile_line(r, &line) || !pythia_text_unsigned(line, UINT32_MAX, rpcs) ||
        !take_profile_line(r, &line) || !memchr(line.bytes, ',', line.size))
        return false;
    *address = line;
    return pythia_text_unsigned(cut_at_comma(address), UINT64_MAX, hash) && address->size > 0;
}

bool pythia__is_symbiosys_profile(struct pythia_text content)
{
    struct reader r = {.rest = content};
    struct pythia_text address;
    uint64_t rpcs, hash;
    return read_profile_head(&r, &rpcs, &hash, &address);
}

static void refuse_line(struct reader *r, struct pythia_text line, const char *sentence)
{
    pythia__summary_refuse(r->s, r->name, r->line, (uint64_t)(line.bytes - r->content.bytes), "%s",
                           sentence);
}

/* "0x1a2b": the ids of a callpath are as wide. */
static bool read_id(struct pythia_text text, uint64_t *id)
{
    if (text.size < 3 || text.size > 6 || text.bytes[0] != '0' || text.bytes[1] != 'x')
        return false;
    *id = 0;
    for (size_t i = 2; i < text.size; i++) {
        char c = text.bytes[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return false;
        *id = *id << 4 | (uint64_t)digit;
    }
    return true;
}

static int read_rpc_line(struct reader *r, struct pythia_text line)
{
    struct pythia_text name = line;
    uint64_t id;
    bool first;
    if (!read_id(cut_at_comma(&name), &id) || name.size == 0) {
        refuse_line(r, line, "expected the number and the name of an RPC");
        return PYTHIA_OK;
    }
    int status = pythia__summary_add_rpc(r->s, r->process, id, pythia_text_trim(name), &first);
    if (status == PYTHIA_OK && !first)
        refuse_line(r, line,
                    "another RPC has the same number: callpaths with it stand for the first");
    return status;
}

/* The ids of a callpath, the outermost first; how many. */
static uint32_t split_callpath(uint64_t callpath, uint64_t ids[PYTHIA__SUMMARY_RPCS_MAX])
{
    uint32_t depth = 0;
    for (int shift = 64 - ID_BITS; shift >= 0; shift -= ID_BITS) {
        uint64_t id = callpath >> shift & 0xffff;
        if (id || depth > 0)
            ids[depth++] = id;
    }
    return depth;
}

static const struct layout *find_layout(size_t fields)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].fields == fields)
            return &layouts[i];
    return NULL;
}

static bool read_pool(const struct pythia_text fields[3], struct pythia_pool_sizes *to)
{
    return pythia_text_unsigned(fields[0], UINT64_MAX, &to->high) &&
           pythia_text_unsigned(fields[1], UINT64_MAX, &to->low) &&
           pythia_text_unsigned(fields[2], UINT64_MAX, &to->sum);
}

/* An interval of 0 was not measured: a build without such timers writes that for all calls. */
static void read_intervals(const struct pythia_text *fields, struct pythia__summary_seen *seen)
{
    for (size_t i = 0; i < sizeof(intervals) / sizeof(intervals[0]); i++) {
        uint64_t *sum_ns = &seen->parts_ns[intervals[i].part];
        if (intervals[i].target == seen->target &&
            pythia_text_seconds(fields[intervals[i].field], sum_ns) && *sum_ns > 0)
            seen->told |= UINT32_C(1) << intervals[i].part;
    }
    seen->has_pools = seen->target && read_pool(&fields[FIELD_RUNNABLE], &seen->runnable) &&
                      read_pool(&fields[FIELD_ALL], &seen->all);
}

/* NULL, or what is wrong with a line. */
static const char *read_sums(struct pythia_text line, struct pythia__summary_seen *seen)
{
    struct pythia_text fields[FIELDS_MAX] = {{0}};
    uint64_t callpath, side;
    size_t count = 0;
    for (bool more = true; more && count <= FIELDS_MAX; count++) {
        more = memchr(line.bytes, ',', line.size);
        struct pythia_text field = cut_at_comma(&line);
        if (count < FIELDS_MAX)
            fields[count] = field;
    }
    const struct layout *l = find_layout(count);
    if (!l)
        return "has neither 25 nor 15 fields";
    if (!pythia_text_unsigned(fields[FIELD_CALLPATH], UINT64_MAX, &callpath) ||
        (seen->depth = split_callpath(callpath, seen->rpcs)) == 0)
        return "the third field is no callpath";
    if (!pythia_text_unsigned(fields[FIELD_PEER], UINT64_MAX, &seen->peer_hash) ||
        !pythia_text_unsigned(fields[FIELD_SIDE], 1, &side))
        return "the fourth and fifth field are no peer and side, 0 or 1";
    if (!pythia_text_unsigned(fields[l->calls], UINT64_MAX, &seen->calls))
        return "the number of calls is no number";
    if (!pythia_text_seconds(fields[FIELD_TOTAL], &seen->sum_ns) ||
        !pythia_text_seconds(fields[l->min], &seen->min_ns) ||
        !pythia_text_seconds(fields[l->max], &seen->max_ns))
        return "the total, the shortest or the longest time is no number of seconds";
    seen->target = side == 1;
    if (l->fields == FIELDS_MAX)
        read_intervals(fields, seen);
    return NULL;
}

static int read_profile_line(struct reader *r, struct pythia_text line)
{
    struct pythia__summary_seen seen = {.process = r->process,
                                        .line = r->line,
                                        .offset = (uint64_t)(line.bytes - r->content.bytes),
                                        .variance_ns2 = NAN};
    if (line.size == 0 || memchr(line.bytes, ';', line.size))
        return PYTHIA_OK;
    const char *wrong = read_sums(line, &seen);
    if (wrong)
        refuse_line(r, line, wrong);
    return wrong ? PYTHIA_OK : pythia__summary_add(r->s, &seen);
}

int pythia__read_symbiosys_profile(struct pythia_call_summaries *s, const char *name,
                                   struct pythia_text content)
{
    struct reader r = {.s = s, .name = name, .content = content, .rest = content};
    struct pythia_text line, address;
    uint64_t rpcs, hash;
    if (!read_profile_head(&r, &rpcs, &hash, &address))
        return PYTHIA_EFORMAT;
    int status = pythia__summary_add_process(s, name, hash, pythia_text_trim(address), &r.process);
    while (status == PYTHIA_OK && rpcs > 0 && take_profile_line(&r, &line)) {
        rpcs--;
        status = read_rpc_line(&r, line);
    }
    if (status == PYTHIA_OK && rpcs > 0)
        pythia__summary_refuse(s, name, r.line, 0, "ends before all RPCs have a name");
    while (status == PYTHIA_OK && take_profile_line(&r, &line))
        status = read_profile_line(&r, line);
    return status;
}
