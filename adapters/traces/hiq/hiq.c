/* The log that HiQ's LumberJack writes, one tree a line, in either version of its trees:
 *
 *     time,v2,0,{"None":1637008247.9725869,1637008251.9771237,{"__main":…,…,{"__func1":…,…,}}}
 *     time,t1^time,,0,2,3,1,1e-07,17#{'overhead': 453}%n1*[None,inf,inf,0$0#[__main,…,…,0$0#]]
 *
 * In version 2 a node is its name, its start and its end in seconds since 1970, base64 of a
 * dictionary or nothing, and then its children without any separator. HiQ 1.1 from PyPI writes
 * version 1 (t1): the members of the tree, the length of a dictionary about the tree and that
 * dictionary; then the nodes in brackets, each with a flag, the length of its dictionary, and the
 * dictionary as Python prints it. Lengths count characters, not bytes.
 *
 * The outermost node, "None", stands for no function: its children are the roots. Trees of other
 * metrics than time (memory, bytes) say nothing of when: they are counted and left out.
 *
 * A tree has no id: the id of its trace is a hash of its line. A broken line is reported, and
 * nothing of it is used. */
#include <inttypes.h>
#include <string.h>

#include "extra.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "shared/decoder.h"
#include "shared/formats.h"
#include "shared/whole_lines.h"

#define SERVICE "hiq"

struct node {
    uint64_t start_ns, end_ns;
    uint32_t parent; /* number of a node, from 1; 0: none */
    uint32_t name;   /* number of a string */
    size_t extra, extra_size;
};

struct hiq {
    struct pythia__decoder d;
    struct pythia__whole_lines lines;
    struct pythia_buf text;
    struct node *nodes;
    size_t count, capacity;
    uint32_t service, resource;
    bool packed; /* dictionaries of the current tree are in base64: version 2 */
};

/* ---- one tree ---- */

struct cursor {
    const char *begin, *at, *end;
};

static int fail_hiq_line(const struct hiq *h, const struct cursor *c, struct pythia_error *why,
                         const char *sentence)
{
    return pythia__whole_lines_fail(&h->lines, (size_t)(c->at - c->begin), why, sentence);
}

static bool is_next(const struct cursor *c, char wanted)
{
    return c->at < c->end && *c->at == wanted;
}

/* Seconds with a fraction as nanoseconds, exactly; what is below them is left out. */
static bool take_time(struct cursor *c, uint64_t *out)
{
    uint64_t seconds = 0, ns = 0, scale = 100000000;
    const char *begin = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        seconds = seconds * 10 + (uint64_t)(*c->at - '0');
        if (seconds > PYTHIA__TIME_MAX / 1000000000 - 1)
            return false;
    }
    if (c->at == begin)
        return false;
    if (is_next(c, '.'))
        for (c->at++; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
            ns += (uint64_t)(*c->at - '0') * scale;
            scale /= 10;
        }
    *out = seconds * 1000000000 + ns;
    return true;
}

/* Intern a name, with bytes that are not UTF-8 repaired. PYTHIA_EFORMAT if it has no length that a
 * name may have. */
