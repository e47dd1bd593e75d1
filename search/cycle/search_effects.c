/* Measured effects of opened points, as evidence that is stored with decisions. */
#include <string.h>

#include "pythia/effect.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "search_parts.h"

int pythia_search_tell(struct pythia_search *s, const struct pythia_effect *effects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pythia_grow(&s->effects, &s->effect_capacity, s->effect_count + i,
                        sizeof(*s->effects)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    if (count)
        memcpy(s->effects + s->effect_count, effects, count * sizeof(*effects));
    s->effect_count += count;
    s->told += count;
    return PYTHIA_OK;
}

const struct pythia_effect *pythia__search_take_told(struct pythia_search *s, size_t *count)
{
    *count = s->told;
    s->told = 0;
    return *count ? s->effects + s->effect_count - *count : NULL;
}

/* Is an effect one of requests of that type, or of a part of it? */
static bool is_effect_of_type(const struct pythia_search *s, const struct pythia_effect *e,
                              const struct pythia__search_type *t)
{
    size_t number = e->type < s->problem_of_capacity ? s->problem_of[e->type] : 0;
    bool known = number > 0 && number <= s->problem_count;
    return e->type == t->name || (known && s->problems[number - 1].type == e->type &&
                                  s->problems[number - 1].unsplit == t->name);
}

void pythia__search_add_effect(const struct pythia_search *s, const struct pythia__search_type *t,
                               uint32_t point, struct pythia_buf *reason)
{
    struct pythia_buf words = {0};
    /* From the newest back: a point may have been opened more than once. */
    for (size_t i = s->effect_count; i-- > 0 && words.size == 0;) {
        const struct pythia_effect *e = &s->effects[i];
        if (e->tracepoint != point || !is_effect_of_type(s, e, t))
            continue;
        pythia_effect_add(&words, pythia_space_vocabulary(s->space), e, true);
        if (words.size) {
            pythia_buf_printf(reason, "; measured after it was opened in cycle %llu: ",
                              (unsigned long long)e->opened);
            pythia_buf_text_add(reason, pythia_buf_text(&words));
        }
    }
    reason->failed = words.failed ? 1 : reason->failed;
    pythia_buf_free(&words);
}
