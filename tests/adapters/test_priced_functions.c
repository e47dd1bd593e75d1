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
        cmocka_unit_test(each_kind_has_its_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
