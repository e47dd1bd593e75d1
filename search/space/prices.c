#include "pythia/prices.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define UNIT_NS    1000. /* what prices are compared with when the usual one is nothing */
#define NUMBER_MAX 64    /* bytes of a price as text */

struct price {
    bool known;
    double ns;
};

struct pattern {
    char *text; /* owned */
    double ns;
};

struct pythia_prices {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_strtab *ids;
    struct price *of_id; /* by number of an id */
    size_t id_capacity;
    struct pattern *patterns; /* in the order in which they were given */
    size_t pattern_count, pattern_capacity;
    struct price *answers; /* by trace point: what was asked before; NaN: the usual price */
    size_t answer_capacity;
};

int pythia_prices_create(const struct pythia_vocabulary *vocabulary, struct pythia_prices **out)
{
    struct pythia_prices *p = pythia_calloc(1, sizeof(*p));
    if (!p || pythia_strtab_create(&p->ids) != PYTHIA_OK) {
        pythia_free(p);
        return PYTHIA_ENOMEM;
    }
    p->vocabulary = vocabulary;
    *out = p;
    return PYTHIA_OK;
}

void pythia_prices_destroy(struct pythia_prices *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->pattern_count; i++)
        pythia_free(p->patterns[i].text);
    pythia_free(p->patterns);
    pythia_free(p->of_id);
    pythia_free(p->answers);
    pythia_strtab_destroy(p->ids);
    pythia_free(p);
}

/* Room for one more price; what then still may fail is only to take the name in. */
static int reserve_price(struct pythia_prices *p, struct pythia_text point, char **copy)
{
    *copy = NULL;
    if (!pythia_open_points_is_pattern(point))
        return PYTHIA_OK;
    if (pythia_grow(&p->patterns, &p->pattern_capacity, p->pattern_count, sizeof(*p->patterns)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    *copy = pythia_strndup(point.bytes, point.size);
    return *copy ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Forget cached prices of the points whose price has changed: of one, or of all. */
static void forget_answers(struct pythia_prices *p, struct pythia_text point, bool pattern)
{
    uint32_t of = pattern ? PYTHIA_NONE : pythia_vocabulary_tracepoint_find(p->vocabulary, point);
    if (pattern && p->answers)
        memset(p->answers, 0, p->answer_capacity * sizeof(*p->answers));
    else if (of != PYTHIA_NONE && of < p->answer_capacity)
        p->answers[of].known = false;
}

int pythia_prices_set(struct pythia_prices *p, struct pythia_text point, double ns)
{
    char *pattern;
    if (!(ns >= 0) || isinf(ns))
        return PYTHIA_EINVAL;
    int status = reserve_price(p, point, &pattern);
    if (status != PYTHIA_OK)
        return status;
    uint32_t id = pythia_strtab_intern(p->ids, point); /* a pattern too: a name may look like one */
    if (id == PYTHIA_STRTAB_NONE ||
        pythia_reach(&p->of_id, &p->id_capacity, id, sizeof(*p->of_id)) != PYTHIA_OK) {
        pythia_free(pattern);
        return PYTHIA_ENOMEM;
    }
    p->of_id[id] = (struct price){true, ns};
    if (pattern)
        p->patterns[p->pattern_count++] = (struct pattern){pattern, ns};
    forget_answers(p, point, pattern != NULL);
    return PYTHIA_OK;
}

/* A whole text as a price. */
static bool parse_price(struct pythia_text text, double *ns)
{
    char number[NUMBER_MAX], *end;
    if (text.size == 0 || text.size >= sizeof(number) || memchr(text.bytes, '\0', text.size))
        return false;
    memcpy(number, text.bytes, text.size);
    number[text.size] = '\0';
    errno = 0;
    *ns = strtod(number, &end);
    return *end == '\0' && !errno && *ns >= 0 && isfinite(*ns);
}

int pythia_prices_parse(struct pythia_text text, struct pythia_text *point, double *ns,
                        struct pythia_error *e)
{
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != '=')
        at--;
    if (at < 2) /* no '=', or no id before it */
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' has no price: expected ID=NS, such as db:query=250",
                                (int)(text.size < 200 ? text.size : 200), text.bytes);
    struct pythia_text number = {text.bytes + at, text.size - at};
    if (!parse_price(number, ns))
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "'%.*s' is not a price: expected nanoseconds, 0 or more",
                                (int)(number.size < 100 ? number.size : 100), number.bytes);
    *point = (struct pythia_text){text.bytes, at - 1};
    return PYTHIA_OK;
}

/* NaN: the table does not say. */
static double find_listed_price(const struct pythia_prices *p, uint32_t tracepoint)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(p->vocabulary, tracepoint);
    uint32_t number = pythia_strtab_find(p->ids, id);
    if (number != PYTHIA_STRTAB_NONE && number < p->id_capacity && p->of_id[number].known)
        return p->of_id[number].ns;
    for (size_t i = p->pattern_count; i-- > 0;)
        if (pythia_open_points_fits(p->patterns[i].text, id))
            return p->patterns[i].ns;
    return NAN;
}

static double price_of_tracepoint(struct pythia_prices *p, uint32_t tracepoint)
{
    if (!p)
        return NAN;
    if (pythia_reach(&p->answers, &p->answer_capacity, tracepoint, sizeof(*p->answers)) !=
        PYTHIA_OK)
        return find_listed_price(p, tracepoint); /* slower, and right */
    if (!p->answers[tracepoint].known)
        p->answers[tracepoint] = (struct price){true, find_listed_price(p, tracepoint)};
    return p->answers[tracepoint].ns;
}

bool pythia_prices_has(struct pythia_prices *p, uint32_t tracepoint)
{
    return !isnan(price_of_tracepoint(p, tracepoint));
}

double pythia_prices_of(struct pythia_prices *p, uint32_t tracepoint, double usual_ns)
{
    double ns = price_of_tracepoint(p, tracepoint);
    return isnan(ns) ? usual_ns : ns;
}

double pythia_prices_relative(struct pythia_prices *p, uint32_t tracepoint, double usual_ns)
{
    double ns = price_of_tracepoint(p, tracepoint);
    return isnan(ns) ? 1 : ns / (usual_ns > 0 ? usual_ns : UNIT_NS);
}
