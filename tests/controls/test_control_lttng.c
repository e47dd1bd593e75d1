/* The plane "lttng" without a session daemon. With LTTng's daemons it is tested by tests/lttng. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "plane.h"
#include "pythia/control_lttng.h"
#include "pythia/status.h"

static char folder[] = "/tmp/control_lttng.XXXXXX", rules[64];

static int begin(void **state)
{
    static const char text[] = "service: s\nprovider: p\npoints: {a: {request: true}}\n";
    if (access("/var/run/lttng/client-lttng-sessiond", F_OK) == 0) {
        print_message("skipped: the session daemon of this machine would be used\n");
        exit(77);
    }
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("LTTNG_HOME", folder, 1), 0);
    snprintf(rules, sizeof(rules), "%s/rules", folder);
    FILE *file = fopen(rules, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return 0;
}

static int end(void **state)
{
    unlink(rules);
    rmdir(folder);
    return 0;
}

static void expect_refused(const char *path, const char *relay, int expected, const char *sentence)
{
    char settings[2][128];
    const char *given[3] = {NULL};
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    size_t count = 0;
    snprintf(settings[0], sizeof(settings[0]), "rules=%s", path ? path : "");
    snprintf(settings[1], sizeof(settings[1]), "relay=%s", relay);
    if (path)
        given[count++] = settings[0];
    given[count] = settings[1];
    assert_int_equal(plane_try("lttng", given, &c, &e), expected);
    assert_string_equal(e.sentence, sentence);
    assert_null(c);
}

static void settings_are_checked_when_the_plane_is_made(void **state)
{
    static const char what[] = "a relay daemon is HOST, or HOST:CONTROL:DATA:LIVE with the numbers "
                               "of its ports";
    static const char *const bad[] = {"",         ":1:2:3",   "h:1",         "h:1:2",
                                      "h:1:2:0",  "h:1:2:x",  "h:1:2:65536", "h:1:2:3:4",
                                      "net://h/", "h:1:2:3/x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_refused(rules, bad[i], PYTHIA_EUSAGE, what);
    expect_refused(NULL, "localhost", PYTHIA_EUSAGE, "a file of rules is needed");
    expect_refused("/nowhere", "localhost", PYTHIA_EIO, "/nowhere: No such file or directory");
}

static struct pythia_control *make_plane(void)
{
    char setting[128];
    const char *given[] = {setting, "relay=127.0.0.1:1:2:3", NULL};
    snprintf(setting, sizeof(setting), "rules=%s", rules);
    return plane_make("lttng", given);
}

/* Nothing is offered, and a wish is not believed; nothing waits for the daemon. */
static void without_a_session_daemon_nothing_is_offered(void **state)
{
    struct pythia_control *c = make_plane();
    struct pythia_error e = {0};
    struct pythia_buf text = {0};
    plane_inventory(c, &text);
    assert_int_equal(text.size, 0);
    assert_int_equal(plane_apply(c, "s:a", 1, clock_now_ns()), PYTHIA_OK);
    assert_int_equal(plane_result(c, "s:a", clock_now_ns()), PYTHIA_CONTROL_REFUSED);
    assert_int_equal(c->ops->off(c, true, clock_now_ns(), &e), PYTHIA_OK);
    assert_int_equal(c->ops->off(c, false, clock_now_ns(), &e), PYTHIA_OK);
    assert_true(c->ops->latency_ns(c) > 0);
    pythia_buf_free(&text);
    c->ops->destroy(c);
}

static void the_feed_may_be_read_before_and_after_its_plane(void **state)
{
    struct pythia_control *c = make_plane();
    struct pythia_error e = {0};
    struct pythia_buf frames = {0};
    struct pythia_lttng_feed *feed = pythia_control_lttng_feed(c);
    assert_int_equal(pythia_lttng_feed_read(feed, &frames, &e), PYTHIA_OK);
    c->ops->destroy(c);
    assert_int_equal(pythia_lttng_feed_read(feed, &frames, &e), PYTHIA_OK);
    assert_int_equal(frames.size, 0);
    pythia_lttng_feed_release(feed);
    pythia_buf_free(&frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_checked_when_the_plane_is_made),
        cmocka_unit_test(without_a_session_daemon_nothing_is_offered),
        cmocka_unit_test(the_feed_may_be_read_before_and_after_its_plane),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
