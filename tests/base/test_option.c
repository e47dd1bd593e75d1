#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/option.h"
#include "pythia/status.h"

struct settings {
    bool quiet;
    const char *output;
    struct pythia_option_texts open;
    int format;
    int64_t threads;
    double share;
    uint64_t memory;
    int64_t offset;
};

static const struct pythia_option table[] = {
    {.name = "quiet",
     .letter = 'q',
     .type = PYTHIA_OPTION_FLAG,
     .offset = offsetof(struct settings, quiet),
     .help = "Say only what went wrong"},
    {.name = "output",
     .letter = 'o',
     .type = PYTHIA_OPTION_TEXT,
     .value = "FILE",
     .offset = offsetof(struct settings, output),
     .help = "Write the report to FILE"},
    {.name = "open",
     .type = PYTHIA_OPTION_TEXTS,
     .value = "POINT",
     .offset = offsetof(struct settings, open),
     .help = "Open the trace point a_b* as well"},
    {.name = "format",
     .letter = 'f',
     .type = PYTHIA_OPTION_CHOICE,
     .fallback = "text",
     .choices = "text|json|html",
     .offset = offsetof(struct settings, format),
     .help = "What the report looks like"},
    {.name = "threads",
     .letter = 't',
     .type = PYTHIA_OPTION_INTEGER,
     .value = "N",
     .fallback = "4",
     .low = 1,
     .high = 64,
     .offset = offsetof(struct settings, threads),
     .help =
         "How many threads read; more than there are processors make nothing faster, and each of "
         "them needs memory of its own"},
    {.name = "smallest-share-of-variance",
     .type = PYTHIA_OPTION_REAL,
     .value = "SHARE",
     .fallback = "0.05",
     .low = 0,
     .high = 1,
     .offset = offsetof(struct settings, share),
     .help = "Edges below it are left out"},
    {.name = "memory",
     .type = PYTHIA_OPTION_BYTES,
     .value = "BYTES",
     .fallback = "64M",
     .offset = offsetof(struct settings, memory),
     .help = "Stop at so many"},
    {.name = "offset",
     .type = PYTHIA_OPTION_INTEGER,
     .value = "NS",
     .low = -1e18,
     .high = 1e18,
     .offset = offsetof(struct settings, offset),
     .help = "Add this"},
    {0},
};

static struct settings got;
static struct pythia_error why;
static const char *operands[16];

/* Read "prog" and `words`; returns the number of operands, or a negative status with its reason in
 * `why`. */
