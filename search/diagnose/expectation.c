#include "pythia/expectation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* ---- reading ---- */

/* Longer operators come before those that they begin with. */
static const struct {
    const char *text;
    enum pythia_expectation_operator comparison;
} operators[] = {
    {" <= ", PYTHIA_COMPARES_AT_MOST}, {" >= ", PYTHIA_COMPARES_AT_LEAST},
    {" != ", PYTHIA_COMPARES_UNEQUAL}, {" < ", PYTHIA_COMPARES_BELOW},
    {" > ", PYTHIA_COMPARES_ABOVE},    {" = ", PYTHIA_COMPARES_EQUAL},
};

/* The first operator decides: a value may contain another one, and a key with one in it cannot be
 * named. */
static const char *find_operator(const char *where, size_t *which)
{
    const char *first = NULL;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const char *at = strstr(where, operators[i].text);
        if (at && (!first || at < first)) {
            first = at;
            *which = i;
        }
    }
    return first;
}

static int read_condition(struct pythia_expectation *x, struct pythia_error *e)
{
    size_t which = 0;
    const char *at = find_operator(x->where, &which), *key = x->where;
    if (!at || at == key || !at[strlen(operators[which].text)])
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "where: '%s' is no condition: give a key, one of < <= > >= = != "
                                "between blanks, and a value, such as queue_length < 2",
                                x->where);
    x->key.source = PYTHIA_KEY_OF_SPANS;
    if (strncmp(key, "count:", 6) == 0) {
        x->key.source = PYTHIA_KEY_VISITS;
        key += 6;
    }
    x->key.text = (struct pythia_text){key, (size_t)(at - key)};
    x->comparison = operators[which].comparison;
    x->value = pythia_text_of(at + strlen(operators[which].text));
    char *end;
    x->number = strtod(x->value.bytes, &end);
    if (*end || !isfinite(x->number))
        x->number = NAN;
    if (isnan(x->number) && x->comparison != PYTHIA_COMPARES_EQUAL &&
        x->comparison != PYTHIA_COMPARES_UNEQUAL)
        return pythia_error_set(
            e, PYTHIA_EUSAGE,
            "where: '%s' compares with '%s', which is not a number: use = or !=", x->where,
            x->value.bytes);
    return PYTHIA_OK;
}

/* The number after "<", and what follows it; NULL if it is no limit. */
static const char *read_limit(const char *text, double *out)
{
    char *end;
    text += strspn(text, " ");
    if (*text++ != '<')
        return NULL;
    *out = strtod(text, &end);
    if (end == text || !isfinite(*out) || *out <= 0)
        return NULL;
    return end + strspn(end, " ");
}

static int read_p99(const char *text, double *out, struct pythia_error *e)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double number;
    const char *unit = read_limit(text, &number);
    for (size_t i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0) {
            *out = number * units[i].ns;
            return PYTHIA_OK;
        }
    return pythia_error_set(e, PYTHIA_EUSAGE,
                            "p99: '%s' is not a limit: give a duration in ns, us, ms or s, such as "
                            "< 250ms",
                            text);
}

static int read_cov(const char *text, double *out, struct pythia_error *e)
{
    double number;
    const char *end = read_limit(text, &number);
    if (!end || *end)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "cov: '%s' is not a limit: give a number such as < 0.3", text);
    *out = number;
    return PYTHIA_OK;
}

static void free_expectation(struct pythia_expectation *x)
{
    pythia_free(x->type);
    pythia_free(x->same_path_as);
    pythia_free(x->where);
}

static int copy_words(const char *text, char **out)
{
    *out = text ? pythia_strndup(text, strlen(text)) : NULL;
    return text && !*out ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* An expectation that expects nothing would always hold, and is a mistake. */
static int read_expectation(const struct pythia_expectation_text *text,
                            struct pythia_expectation *x, struct pythia_error *e)
{
    int status;
    if (!text->type || !*text->type)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "type is missing: name a request type, or a pattern such as *");
    if (!text->p99 && !text->cov && !text->same_path_as)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "nothing is expected of '%s': give p99, cov or same_path_as",
                                text->type);
    if ((status = copy_words(text->type, &x->type)) != PYTHIA_OK ||
        (status = copy_words(text->where, &x->where)) != PYTHIA_OK ||
        (status = copy_words(text->same_path_as, &x->same_path_as)) != PYTHIA_OK)
        return status;
    if (x->where && (status = read_condition(x, e)) != PYTHIA_OK)
        return status;
    if (text->p99 && (status = read_p99(text->p99, &x->p99_ns, e)) != PYTHIA_OK)
        return status;
    return text->cov ? read_cov(text->cov, &x->cov, e) : PYTHIA_OK;
}

int pythia_expectations_add(struct pythia_expectations *all,
                            const struct pythia_expectation_text *text, struct pythia_error *e)
{
    struct pythia_expectation x = {.number = NAN, .p99_ns = NAN, .cov = NAN};
    int status = pythia_grow(&all->list, &all->capacity, all->count, sizeof(*all->list));
    if (status == PYTHIA_OK)
        status = read_expectation(text, &x, e);
    if (status != PYTHIA_OK) {
        free_expectation(&x);
        return status;
    }
    all->list[all->count++] = x;
    return PYTHIA_OK;
}

void pythia_expectations_free(struct pythia_expectations *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_expectation(&all->list[i]);
    pythia_free(all->list);
    *all = (struct pythia_expectations){.count = 0};
}

/* ---- the condition ---- */

/* Values compare as numbers where both are, so that 2 is 2.0, and as texts elsewhere. */
bool pythia_expectation_meets(const struct pythia_expectation *x,
                              const struct pythia_key_value *value, struct pythia_text text)
{
    bool numbers = value->numeric && !isnan(x->number);
    bool equal = numbers ? value->number == x->number : pythia_text_equal(text, x->value);
    if (!value->present)
        return false;
    switch (x->comparison) {
    case PYTHIA_COMPARES_EQUAL:
        return equal;
    case PYTHIA_COMPARES_UNEQUAL:
        return !equal;
    case PYTHIA_COMPARES_BELOW:
        return numbers && value->number < x->number;
    case PYTHIA_COMPARES_AT_MOST:
        return numbers && value->number <= x->number;
    case PYTHIA_COMPARES_ABOVE:
        return numbers && value->number > x->number;
    case PYTHIA_COMPARES_AT_LEAST:
        return numbers && value->number >= x->number;
    }
    return false;
}