static int intern_name(struct hiq *h, struct pythia_text name, uint32_t *out)
{
    if (name.size == 0 || name.size > PYTHIA__NAME_MAX)
        return PYTHIA_EFORMAT;
    if (!pythia_text_is_sound(name)) {
        pythia_buf_clear(&h->text);
        char *repaired = pythia_buf_reserve(&h->text, 3 * name.size + 1);
        if (!repaired)
            return PYTHIA_ENOMEM;
        name = (struct pythia_text){repaired, pythia_text_repair(name, repaired)};
        h->d.to->counts->repaired[PYTHIA_REPAIR_ENCODING]++;
    }
    *out = pythia__key(&h->d, name);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* Parse `"NAME":`; the name may hold anything but a quote followed by a colon. */
static int parse_name(struct hiq *h, struct cursor *c, uint32_t *out)
{
    if (!is_next(c, '"'))
        return PYTHIA_EFORMAT;
    const char *begin = ++c->at;
    while (c->at + 1 < c->end && !(c->at[0] == '"' && c->at[1] == ':'))
        c->at++;
    if (c->at + 1 >= c->end)
        return PYTHIA_EFORMAT;
    struct pythia_text name = {begin, (size_t)(c->at - begin)};
    c->at += 2;
    return intern_name(h, name, out);
}

/* Parse NAME, up to the comma that separates it from the start. */
static int parse_bare_name(struct hiq *h, struct cursor *c, uint32_t *out)
{
    const char *begin = c->at;
    while (c->at < c->end && *c->at != ',')
        c->at++;
    if (c->at == c->end)
        return PYTHIA_EFORMAT;
    struct pythia_text name = {begin, (size_t)(c->at - begin)};
    c->at++;
    return intern_name(h, name, out);
}

static int append_node(struct hiq *h, const struct node *node)
{
    if (pythia_grow(&h->nodes, &h->capacity, h->count, sizeof(*h->nodes)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    h->nodes[h->count++] = *node;
    return PYTHIA_OK;
}

/* Parse a node of version 2, up to its first child. Its dictionary is only marked: it is decoded
 * when the whole line is known to be sound. */
static int parse_node(struct hiq *h, struct cursor *c, uint32_t parent, struct pythia_error *why)
{
    struct node node = {.parent = parent};
    int status = parse_name(h, c, &node.name);
    if (status == PYTHIA_EFORMAT)
        return fail_hiq_line(h, c, why, "a node does not begin with a name in quotes and a colon");
    if (status != PYTHIA_OK)
        return status;
    if (!take_time(c, &node.start_ns) || !is_next(c, ','))
        return fail_hiq_line(h, c, why, "the start of a node is not a time in seconds");
    c->at++;
    if (!take_time(c, &node.end_ns) || !is_next(c, ','))
        return fail_hiq_line(h, c, why, "the end of a node is not a time in seconds");
    c->at++;
    node.extra = (size_t)(c->at - c->begin);
    while (c->at < c->end && *c->at != '{' && *c->at != '}')
        c->at++;
    node.extra_size = (size_t)(c->at - c->begin) - node.extra;
    return append_node(h, &node);
}

/* Is that the name of the outermost node, which stands for no function? */
static bool is_virtual(const struct hiq *h, uint32_t number)
{
    struct pythia_text name = pythia_vocabulary_text(h->d.vocabulary, number);
    return PYTHIA_TEXT_IS(name, "None") || PYTHIA_TEXT_IS(name, "none");
}

/* A time of version 1. The outermost node has "inf" for both of its times. */
static bool take_time_or_infinity(struct cursor *c, bool outermost, uint64_t *out)
{
    if (outermost && c->end - c->at >= 3 && memcmp(c->at, "inf", 3) == 0) {
        c->at += 3;
        *out = 0;
        return true;
    }
    return take_time(c, out);
}

static bool take_digits(struct cursor *c, size_t *out)
{
    const char *begin = c->at;
    for (*out = 0; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if ((*out = *out * 10 + (size_t)(*c->at - '0')) > PYTHIA__LINE_BYTES)
            return false;
    return c->at > begin;
}

/* `LENGTH#` and as many characters, which may be several bytes each. */
static bool take_counted(struct cursor *c, size_t *from, size_t *size)
{
    size_t characters;
    if (!take_digits(c, &characters) || !is_next(c, '#'))
        return false;
    const char *begin = ++c->at;
    for (; characters > 0 && c->at < c->end; characters--)
        for (c->at++; c->at < c->end && ((unsigned char)*c->at & 0xc0) == 0x80;)
            c->at++;
    *from = (size_t)(begin - c->begin);
    *size = (size_t)(c->at - begin);
    return characters == 0;
}

/* Parse a node of version 1, up to its first child: NAME,START,END,FLAG$LENGTH#DICTIONARY. */
static int parse_bare_node(struct hiq *h, struct cursor *c, uint32_t parent,
                           struct pythia_error *why)
{
    struct node node = {.parent = parent};
    size_t flag;
    int status = parse_bare_name(h, c, &node.name);
    if (status == PYTHIA_EFORMAT)
        return fail_hiq_line(h, c, why, "a node has no name before a comma");
    if (status != PYTHIA_OK)
        return status;
    bool outermost = parent == 0 && is_virtual(h, node.name);
    if (!take_time_or_infinity(c, outermost, &node.start_ns) || !is_next(c, ','))
        return fail_hiq_line(h, c, why, "the start of a node is not a time in seconds");
    c->at++;
    if (!take_time_or_infinity(c, outermost, &node.end_ns) || !is_next(c, ','))
        return fail_hiq_line(h, c, why, "the end of a node is not a time in seconds");
    c->at++;
    if (!take_digits(c, &flag) || !is_next(c, '$'))
        return fail_hiq_line(h, c, why, "a node has no flag between its times and '$'");
    c->at++;
    if (!take_counted(c, &node.extra, &node.extra_size))
        return fail_hiq_line(h, c, why, "a node does not have the dictionary whose length it says");
    return append_node(h, &node);
}

/* Parse all nodes, outer before inner, without recursion: a line may nest deeper than the stack. */
static int parse_tree(struct hiq *h, struct cursor *c, struct pythia_error *why)
{
    const char open = h->packed ? '{' : '[', close = h->packed ? '}' : ']';
    uint32_t at = 0; /* the node that is open */
    h->count = 0;
    do {
        int status = PYTHIA_OK;
        if (is_next(c, open)) {
            c->at++;
            status = h->packed ? parse_node(h, c, at, why) : parse_bare_node(h, c, at, why);
            at = (uint32_t)h->count;
        } else if (is_next(c, close)) {
            c->at++;
            at = h->nodes[at - 1].parent;
        } else {
            status = fail_hiq_line(h, c, why,
                                   c->at == c->end ? "the tree ends before its nodes do"
                                                   : "there is neither a node nor the end of one");
        }
        if (status != PYTHIA_OK)
            return status;
        if (h->count == UINT32_MAX)
            return fail_hiq_line(h, c, why, "a tree of too many nodes");
    } while (at > 0);
    return c->at == c->end ? PYTHIA_OK
                           : fail_hiq_line(h, c, why, "the tree ends before the line does");
}

/* Emit a node. One whose dictionary cannot be decoded is a span all the same, without it. */
static int emit_hiq_node(struct hiq *h, struct pythia_text line,
                         const struct pythia_trace_id *trace, size_t i, bool below_virtual)
{
    const struct node *node = &h->nodes[i];
    bool root = node->parent == 0 || (below_virtual && node->parent == 1);
    struct pythia_span span = {.id = i + 1,
                               .parent = root ? 0 : node->parent,
                               .start_ns = node->start_ns,
                               .duration_ns = (int64_t)(node->end_ns - node->start_ns),
                               .tracepoint = pythia__tracepoint(&h->d, h->service, 0, node->name),
                               .resource = h->resource,
                               .kind = PYTHIA_SPAN_INTERNAL,
                               .relation = PYTHIA_RELATION_CALL,
                               .many_roots = below_virtual};
    if (span.tracepoint == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    pythia_buf_clear(&h->d.attributes);
    struct pythia_text extra = {line.bytes + node->extra, node->extra_size};
    if (extra.size > 0 && !pythia__hiq_extra(&h->d, extra, h->packed, &h->text)) {
        struct pythia_error why = {0};
        struct cursor at = {line.bytes, extra.bytes, line.bytes + line.size};
        fail_hiq_line(h, &at, &why, "the extra field of a node is not base64, and is skipped");
        h->d.to->broken(h->d.to, &why);
        h->d.to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
    }
    return pythia__emit(&h->d, trace, &span);
}

/* Find the tree in "METRIC,v2,…"; NULL if it is no such line. */
static const char *find_packed_tree(struct pythia_text line, struct pythia_text *metric)
{
    const char *comma = memchr(line.bytes, ',', line.size), *end = line.bytes + line.size;
    if (!comma || end - comma < 5 || memcmp(comma, ",v2,", 4) != 0)
        return NULL;
    *metric = (struct pythia_text){line.bytes, (size_t)(comma - line.bytes)};
    return memchr(comma, '{', (size_t)(end - comma));
}

/* Find the tree in "METRIC,t1^…,LENGTH#DICTIONARY%n…*["; NULL if it is no such line. The members
 * before the dictionary are numbers and names without '#'. */
static const char *find_bare_tree(struct pythia_text line, struct pythia_text *metric)
{
    const char *end = line.bytes + line.size, *comma = memchr(line.bytes, ',', line.size);
    if (!comma || end - comma < 5 || memcmp(comma, ",t1^", 4) != 0)
        return NULL;
    *metric = (struct pythia_text){line.bytes, (size_t)(comma - line.bytes)};
    const char *hash = memchr(comma, '#', (size_t)(end - comma));
    if (!hash)
        return NULL;
    struct cursor c = {line.bytes, hash, end};
    while (c.at[-1] >= '0' && c.at[-1] <= '9') /* stops at the comma at the latest */
        c.at--;
    size_t from, size;
    if (!take_counted(&c, &from, &size) || !is_next(&c, '%'))
        return NULL;
    const char *star = memchr(c.at, '*', (size_t)(end - c.at));
    return star && star + 1 < end && star[1] == '[' ? star + 1 : NULL;
}

/* Where the tree of a line of either version begins; NULL if there is none. */
static const char *find_tree(struct pythia_text line, struct pythia_text *metric, bool *packed)
{
    const char *tree = find_packed_tree(line, metric);
    *packed = tree != NULL;
    return tree ? tree : find_bare_tree(line, metric);
}

/* A line is one trace. It is parsed as a whole before its first span is emitted: half a tree would
 * look like a request that skipped a part of its work. */
static int read_hiq_line(void *context, struct pythia_text line)
{
    struct hiq *h = context;
    struct pythia_text metric = {"", 0};
    struct pythia_error why = {0};
    if (line.size && line.bytes[line.size - 1] == '\r')
        line.size--;
    if (line.size == 0)
        return PYTHIA_OK;
    struct cursor c = {line.bytes, line.bytes, line.bytes + line.size};
    const char *tree = find_tree(line, &metric, &h->packed);
    if (!tree) {
        fail_hiq_line(h, &c, &why,
                      "not a tree of HiQ: expected METRIC,v2,…,{…} or METRIC,t1^…*[…]");
        pythia__tell(&h->d, &why);
        return PYTHIA_OK;
    }
    if (!PYTHIA_TEXT_IS(metric, "time")) {
        h->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
        return PYTHIA_OK;
    }
    c.at = tree;
    int status = parse_tree(h, &c, &why);
    if (status == PYTHIA_EFORMAT) {
        pythia__tell(&h->d, &why);
        return PYTHIA_OK;
    }
    if (status != PYTHIA_OK)
        return status;
    uint64_t hash = pythia_hash_bytes(line.bytes, line.size);
    struct pythia_trace_id trace = {hash, pythia_hash_mix(hash, line.size) | 1};
    bool below_virtual = is_virtual(h, h->nodes[0].name);
    if (below_virtual && h->count == 1)
        h->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
    for (size_t i = below_virtual; i < h->count; i++) {
        status = emit_hiq_node(h, line, &trace, i, below_virtual);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static void refuse_hiq_line(void *context)
{
    struct hiq *h = context;
    struct pythia_error why = {0};
    (void)pythia__whole_lines_fail(&h->lines, 0, &why, "a line of more than 256 MiB");
    pythia__tell(&h->d, &why);
}

static int decode_hiq(struct pythia_adapter *a, struct pythia_source *from, struct pythia_sink *to,
                      struct pythia_error *e)
{
    struct hiq *h = (struct hiq *)a;
    pythia__decoder_begin(&h->d, to);
    h->text.failed = 0;
    int status = pythia__whole_lines_read(&h->lines, from, read_hiq_line, refuse_hiq_line, h, e);
    return h->d.stopped < 0 ? h->d.stopped : status;
}

/* ---- the format ---- */

static int hiq_likeness(const struct pythia_head *head)
{
    struct pythia_text metric, line = head->text;
    bool packed;
    const char *newline = memchr(line.bytes, '\n', line.size);
    if (newline)
        line.size = (size_t)(newline - line.bytes);
    const char *tree = find_tree(line, &metric, &packed);
    if (!tree || metric.size > 64 || tree + 1 >= line.bytes + line.size)
        return 0;
    return !packed || tree[1] == '"' ? 90 : 0;
}

static void destroy_hiq(struct pythia_adapter *a)
{
    struct hiq *h = (struct hiq *)a;
    if (!h)
        return;
    pythia__decoder_free(&h->d);
    pythia__whole_lines_free(&h->lines);
    pythia_buf_free(&h->text);
    pythia_free(h->nodes);
    pythia_free(h);
}

static int create_hiq(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out)
{
    struct hiq *h = pythia_calloc(1, sizeof(*h));
    if (!h)
        return PYTHIA_ENOMEM;
    pythia__decoder_init(&h->d, &pythia__hiq, vocabulary);
    h->service = pythia_vocabulary_string(vocabulary, PYTHIA_TEXT(SERVICE));
    const struct pythia_resource resource = {.service = h->service};
    h->resource =
        h->service == PYTHIA_NONE ? PYTHIA_NONE : pythia_vocabulary_resource(vocabulary, &resource);
    if (h->resource == PYTHIA_NONE) {
        destroy_hiq(&h->d.adapter);
        return PYTHIA_ENOMEM;
    }
    *out = &h->d.adapter;
    return PYTHIA_OK;
}

const struct pythia_adapter_ops pythia__hiq = {
    .name = "hiq",
    .help = "the log of HiQ's LumberJack: trees of version 1 or 2, a line each",
    .likeness = hiq_likeness,
    .create = create_hiq,
    .decode = decode_hiq,
    .destroy = destroy_hiq,
};