static int parse(const char *const *words)
{
    static char copies[16][64];
    char *argv[17] = {"prog"};
    int argc = 1, first = -1;
    for (; words[argc - 1]; argc++) {
        snprintf(copies[argc], sizeof(copies[argc]), "%s", words[argc - 1]);
        argv[argc] = copies[argc];
    }
    memset(&got, 0, sizeof(got));
    pythia_error_clear(&why);
    pythia_options_default(table, &got);
    int status = pythia_options_parse(table, &got, argc, argv, &first, &why);
    if (status != PYTHIA_OK)
        return status;
    for (int i = first; i < argc; i++)
        operands[i - first] = argv[i];
    return argc - first;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void assert_refused(int status, const char *sentence)
{
    assert_int_equal(status, PYTHIA_EUSAGE);
    assert_int_equal(why.status, PYTHIA_EUSAGE);
    assert_string_equal(why.sentence, sentence);
}

static void without_options_there_are_the_defaults(void **state)
{
    assert_int_equal(parse((const char *const[]){NULL}), 0);
    assert_false(got.quiet);
    assert_null(got.output);
    assert_int_equal(got.open.count, 0);
    assert_int_equal(got.format, 0);
    assert_int_equal(got.threads, 4);
    assert_rel_equal(got.share, 0.05, 0);
    assert_int_equal(got.memory, 64 * 1024 * 1024);
    assert_int_equal(got.offset, 0);
}

/* What has no default is false, NULL or 0 afterwards, whatever was there before. */
static void defaults_do_not_need_zeroed_memory(void **state)
{
    struct settings s;
    memset(&s, 0xA5, sizeof(s));
    pythia_options_default(table, &s);
    assert_false(s.quiet);
    assert_null(s.output);
    assert_int_equal(s.open.count, 0);
    assert_int_equal(s.format, 0);
    assert_int_equal(s.threads, 4);
    assert_int_equal(s.memory, 64 * 1024 * 1024);
    assert_int_equal(s.offset, 0);
}

static void every_type_is_read_in_both_forms(void **state)
{
    assert_int_equal(PARSE("--quiet", "--output", "a.txt", "--open=x", "--open", "y",
                           "--format=html", "--threads", "64", "--smallest-share-of-variance=1",
                           "--memory", "3K", "--offset=-7"),
                     0);
    assert_true(got.quiet);
    assert_string_equal(got.output, "a.txt");
    assert_int_equal(got.open.count, 2);
    assert_string_equal(got.open.texts[0], "x");
    assert_string_equal(got.open.texts[1], "y");
    assert_int_equal(got.format, 2);
    assert_int_equal(got.threads, 64);
    assert_rel_equal(got.share, 1, 0);
    assert_int_equal(got.memory, 3072);
    assert_int_equal(got.offset, -7);

    assert_int_equal(PARSE("-q", "-o", "b", "-fjson", "-t", "1"), 0);
    assert_true(got.quiet);
    assert_string_equal(got.output, "b");
    assert_int_equal(got.format, 1);
    assert_int_equal(got.threads, 1);

    assert_int_equal(PARSE("-qob", "--output="),
                     0); /* letters in one word; the last value counts */
    assert_true(got.quiet);
    assert_string_equal(got.output, "");
}

static void operands_may_stand_anywhere(void **state)
{
    assert_int_equal(PARSE("a", "-q", "b", "--threads", "2", "-", "c"), 4);
    assert_true(got.quiet);
    assert_int_equal(got.threads, 2);
    assert_string_equal(operands[0], "a");
    assert_string_equal(operands[1], "b");
    assert_string_equal(operands[2], "-");
    assert_string_equal(operands[3], "c");
}

static void behind_two_dashes_all_are_operands(void **state)
{
    assert_int_equal(PARSE("a", "--", "-q", "--threads", "--"), 4);
    assert_false(got.quiet);
    assert_int_equal(got.threads, 4);
    assert_string_equal(operands[0], "a");
    assert_string_equal(operands[1], "-q");
    assert_string_equal(operands[2], "--threads");
    assert_string_equal(operands[3], "--");
}

static void a_value_may_begin_with_a_dash(void **state)
{
    assert_int_equal(PARSE("--output", "--quiet", "-o", "-"), 0);
    assert_false(got.quiet);
    assert_string_equal(got.output, "-");
    assert_int_equal(PARSE("--offset", "-5"), 0);
    assert_int_equal(got.offset, -5);
}

static void a_name_may_be_cut_while_it_is_clear(void **state)
{
    assert_int_equal(PARSE("--thr=3", "--small", "0.5", "--q"), 0);
    assert_int_equal(got.threads, 3);
    assert_rel_equal(got.share, 0.5, 0);
    assert_true(got.quiet);
    assert_refused(PARSE("--o", "x"), "--o is ambiguous"); /* output, open, offset */
    assert_refused(PARSE("--o=x"), "--o is ambiguous");
    assert_int_equal(PARSE("--ou", "x"), 0);
    assert_string_equal(got.output, "x");
    assert_int_equal(PARSE("--open", "x"),
                     0); /* the whole name of one is not the beginning of another */
    assert_int_equal(got.open.count, 1);
}

static void what_is_no_option_is_named(void **state)
{
    assert_refused(PARSE("--bogus"), "there is no option --bogus");
    assert_refused(PARSE("a", "--bogus=1", "b"), "there is no option --bogus");
    assert_refused(PARSE("-z"), "there is no option -z");
    assert_refused(PARSE("-qz"), "there is no option -z");
    assert_refused(PARSE("-zq"), "there is no option -z");
    assert_refused(PARSE("a", "-zq", "b"), "there is no option -z");
    assert_refused(PARSE("--quietly"), "there is no option --quietly, did you mean --quiet?");
}

static void a_value_that_is_missing_or_too_much_is_named(void **state)
{
    assert_refused(PARSE("--output"), "--output requires a value");
    assert_refused(PARSE("--outp"), "--output requires a value");
    assert_refused(PARSE("-o"), "-o requires a value");
    assert_refused(PARSE("a", "-qo"), "-o requires a value");
    assert_refused(PARSE("--quiet=yes"), "--quiet takes no value");
}

static void numbers_are_kept_in_their_range(void **state)
{
    const char *not_one_to_64 = "--threads requires a number from 1 to 64, not ";
    static const char *const bad[] = {"0", "65", "-1", "2.5",
                                      "",  "x",  "4x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence), "%s'%s'", not_one_to_64, bad[i]);
        assert_refused(PARSE("--threads", bad[i]), sentence);
    }
    assert_int_equal(PARSE("-t1"), 0);
    assert_int_equal(got.threads, 1);
    const char *not_a_share = "--smallest-share-of-variance requires a number from 0 to 1, not ";
    static const char *const no_share[] = {"-0.001", "1.001", "nan", "inf", "", "0.5%", "1e999"};
    for (size_t i = 0; i < sizeof(no_share) / sizeof(no_share[0]); i++) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence), "%s'%s'", not_a_share, no_share[i]);
        assert_refused(PARSE("--smallest", no_share[i]), sentence);
    }
    assert_int_equal(PARSE("--smallest", "1e-3"), 0);
    assert_rel_equal(got.share, 0.001, 0);
}

