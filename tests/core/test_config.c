#include <stddef.h>
#include <string.h>

#include "check.h"
#include "pythia/config.h"
#include "pythia/mem.h"
#include "pythia/status.h"

struct settings {
    const char *otlp_http, *tls_key;
    bool insecure;
    int64_t points;
    double alpha;
    uint64_t memory;
    int format;
    struct pythia_option_texts never, notify;
};

static const struct pythia_option table[] = {
    PYTHIA_TEXT_OPTION("otlp-http", 0, "ADDRESS", offsetof(struct settings, otlp_http), "where"),
    PYTHIA_TEXT_OPTION("tls-key", 0, "FILE", offsetof(struct settings, tls_key), "key"),
    PYTHIA_FLAG("insecure", 0, offsetof(struct settings, insecure), "all the same"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, 10, offsetof(struct settings, points), "how many"),
    PYTHIA_REAL("alpha", 0, "P", "0.05", 0, .5, offsetof(struct settings, alpha), "rate"),
    {"memory", 0, PYTHIA_OPTION_BYTES, "BYTES", "1M", NULL, 0, 0, offsetof(struct settings, memory),
     "most"},
    PYTHIA_CHOICE("format", 0, "text|json", "text", offsetof(struct settings, format), "form"),
    {"never", 0, PYTHIA_OPTION_TEXTS, "ID", NULL, NULL, 0, 0, offsetof(struct settings, never),
     "not these"},
    {"notify", 0, PYTHIA_OPTION_TEXTS, "URL", NULL, "url|format", 0, 0,
     offsetof(struct settings, notify), "those"},
    {0},
};

struct test {
    struct pythia_config *config;
    struct settings s;
    struct pythia_error why;
};

static void begin(struct test *t)
{
    *t = (struct test){0};
    pythia_options_default(table, &t->s);
    assert_int_equal(pythia_config_create(table, &t->config), PYTHIA_OK);
}

static int parse(struct test *t, const char *text)
{
    return pythia_config_parse(t->config, "x.yaml", text, strlen(text), &t->s, &t->why);
}

static void a_file_sets_what_it_says_and_leaves_the_rest(void **state)
{
    struct test t;
    begin(&t);
    assert_int_equal(parse(&t, "# a comment\n"
                               "otlp-http: 127.0.0.1:4318\n"
                               "tls: {key: /etc/x.pem}\n"
                               "insecure: true\n"
                               "points: 7\n"
                               "memory: 64M\n"
                               "format: json\n"
                               "never: [\"a:b\", 'c:*']\n"),
                     PYTHIA_OK);
    assert_string_equal(t.s.otlp_http, "127.0.0.1:4318");
    assert_string_equal(t.s.tls_key, "/etc/x.pem");
    assert_true(t.s.insecure);
    assert_int_equal(t.s.points, 7);
    assert_int_equal(t.s.memory, 64 << 20);
    assert_int_equal(t.s.format, 1);
    assert_int_equal(t.s.never.count, 2);
    assert_string_equal(t.s.never.texts[1], "c:*");
    assert_rel_equal(t.s.alpha, .05, 0); /* not said */
    pythia_config_destroy(t.config);
}

static void a_map_in_a_list_is_one_text_where_the_option_names_members(void **state)
{
    static const char *const wrong[][2] = {
        {"notify: [{address: x}]", "column 11: the members must be url|format"},
        {"notify: [{url: x, url: y}]", "column 19: url is set twice"},
        {"notify: [{url: [x]}]", "column 16: notify requires a list of texts"}};
    struct test t;
    begin(&t);
    assert_int_equal(parse(&t, "notify:\n- {format: slack, url: a}\n- url: b\n- c json\n"),
                     PYTHIA_OK);
    assert_int_equal(t.s.notify.count, 3);
    assert_string_equal(t.s.notify.texts[0], "a slack");
    assert_string_equal(t.s.notify.texts[1], "b");
    assert_string_equal(t.s.notify.texts[2], "c json");
    pythia_config_destroy(t.config);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        begin(&t);
        assert_int_equal(parse(&t, wrong[i][0]), PYTHIA_EUSAGE);
        assert_string_equal(t.why.sentence, wrong[i][1]);
        pythia_config_destroy(t.config);
    }
    (void)state;
}

static void an_empty_file_changes_nothing(void **state)
{
    static const char *const texts[] = {"", "\n\n", "# nothing\n", "---\n", "---\n...\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct test t;
        begin(&t);
        assert_int_equal(parse(&t, texts[i]), PYTHIA_OK);
        assert_int_equal(t.s.points, 3);
        pythia_config_destroy(t.config);
    }
}

