/* Prices as texts, and the functions that they are measured with. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/priced_functions.h"
#include "pythia/status.h"

static void prices_are_read_as_they_were_written(void **state)
{
    const double ns[PYTHIA_USDT_INSTRUCTIONS] = {300, 500.4, 510, 520, 37000, 350};
    double read[PYTHIA_USDT_INSTRUCTIONS];
    char text[8 + PYTHIA_PRICES_BYTES] = "prices ";
    size_t size = pythia_prices_write(ns, text + strlen(text));
    assert_string_equal(text, "prices nop5=300 nop=500 push=510 branch=520 step=37000 return=350");
    assert_int_equal(size, strlen(text) - strlen("prices "));
    pythia_prices_read(text, read);
    assert_true(read[PYTHIA_USDT_NOP5] == 300 && read[PYTHIA_USDT_NOP] == 500);
    assert_true(read[PYTHIA_USDT_STEP] == 37000 && read[PYTHIA_USDT_RETURN] == 350);
    pythia_prices_read("prices step=x nop", read);
    for (int i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++)
        assert_true(read[i] == 0);
}

static void prices_differ_by_more_than_a_twentieth(void **state)
{
    const double then[PYTHIA_USDT_INSTRUCTIONS] = {100, 100, 100, 100, 100, 100};
    double now[PYTHIA_USDT_INSTRUCTIONS] = {100, 105, 100, 95, 100, 100};
    assert_false(pythia_prices_differ(now, then));
    now[PYTHIA_USDT_RETURN] = 94.9;
    assert_true(pythia_prices_differ(now, then));
}

static struct pythia_hit_prices prices;

/* Measure this price of a single step, and cheap ones of all others, as often. */
static bool is_step_refused(double step_ns, int times)
{
    double ns[PYTHIA_USDT_INSTRUCTIONS] = {300, 500, 500, 500, step_ns, 700};
    for (int i = 0; i < times; i++)
        pythia_hit_prices_add(&prices, ns);
    return prices.expensive[PYTHIA_USDT_STEP];
}

/* 11 and 9 take turns around a limit of 10, each for longer than the mean looks back. */
static void a_price_that_varies_around_the_limit_changes_the_verdict_once(void **state)
{
    prices = (struct pythia_hit_prices){.max_ns = 10000};
    assert_false(is_step_refused(9000, 20));
    assert_true(is_step_refused(11000, 20));
    assert_true(is_step_refused(9000, 20));
    assert_true(is_step_refused(6700, 100));
    assert_false(is_step_refused(6600, 100));
    assert_false(is_step_refused(9900, 100));
    assert_false(prices.expensive[PYTHIA_USDT_RETURN]);
}

/* The limit is 25 us. A step costs 17 on one machine and 37 on another, and one measurement of
 * eight may be far off. */
static void a_single_measurement_that_is_off_is_no_verdict(void **state)
{
    prices = (struct pythia_hit_prices){.max_ns = 25000};
    assert_false(is_step_refused(17000, 8));
    assert_false(is_step_refused(60000, 1)); /* (7 * 17 + 60) / 8 = 22.4 */
    assert_false(is_step_refused(17000, 8));
    prices = (struct pythia_hit_prices){.max_ns = 25000};
    assert_true(is_step_refused(37000, 1));
    assert_true(is_step_refused(18000, 100));
}

static void a_return_is_refused_for_the_first_instruction_of_its_function(void **state)
{
    struct pythia_usdt_site sites[2] = {
        {.offset = 0x10, .instruction = PYTHIA_USDT_RETURN, .trap = PYTHIA_USDT_PUSH},
        {.offset = 0x20, .instruction = PYTHIA_USDT_RETURN, .trap = PYTHIA_USDT_STEP}};
    struct pythia_error e = {0};
    prices = (struct pythia_hit_prices){.max_ns = 25000};
    assert_true(is_step_refused(37000, 1));
    assert_int_equal(pythia_hit_prices_check(&prices, sites, 1, &e), PYTHIA_OK);
    assert_int_equal(pythia_hit_prices_check(&prices, sites, 2, &e), PYTHIA_ELIMIT);
    assert_string_equal(e.sentence, "a hit costs 37000 ns at 0x20 (step), too much for --max-price "
                                    "25000; --force opens it");
    pythia_error_clear(&e);
    prices.max_ns = 600; /* a return itself costs 700 */
    assert_false(is_step_refused(100, 100));
    assert_int_equal(pythia_hit_prices_check(&prices, sites, 1, &e), PYTHIA_ELIMIT);
    assert_string_equal(e.sentence, "a hit costs 700 ns at 0x10 (return), too much for --max-price "
                                    "600; --force opens it");
}

/* The text of this program is where the site says that it is. */
static void each_kind_has_its_instruction(void **state)
{
    static const unsigned char codes[PYTHIA_USDT_INSTRUCTIONS] = {0x0f, 0x90, 0x55,
                                                                  0xeb, 0x48, 0x55};
    for (unsigned i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++) {
        unsigned char code = 0;
        struct pythia_usdt_site site = pythia_priced_site(i, i);
        FILE *file = fopen("/proc/self/exe", "re");
        assert_non_null(file);
        assert_true(site.offset > 0);
        assert_int_equal(fseek(file, (long)site.offset, SEEK_SET), 0);
        assert_int_equal(fread(&code, 1, 1, file), 1);
        assert_int_equal(code, codes[i]);
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_are_read_as_they_were_written),
        cmocka_unit_test(prices_differ_by_more_than_a_twentieth),
        cmocka_unit_test(a_price_that_varies_around_the_limit_changes_the_verdict_once),
        cmocka_unit_test(a_single_measurement_that_is_off_is_no_verdict),
        cmocka_unit_test(a_return_is_refused_for_the_first_instruction_of_its_function),
        cmocka_unit_test(each_kind_has_its_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