static void bytes_may_have_a_unit(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"2K", 2048},
                {"64M", 67108864},
                {"5G", UINT64_C(5368709120)},
                {"18446744073709551615", UINT64_MAX},
                {"17179869183G", UINT64_C(17179869183) << 30}};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(PARSE("--memory", good[i].text), 0);
        assert_int_equal(got.memory, good[i].bytes);
    }
    static const char *const bad[] = {"",
                                      "K",
                                      "-1",
                                      " -1",
                                      "1k",
                                      "1KB",
                                      "1 K",
                                      "1.5M",
                                      "0x10",
                                      "1T",
                                      "18446744073709551616",
                                      "17179869184G"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence),
                 "--memory requires a number of bytes such as 64M, not '%s'", bad[i]);
        assert_refused(PARSE("--memory", bad[i]), sentence);
    }
}

static void bytes_may_have_a_range(void **state)
{
    uint64_t size = 7;
    struct pythia_option row = PYTHIA_BYTES_OPTION("size", 0, "1K", 1000, 2048 * 1024., 0, "Size");
    static const char *const bad[] = {"0", "999", "2097153", "3M", "5G", "-1", "many", ""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char sentence[128];
        struct pythia_error e = {0};
        snprintf(sentence, sizeof(sentence),
                 "--size requires a number of bytes from 1000 to 2M, not '%s'", bad[i]);
        assert_int_equal(pythia_option_set(&row, &size, bad[i], &e), PYTHIA_EUSAGE);
        assert_string_equal(e.sentence, sentence);
        assert_int_equal(size, 7);
    }
    assert_int_equal(pythia_option_set(&row, &size, "1000", NULL), PYTHIA_OK);
    assert_int_equal(size, 1000);
    assert_int_equal(pythia_option_set(&row, &size, "2M", NULL), PYTHIA_OK);
    assert_int_equal(size, 2097152);
}

