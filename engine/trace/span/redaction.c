/* Rules are patterns of keys, so what is done with a key is worked out once and noted for its
 * number. Most keys are kept as they are, and their values are never looked at. */
#include "pythia/redaction.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "pythia/attributes.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define BLOCK_SIZE 65536u
#define BLOCKS     16384u /* of keys: 2^30 of them, as many as there may be (attributes.h) */
#define DIGITS     16
#define CHECK_BITS 16 /* of a hash, that tell it from any other text */

struct rule {
    struct pythia_text pattern;
    enum pythia_redact by;
};

/* The action of each key, + 1; 0: not determined yet. */
struct notes {
    _Atomic uint8_t of_key[BLOCK_SIZE];
};

struct pythia_redaction {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_hash_key secret;
    struct rule *rules;
    char **texts; /* the patterns, owned */
    size_t count;
    _Atomic(struct notes *) blocks[BLOCKS]; /* by key */
};

/* Passwords and keys say nothing of how long a request takes. Statements do, and stay equal as
 * hashes, as does what tells of people. An address is readable where it is a path, because that is
 * where the answer lies. */
static const char *const defaults[] = {"*usage.*token*: keep", /* how many there were */
                                       "*password*: drop",
                                       "*passwd*: drop",
                                       "*passphrase*: drop",
                                       "*secret*: drop",
                                       "*token*: drop",
                                       "*credential*: drop",
                                       "*authorization*: drop",
                                       "*cookie*: drop",
                                       "*api?key*: drop",
                                       "*apikey*: drop",
                                       "*private?key*: drop",
                                       "*access?key*: drop",
                                       "*connection_string: drop",
                                       "*db.statement: hash",
                                       "*db.query.text: hash",
                                       "*db.query.parameter*: hash",
                                       "*db.params*: hash",
                                       "*graphql.document: hash",
                                       "*http.url: url",
                                       "*http.target: url",
                                       "*url.full: url",
                                       "*url.original: url",
                                       "*header.referer*: url",
                                       "*header.location*: url",
                                       "*url.query: drop",
                                       "*url.fragment: drop",
                                       "*request.query: drop",
                                       "*requests.query: drop",
                                       "*email*: hash",
                                       "*e?mail: hash",
                                       "*phone*: hash",
                                       "*client.address: hash",
                                       "*http.client_ip: hash",
                                       "*network.peer.address: hash", /* of a server, the client */
                                       "*net.peer.ip: hash",
                                       "*net.sock.peer.addr: hash",
                                       "*forwarded*: hash", /* headers of proxies */
                                       "*header.x?real?ip*: hash",
                                       "*enduser.role: keep",
                                       "*enduser.scope: keep",
                                       "*enduser.*: hash",
                                       "*user.id: hash",
                                       "*user.name: hash",
                                       "*user.full_name: hash",
                                       "*user.hash: hash",
                                       "*db.user: hash",
                                       "*session?id: hash",
                                       "*session.id: hash",
                                       NULL};

const char *const *pythia_redaction_defaults(void)
{
    return defaults;
}

/* ---- rules ---- */

static struct pythia_text trim_spaces(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return (struct pythia_text){begin, (size_t)(end - begin)};
}

/* "PATTERN: ACTION": the last colon counts, keys may have some, too. */
static bool parse_rule(const char *text, struct rule *out)
{
    static const char *const actions[] = {"keep", "url", "hash", "drop"};
    const char *colon = strrchr(text, ':');
    if (!colon)
        return false;
    struct pythia_text action = trim_spaces(colon + 1, colon + strlen(colon));
    out->pattern = trim_spaces(text, colon);
    for (int i = 0; i < 4 && out->pattern.size > 0; i++)
        if (pythia_text_equal(action, pythia_text_of(actions[i]))) {
            out->by = (enum pythia_redact)i;
            return true;
        }
    return false;
}

static bool is_rule_word(const char *rule, const char *word)
{
    return pythia_text_equal(trim_spaces(rule, rule + strlen(rule)), pythia_text_of(word));
}

int pythia_redaction_check(const char *rule, struct pythia_error *e)
{
    struct rule unused;
    if (is_rule_word(rule, "default") || is_rule_word(rule, "off") || parse_rule(rule, &unused))
        return PYTHIA_OK;
    return pythia_error_set(e, PYTHIA_EUSAGE,
                            "'%.80s' is not a rule: expected KEY-PATTERN: keep, url, hash or "
                            "drop; default; or off",
                            rule);
}

