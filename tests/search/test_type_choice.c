#include <string.h>

#include "check.h"
#include "pythia/diagnosis.h"
#include "pythia/mem.h"
#include "pythia/type_choice.h"
#include "requests.h"

/* Four types of two requests; sums of squares about their means: quiet 50, wide 5000, middle 1250,
 * and flat 0. */
static void begin(struct requests *r)
{
    requests_begin_folded(r);
    requests_add(r, "quiet{10}");
    requests_add(r, "quiet{20}");
    requests_add(r, "wide{10}");
    requests_add(r, "wide{110}");
    requests_add(r, "middle{10}");
    requests_add(r, "middle{60}");
    requests_add(r, "flat{10}");
    requests_add(r, "flat{10}");
    size_t count;
    (void)requests_finish(r, &count);
    assert_int_equal(count, 4);
}

/* The names, with blanks between them, in the order of the letters. */
static const char *choose(struct requests *r, const struct pythia_verdicts *v, size_t most)
{
    static const char *const all[] = {"flat", "middle", "quiet", "wide"};
    static char text[64];
    uint32_t *names = NULL;
    size_t count = 7;
    text[0] = '\0';
    assert_int_equal(pythia_types_choose(r->groups, v, most, &names, &count), PYTHIA_OK);
    if (!names) {
        assert_int_equal(count, 0);
        return "all";
    }
    for (size_t i = 1; i < count; i++)
        assert_true(names[i - 1] < names[i]);
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        for (size_t i = 0; i < count; i++)
            if (names[i] == requests_string(r, all[k])) {
                strcat(text, text[0] ? " " : "");
                strcat(text, all[k]);
            }
    pythia_free(names);
    return text;
}

static void types_with_the_most_variance_are_chosen(void **state)
{
    struct requests r;
    begin(&r);
    assert_string_equal(choose(&r, NULL, 1), "wide");
    assert_string_equal(choose(&r, NULL, 2), "middle wide");
    assert_string_equal(choose(&r, NULL, 3), "middle quiet wide");
    assert_string_equal(choose(&r, NULL, 4), "all");
    assert_string_equal(choose(&r, NULL, 0), "all");
    requests_end(&r);
}

static void types_with_a_cause_come_first(void **state)
{
    struct requests r;
    begin(&r);
    struct pythia_verdict list[] = {
        {.type = requests_string(&r, "wide"), .state = PYTHIA_VERDICT_NOTHING},
        {.type = requests_string(&r, "quiet"), .state = PYTHIA_VERDICT_FOUND},
        {.type = requests_string(&r, "flat"), .state = PYTHIA_VERDICT_FOUND},
        {.type = requests_string(&r, "gone"), .state = PYTHIA_VERDICT_FOUND}};
    const struct pythia_verdicts verdicts = {.list = list, .count = 4};
    assert_string_equal(choose(&r, &verdicts, 1), "quiet");
    assert_string_equal(choose(&r, &verdicts, 2), "flat quiet");
    assert_string_equal(choose(&r, &verdicts, 3), "flat quiet wide");
    requests_end(&r);
}

/* What is not chosen is counted in shares, and has no groups. */
static void a_diagnosis_of_some_types_says_how_many_it_left_out(void **state)
{
    struct requests r;
    struct pythia_diagnosis *d = NULL;
    struct pythia_diagnosis_options how = {.min_requests = 4};
    uint32_t *names;
    begin(&r);
    assert_int_equal(pythia_types_choose(r.groups, NULL, 1, &names, &how.only_count), PYTHIA_OK);
    how.only = names;
    assert_int_equal(pythia_diagnose(r.groups, &how, &d), PYTHIA_OK);
    assert_int_equal(d->type_count, 4);
    assert_int_equal(d->not_asked, 3);
    assert_int_equal(d->group_count, 1);
    assert_int_equal(d->types[d->groups[0].type].type->name, requests_string(&r, "wide"));
    pythia_diagnosis_destroy(d);
    pythia_free(names);
    requests_end(&r);
}

static void without_memory_nothing_is_chosen(void **state)
{
    struct requests r;
    begin(&r);
    for (int after = 0; after < 3; after++) {
        uint32_t *names = NULL;
        size_t count;
        pythia_mem_fail_after(after);
        assert_int_equal(pythia_types_choose(r.groups, NULL, 1, &names, &count), PYTHIA_ENOMEM);
        pythia_mem_fail_after(-1);
        assert_null(names);
    }
    requests_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_with_the_most_variance_are_chosen),
        cmocka_unit_test(types_with_a_cause_come_first),
        cmocka_unit_test(a_diagnosis_of_some_types_says_how_many_it_left_out),
        cmocka_unit_test(without_memory_nothing_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