/* What is shown could be typed again. */
static void what_is_set_is_shown(void **state)
{
    static const struct {
        const char *option, *value, *shown;
    } all[] = {{"--memory", "64M", "64M"},     {"--memory", "0", "0"},
               {"--memory", "1025", "1025"},   {"--memory", "2048K", "2M"},
               {"--memory", "5120G", "5120G"}, {"--format", "json", "json"},
               {"--format", "text", "text"},   {"--threads", "12", "12"},
               {"--offset", "-5", "-5"},       {"--smallest", "0.25", "0.25"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct pythia_buf shown = {0};
        const struct pythia_option *o = table;
        assert_int_equal(PARSE(all[i].option, all[i].value), 0);
        while (strncmp(o->name, all[i].option + 2, strlen(all[i].option) - 2) != 0)
            o++;
        pythia_option_show(o, &got, &shown);
        pythia_buf_putc(&shown, '\0');
        assert_string_equal(shown.bytes, all[i].shown);
        pythia_buf_free(&shown);
    }
}

static void a_choice_is_one_whole_word_of_its_list(void **state)
{
    static const char *const bad[] = {"xml", "tex", "texts", "", "text|json", "JSON"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence), "--format must be one of text|json|html, not '%s'",
                 bad[i]);
        assert_refused(PARSE("--format", bad[i]), sentence);
    }
}

static void a_list_has_room_for_so_many(void **state)
{
    struct settings s = {0};
    pythia_error_clear(&why);
    for (size_t i = 0; i < PYTHIA_OPTION_TEXTS_MAX; i++)
        assert_int_equal(pythia_option_set(&table[2], &s, "x", &why), PYTHIA_OK);
    assert_refused(pythia_option_set(&table[2], &s, "x", &why),
                   "--open may be given 64 times at most");
    assert_int_equal(s.open.count, PYTHIA_OPTION_TEXTS_MAX);
}

static void a_refused_value_changes_nothing(void **state)
{
    struct settings s;
    memset(&s, 0x5A, sizeof(s));
    struct settings before = s;
    for (size_t i = 3; i < 8; i++) {
        assert_int_equal(pythia_option_set(&table[i], &s, "nonsense", NULL), PYTHIA_EUSAGE);
        assert_memory_equal(&s, &before, sizeof(s));
    }
}

/* Descriptions stand at column 28 and end before column 100. */
static void help_is_laid_out_in_two_columns(void **state)
{
    struct pythia_buf help = {0};
    pythia_options_help(table, &help);
    assert_string_equal(
        help.bytes,
        "  -q, --quiet               Say only what went wrong\n"
        "  -o, --output FILE         Write the report to FILE\n"
        "      --open POINT          Open the trace point a_b* as well\n"
        "  -f, --format text|json|html\n"
        "                            What the report looks like (default text)\n"
        "  -t, --threads N           How many threads read; more than there are processors make "
        "nothing\n"
        "                            faster, and each of them needs memory of its own (default 4)\n"
        "      --smallest-share-of-variance SHARE\n"
        "                            Edges below it are left out (default 0.05)\n"
        "      --memory BYTES        Stop at so many (default 64M)\n"
        "      --offset NS           Add this\n");
    pythia_buf_free(&help);
}

static const char *help_of(const char *sentence)
{
    static char out[512];
    struct pythia_buf help = {0};
    struct pythia_option one[] = {{.name = "n", .type = PYTHIA_OPTION_FLAG, .help = sentence}, {0}};
    pythia_options_help(one, &help);
    snprintf(out, sizeof(out), "%s", help.bytes);
    pythia_buf_free(&help);
    return out;
}

#define GAP  "                            "
#define TEN  "1234567890"
#define W69  "123456789 123456789 123456789 123456789 123456789 123456789 123456789"
#define NAME "      --n                   "

