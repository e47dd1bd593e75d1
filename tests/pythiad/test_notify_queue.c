/* The queue of a target that does not answer: a server that listens, and never accepts. */
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "notify/notify.h"
#include "notify/notify_target.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define QUEUE 64

static int listen_somewhere(char *url, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    snprintf(url, size, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    return fd;
}

static void the_oldest_is_lost_when_the_queue_is_full(void **state)
{
    char url[64];
    int fd = listen_somewhere(url, sizeof(url));
    const struct pythia_option_texts targets = {1, {url}};
    struct pythia_error why = {0};
    struct pythia__notify *n = NULL;
    json_t *verdict = json_pack("{s:s}", "request_type", "a");
    (void)state;
    pythia_log_setup("test", PYTHIA_LOG_ERROR);
    assert_int_equal(pythia__notify_create(&targets, NULL, 1, &n, &why), PYTHIA_OK);
    pythia__notify_verdict(n, verdict, false, 1);
    while (pythia__notify_numbers(n).waiting > 0) /* until its thread has taken it */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (int i = 0; i < QUEUE + 6; i++)
        pythia__notify_verdict(n, verdict, false, 1);
    struct pythia__notify_numbers numbers = pythia__notify_numbers(n);
    assert_int_equal(numbers.waiting, QUEUE);
    assert_int_equal(numbers.lost[PYTHIA__NOTIFY_FULL], 6);
    assert_int_equal(numbers.sent, 0);
    pythia__notify_destroy(n);
    json_decref(verdict);
    close(fd);
}

static void without_targets_there_is_nothing(void **state)
{
    const struct pythia_option_texts none = {0};
    struct pythia_error why = {0};
    struct pythia__notify *n = NULL;
    (void)state;
    assert_int_equal(pythia__notify_create(&none, NULL, 1, &n, &why), PYTHIA_OK);
    assert_null(n);
    pythia__notify_verdict(n, NULL, false, 1);
    assert_int_equal(pythia__notify_numbers(n).waiting, 0);
    pythia__notify_destroy(n);
}

/* A verdict can be refuted without a place that it had: then the change has no words. */
static void an_alert_of_a_refuted_verdict_has_a_summary(void **state)
{
    static const struct {
        const char *change, *summary;
    } cases[] = {{"It no longer holds.", "It no longer holds."}, {"", "Nothing stands out."}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *verdict = json_pack("{s:s, s:s, s:s}", "request_type", "a", "sentence",
                                    "Nothing stands out.", "change", cases[i].change);
        struct pythia_buf body = {0};
        assert_int_equal(pythia__notify_body(PYTHIA__NOTIFY_ALERTMANAGER, verdict, true, 1, &body),
                         PYTHIA_OK);
        json_t *alerts = json_loadb(body.bytes, body.size, 0, NULL);
        const json_t *notes = json_object_get(json_array_get(alerts, 0), "annotations");
        assert_string_equal(json_string_value(json_object_get(notes, "summary")), cases[i].summary);
        json_decref(alerts);
        json_decref(verdict);
        pythia_buf_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_is_lost_when_the_queue_is_full),
        cmocka_unit_test(without_targets_there_is_nothing),
        cmocka_unit_test(an_alert_of_a_refuted_verdict_has_a_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