static void what_is_wrong_is_told_with_line_and_column(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"points: 3\nponts: 4\n", "x.yaml:2: column 1: there is no setting ponts"},
        {"points: eleven\n",
         "x.yaml:1: column 9: --points requires a number from 0 to 10, not 'eleven'"},
        {"points: 11\n", "x.yaml:1: column 9: --points requires a number from 0 to 10, not '11'"},
        {"insecure: maybe\n", "x.yaml:1: column 11: insecure must be true or false, not 'maybe'"},
        {"points: 1\npoints: 2\n", "x.yaml:2: column 1: points is set twice"},
        {"points: [1]\n", "x.yaml:1: column 9: points requires one value, not a list"},
        {"points: {a: 1}\n", "x.yaml:1: column 9: points requires a value"},
        {"never: [[a]]\n", "x.yaml:1: column 9: never requires a list of texts"},
        {"tls:\n  kye: x\n", "x.yaml:2: column 3: there is no setting tls-kye"},
        {"- points\n", "x.yaml:1: column 1: settings must be lines of NAME: VALUE"},
        {"just words\n", "x.yaml:1: column 1: settings must be lines of NAME: VALUE"},
        {"points: &a 3\n", "x.yaml:1: column 9: anchors, aliases and tags are not supported"},
        {"points: !!int 3\n", "x.yaml:1: column 9: anchors, aliases and tags are not supported"},
        {"points: 3\n---\npoints: 4\n", "x.yaml:2: column 1: there is a second document"},
        {"points: 3\n  alpha: .1\n",
         "x.yaml:1: column 9: --points requires a number from 0 to 10, not '3 alpha'"},
        {"never: a: b\n",
         "x.yaml:1: column 9: it is not YAML: mapping values are not allowed in this context"},
        {"tls-key: \"a\\0b\"\n", "x.yaml:1: column 10: the value of tls-key contains a NUL byte"},
        {"a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}\n",
         "x.yaml:1: column 32: a-b-c-d-e-f-g-h is nested too deeply"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test t;
        char text[1024];
        begin(&t);
        assert_true(parse(&t, cases[i].text) < 0);
        pythia_error_text(&t.why, text, sizeof(text));
        text[strlen(text) < strlen(cases[i].error) ? 0 : strlen(cases[i].error)] = '\0';
        assert_string_equal(text, cases[i].error); /* the byte follows */
        pythia_config_destroy(t.config);
    }
}

static void the_environment_sets_the_same(void **state)
{
    char *const environment[] = {"PATH=/bin",
                                 "PYTHIAD_OTLP_HTTP=[::1]:1",
                                 "PYTHIAD_POINTS=5",
                                 "PYTHIAD_NEVER=a,b",
                                 "PYTHIADX=1",
                                 "PYTHIAD_INSECURE=1",
                                 NULL};
    struct test t;
    begin(&t);
    assert_int_equal(parse(&t, "never: [x, y, z]\npoints: 2\n"), PYTHIA_OK);
    assert_int_equal(pythia_config_environment(t.config, "PYTHIAD", environment, &t.s, &t.why),
                     PYTHIA_OK);
    assert_string_equal(t.s.otlp_http, "[::1]:1");
    assert_int_equal(t.s.points, 5);
    assert_true(t.s.insecure);
    assert_int_equal(t.s.never.count, 2); /* not beside those of the file: instead of them */
    assert_string_equal(t.s.never.texts[1], "b");
    pythia_config_destroy(t.config);
}

static void a_variable_that_is_no_setting_is_told(void **state)
{
    char *const slip[] = {"PYTHIAD_PONTS=5", NULL}, *const bad[] = {"PYTHIAD_POINTS=x", NULL};
    struct test t;
    char text[1024];
    begin(&t);
    assert_int_equal(pythia_config_environment(t.config, "PYTHIAD", slip, &t.s, &t.why),
                     PYTHIA_EUSAGE);
    assert_string_equal(pythia_error_text(&t.why, text, sizeof(text)),
                        "PYTHIAD_PONTS: there is no such setting");
    t.why = (struct pythia_error){0};
    assert_int_equal(pythia_config_environment(t.config, "PYTHIAD", bad, &t.s, &t.why),
                     PYTHIA_EUSAGE);
    assert_string_equal(pythia_error_text(&t.why, text, sizeof(text)),
                        "PYTHIAD_POINTS: --points requires a number from 0 to 10, not 'x'");
    pythia_config_destroy(t.config);
}

static void a_file_that_is_not_there_is_told(void **state)
{
    struct test t;
    char text[1024];
    begin(&t);
    assert_int_equal(pythia_config_read(t.config, "/no/such/file", &t.s, &t.why), PYTHIA_EIO);
    assert_string_equal(pythia_error_text(&t.why, text, sizeof(text)),
                        "/no/such/file: cannot be opened: No such file or directory");
    pythia_config_destroy(t.config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_sets_what_it_says_and_leaves_the_rest),
        cmocka_unit_test(a_map_in_a_list_is_one_text_where_the_option_names_members),
        cmocka_unit_test(an_empty_file_changes_nothing),
        cmocka_unit_test(what_is_wrong_is_told_with_line_and_column),
        cmocka_unit_test(the_environment_sets_the_same),
        cmocka_unit_test(a_variable_that_is_no_setting_is_told),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