static void help_is_broken_between_words_at_column_100(void **state)
{
    assert_string_equal(help_of(W69 " 12"), NAME W69 " 12\n"); /* 28 + 69 + 3 = 100 */
    assert_string_equal(help_of(W69 " 123"), NAME W69 "\n" GAP "123\n");
    assert_string_equal(help_of(W69 " " W69), NAME W69 "\n" GAP W69 "\n");
    assert_string_equal(help_of(""), NAME "\n");
    /* A word that fits nowhere stands where a line begins. */
    assert_string_equal(help_of(TEN TEN TEN TEN TEN TEN TEN TEN),
                        NAME TEN TEN TEN TEN TEN TEN TEN TEN "\n");
    assert_string_equal(help_of("a " TEN TEN TEN TEN TEN TEN TEN TEN " b"),
                        NAME "a\n" GAP TEN TEN TEN TEN TEN TEN TEN TEN "\n" GAP "b\n");
}

static void the_widest_name_beside_its_help_leaves_two_blanks(void **state)
{
    struct pythia_option widest[] = {
        {.name = "abcdefghijklmnopqr", .type = PYTHIA_OPTION_FLAG, .help = "H"},  /* ends at 26 */
        {.name = "abcdefghijklmnopqrs", .type = PYTHIA_OPTION_FLAG, .help = "H"}, /* at 27 */
        {0}};
    struct pythia_buf help = {0};
    pythia_options_help(widest, &help);
    assert_string_equal(help.bytes, "      --abcdefghijklmnopqr  H\n"
                                    "      --abcdefghijklmnopqrs\n" GAP "H\n");
    pythia_buf_free(&help);
}

static void a_choice_with_a_name_of_its_value_lists_its_words(void **state)
{
    struct pythia_option choice[] = {{.name = "by",
                                      .type = PYTHIA_OPTION_CHOICE,
                                      .value = "WHAT",
                                      .fallback = "a",
                                      .choices = "a|b",
                                      .help = "Sort by it"},
                                     {0}};
    struct pythia_buf help = {0};
    pythia_options_help(choice, &help);
    assert_string_equal(help.bytes, "      --by WHAT             Sort by it: a|b (default a)\n");
    pythia_buf_free(&help);
}

static void the_manual_page_has_the_same_with_its_marks_escaped(void **state)
{
    struct pythia_buf page = {0};
    struct pythia_option some[] = {table[0], table[2], table[3], {0}};
    pythia_options_scdoc(some, &page);
    assert_string_equal(page.bytes, "*-q*, *--quiet*\n"
                                    "\tSay only what went wrong.\n\n"
                                    "*--open* _POINT_\n"
                                    "\tOpen the trace point a\\_b\\* as well.\n\n"
                                    "*-f*, *--format* _text\\|json\\|html_\n"
                                    "\tWhat the report looks like (default text).\n\n");
    pythia_buf_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_there_are_the_defaults),
        cmocka_unit_test(defaults_do_not_need_zeroed_memory),
        cmocka_unit_test(every_type_is_read_in_both_forms),
        cmocka_unit_test(operands_may_stand_anywhere),
        cmocka_unit_test(behind_two_dashes_all_are_operands),
        cmocka_unit_test(a_value_may_begin_with_a_dash),
        cmocka_unit_test(a_name_may_be_cut_while_it_is_clear),
        cmocka_unit_test(what_is_no_option_is_named),
        cmocka_unit_test(a_value_that_is_missing_or_too_much_is_named),
        cmocka_unit_test(numbers_are_kept_in_their_range),
        cmocka_unit_test(bytes_may_have_a_unit),
        cmocka_unit_test(bytes_may_have_a_range),
        cmocka_unit_test(what_is_set_is_shown),
        cmocka_unit_test(a_choice_is_one_whole_word_of_its_list),
        cmocka_unit_test(a_list_has_room_for_so_many),
        cmocka_unit_test(a_refused_value_changes_nothing),
        cmocka_unit_test(help_is_laid_out_in_two_columns),
        cmocka_unit_test(help_is_broken_between_words_at_column_100),
        cmocka_unit_test(the_widest_name_beside_its_help_leaves_two_blanks),
        cmocka_unit_test(a_choice_with_a_name_of_its_value_lists_its_words),
        cmocka_unit_test(the_manual_page_has_the_same_with_its_marks_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
