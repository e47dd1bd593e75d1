#include "splitting.h"

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/split_spec.h"
#include "pythia/status.h"

#define SHOWN       60  /* characters of a key, in a message */
#define NAMES_SHOWN 120 /* of the name of a type or a part */

/* ---- what was asked for ---- */

int pythia__splitting_begin(const struct pythia_option_texts *asked,
                            struct pythia_vocabulary *vocabulary, struct pythia_grouping_key **out)
{
    struct pythia_split_spec specs[PYTHIA_OPTION_TEXTS_MAX] = {0};
    struct pythia_error why = {0};
    int status = PYTHIA_OK;
    *out = NULL;
    for (size_t i = 0; i < asked->count; i++) {
        status = pythia_split_spec_read(pythia_text_of(asked->texts[i]), &specs[i], &why);
        if (status != PYTHIA_OK)
            goto out;
    }
    if (asked->count > 0)
        status = pythia_grouping_key_create(vocabulary, specs, asked->count, out, &why);
out:
    for (size_t i = 0; i < asked->count; i++)
        pythia_split_spec_clear(&specs[i]);
    if (why.status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

/* ---- what is found ---- */

/* The requests before they are parted. */
struct survey {
    struct pythia__reading *reading;
    struct pythia_groups *groups;
    size_t rows;
};

static int begin_survey(void *context)
{
    struct survey *s = context;
    struct pythia_groups_options how = s->reading->groups;
    pythia_groups_destroy(s->groups);
    s->groups = NULL;
    how.key = NULL;
    how.rows_per_type = s->rows;
    how.rows = s->rows * 4;
    return pythia_groups_create(s->reading->vocabulary, &how, &s->groups);
}

static int survey_trace(void *context, const struct pythia_trace *trace)
{
    struct survey *s = context;
    return pythia_groups_add(s->groups, trace);
}

static int run_survey(struct survey *s)
{
    struct pythia_consumer consumer = {begin_survey, survey_trace, s, NULL};
    int status = pythia__reading_again(s->reading);
    if (status == PYTHIA_EUSAGE)
        pythia_log(PYTHIA_LOG_ERROR,
                   "--split needs to see all requests first unless it says where to split: by cut "
                   "points (KEY=3,10), by levels (KEY={a,b}) or by KEY=*");
    if (status != PYTHIA_OK)
        return status;
    s->reading->twice = true;
    if ((status = pythia__reading_run(s->reading, &consumer)) != PYTHIA_OK)
        return status;
    return pythia_groups_finish(s->groups);
}

/* A rule that the command line gives needs no message; a rule that was found is written as an
 * option that repeats it. */
static void tell_rule(const struct pythia_grouping_key *key, size_t split,
                      const struct pythia_type *type, const struct pythia_vocabulary *vocabulary)
{
    enum pythia_split_origin origin;
    size_t others;
    const struct pythia_split_rule *rule =
        pythia_grouping_key_rule(key, split, type->name, &origin, &others);
    struct pythia_split_spec found = {.key = pythia_grouping_key_split(key, split)->key};
    struct pythia_buf name = {0}, spec = {0};
    if (!rule || origin == PYTHIA_SPLIT_ASKED)
        return;
    found.rule = *rule;
    pythia_shown_add(&name, pythia_vocabulary_text(vocabulary, type->name), NAMES_SHOWN);
    pythia_split_spec_write(&found, &spec);
    const char *type_name = name.bytes ? name.bytes : "", *text = spec.bytes ? spec.bytes : "";
    if (origin == PYTHIA_SPLIT_OF_NONE)
        pythia_log(PYTHIA_LOG_INFO, "--split '%s' does not separate the requests: request type=%s",
                   text, type_name);
    else if (others)
        pythia_log(PYTHIA_LOG_INFO, "Found --split '%s': by=%s, other levels=%zu, request type=%s",
                   text, pythia_split_origin_name(origin), others, type_name);
    else
        pythia_log(PYTHIA_LOG_INFO, "Found --split '%s': by=%s, request type=%s", text,
                   pythia_split_origin_name(origin), type_name);
    pythia_buf_free(&name);
    pythia_buf_free(&spec);
}

/* The rules of all types, those of a type that several readings have once. */
static void tell_rules(const struct pythia_grouping_key *key, const struct survey *surveys,
                       size_t count)
{
    for (size_t s = 0; s < count; s++) {
        size_t types, before;
        const struct pythia_type *type = pythia_groups_types(surveys[s].groups, &types);
        for (size_t i = 0; i < types; i++) {
            bool told = false;
            for (size_t o = 0; o < s; o++) {
                const struct pythia_type *other = pythia_groups_types(surveys[o].groups, &before);
                for (size_t k = 0; k < before; k++)
                    told = told || other[k].name == type[i].name;
            }
            for (size_t k = 0; k < pythia_grouping_key_count(key) && !told; k++)
                tell_rule(key, k, &type[i], surveys[s].reading->vocabulary);
        }
    }
}

/* Path templates may change while requests are read, which renames types: the survey is repeated
 * until they hold still. */
int pythia__splitting_learn(struct pythia_grouping_key *key,
                            struct pythia__reading *const *readings, size_t count, int64_t rows,
                            double alpha, int64_t seed)
{
    if (!key || !pythia_grouping_key_learns(key))
        return PYTHIA_OK;
    struct survey *surveys = pythia_calloc(count, sizeof(*surveys));
    const struct pythia_groups **groups = pythia_calloc(count, sizeof(struct pythia_groups *));
    int status = PYTHIA_ENOMEM;
    if (!surveys || !groups)
        goto out;
    for (size_t i = 0; i < count; i++)
        surveys[i] = (struct survey){.reading = readings[i], .rows = (size_t)rows};
    uint64_t changes = count > 0 ? pythia__reading_changes(readings[0]) + 1 : 0;
    while (count > 0 && pythia__reading_changes(readings[0]) != changes) {
        changes = pythia__reading_changes(readings[0]);
        for (size_t i = 0; i < count; i++)
            if ((status = run_survey(&surveys[i])) != PYTHIA_OK)
                goto out;
    }
    for (size_t i = 0; i < count; i++)
        groups[i] = surveys[i].groups;
    status = pythia_grouping_key_learn(key, groups, count, alpha, (uint64_t)seed);
    if (status != PYTHIA_OK)
        goto out;
    tell_rules(key, surveys, count);
out:
    for (size_t i = 0; surveys && i < count; i++)
        pythia_groups_destroy(surveys[i].groups);
    pythia_free(surveys);
    pythia_free(groups);
    return status;
}

/* ---- what was not there ---- */

static void tell_levels(const struct pythia_grouping_key *key, size_t split, const char *spec)
{
    const struct pythia_split_rule *rule = &pythia_grouping_key_split(key, split)->rule;
    for (size_t i = 0; i < rule->level_count; i++) {
        struct pythia_buf shown = {0};
        if (pythia_grouping_key_level_was_seen(key, split, i))
            continue;
        pythia_shown_add(&shown, rule->levels[i].text, SHOWN);
        pythia_log(PYTHIA_LOG_WARNING, "--split '%s': no request has the level %s", spec,
                   shown.size ? shown.bytes : "that is an empty text");
        pythia_buf_free(&shown);
    }
}

static void tell_parts(const struct pythia_grouping_key *key, size_t split)
{
    const struct pythia_split_spec *s = pythia_grouping_key_split(key, split);
    struct pythia_buf spec = {0};
    pythia_split_spec_write(s, &spec);
    tell_levels(key, split, spec.bytes ? spec.bytes : "");
    for (uint32_t part = PYTHIA_SPLIT_FIRST; part < pythia_split_rule_parts(&s->rule); part++) {
        struct pythia_buf label = {0}, shown = {0};
        bool of_levels =
            s->rule.form == PYTHIA_SPLIT_SETS; /* told above; others need not be there */
        if (of_levels || pythia_grouping_key_part_was_seen(key, split, part))
            continue;
        pythia_split_rule_label(&s->rule, &s->key, part, &label);
        pythia_shown_add(&shown, pythia_buf_text(&label), NAMES_SHOWN);
        pythia_log(PYTHIA_LOG_WARNING, "--split '%s': no request is in the subset %s",
                   spec.bytes ? spec.bytes : "", shown.bytes ? shown.bytes : "");
        pythia_buf_free(&label);
        pythia_buf_free(&shown);
    }
    pythia_buf_free(&spec);
}

/* A key that no request has is an error, as a typing error would otherwise look like requests
 * that do not differ. */
bool pythia__splitting_tell(const struct pythia_grouping_key *key, bool hidden)
{
    bool all = true;
    for (size_t i = 0; key && i < pythia_grouping_key_count(key); i++) {
        const struct pythia_split_spec *s = pythia_grouping_key_split(key, i);
        bool of_spans = s->key.source == PYTHIA_KEY_OF_SPANS;
        if (pythia_grouping_key_was_seen(key, i)) {
            if (s->rule.form != PYTHIA_SPLIT_LEARNT)
                tell_parts(key, i);
            continue;
        }
        struct pythia_buf spec = {0};
        pythia_split_spec_write(s, &spec);
        pythia_log(PYTHIA_LOG_ERROR, "--split '%s': %s: %s%s", spec.bytes ? spec.bytes : "",
                   of_spans ? "no request has this key on its critical path, so there is nothing "
                              "to split"
                            : "there is no such trace point, so there is nothing to split",
                   hidden && of_spans ? "the trace points that report it may be closed here, and "
                                      : "",
                   of_spans ? "pythia tree --keys shows the keys of a request"
                            : "pythia profile lists the trace points");
        pythia_buf_free(&spec);
        all = false;
    }
    return all;
}
