#include "point_values.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/open_points.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

struct value {
    bool known;
    double number;
};

struct pattern {
    char *text; /* owned */
    double number;
};

struct pythia__point_values {
    const struct pythia_vocabulary *vocabulary;
    struct pythia_strtab *ids;
    struct value *of_id; /* by number of an id */
    size_t id_capacity;
    struct pattern *patterns; /* in the order in which they were given */
    size_t pattern_count, pattern_capacity;
    struct value *answers; /* by trace point: what was asked before */
    size_t answer_capacity;
};

int pythia__point_values_create(const struct pythia_vocabulary *vocabulary,
                                struct pythia__point_values **out)
{
    struct pythia__point_values *p = pythia_calloc(1, sizeof(*p));
    if (!p || pythia_strtab_create(&p->ids) != PYTHIA_OK) {
        pythia_free(p);
        return PYTHIA_ENOMEM;
    }
    p->vocabulary = vocabulary;
    *out = p;
    return PYTHIA_OK;
}

void pythia__point_values_destroy(struct pythia__point_values *p)
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

/* Capacity for one more value; what then still may fail is only to take the name in. */
static int reserve_pattern(struct pythia__point_values *p, struct pythia_text point, char **copy)
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

/* Forget cached values of the points whose value has changed: of one, or of all. */
static void forget_answers(struct pythia__point_values *p, struct pythia_text point, bool pattern)
{
    uint32_t of = pattern ? PYTHIA_NONE : pythia_vocabulary_tracepoint_find(p->vocabulary, point);
    if (pattern && p->answers)
        memset(p->answers, 0, p->answer_capacity * sizeof(*p->answers));
    else if (of != PYTHIA_NONE && of < p->answer_capacity)
        p->answers[of].known = false;
}

int pythia__point_values_set(struct pythia__point_values *p, struct pythia_text point, double value)
{
    char *pattern;
    int status = reserve_pattern(p, point, &pattern);
    if (status != PYTHIA_OK)
        return status;
    uint32_t id = pythia_strtab_intern(p->ids, point); /* a pattern too: a name may look like one */
    if (id == PYTHIA_STRTAB_NONE ||
        pythia_reach(&p->of_id, &p->id_capacity, id, sizeof(*p->of_id)) != PYTHIA_OK) {
        pythia_free(pattern);
        return PYTHIA_ENOMEM;
    }
    p->of_id[id] = (struct value){true, value};
    if (pattern)
        p->patterns[p->pattern_count++] = (struct pattern){pattern, value};
    forget_answers(p, point, pattern != NULL);
    return PYTHIA_OK;
}

/* NaN: the table does not say. */
static double find_listed_value(const struct pythia__point_values *p, uint32_t tracepoint)
{
    struct pythia_text id = pythia_vocabulary_tracepoint_id(p->vocabulary, tracepoint);
    uint32_t number = pythia_strtab_find(p->ids, id);
    if (number != PYTHIA_STRTAB_NONE && number < p->id_capacity && p->of_id[number].known)
        return p->of_id[number].number;
    for (size_t i = p->pattern_count; i-- > 0;)
        if (pythia_open_points_fits(p->patterns[i].text, id))
            return p->patterns[i].number;
    return NAN;
}

double pythia__point_values_of(struct pythia__point_values *p, uint32_t tracepoint)
{
    if (!p || tracepoint == PYTHIA_NONE)
        return NAN;
    if (pythia_reach(&p->answers, &p->answer_capacity, tracepoint, sizeof(*p->answers)) !=
        PYTHIA_OK)
        return find_listed_value(p, tracepoint); /* slower, and right */
    if (!p->answers[tracepoint].known)
        p->answers[tracepoint] = (struct value){true, find_listed_value(p, tracepoint)};
    return p->answers[tracepoint].number;
}

bool pythia__point_values_part(struct pythia_text text, struct pythia_text *point,
                               struct pythia_text *value)
{
    size_t at = text.size;
    while (at > 0 && text.bytes[at - 1] != '=')
        at--;
    if (at < 2)
        return false;
    *point = (struct pythia_text){text.bytes, at - 1};
    *value = (struct pythia_text){text.bytes + at, text.size - at};
    return true;
}
