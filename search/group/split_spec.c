/* The text of a rule is read and written here, so that what a report shows can be given on the
 * command line again. */
#include "pythia/split_spec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

#define SHOWN 48 /* characters of a text, in a message */

/* ---- reading ---- */

struct reader {
    struct pythia_text all;
    size_t at;
    struct pythia_error *e;
    struct pythia_buf bytes; /* decoded: what it holds must not move, so it is reserved at once */
    struct pythia_split_level *levels;
    size_t level_count, level_capacity, sets;
    double *cuts;
    size_t cut_count, cut_capacity;
};

/* Say what is wrong at byte `at`, and what to do. */
__attribute__((format(printf, 3, 4))) static int wrong(struct reader *r, size_t at,
                                                       const char *format, ...)
{
    struct pythia_buf shown = {0};
    char sentence[200];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    pythia_shown_add(&shown, r->all, SHOWN);
    pythia_error_set(r->e, PYTHIA_EUSAGE, "--split '%s', byte %zu: %s",
                     shown.bytes ? shown.bytes : "", at + 1, sentence);
    pythia_buf_free(&shown);
    return PYTHIA_EUSAGE;
}

static bool is_reader_at_end(const struct reader *r)
{
    return r->at == r->all.size;
}

static bool is_reader_at(const struct reader *r, char c)
{
    return !is_reader_at_end(r) && r->all.bytes[r->at] == c;
}

static int hex_digit_at(const struct reader *r, size_t at)
{
    return at < r->all.size ? pythia_text_hex_digit(r->all.bytes[at]) : -1;
}

/* Decode up to one of the bytes in `stops`, or the end. */
static int decode_spec_text(struct reader *r, const char *stops, struct pythia_text *out)
{
    size_t from = r->bytes.size;
    while (!is_reader_at_end(r) &&
           (r->all.bytes[r->at] == '\0' || !strchr(stops, r->all.bytes[r->at]))) {
        char c = r->all.bytes[r->at];
        if (c == '%') {
            int high = hex_digit_at(r, r->at + 1), low = hex_digit_at(r, r->at + 2);
            if (high < 0 || low < 0)
                return wrong(r, r->at, "two hexadecimal digits have to follow %%; a %% is %%25");
            c = (char)(high * 16 + low);
            r->at += 2;
        }
        pythia_buf_putc(&r->bytes, c);
        r->at++;
    }
    *out = (struct pythia_text){r->bytes.bytes + from, r->bytes.size - from};
    return PYTHIA_OK;
}

static int read_key(struct reader *r, struct pythia_key_name *key)
{
    static const struct {
        const char *prefix;
        enum pythia_key_source source;
    } kinds[] = {{"count:", PYTHIA_KEY_VISITS}, {"has:", PYTHIA_KEY_VISITED}};
    key->source = PYTHIA_KEY_OF_SPANS;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (pythia_text_starts(r->all, pythia_text_of(kinds[i].prefix))) {
            key->source = kinds[i].source;
            r->at = strlen(kinds[i].prefix);
        }
    size_t from = r->at;
    int status = decode_spec_text(r, "=", &key->text);
    /* Say what is missing where it is missing: an empty option is a different mistake from
     * "=3,10". */
    if (status != PYTHIA_OK)
        return status;
    if (key->text.size == 0 && r->all.size == 0)
        return wrong(r, 0, "it is empty: give a key such as queue_length, or queue_length=3,10");
    if (key->text.size == 0)
        return wrong(r, from, "there is no %s: give one, as in %s",
                     key->source == PYTHIA_KEY_OF_SPANS ? "key" : "trace point",
                     key->source == PYTHIA_KEY_OF_SPANS ? "queue_length=3,10"
                     : key->source == PYTHIA_KEY_VISITS ? "count:api:retry=2"
                                                        : "has:api:retry");
    return PYTHIA_OK;
}

