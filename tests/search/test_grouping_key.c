#include "pythia/diagnosis.h"
#include "pythia/grouping_key.h"
#include "pythia/random.h"
#include "pythia/search.h"
#include "pythia/space.h"
#include "pythia/strategy.h"
#include "requests.h"

/* A grouping key of splits as a person writes them, blanks between them. */
static struct pythia_grouping_key *key_of(struct requests *r, const char *splits)
{
    struct pythia_split_spec specs[8] = {0};
    struct pythia_grouping_key *key = NULL;
    size_t count = 0;
    for (; *splits; splits += strspn(splits, " ")) {
        struct pythia_text text = {splits, strcspn(splits, " ")};
        assert_int_equal(pythia_split_spec_read(text, &specs[count++], NULL), PYTHIA_OK);
        splits += text.size;
    }
    assert_int_equal(pythia_grouping_key_create(r->vocabulary, specs, count, &key, NULL),
                     PYTHIA_OK);
    for (size_t i = 0; i < count; i++)
        pythia_split_spec_clear(&specs[i]);
    return key;
}

static void group_by(struct requests *r, struct pythia_grouping_key *key)
{
    requests_group(r, &(struct pythia_groups_options){.fold = true, .key = key});
}

/* The types that come of it, "; " between: the name, requests and mean of each. */
static void assert_types(struct requests *r, const char *wanted)
{
    size_t count;
    const struct pythia_type *types = requests_finish(r, &count);
    struct pythia_buf text = {0};
    for (size_t i = 0; i < count; i++) {
        pythia_buf_puts(&text, i ? "; " : "");
        pythia_buf_text_add(&text, pythia_vocabulary_text(r->vocabulary, types[i].name));
        pythia_buf_printf(&text, ": %d of %g", (int)types[i].moments.n,
                          pythia_exact_moments_mean(&types[i].moments));
        assert_int_equal(types[i].unsplit == types[i].name,
                         !strchr(pythia_vocabulary_text(r->vocabulary, types[i].name).bytes, '['));
    }
    assert_string_equal(text.bytes ? text.bytes : "", wanted);
    pythia_buf_free(&text);
}

