#include "report_verdict.h"

#include <math.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/place.h"
#include "report_loop.h"
#include "sentences/report_why.h"
#include "sentences/sentences.h"

static const struct pythia_problem *find_problem(const struct pythia_loop *loop, uint32_t type)
{
    for (size_t i = 0; loop && i < loop->problem_count; i++)
        if (loop->problems[i].type == type)
            return &loop->problems[i];
    return NULL;
}

/* Groups by their id. */
static json_t *groups_by_id(struct pythia__json *w, const json_t *report)
{
    const json_t *groups = json_object_get(report, "groups");
    json_t *out = json_object(), *group;
    size_t i;
    json_array_foreach (groups, i, group)
        if (json_object_set(out, pythia__string(group, "id"), group) != 0)
            w->failed = true;
    return out;
}

/* The group of a verdict: the caller's; NULL: the last cycle has none that shows it. */
static json_t *find_group(const json_t *by_id, const struct pythia_verdict *v)
{
    json_t *id = pythia__json_group_id(v->group),
           *found = v->group ? json_object_get(by_id, json_string_value(id)) : NULL;
    json_decref(id);
    return found;
}

bool pythia__is_held(const json_t *report, const json_t *verdict)
{
    const json_t *groups = pythia__array(report, "groups"), *group;
    size_t i;
    if (strcmp(pythia__string(verdict, "state"), "found") != 0 ||
        !json_object_get(verdict, "since_cycle"))
        return false;
    json_array_foreach (groups, i, group)
        if (json_equal(json_object_get(group, "id"), json_object_get(verdict, "group")) &&
            strcmp(pythia__string(group, "status"), "diagnosed") == 0)
            return false;
    return true;
}

/* ---- sentences ---- */

static void add_place(const struct pythia__json *w, struct pythia_buf *to,
                      const struct pythia_place *place, bool first)
{
    struct pythia_buf text = {0};
    pythia_place_add(&text, w->vocabulary, place);
    if (pythia_buf_status(&text) == 0)
        pythia__add_subject(to, pythia_buf_text(&text), first);
    else
        to->failed = 1;
    pythia_buf_free(&text);
}

static void add_share(struct pythia_buf *to, const struct pythia_finding *f, const char *of)
{
    pythia__add_percent(to, fmin(f->share, 1));
    pythia_buf_printf(to, "%s (%.0f to %.0f %%)", of, 100 * fmax(f->low, 0),
                      100 * fmin(f->high, 1));
}

/* "A accounts for 77 % of the latency variance (75 to 79 %), and B for 20 % (12 to 28 %)." */
static void add_found(const struct pythia__json *w, struct pythia_buf *to,
                      const struct pythia_verdict *v)
{
    for (size_t i = 0; i < v->found_count; i++) {
        bool last = i + 1 == v->found_count;
        pythia_buf_puts(to, i == 0 ? "" : last ? ", and " : ", ");
        add_place(w, to, &v->found[i].finding.place, i == 0);
        pythia_buf_puts(to, i == 0 ? " accounts for " : " for ");
        add_share(to, &v->found[i].finding, i == 0 ? " of the latency variance" : "");
    }
    pythia_buf_putc(to, '.');
}

static void add_where(const struct pythia__json *w, struct pythia_buf *to,
                      const struct pythia_verdict *v, const struct pythia_loop *loop)
{
    const struct pythia_problem *p = find_problem(loop, v->type);
    switch (v->state) {
    case PYTHIA_VERDICT_FOUND:
        add_found(w, to, v);
        break;
    case PYTHIA_VERDICT_SEARCHING:
        pythia_buf_puts(to, "Nothing found yet; the search continues.");
        break;
    case PYTHIA_VERDICT_LEARNING:
        pythia_buf_puts(to, "The search space does not know this type of request yet.");
        break;
    case PYTHIA_VERDICT_TOO_FEW:
        pythia_buf_puts(to, "Too few requests to say anything.");
        break;
    case PYTHIA_VERDICT_NOTHING:
        pythia_buf_puts(to, "Nothing stands out: ");
        if (p && p->why != PYTHIA_WHY_NONE && p->state == PYTHIA_PROBLEM_GIVEN_UP)
            pythia__add_why(to, w->vocabulary, loop, p);
        else
            pythia_buf_puts(to, "these requests hardly differ, or have hardly any part in what "
                                "differs among all");
        pythia_buf_putc(to, '.');
        break;
    }
}

/* How sure it is, since when, and what would refute it; nothing but for what was found. */
static void add_standing(struct pythia_buf *to, const struct pythia_verdict *v)
{
    static const char *const sure[] = {"Low", "Medium", "High"};
    if (v->state != PYTHIA_VERDICT_FOUND || v->found_count == 0)
        return;
    pythia_buf_printf(to, "%s confidence", sure[v->confidence]);
    if (v->since > 0)
        pythia_buf_printf(to,
                          ", since cycle %zu, in %zu cycle%s. Two cycles in a row that show surely "
                          "less than 15 %% there would refute it",
                          (size_t)v->since, (size_t)v->looks, v->looks == 1 ? "" : "s");
    pythia_buf_putc(to, '.');
    if (v->searched)
        pythia_buf_puts(to, " The search for other causes continues.");
}