/* Each rule that holds, in order, to `take`; "default" is taken apart. Negative ends it. */
static int each_rule(const char *const *rules, size_t count,
                     int (*take)(void *context, const char *rule), void *context)
{
    for (size_t i = 0; i < count; i++) {
        if (is_rule_word(rules[i], "off"))
            break;
        if (!is_rule_word(rules[i], "default")) {
            int status = take(context, rules[i]);
            if (status != PYTHIA_OK)
                return status;
        }
        for (size_t k = 0; is_rule_word(rules[i], "default") && defaults[k]; k++) {
            int status = take(context, defaults[k]);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

static int note_hash(void *context, const char *rule)
{
    struct rule parsed;
    bool *hashes = context;
    *hashes = *hashes || (parse_rule(rule, &parsed) && parsed.by == PYTHIA_REDACT_HASH);
    return PYTHIA_OK;
}

bool pythia_redaction_hashes(const char *const *rules, size_t count)
{
    bool hashes = false;
    (void)each_rule(rules, count, note_hash, &hashes);
    return hashes;
}

static int count_rule(void *context, const char *rule)
{
    (void)rule;
    ++*(size_t *)context;
    return PYTHIA_OK;
}

static int add_rule(void *context, const char *text)
{
    struct pythia_redaction *r = context;
    char *copy = pythia_strndup(text, strlen(text));
    if (!copy)
        return PYTHIA_ENOMEM;
    r->texts[r->count] = copy;
    (void)parse_rule(copy, &r->rules[r->count++]); /* which was checked */
    return PYTHIA_OK;
}

int pythia_redaction_create(const struct pythia_vocabulary *vocabulary, const char *const *rules,
                            size_t count, const struct pythia_hash_key *secret,
                            struct pythia_redaction **out, struct pythia_error *e)
{
    size_t total = 0;
    /* Check all rules before anything is allocated, so that the message names the first wrong
     * one. */
    for (size_t i = 0; i < count; i++) {
        int status = pythia_redaction_check(rules[i], e);
        if (status != PYTHIA_OK)
            return status;
    }
    (void)each_rule(rules, count, count_rule, &total);
    if (total == 0) {
        *out = NULL;
        return PYTHIA_OK;
    }
    struct pythia_redaction *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->vocabulary = vocabulary;
    r->rules = pythia_calloc(total, sizeof(*r->rules));
    r->texts = pythia_calloc(total, sizeof(*r->texts));
    if (secret)
        r->secret = *secret;
    int status = r->rules && r->texts ? each_rule(rules, count, add_rule, r) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK) {
        pythia_redaction_destroy(r);
        return status;
    }
    *out = r;
    return PYTHIA_OK;
}

void pythia_redaction_destroy(struct pythia_redaction *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < BLOCKS; i++)
        pythia_free(r->blocks[i]);
    for (size_t i = 0; i < r->count; i++)
        pythia_free(r->texts[i]);
    pythia_free(r->texts);
    pythia_free(r->rules);
    pythia_free(r);
}

/* ---- keys ---- */

enum pythia_redact pythia_redaction_of_name(const struct pythia_redaction *r,
                                            struct pythia_text name)
{
    for (size_t i = 0; i < r->count; i++)
        if (pythia_text_fits(name, r->rules[i].pattern, true))
            return r->rules[i].by;
    return PYTHIA_REDACT_KEEP;
}

/* Where it is noted what is known of a key; NULL: there is no memory to note it. */
static _Atomic uint8_t *note_of(struct pythia_redaction *r, uint32_t key)
{
    _Atomic(struct notes *) *at = &r->blocks[key / BLOCK_SIZE % BLOCKS];
    struct notes *block = atomic_load_explicit(at, memory_order_acquire), *none = NULL;
    if (!block) {
        block = pythia_calloc(1, sizeof(*block));
        if (block && !atomic_compare_exchange_strong(at, &none, block)) {
            pythia_free(block); /* another thread was quicker */
            block = none;
        }
    }
    return block ? &block->of_key[key % BLOCK_SIZE] : NULL;
}

void pythia_redaction_note(struct pythia_redaction *r, uint32_t key, enum pythia_redact by)
{
    _Atomic uint8_t *note = note_of(r, key);
    uint8_t known = note ? atomic_load_explicit(note, memory_order_relaxed) : UINT8_MAX;
    while (known < by + 1 &&
           !atomic_compare_exchange_weak_explicit(note, &known, (uint8_t)(by + 1),
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

enum pythia_redact pythia_redaction_of(struct pythia_redaction *r, uint32_t key)
{
    _Atomic uint8_t *note = note_of(r, key);
    uint8_t known = note ? atomic_load_explicit(note, memory_order_relaxed) : 0;
    if (known == 0) {
        enum pythia_redact by =
            pythia_redaction_of_name(r, pythia_vocabulary_text(r->vocabulary, key));
        if (note)
            pythia_redaction_note(r, key, by);
        known = note ? atomic_load_explicit(note, memory_order_relaxed) : (uint8_t)(by + 1);
    }
    return (enum pythia_redact)(known - 1);
}

/* ---- values ---- */

static uint64_t compute_check_bits(const struct pythia_redaction *r, uint64_t head)
{
    return pythia_keyed_hash(&r->secret, &head, sizeof(head)) >> (64 - CHECK_BITS);
}

static bool is_hash(const struct pythia_redaction *r, struct pythia_text text)
{
    const size_t prefix = sizeof(PYTHIA_REDACTED) - 1;
    uint64_t high, number;
    if (text.size != prefix + DIGITS || memcmp(text.bytes, PYTHIA_REDACTED, prefix) != 0 ||
        !pythia_text_hex((struct pythia_text){text.bytes + prefix, DIGITS}, &high, &number))
        return false;
    return (number & ((1 << CHECK_BITS) - 1)) == compute_check_bits(r, number >> CHECK_BITS);
}

static struct pythia_text write_whole_number(int64_t number, char room[32])
{
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *at = room + 32;
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        *--at = '-';
    return (struct pythia_text){at, (size_t)(room + 32 - at)};
}

/* Numbers and truths are hashed as they are written, so that it does not matter in which form a
 * source has them. */
static struct pythia_text write_value_text(const struct pythia_attribute *a, char room[32])
{
    switch (a->kind) {
    case PYTHIA_ATTRIBUTE_INTEGER:
        return write_whole_number(a->integer, room);
    case PYTHIA_ATTRIBUTE_REAL:
        snprintf(room, 32, "%.17g", a->real);
        return pythia_text_of(room);
    case PYTHIA_ATTRIBUTE_BOOL:
        return a->integer ? PYTHIA_TEXT("true") : PYTHIA_TEXT("false");
    case PYTHIA_ATTRIBUTE_TEXT:
        break;
    }
    return a->text;
}

static uint64_t hash_redacted_text(const struct pythia_redaction *r, struct pythia_text text)
{
    uint64_t head = pythia_keyed_hash(&r->secret, text.bytes, text.size) >> CHECK_BITS;
    return head << CHECK_BITS | compute_check_bits(r, head);
}

/* As above, for a value that may have been hashed recently. */
static uint64_t recent_hash(const struct pythia_redaction *r, struct pythia_redaction_work *work,
                            struct pythia_text text)
{
    if (text.size == 0 || text.size > PYTHIA_REDACTION_RECENT_SIZE)
        return hash_redacted_text(r, text);
    uint64_t place = pythia_hash_bytes(text.bytes, text.size) % PYTHIA_REDACTION_RECENT;
    struct pythia_redaction_recent *recent = &work->recent[place];
    if (recent->sized == text.size + 1 && memcmp(recent->text, text.bytes, text.size) == 0)
        return recent->hash;
    recent->hash = hash_redacted_text(r, text);
    recent->sized = (uint8_t)(text.size + 1);
    memcpy(recent->text, text.bytes, text.size);
    return recent->hash;
}

static void write_hash(uint64_t whole, char to[PYTHIA_HASHED_SIZE])
{
    memcpy(to, PYTHIA_REDACTED, sizeof(PYTHIA_REDACTED) - 1);
    for (size_t i = PYTHIA_HASHED_SIZE; i > sizeof(PYTHIA_REDACTED) - 1; whole >>= 4)
        to[--i] = "0123456789abcdef"[whole & 15];
}

void pythia_redaction_hash(const struct pythia_redaction *r, struct pythia_text value,
                           char hash[PYTHIA_HASHED_SIZE + 1])
{
    write_hash(hash_redacted_text(r, value), hash);
    hash[PYTHIA_HASHED_SIZE] = '\0';
}

static void add_hash(const struct pythia_redaction *r, struct pythia_redaction_work *work,
                     const struct pythia_attribute *a, struct pythia_counts *counts)
{
    char room[32], shown[PYTHIA_HASHED_SIZE];
    struct pythia_text text = write_value_text(a, room);
    if (a->kind == PYTHIA_ATTRIBUTE_TEXT && is_hash(r, text)) {
        pythia_attributes_text(&work->scratch, a->key, text);
        return;
    }
    write_hash(recent_hash(r, work, text), shown);
    pythia_attributes_text(&work->scratch, a->key, (struct pythia_text){shown, sizeof(shown)});
    counts->hashed_values++;
}

static const char *find_any(const char *at, const char *end, const char *of)
{
    while (at < end && !strchr(of, *at))
        at++;
    return at;
}

/* Scheme, host and path stay. A path ends at its parameters too (";jsessionid=…"), and user info
 * stands before the last @ of what precedes the path. */
static void add_url(struct pythia_redaction_work *work, const struct pythia_attribute *a)
{
    const char *begin = a->text.bytes, *end = begin + a->text.size, *scheme = begin;
    while (scheme + 2 < end && memcmp(scheme, "://", 3) != 0 && !strchr("/?#;", *scheme))
        scheme++;
    bool absolute = scheme + 2 < end && memcmp(scheme, "://", 3) == 0;
    const char *host = absolute ? scheme + 3 : begin;
    const char *path = absolute ? find_any(host, end, "/?#") : begin, *user = host;
    for (const char *at = host; at < path; at++)
        user = *at == '@' ? at + 1 : user;
    const char *last = find_any(user, end, "?#;");
    struct pythia_buf *to = &work->url;
    pythia_buf_clear(to);
    pythia_buf_add(to, begin, (size_t)(host - begin));
    pythia_buf_add(to, user, (size_t)(last - user));
    pythia_attributes_text(&work->scratch, a->key, pythia_buf_text(to));
    work->scratch.failed = to->failed ? 1 : work->scratch.failed;
    to->failed = 0;
}

void pythia_redaction_work_free(struct pythia_redaction_work *work)
{
    pythia_buf_free(&work->scratch);
    pythia_buf_free(&work->url);
    memset(work->recent, 0, sizeof(work->recent));
}

/* A value must never get the hash that another secret made of it. */
static void keep_to_secret(const struct pythia_redaction *r, struct pythia_redaction_work *work)
{
    if (memcmp(&work->secret, &r->secret, sizeof(r->secret)) == 0)
        return;
    memset(work->recent, 0, sizeof(work->recent));
    work->secret = r->secret;
}

int pythia_redaction_apply(struct pythia_redaction *r, struct pythia_buf *attributes,
                           struct pythia_redaction_work *work, struct pythia_counts *counts)
{
    struct pythia_buf *scratch = &work->scratch;
    struct pythia_text rest = pythia_buf_text(attributes);
    struct pythia_attribute a;
    const char *kept = rest.bytes, *begin = kept; /* from `kept` to `begin` nothing changes */
    pythia_buf_clear(scratch);
    scratch->failed = 0;
    keep_to_secret(r, work);
    for (; pythia_attributes_next(&rest, &a); begin = rest.bytes) {
        enum pythia_redact by = pythia_redaction_of(r, a.key);
        if (by == PYTHIA_REDACT_KEEP ||
            (by == PYTHIA_REDACT_URL && a.kind != PYTHIA_ATTRIBUTE_TEXT))
            continue;
        pythia_buf_add(scratch, kept, (size_t)(begin - kept));
        kept = rest.bytes;
        if (by == PYTHIA_REDACT_URL)
            add_url(work, &a);
        else if (by == PYTHIA_REDACT_HASH)
            add_hash(r, work, &a, counts);
        else
            counts->dropped[PYTHIA_DROP_REDACTED]++;
    }
    if (kept == attributes->bytes) /* all of it is */
        return PYTHIA_OK;
    pythia_buf_add(scratch, kept, (size_t)(begin - kept));
    struct pythia_buf made = *scratch;
    *scratch = *attributes;
    *attributes = made;
    int status = pythia_buf_status(attributes);
    if (status != PYTHIA_OK)
        pythia_buf_clear(attributes);
    attributes->failed = 0;
    return status;
}