/* `requests` have "; " between them; they are added twice, in both orders. */
static void assert_parts(const char *splits, const char *requests, const char *wanted)
{
    for (int back = 0; back < 2; back++) {
        struct requests r;
        requests_begin(&r);
        struct pythia_grouping_key *key = key_of(&r, splits);
        char *copy = pythia_strndup(requests, strlen(requests)), *all[64], *rest;
        size_t count = 0;
        for (char *one = strtok_r(copy, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
            all[count++] = one;
        group_by(&r, key);
        for (size_t i = 0; i < count; i++) {
            size_t n = back ? count - 1 - i : i;
            requests_add_as(&r, n, all[n]);
        }
        assert_types(&r, wanted);
        pythia_free(copy);
        pythia_grouping_key_destroy(key);
        requests_end(&r);
    }
}

/* ---- parts ---- */

static void numbers_are_parted_at_cut_points(void **state)
{
    assert_parts("q=3,10", "A(q=2){1}; A(q=3){2}; A(q=9.5){4}; A(q=10){8}; A(q='11'){16}",
                 "A [q 3 to < 10]: 2 of 3; A [q < 3]: 1 of 1; A [q >= 10]: 2 of 12");
}

static void requests_without_the_key_are_a_part(void **state)
{
    assert_parts("q=3", "A(q=2){1}; A{2}; A(q=x){4}; A(q=7){8}",
                 "A [q < 3]: 1 of 1; A [q >= 3]: 1 of 8; A [q is no number]: 1 of 4; "
                 "A [without q]: 1 of 2");
}

static void a_type_without_the_key_stays_whole(void **state)
{
    assert_parts("q=3", "A(q=2){1}; A{2}; B{4}; B{6}",
                 "A [q < 3]: 1 of 1; A [without q]: 1 of 2; B: 2 of 5");
}

static void levels_are_parted_by_sets(void **state)
{
    assert_parts("h={a,b},{c}", "A(h=a){1}; A(h=b){3}; A(h=c){5}; A(h=d){7}; A(h=e){9}; A{11}",
                 "A [h = c]: 1 of 5; A [h in {a, b}]: 2 of 2; A [other h]: 2 of 8; "
                 "A [without h]: 1 of 11");
    assert_parts("code={200}", "A(code=200){1}; A(code='200'){3}; A(code=404){5}",
                 "A [code = 200]: 2 of 2; A [other code]: 1 of 5");
}

static void presence_parts(void **state)
{
    assert_parts("q=*", "A(q=2){1}; A{2}; B(q=2){4}; C{8}",
                 "A [with q]: 1 of 1; A [without q]: 1 of 2; B: 1 of 4; C: 1 of 8");
    assert_parts("has:X", "A{X{1}}; A{2}; B{3}",
                 "A [with X]: 1 of 1; A [without X]: 1 of 2; B: 1 of 3");
}

static void visits_part(void **state)
{
    assert_parts("count:X=1,3", "A{1 X{1}}; A{2}; A{X{1} 1 X{1} 1 X{1}}",
                 "A [count:X 1 to < 3]: 1 of 2; A [count:X < 1]: 1 of 2; A [count:X >= 3]: 1 of 5");
    assert_parts("count:X={0},{3}", "A{1 X{1}}; A{2}; A{X{1} 1 X{1} 1 X{1}}",
                 "A [count:X = 0]: 1 of 2; A [count:X = 3]: 1 of 5; A [other count:X]: 1 of 2");
}

static void several_splits_part_together(void **state)
{
    assert_parts("q=3 h={a}",
                 "A(q=2,h=a){1}; A(q=2,h=b){2}; A(q=4,h=a){4}; A(q=4){8}; A(q=4){10}; B(h=a){3}",
                 "A [q < 3, h = a]: 1 of 1; A [q < 3, other h]: 1 of 2; A [q >= 3, h = a]: 1 of 4; "
                 "A [q >= 3, without h]: 2 of 9; B [h = a]: 1 of 3");
}

static void a_place_of_a_key_can_be_meant(void **state)
{
    const char *requests = "A(q=1){1 B(q=9){2}}; A(q=9){1 B(q=1){4}}";
    assert_parts("q@A=5", requests, "A [q@A < 5]: 1 of 3; A [q@A >= 5]: 1 of 5");
    assert_parts("q@B=5", requests, "A [q@B < 5]: 1 of 5; A [q@B >= 5]: 1 of 3");
    assert_parts("q=5", requests, "A [q >= 5]: 2 of 4"); /* both places together: 5 */
}

/* A key that no request has changes nothing, not even the ids of groups. */
static void an_unknown_key_changes_nothing(void **state)
{
    struct requests r;
    size_t count;
    uint64_t hash[2], structure[2];
    requests_begin(&r);
    struct pythia_grouping_key *key = key_of(&r, "no=3");
    for (int with = 0; with < 2; with++) {
        group_by(&r, with ? key : NULL);
        requests_add(&r, "A{1 B{2} 3}");
        const struct pythia_type *types = requests_finish(&r, &count);
        hash[with] = types[0].hash;
        structure[with] = types[0].structures[0].name;
    }
    assert_true(hash[0] == hash[1] && structure[0] == structure[1]);
    assert_false(pythia_grouping_key_was_seen(key, 0));
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

static void what_was_seen_is_known(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_grouping_key *key = key_of(&r, "q=3,10 h={a},{b} count:X=1 has:X");
    group_by(&r, key);
    requests_add(&r, "A(q=2){1}");
    requests_add(&r, "A(q=12,h=b){1}");
    assert_true(pythia_grouping_key_was_seen(key, 0));
    assert_true(pythia_grouping_key_part_was_seen(key, 0, PYTHIA_SPLIT_FIRST));
    assert_false(pythia_grouping_key_part_was_seen(key, 0, PYTHIA_SPLIT_FIRST + 1));
    assert_true(pythia_grouping_key_part_was_seen(key, 0, PYTHIA_SPLIT_FIRST + 2));
    assert_false(pythia_grouping_key_part_was_seen(key, 1, PYTHIA_SPLIT_FIRST));
    assert_true(pythia_grouping_key_part_was_seen(key, 1, PYTHIA_SPLIT_FIRST + 1));
    assert_true(pythia_grouping_key_part_was_seen(key, 1, PYTHIA_SPLIT_WITHOUT));
    assert_false(pythia_grouping_key_level_was_seen(key, 1, 0)); /* a */
    assert_true(pythia_grouping_key_level_was_seen(key, 1, 1));  /* b */
    assert_false(pythia_grouping_key_was_seen(key, 2));          /* 0 times is none */
    assert_false(pythia_grouping_key_was_seen(key, 3));
    requests_add(&r, "A(q=12){1 X{1}}");
    assert_true(pythia_grouping_key_was_seen(key, 3));
    assert_true(pythia_grouping_key_part_was_seen(key, 3, PYTHIA_SPLIT_FIRST));
    pythia_grouping_key_forget(key);
    assert_false(pythia_grouping_key_was_seen(key, 0));
    assert_false(pythia_grouping_key_part_was_seen(key, 0, PYTHIA_SPLIT_FIRST));
    size_t count;
    const struct pythia_type *types = requests_finish(&r, &count);
    assert_int_equal(pythia_grouping_key_see(key, types[0].part), PYTHIA_OK); /* the first: q < 3 */
    assert_true(pythia_grouping_key_was_seen(key, 0));
    assert_false(pythia_grouping_key_part_was_seen(key, 1, PYTHIA_SPLIT_FIRST + 1));
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

static void a_key_is_asked_for_once(void **state)
{
    struct requests r;
    struct pythia_split_spec specs[2];
    struct pythia_grouping_key *key = NULL;
    struct pythia_error e = {0};
    requests_begin(&r);
    assert_int_equal(pythia_split_spec_read(PYTHIA_TEXT("q=3"), &specs[0], &e), PYTHIA_OK);
    assert_int_equal(pythia_split_spec_read(PYTHIA_TEXT("%71"), &specs[1], &e), PYTHIA_OK);
    assert_int_equal(pythia_grouping_key_create(r.vocabulary, specs, 2, &key, &e), PYTHIA_EUSAGE);
    assert_non_null(strstr(e.sentence, "the key q is there twice"));
    assert_null(key);
    pythia_split_spec_clear(&specs[0]);
    pythia_split_spec_clear(&specs[1]);
    requests_end(&r);
}

/* ---- rules that are found ---- */

/* Learn from the requests that were added without the key, then group them anew. */
static void learn(struct requests *r, struct pythia_grouping_key *key)
{
    size_t count;
    requests_finish(r, &count);
    const struct pythia_groups *groups = r->groups;
    assert_true(pythia_grouping_key_learns(key));
    assert_int_equal(pythia_grouping_key_learn(key, &groups, 1, .05, 1), PYTHIA_OK);
}

static enum pythia_split_origin origin_of(struct requests *r, struct pythia_grouping_key *key,
                                          const char *type)
{
    enum pythia_split_origin origin;
    size_t others;
    assert_non_null(pythia_grouping_key_rule(key, 0, requests_string(r, type), &origin, &others));
    return origin;
}

/* Three clusters of durations by the queue, 40 requests each: the cuts are between the clusters. */
static void add_clusters(struct requests *r)
{
    static const int queues[] = {0, 1, 2, 4, 7, 9};
    for (int i = 0; i < 120; i++) {
        int queue = queues[i % 6];
        int base = queue < 2 ? 1000 : queue < 5 ? 10000 : 100000;
        requests_add(r, "A(q=%d){%d}", queue, base + base / 100 * (i / 6 % 20));
    }
}

static void the_cuts_come_from_the_modes(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    struct pythia_grouping_key *key = key_of(&r, "q");
    add_clusters(&r);
    learn(&r, key);
    assert_int_equal(origin_of(&r, key, "A"), PYTHIA_SPLIT_OF_MODES);
    group_by(&r, key);
    add_clusters(&r);
    assert_types(&r,
                 "A [q 2 to < 6]: 40 of 10950; A [q < 2]: 40 of 1095; A [q >= 6]: 40 of 109500");
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* One mode: durations that grow with the queue, 0 to 9, 12 requests each, one by one. Half of all
 * is below the cut that leaves most between. */
static void add_slope(struct requests *r, const char *type, bool goes_with_it)
{
    struct pythia_random random;
    pythia_random_init(&random, 5);
    for (int i = 0; i < 120; i++) {
        int other = (int)pythia_random_below(&random, 10), queue = i % 10;
        requests_add(r, "%s(q=%d){%d}", type, queue,
                     100000 + 1000 * (goes_with_it ? queue : other) + 83 * (i / 10));
    }
}

static void with_one_mode_the_variance_says_where(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    struct pythia_grouping_key *key = key_of(&r, "q");
    add_slope(&r, "A", true);
    add_slope(&r, "B", false);
    learn(&r, key);
    assert_int_equal(origin_of(&r, key, "A"), PYTHIA_SPLIT_OF_VARIANCE);
    assert_int_equal(origin_of(&r, key, "B"), PYTHIA_SPLIT_OF_NONE);
    group_by(&r, key);
    requests_add(&r, "A(q=4){1}");
    requests_add(&r, "A(q=5){2}");
    requests_add(&r, "B(q=9){3}");
    requests_add(&r, "C(q=9){4}"); /* a type that was not there */
    requests_add(&r, "C{6}");
    assert_types(&r, "A [q < 5]: 1 of 1; A [q >= 5]: 1 of 2; B: 1 of 3; C [with q]: 1 of 4; "
                     "C [without q]: 1 of 6");
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* 20 levels: the 16 most frequent ones are parts, and of equal ones the first by name. */
static void add_levels(struct requests *r)
{
    for (int level = 0; level < 20; level++)
        for (int i = 0; i < (level < 18 ? 3 : 1 + level % 2); i++)
            requests_add(r, "A(h=h%c){%d}", 'a' + level, 10 + level);
}

static void rare_levels_are_one_part(void **state)
{
    struct requests r;
    enum pythia_split_origin origin;
    size_t others;
    requests_begin_folded(&r);
    struct pythia_grouping_key *key = key_of(&r, "h");
    add_levels(&r);
    learn(&r, key);
    const struct pythia_split_rule *rule =
        pythia_grouping_key_rule(key, 0, requests_string(&r, "A"), &origin, &others);
    assert_int_equal(origin, PYTHIA_SPLIT_OF_LEVELS);
    assert_int_equal(rule->set_count, 16);
    assert_int_equal(others, 4); /* hq, hr, hs and ht */
    assert_true(pythia_text_equal(rule->levels[15].text, PYTHIA_TEXT("hp")));
    group_by(&r, key);
    requests_add(&r, "A(h=ha){1}");
    requests_add(&r, "A(h=hq){2}");
    requests_add(&r, "A(h=new){4}");
    requests_add(&r, "A{8}");
    assert_types(&r, "A [h = ha]: 1 of 1; A [other h]: 2 of 3; A [without h]: 1 of 8");
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

static void constants_are_not_cut(void **state)
{
    struct requests r;
    requests_begin_folded(&r);
    struct pythia_grouping_key *key = key_of(&r, "q");
    for (int i = 0; i < 40; i++)
        requests_add(&r, i % 2 ? "A(q=3){10}" : "A{20}");
    learn(&r, key);
    assert_int_equal(origin_of(&r, key, "A"), PYTHIA_SPLIT_OF_NONE);
    group_by(&r, key);
    requests_add(&r, "A(q=3){1}");
    requests_add(&r, "A{2}");
    assert_types(&r, "A [with q]: 1 of 1; A [without q]: 1 of 2");
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* The rules are those of both sets together: neither has the two modes alone. */
static void two_sets_are_learnt_from_together(void **state)
{
    struct requests r;
    const struct pythia_groups *groups[2];
    size_t count;
    requests_begin_folded(&r);
    struct pythia_grouping_key *key = key_of(&r, "q");
    for (int i = 0; i < 60; i++)
        requests_add(&r, i % 2 ? "A(q=1){1000}" : "A(q=2){1040}");
    requests_finish(&r, &count);
    struct pythia_groups *first = r.groups;
    r.groups = NULL;
    requests_group(&r, &(struct pythia_groups_options){.fold = true});
    for (uint64_t i = 60; i < 120; i++)
        requests_add_as(&r, i, i % 2 ? "A(q=7){90000}" : "A(q=8){92000}");
    requests_finish(&r, &count);
    groups[0] = first;
    groups[1] = r.groups;
    assert_int_equal(pythia_grouping_key_learn(key, groups, 2, .05, 1), PYTHIA_OK);
    assert_int_equal(origin_of(&r, key, "A"), PYTHIA_SPLIT_OF_MODES);
    pythia_groups_destroy(first);
    group_by(&r, key);
    requests_add(&r, "A(q=4){1}");
    requests_add(&r, "A(q=5){2}");
    assert_types(&r, "A [q < 5]: 1 of 1; A [q >= 5]: 1 of 2"); /* 4.5 rounded up */
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* ---- what has to be open ---- */

static void assert_cover(struct requests *r, const struct pythia_grouping_key *key,
                         const char *open_before, const char *never_open, const char *wanted)
{
    uint32_t points = pythia_vocabulary_tracepoints(r->vocabulary);
    bool *open = calloc(points, sizeof(*open)), *never = calloc(points, sizeof(*never));
    char found[64] = "";
    if (open_before[0])
        open[requests_point(r, open_before)] = true;
    if (never_open[0])
        never[requests_point(r, never_open)] = true;
    assert_int_equal(pythia_grouping_key_cover(key, open, never, points), PYTHIA_OK);
    for (const char *id = "ABCDEF"; *id; id++) {
        char one[] = {*id, '\0'};
        if (open[requests_point(r, one)])
            strcat(found, one);
    }
    assert_string_equal(found, wanted);
    free(open);
    free(never);
}

static void few_points_show_the_keys(void **state)
{
    struct requests r;
    requests_begin(&r);
    struct pythia_grouping_key *key = key_of(&r, "q count:F=1");
    group_by(&r, key);
    requests_add(&r, "A{1 B{1 C{1 D{1 E(q=1){1 F{1}}}}}}"); /* nothing is noted yet */
    pythia_grouping_key_note_points(key, true);
    for (int i = 0; i < 5; i++)
        requests_add(&r, "A{1 B(q=1){1 C(q=1){1}}}"); /* B or C */
    for (int i = 0; i < 3; i++)
        requests_add(&r, "A{1 C(q=1){1 D(q=1){1}}}"); /* C or D */
    requests_add(&r, "A{1 E(q=1){1}}");               /* E alone */
    assert_cover(&r, key, "", "", "CE");
    assert_cover(&r, key, "B", "", "BCE");
    assert_cover(&r, key, "", "C", "BDE");
    assert_cover(&r, key, "", "E", "C");     /* some requests then do not show it */
    requests_add(&r, "A[q=1]{1 D(q=1){1}}"); /* the process has it: nothing more need be open */
    assert_cover(&r, key, "", "", "CE");
    requests_add(&r, "A{1 F{1}}");
    assert_cover(&r, key, "", "", "CEF");
    pythia_grouping_key_note_points(key, false);
    requests_add(&r, "A{1 B{1 A(q=1){1}}}");
    assert_cover(&r, key, "", "", "CEF");
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* ---- the search within a part ---- */

/* Slow hosts take long in B, and there always as long; elsewhere C, in D, is long for every third
 * request. The space, made of whole types, serves each part. */
static const char *request_of(int i)
{
    static char text[128];
    bool slow = i % 2;
    snprintf(text, sizeof(text), "A(host=%s){10 B{%d} 10 D{5 C{%d} 5}}", slow ? "cp-2" : "cp-1",
             (slow ? 1000000 : 1000) + i % 7, i / 2 % 3 == 0 && !slow ? 600 : 100);
    return text;
}

static void the_space_serves_the_parts_of_a_type(void **state)
{
    struct requests r;
    struct pythia_space *space;
    struct pythia_diagnosis *d;
    struct pythia_suggestion *next = calloc(4, sizeof(*next));
    struct pythia_buf missing = {0};
    size_t count;
    requests_begin(&r);
    assert_int_equal(pythia_space_create(r.vocabulary, &space), PYTHIA_OK);
    for (int i = 0; i < 200; i++) {
        const struct pythia_trace *t = requests_trace(&r, (uint64_t)i, request_of(i));
        assert_int_equal(pythia_space_add(space, requests_string(&r, "A"), t, requests_path(&r, t)),
                         PYTHIA_OK);
    }
    struct pythia_grouping_key *key = key_of(&r, "host={cp-2}");
    requests_open(&r, "A B D");
    group_by(&r, key);
    for (int i = 0; i < 200; i++)
        requests_add(&r, "%s", request_of(i));
    requests_finish(&r, &count);
    assert_int_equal(count, 2);
    assert_int_equal(
        pythia_diagnose(r.groups, &(struct pythia_diagnosis_options){.min_cov = .05}, &d),
        PYTHIA_OK);
    struct pythia_evidence evidence = {
        .space = space, .groups = r.groups, .diagnosis = d, .open = r.open, .price_ns = 1};
    for (size_t s = 0; s < 2; s++) { /* information-gain and hierarchical */
        size_t found;
        assert_int_equal(
            pythia_strategy_run(pythia_strategies(&found)[s], &evidence, 3, next, &found, &missing),
            PYTHIA_OK);
        assert_int_equal(found, 1);
        assert_int_equal(next[0].tracepoint, requests_point(&r, "C"));
        const struct pythia_type *type = d->types[d->groups[next[0].group].type].type;
        assert_string_equal(pythia_vocabulary_text(r.vocabulary, type->name).bytes,
                            "A [other host]");
        pythia_suggestion_clear(&next[0]);
    }
    assert_int_equal(missing.size, 0); /* the space knows all types */
    pythia_space_clear(space);         /* it knows none: each is told once, without its parts */
    assert_int_equal(
        pythia_strategy_run(pythia_strategies(&count)[0], &evidence, 3, next, &count, &missing),
        PYTHIA_OK);
    assert_string_equal(missing.bytes, "A\n");
    pythia_buf_free(&missing);
    free(next);
    pythia_diagnosis_destroy(d);
    pythia_space_destroy(space);
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* The same, cycle by cycle: the cause that only one part has is found, though the other part varies
 * a thousand times as much between the parts. */
static void the_search_goes_on_within_a_part(void **state)
{
    struct requests r;
    struct pythia_space *space;
    struct pythia_search *search;
    struct pythia_cycle cycle;
    requests_begin(&r);
    assert_int_equal(pythia_space_create(r.vocabulary, &space), PYTHIA_OK);
    for (int i = 0; i < 200; i++) {
        const struct pythia_trace *t = requests_trace(&r, (uint64_t)i, request_of(i));
        assert_int_equal(pythia_space_add(space, requests_string(&r, "A"), t, requests_path(&r, t)),
                         PYTHIA_OK);
    }
    struct pythia_grouping_key *key = key_of(&r, "host={cp-2}");
    struct pythia_search_options how = {.budget = {.points_per_cycle = 2}, .price_ns = 1};
    assert_int_equal(pythia_search_create(space, &how, &search), PYTHIA_OK);
    pythia_search_keep_open(search, requests_point(&r, "B"));
    assert_true(pythia_search_in_skeleton(search, requests_point(&r, "B")));
    for (int n = 0; n < 6; n++) {
        uint64_t hits[16] = {0};
        size_t count;
        struct pythia_open_points *open;
        assert_int_equal(pythia_search_open_points(search, &open), PYTHIA_OK);
        pythia_open_points_destroy(r.open);
        pythia_trace_builder_destroy(r.builder);
        r.open = open;
        assert_int_equal(pythia_trace_builder_create(r.vocabulary, open, &r.builder), PYTHIA_OK);
        group_by(&r, key);
        for (int i = 0; i < 200; i++) {
            const struct pythia_trace *t = requests_trace(&r, (uint64_t)i, request_of(i));
            for (uint32_t k = 0; k < t->count; k++)
                hits[t->spans[k].tracepoint]++;
            assert_int_equal(pythia_groups_add(r.groups, t), PYTHIA_OK);
        }
        requests_finish(&r, &count);
        assert_int_equal(pythia_search_cycle(search, r.groups, hits, 16, &cycle), PYTHIA_OK);
        if (cycle.finished)
            break;
    }
    assert_true(cycle.finished);
    assert_int_equal(cycle.problem_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pythia_problem *p = &cycle.problems[i];
        bool other = strstr(pythia_vocabulary_text(r.vocabulary, p->type).bytes, "other") != NULL;
        assert_int_equal(p->unsplit, requests_string(&r, "A"));
        assert_int_equal(p->state, other ? PYTHIA_PROBLEM_DONE : PYTHIA_PROBLEM_QUIET);
        assert_int_equal(p->cause_count, other);
        if (other)
            assert_int_equal(p->causes[0].place.from_tracepoint, requests_point(&r, "C"));
    }
    pythia_search_destroy(search);
    pythia_space_destroy(space);
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

/* ---- memory ---- */

static void memory_that_is_missing_is_told(void **state)
{
    struct requests r;
    struct pythia_split_spec specs[2];
    struct pythia_grouping_key *key = NULL;
    size_t count;
    requests_begin_folded(&r);
    assert_int_equal(pythia_split_spec_read(PYTHIA_TEXT("q"), &specs[0], NULL), PYTHIA_OK);
    assert_int_equal(pythia_split_spec_read(PYTHIA_TEXT("h={a},{b}"), &specs[1], NULL), PYTHIA_OK);
    long n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_grouping_key_create(r.vocabulary, specs, 2, &key, NULL);
        pythia_mem_fail_after(-1);
        assert_true((key != NULL) == (status == PYTHIA_OK));
    }
    assert_in_range(n, 10, 60);
    add_clusters(&r);
    requests_finish(&r, &count);
    const struct pythia_groups *groups = r.groups;
    n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_grouping_key_learn(key, &groups, 1, .05, 1);
        pythia_mem_fail_after(-1);
    }
    assert_in_range(n, 20, 500);
    group_by(&r, key);
    requests_add(&r, "A(q=3,h=c){1}");
    const struct pythia_trace *t = requests_trace(&r, 9, "A(q=8,h=b){7 X{1}}");
    n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_groups_add(r.groups, t);
        pythia_mem_fail_after(-1);
    }
    assert_in_range(n, 2, 100);
    pythia_split_spec_clear(&specs[0]);
    pythia_split_spec_clear(&specs[1]);
    pythia_grouping_key_destroy(key);
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_parted_at_cut_points),
        cmocka_unit_test(requests_without_the_key_are_a_part),
        cmocka_unit_test(a_type_without_the_key_stays_whole),
        cmocka_unit_test(levels_are_parted_by_sets),
        cmocka_unit_test(presence_parts),
        cmocka_unit_test(visits_part),
        cmocka_unit_test(several_splits_part_together),
        cmocka_unit_test(a_place_of_a_key_can_be_meant),
        cmocka_unit_test(an_unknown_key_changes_nothing),
        cmocka_unit_test(what_was_seen_is_known),
        cmocka_unit_test(a_key_is_asked_for_once),
        cmocka_unit_test(the_cuts_come_from_the_modes),
        cmocka_unit_test(with_one_mode_the_variance_says_where),
        cmocka_unit_test(rare_levels_are_one_part),
        cmocka_unit_test(constants_are_not_cut),
        cmocka_unit_test(two_sets_are_learnt_from_together),
        cmocka_unit_test(few_points_show_the_keys),
        cmocka_unit_test(the_space_serves_the_parts_of_a_type),
        cmocka_unit_test(the_search_goes_on_within_a_part),
        cmocka_unit_test(memory_that_is_missing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