static void add_also(const struct pythia__json *w, struct pythia_buf *to,
                     const struct pythia_verdict *v)
{
    for (size_t i = 0; i < v->also_count; i++) {
        pythia_buf_puts(to, i == 0 ? "Also seen: " : ", ");
        add_place(w, to, &v->also[i].place, false);
        pythia_buf_putc(to, ' ');
        add_share(to, &v->also[i], "");
    }
    if (v->also_count > 0)
        pythia_buf_putc(to, '.');
}

/* What it was before, and why it is not that any more; nothing if no place was found before. */
static void add_change(const struct pythia__json *w, struct pythia_buf *to,
                       const struct pythia_verdict *v)
{
    if (isnan(v->was_found.share))
        return;
    if (v->reason == PYTHIA_VERDICT_MORE) {
        pythia_buf_printf(to, "In cycle %zu one more place was found.", (size_t)v->since);
        return;
    }
    if (v->reason == PYTHIA_VERDICT_REFUTED && v->found_count > 0)
        pythia_buf_printf(to, "Before cycle %zu the verdict named ", (size_t)v->since);
    else
        pythia_buf_printf(to, "Before cycle %zu it was ", (size_t)v->since);
    add_place(w, to, &v->was_found.place, false);
    pythia_buf_puts(to, v->reason == PYTHIA_VERDICT_QUIET
                            ? ". The durations of these requests no longer vary."
                            : ". It no longer accounts for a share that matters.");
}

static json_t *text_of(struct pythia__json *w, struct pythia_buf *text)
{
    json_t *out = text->size ? pythia__json_text(pythia_buf_text(text)) : json_null();
    w->failed = pythia_buf_status(text) != 0 || w->failed;
    pythia_buf_free(text);
    return out;
}

/* Why, of the key that explains it, from the group that shows it. */
static json_t *make_verdict_reason(struct pythia__json *w, const json_t *group,
                                   const struct pythia_verdict *v)
{
    struct pythia_buf text = {0};
    const json_t *list = pythia__array(group, "explanations"), *one;
    size_t i;
    if (!v->key)
        return json_null();
    json_array_foreach (list, i, one)
        if (strcmp(pythia__string(one, "key"), v->key) == 0)
            pythia__add_key_finding(&text, group, one);
    if (!text.size)
        pythia_buf_printf(&text, "Correlates with %s.", v->key);
    return text_of(w, &text);
}

/* ---- the document ---- */

static json_t *make_verdict_places(struct pythia__json *w, const struct pythia_verdict *v)
{
    json_t *out = json_array();
    for (size_t i = 0; i < v->found_count; i++)
        pythia__json_append(w, out, pythia__json_finding(w, &v->found[i].finding));
    return out;
}

static json_t *make_also_seen(struct pythia__json *w, const struct pythia_verdict *v)
{
    json_t *out = json_array();
    for (size_t i = 0; i < v->also_count; i++)
        pythia__json_append(w, out, pythia__json_finding(w, &v->also[i]));
    return out;
}

static json_t *make_verdict_explanation(struct pythia__json *w, const struct pythia_verdict *v)
{
    if (!v->key)
        return json_null();
    json_t *out = json_object();
    pythia__json_set(w, out, "key", pythia__json_text(pythia_text_of(v->key)));
    pythia__json_set(w, out, "explained", pythia__json_real(v->explained));
    pythia__json_set(w, out, "q", pythia__json_real(v->q));
    return out;
}

/* The last change. */
static void set_change(struct pythia__json *w, json_t *out, const struct pythia_verdict *v)
{
    struct pythia_buf text = {0};
    add_change(w, &text, v);
    pythia__json_set(w, out, "reason", json_string(pythia_verdict_reason_name(v->reason)));
    pythia__json_set(w, out, "was", json_string(pythia_verdict_state_name(v->was)));
    pythia__json_set(w, out, "was_found", pythia__json_finding(w, &v->was_found));
    pythia__json_set(w, out, "change", text_of(w, &text));
}

static json_t *join_sentences(struct pythia__json *w, const json_t *where, const json_t *reason)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, json_is_string(where) ? json_string_value(where) : "");
    if (json_is_string(reason))
        pythia_buf_printf(&text, "%s%s", text.size ? " " : "", json_string_value(reason));
    return text_of(w, &text);
}

/* Where and why, from the search, or from what the group itself says. */
static void set_findings(struct pythia__json *w, json_t *out, const json_t *group,
                         const struct pythia_verdict *v, const struct pythia_loop *loop)
{
    const json_t *finding = loop ? NULL : json_object_get(group, "finding");
    json_t *where = json_incref(json_object_get(finding, "where")),
           *reason = json_incref(json_object_get(finding, "why"));
    if (!where) {
        struct pythia_buf text = {0};
        add_where(w, &text, v, loop);
        where = text_of(w, &text);
    }
    if (!reason)
        reason = make_verdict_reason(w, group, v);
    pythia__json_set(w, out, "sentence", join_sentences(w, where, reason));
    pythia__json_set(w, out, "where", where);
    pythia__json_set(w, out, "why", reason);
}

