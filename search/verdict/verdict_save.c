/* Verdicts as text, in the form of a search (search_save.c). */
#include <limits.h>
#include <math.h>

#include "cycle/search_text.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/verdict.h"

#define FORMAT "pythia.verdicts/4 "

static void put_places(const struct pythia_verdict_place *places, size_t count,
                       struct pythia_buf *out)
{
    pythia__saved_put_number(out, count);
    for (size_t i = 0; i < count; i++) {
        pythia__saved_put_finding(out, &places[i].finding);
        pythia__saved_put_number(out, places[i].doubts);
        pythia__saved_put_number(out, places[i].seen);
        pythia__saved_put_number(out, places[i].first_unix_ns);
        pythia__saved_put_number(out, places[i].given_up);
    }
}

int pythia_verdicts_save(const struct pythia_verdicts *v,
                         const struct pythia_vocabulary *vocabulary, struct pythia_buf *out)
{
    pythia_buf_puts(out, FORMAT);
    pythia__saved_put_points(vocabulary, pythia_vocabulary_tracepoints(vocabulary), out);
    pythia__saved_put_number(out, v->count);
    for (size_t i = 0; i < v->count; i++) {
        const struct pythia_verdict *one = &v->list[i];
        pythia__saved_put_text(out, pythia_vocabulary_text(vocabulary, one->type));
        put_places(one->found, one->found_count, out);
        put_places(one->candidates, one->candidate_count, out);
        pythia__saved_put_number(out, one->also_count);
        for (size_t k = 0; k < one->also_count; k++)
            pythia__saved_put_finding(out, &one->also[k]);
        pythia__saved_put_number(out, one->key != NULL);
        pythia__saved_put_text(out, pythia_text_of(one->key ? one->key : ""));
        const uint64_t numbers[] = {one->state,
                                    one->confidence,
                                    one->searched,
                                    one->why,
                                    one->reason,
                                    one->was,
                                    one->group,
                                    one->key_doubt,
                                    one->since,
                                    one->looks,
                                    one->requests,
                                    one->changes,
                                    one->since_unix_ns,
                                    one->key_doubt_unix_ns,
                                    one->spread_lost_unix_ns};
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
            pythia__saved_put_number(out, numbers[k]);
        pythia__saved_put_double(out, one->explained);
        pythia__saved_put_double(out, one->q);
        pythia__saved_put_finding(out, &one->was_found);
        pythia__saved_put_number(out, one->part);
        pythia__saved_put_number(out, one->part > 1 ? one->part_point + UINT64_C(1) : 0);
        pythia__saved_put_text(out, pythia_vocabulary_text(vocabulary, one->instance));
    }
    return pythia_buf_status(out);
}

static size_t take_places(struct pythia__saved *r, struct pythia_verdict_place *places)
{
    size_t count = (size_t)pythia__saved_number(r, PYTHIA_PROBLEM_CAUSES);
    for (size_t i = 0; i < count; i++) {
        places[i].finding = pythia__saved_finding(r);
        places[i].doubts = (unsigned)pythia__saved_number(r, UINT_MAX);
        places[i].seen = (unsigned)pythia__saved_number(r, UINT_MAX);
        places[i].first_unix_ns = pythia__saved_number(r, UINT64_MAX);
        places[i].given_up = pythia__saved_number(r, 1) > 0;
        if (isnan(places[i].finding.share))
            pythia__saved_fail(r, PYTHIA_EFORMAT);
    }
    return count;
}

/* NULL: there is none, or a failure. */
static char *take_key(struct pythia__saved *r)
{
    bool has = pythia__saved_number(r, 1) > 0;
    struct pythia_text text = pythia__saved_text(r);
    char *key = has && r->status == PYTHIA_OK ? pythia_strndup(text.bytes, text.size) : NULL;
    if (has && r->status == PYTHIA_OK && !key)
        pythia__saved_fail(r, PYTHIA_ENOMEM);
    return key;
}

static void take_verdict(struct pythia__saved *r, struct pythia_verdict *one)
{
    one->type = pythia__saved_string(r);
    one->found_count = take_places(r, one->found);
    one->candidate_count = take_places(r, one->candidates);
    one->also_count = (size_t)pythia__saved_number(r, PYTHIA_PROBLEM_CAUSES + 1);
    for (size_t i = 0; i < one->also_count; i++) {
        one->also[i] = pythia__saved_finding(r);
        if (isnan(one->also[i].share))
            pythia__saved_fail(r, PYTHIA_EFORMAT);
    }
    one->key = take_key(r);
    one->state = (enum pythia_verdict_state)pythia__saved_number(r, PYTHIA_VERDICT_STATES - 1);
    one->confidence = (enum pythia_confidence)pythia__saved_number(r, PYTHIA_CONFIDENCE_HIGH);
    one->highest = one->confidence;
    one->searched = pythia__saved_number(r, 1) > 0;
    one->why = (enum pythia_why)pythia__saved_number(r, PYTHIA_WHY_SPREAD);
    one->reason = (enum pythia_verdict_reason)pythia__saved_number(r, PYTHIA_VERDICT_RETRY);
    one->was = (enum pythia_verdict_state)pythia__saved_number(r, PYTHIA_VERDICT_STATES - 1);
    uint64_t *const numbers[] = {
        &one->group,         &one->key_doubt,         &one->since,
        &one->looks,         &one->requests,          &one->changes,
        &one->since_unix_ns, &one->key_doubt_unix_ns, &one->spread_lost_unix_ns};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = pythia__saved_number(r, UINT64_MAX);
    one->explained = pythia__saved_double(r);
    one->q = pythia__saved_double(r);
    one->was_found = pythia__saved_finding(r);
    one->part = (uint32_t)pythia__saved_number(r, UINT32_MAX);
    uint64_t point = pythia__saved_number(r, r->point_count);
    one->part_point = point > 0 ? r->points[point - 1] : PYTHIA_NONE;
    if (one->part > 1 && point == 0)
        pythia__saved_fail(r, PYTHIA_EFORMAT);
    one->instance = pythia__saved_string(r);
}

int pythia_verdicts_load(struct pythia_verdicts *v, struct pythia_vocabulary *vocabulary,
                         struct pythia_text saved)
{
    struct pythia__saved r = {.vocabulary = vocabulary, .left = saved};
    pythia__saved_begin(&r, PYTHIA_TEXT(FORMAT));
    size_t count = pythia__saved_count(&r);
    for (size_t i = 0; i < count && r.status == PYTHIA_OK; i++) {
        if (pythia_grow(&v->list, &v->capacity, v->count, sizeof(*v->list)) != PYTHIA_OK) {
            pythia__saved_fail(&r, PYTHIA_ENOMEM);
            break;
        }
        v->list[v->count] = (struct pythia_verdict){0};
        take_verdict(&r, &v->list[v->count++]);
    }
    if (r.left.size > 0)
        pythia__saved_fail(&r, PYTHIA_EFORMAT);
    pythia_free(r.points);
    return r.status;
}
