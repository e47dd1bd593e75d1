/* The functions are this program's own: how the ABI passes their arguments is known by hand. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/function_arguments.h"
#include "pythia/status.h"

struct pair {
    int64_t a, b;
};

enum color { RED, GREEN };
typedef const char *words;

int64_t told_all(int n, double ratio, const char *name, struct pair *pair, unsigned short port,
                 float f, enum color color, words more);
int64_t told_until(int64_t first, struct pair by_value, int64_t last);
struct pair told_none(int a);
int told_seven(long a, long b, long c, long d, long e, long f, long g);
void told_nothing(void);

__attribute__((noinline)) int64_t told_all(int n, double ratio, const char *name, struct pair *pair,
                                           unsigned short port, float f, enum color color,
                                           words more)
{
    return n + (int64_t)ratio + name[0] + pair->a + port + (int64_t)f + (int64_t)color + more[0];
}

__attribute__((noinline)) int64_t told_until(int64_t first, struct pair by_value, int64_t last)
{
    return first + by_value.a + last;
}

__attribute__((noinline)) struct pair told_none(int a)
{
    return (struct pair){a, a};
}

__attribute__((noinline)) int told_seven(long a, long b, long c, long d, long e, long f, long g)
{
    return (int)(a + b + c + d + e + f + g);
}

__attribute__((noinline)) void told_nothing(void)
{
    printf("nothing\n");
}

static bool is_told(const void *pattern, const char *name)
{
    return strncmp(name, pattern, strlen(pattern)) == 0;
}

static int add_function(void *to, const char *name,
                        const struct pythia_function_argument *arguments, size_t count)
{
    pythia_buf_printf(to, "%s:", name);
    for (size_t i = 0; i < count; i++)
        pythia_buf_printf(to, " %d %s%s%s", arguments[i].number, arguments[i].name,
                          arguments[i].is_int ? " int" : "", arguments[i].text ? " text" : "");
    pythia_buf_puts(to, "\n");
    return PYTHIA_OK;
}

static void expect(const char *pattern, const char *expected)
{
    struct pythia_buf got = {0};
    struct pythia_error e = {0};
    pythia_buf_puts(&got, "");
    assert_int_equal(
        pythia_function_arguments_read("/proc/self/exe", is_told, pattern, add_function, &got, &e),
        PYTHIA_OK);
    assert_string_equal(got.bytes, expected);
    pythia_buf_free(&got);
}

static void arguments_are_numbered_by_their_registers(void **state)
{
    expect("told_all", "told_all: 0 n int 1 name text 2 pair 3 port int 4 color int 5 more text\n");
    expect("told_seven", "told_seven: 0 a 1 b 2 c 3 d 4 e 5 f\n"); /* g is on the stack */
}

static void what_depends_on_a_structure_is_left_out(void **state)
{
    expect("told_until", "told_until: 0 first\n");
    expect("told_none", "");
    expect("told_nothing", "");
}

static int stop(void *to, const char *name, const struct pythia_function_argument *arguments,
                size_t count)
{
    ++*(int *)to;
    return PYTHIA_ESTOPPED;
}

static void what_cannot_be_read_is_told(void **state)
{
    struct pythia_error e = {0};
    int calls = 0;
    assert_int_equal(pythia_function_arguments_read("/nowhere/x", is_told, "", stop, &calls, &e),
                     PYTHIA_EIO);
    assert_string_equal(e.sentence, "No such file or directory");
    pythia_error_clear(&e);
    assert_int_equal(pythia_function_arguments_read("/etc/passwd", is_told, "", stop, &calls, &e),
                     PYTHIA_EIO);
    assert_string_equal(e.sentence, "it is no program or library");
    assert_int_equal(calls, 0);
    pythia_error_clear(&e);
    assert_int_equal(
        pythia_function_arguments_read("/proc/self/exe", is_told, "told_", stop, &calls, &e),
        PYTHIA_ESTOPPED);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_numbered_by_their_registers),
        cmocka_unit_test(what_depends_on_a_structure_is_left_out),
        cmocka_unit_test(what_cannot_be_read_is_told),
    };
    struct pair pair = {1, 2};
    told_nothing();
    if (told_all(1, 2, "a", &pair, 3, 4, RED, "b") + told_until(1, pair, 2) + told_none(1).a +
            told_seven(1, 2, 3, 4, 5, 6, 7) <
        0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