static json_t *make_verdict(struct pythia__json *w, const json_t *group,
                            const struct pythia_verdict *v, const struct pythia_loop *loop)
{
    json_t *out = json_object();
    struct pythia_buf standing = {0}, beside = {0};
    bool found = v->state == PYTHIA_VERDICT_FOUND;
    add_standing(&standing, v);
    add_also(w, &beside, v);
    pythia__json_set(w, out, "request_type",
                     pythia__json_text(pythia_vocabulary_text(w->vocabulary, v->type)));
    pythia__json_set(w, out, "state", json_string(pythia_verdict_state_name(v->state)));
    set_findings(w, out, group, v, loop);
    pythia__json_set(w, out, "confidence",
                     found ? json_string(pythia_confidence_name(v->confidence)) : json_null());
    pythia__json_set(w, out, "standing", text_of(w, &standing));
    pythia__json_set(w, out, "found", make_verdict_places(w, v));
    pythia__json_set(w, out, "also_seen", make_also_seen(w, v));
    pythia__json_set(w, out, "also", text_of(w, &beside));
    pythia__json_set(w, out, "explanation", make_verdict_explanation(w, v));
    pythia__json_set(w, out, "group",
                     group ? json_incref(json_object_get(group, "id")) : json_null());
    pythia__json_set(w, out, "requests", pythia__json_count(v->requests));
    if (loop) {
        pythia__json_set(w, out, "since_cycle", pythia__json_count(v->since));
        pythia__json_set(w, out, "since_unix_ns",
                         v->since_unix_ns ? pythia__json_count(v->since_unix_ns) : json_null());
        pythia__json_set(w, out, "cycles", pythia__json_count(v->looks));
        pythia__json_set(w, out, "changes", pythia__json_count(v->changes));
        set_change(w, out, v);
    }
    return out;
}

/* The group that shows a verdict says what the verdict says. */
static void tell_group(struct pythia__json *w, json_t *group, const json_t *verdict,
                       const struct pythia_problem *p)
{
    static const char *const members[] = {"where",  "why",   "standing",  "also",
                                          "change", "found", "also_seen", "explanation"};
    json_t *finding = json_object_get(group, "finding");
    bool searched = p && p->state != PYTHIA_PROBLEM_QUIET && p->state != PYTHIA_PROBLEM_TOO_FEW &&
                    p->state != PYTHIA_PROBLEM_UNKNOWN;
    const char *state = pythia__string(verdict, "state");
    bool found = strcmp(state, "found") == 0;
    if (!json_is_object(finding) || (!found && !searched))
        return;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (found || strcmp(members[i], "why") != 0)
            pythia__json_set(w, finding, members[i],
                             json_incref(json_object_get(verdict, members[i])));
}

/* The search leaves a type alone whose requests hardly differ or hardly matter, and its verdict is
 * that nothing stands out. An edge with a large share of that small variance would contradict the
 * verdict, so all diagnosed groups of the type become quiet ones. `verdicts` are of such types, by
 * their names. */
static void quieten_groups(struct pythia__json *w, json_t *report, const json_t *verdicts)
{
    json_t *group, *groups = json_object_get(report, "groups");
    size_t i;
    json_array_foreach (groups, i, group) {
        const json_t *verdict = json_object_get(verdicts, pythia__string(group, "request_type"));
        if (!verdict || strcmp(pythia__string(group, "status"), "diagnosed") != 0)
            continue;
        json_t *finding = json_object_get(group, "finding");
        pythia__json_set(w, group, "status", json_string("quiet"));
        pythia__json_set(w, finding, "where", json_incref(json_object_get(verdict, "where")));
        pythia__json_set(w, finding, "why", json_null());
    }
}

void pythia__json_verdicts(struct pythia__json *w, json_t *report,
                           const struct pythia_verdicts *verdicts, const struct pythia_loop *loop)
{
    json_t *out = json_array(), *by_id = groups_by_id(w, report), *quiet = json_object();
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct pythia_verdict *v = &verdicts->list[i];
        json_t *group = find_group(by_id, v), *one = make_verdict(w, group, v, loop);
        const struct pythia_problem *p = find_problem(loop, v->type);
        if (loop && group)
            tell_group(w, group, one, p);
        if (p && p->state == PYTHIA_PROBLEM_QUIET && v->state == PYTHIA_VERDICT_NOTHING)
            pythia__json_set(w, quiet, pythia__string(one, "request_type"), json_incref(one));
        pythia__json_append(w, out, one);
    }
    if (json_object_size(quiet) > 0)
        quieten_groups(w, report, quiet);
    json_decref(quiet);
    json_decref(by_id);
    pythia__json_set(w, report, "verdicts", out);
}