static int read_cut(struct reader *r)
{
    char text[64], *end = text;
    size_t from = r->at, size;
    while (!is_reader_at_end(r) && !is_reader_at(r, ','))
        r->at++;
    size = r->at - from;
    if (size > 0 && size < sizeof(text)) {
        memcpy(text, r->all.bytes + from, size);
        text[size] = '\0';
    }
    /* strtod alone would accept "inf", "nan" and hexadecimal numbers, and would skip spaces. */
    bool number = size > 0 && size < sizeof(text) && strspn(text, "0123456789.eE+-") == size;
    double cut = number ? strtod(text, &end) : NAN;
    if (!number || *end || !isfinite(cut)) {
        struct pythia_buf shown = {0};
        pythia_shown_add(&shown, (struct pythia_text){r->all.bytes + from, size}, SHOWN / 2);
        wrong(r, from,
              "'%s' is no cut point: give numbers such as 3,10, or levels in braces such "
              "as {a,b}",
              shown.bytes ? shown.bytes : "");
        pythia_buf_free(&shown);
        return PYTHIA_EUSAGE;
    }
    /* Cuts that are not sorted are refused, not sorted: 10,3 is as likely a typing error as a
     * careless order. */
    if (r->cut_count > 0 && !(cut > r->cuts[r->cut_count - 1]))
        return wrong(r, from,
                     "%s is not above the cut point before it: give them in rising "
                     "order, each once",
                     text);
    if (pythia_grow(&r->cuts, &r->cut_capacity, r->cut_count, sizeof(*r->cuts)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    r->cuts[r->cut_count++] = cut;
    return PYTHIA_OK;
}

static int read_cuts(struct reader *r, struct pythia_split_rule *rule)
{
    int status = read_cut(r);
    if (status != PYTHIA_OK)
        return status;
    while (is_reader_at(r, ',')) {
        r->at++;
        status = read_cut(r);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_split_rule_cuts(r->cuts, r->cut_count, rule);
}

static int read_level(struct reader *r, size_t open)
{
    struct pythia_text text;
    size_t from = r->at;
    int status = decode_spec_text(r, ",{}", &text);
    if (status != PYTHIA_OK)
        return status;
    if (is_reader_at_end(r) || is_reader_at(r, '{'))
        return wrong(r, open,
                     "this brace is not closed: levels stand as in {a,b},{c}; a brace in "
                     "a level is %%7B or %%7D");
    /* Quadratic, but a user types them. */
    for (size_t i = 0; i < r->level_count; i++)
        if (pythia_text_equal(r->levels[i].text, text))
            return wrong(r, from, "this level is there twice: each can be in one part");
    if (pythia_grow(&r->levels, &r->level_capacity, r->level_count, sizeof(*r->levels)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    r->levels[r->level_count++] = (struct pythia_split_level){text, r->sets};
    return PYTHIA_OK;
}

static int read_set(struct reader *r)
{
    size_t open = r->at++;
    int status = read_level(r, open);
    if (status != PYTHIA_OK)
        return status;
    while (is_reader_at(r, ',')) {
        r->at++;
        status = read_level(r, open);
        if (status != PYTHIA_OK)
            return status;
    }
    r->at++; /* the brace that closes */
    r->sets++;
    return PYTHIA_OK;
}

static int read_sets(struct reader *r, struct pythia_split_rule *rule)
{
    int status = read_set(r);
    if (status != PYTHIA_OK)
        return status;
    while (!is_reader_at_end(r)) {
        if (!is_reader_at(r, ',') || r->at + 1 == r->all.size || r->all.bytes[r->at + 1] != '{')
            return wrong(r, r->at,
                         "behind a brace that closes comes nothing more, or ,{ and more "
                         "levels");
        r->at++;
        status = read_set(r);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_split_rule_sets(r->levels, r->level_count, r->sets, rule);
}

/* Parse the rest after the key: nothing, or "=" and how to split. */
static int read_rule(struct reader *r, enum pythia_key_source source,
                     struct pythia_split_rule *rule)
{
    *rule = (struct pythia_split_rule){.form = source == PYTHIA_KEY_VISITED ? PYTHIA_SPLIT_PRESENT
                                                                            : PYTHIA_SPLIT_LEARNT};
    if (is_reader_at_end(r))
        return PYTHIA_OK;
    r->at++; /* the sign */
    if (is_reader_at_end(r))
        return wrong(r, r->at - 1,
                     "nothing follows the =: give cut points such as 3,10, levels "
                     "such as {a,b}, or *");
    bool any = is_reader_at(r, '*') && r->at + 1 == r->all.size;
    if (source == PYTHIA_KEY_VISITED && !any)
        return wrong(r, r->at,
                     "a trace point is passed or not: has: takes no more than the trace "
                     "point; count: takes numbers");
    if (source == PYTHIA_KEY_VISITS && any)
        return wrong(r, r->at,
                     "each request passes it some number of times: give cut points such "
                     "as 1,3, or has: instead of count:");
    if (any) {
        rule->form = PYTHIA_SPLIT_PRESENT;
        return PYTHIA_OK;
    }
    return is_reader_at(r, '{') ? read_sets(r, rule) : read_cuts(r, rule);
}

int pythia_split_spec_read(struct pythia_text text, struct pythia_split_spec *out,
                           struct pythia_error *e)
{
    struct reader r = {.all = text, .e = e};
    struct pythia_split_spec s = {0};
    int status = pythia_buf_reserve(&r.bytes, text.size + 1) ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    status = read_key(&r, &s.key);
    if (status != PYTHIA_OK)
        goto out;
    status = read_rule(&r, s.key.source, &s.rule);
    if (status != PYTHIA_OK)
        goto out;
    s.key.text.bytes = pythia_strndup(s.key.text.bytes, s.key.text.size);
    if (!s.key.text.bytes) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    *out = s;
    /* It is the caller's now. */
    s.rule = (struct pythia_split_rule){0};
out:
    pythia_split_rule_clear(&s.rule);
    pythia_free(r.levels);
    pythia_free(r.cuts);
    pythia_buf_free(&r.bytes);
    return status;
}

void pythia_split_spec_clear(struct pythia_split_spec *s)
{
    pythia_free(s->key.text.bytes);
    pythia_split_rule_clear(&s->rule);
    *s = (struct pythia_split_spec){0};
}

/* ---- writing ---- */

/* Visible characters stay, except blanks, at which lines are broken, quotes that would end the
 * text in a shell or in Markdown, and characters with a meaning in a specification. */
static void encode_spec_text(struct pythia_text text, const char *meant, struct pythia_buf *to)
{
    struct pythia_text rest = text;
    struct pythia_glyph glyph;
    while (pythia_glyph_next(&rest, &glyph)) {
        size_t size = text.size - rest.size;
        bool same = size == glyph.size && memcmp(text.bytes, glyph.bytes, size) == 0 &&
                    !strchr(" '`%", text.bytes[0]) && !strchr(meant, text.bytes[0]);
        if (same)
            pythia_buf_add(to, text.bytes, size);
        for (size_t i = 0; i < size && !same; i++)
            pythia_buf_printf(to, "%%%02X", (unsigned)(unsigned char)text.bytes[i]);
        text = rest;
    }
}

static void write_key(const struct pythia_key_name *key, struct pythia_buf *to)
{
    static const char *const before[] = {"", "count:", "has:"};
    struct pythia_text text = key->text;
    pythia_buf_puts(to, before[key->source]);
    for (size_t i = 1; i < 3 && key->source == PYTHIA_KEY_OF_SPANS; i++)
        if (pythia_text_starts(text, pythia_text_of(before[i]))) {
            size_t colon = strlen(before[i]) - 1;
            pythia_buf_add(to, text.bytes, colon);
            pythia_buf_puts(to, "%3A");
            text = (struct pythia_text){text.bytes + colon + 1, text.size - colon - 1};
        }
    encode_spec_text(text, "=", to);
}

/* "{a,b}", the levels of one set. */
static void write_set(const struct pythia_split_rule *rule, size_t set, struct pythia_buf *to)
{
    const char *before = "{";
    for (size_t i = 0; i < rule->level_count; i++) {
        if (rule->levels[i].set != set)
            continue;
        pythia_buf_puts(to, before);
        encode_spec_text(rule->levels[i].text, ",{}", to);
        before = ",";
    }
    pythia_buf_putc(to, '}');
}

void pythia_split_spec_write(const struct pythia_split_spec *s, struct pythia_buf *to)
{
    const struct pythia_split_rule *rule = &s->rule;
    write_key(&s->key, to);
    if (rule->form == PYTHIA_SPLIT_PRESENT && s->key.source == PYTHIA_KEY_OF_SPANS)
        /* Without it the text would mean a rule that is still to be learnt. */
        pythia_buf_puts(to, "=*");
    for (size_t i = 0; rule->form == PYTHIA_SPLIT_CUTS && i < rule->cut_count; i++) {
        pythia_buf_putc(to, i ? ',' : '=');
        pythia_split_number_add(rule->cuts[i], to);
    }
    for (size_t set = 0; rule->form == PYTHIA_SPLIT_SETS && set < rule->set_count; set++) {
        pythia_buf_putc(to, set ? ',' : '=');
        write_set(rule, set, to);
    }
}
