/* The plane "osprofiler" without a Redis, and with servers that are none. With a real one it is
 * tested by python/test_osprofiler.py. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "plane.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "timed.h"

static int try_url(const char *url, struct pythia_control **out, struct pythia_error *e)
{
    char setting[512];
    snprintf(setting, sizeof(setting), "redis=%s", url);
    const char *settings[] = {setting, NULL};
    pythia_error_clear(e);
    return plane_try("osprofiler", settings, out, e);
}

static void addresses_are_checked_when_the_plane_is_made(void **state)
{
    static const char *const good[] = {
        "redis://127.0.0.1",    "redis://127.0.0.1:6379",        "redis://127.0.0.1:1/15",
        "redis://localhost:2/", "redis://:secret@127.0.0.1:3/0", "redis://[::1]:4/1",
        "redis://[::1]",        "unix:/run/redis/redis.sock",    "redis://:a:b@10.0.0.1",
    };
    static const struct {
        const char *url, *why;
    } bad[] = {
        {"", "'' is not the address of a Redis server: it begins with neither redis:// nor unix:; "
             "expected "
             "redis://[:PASSWORD@]ADDRESS[:PORT][/DATABASE] or unix:PATH"},
        {"http://127.0.0.1", "begins with neither"},
        {"unix:", "the path is empty or too long"},
        {"redis://", "the address is not a number"},
        {"redis://db.example", "the address is not a number"},
        {"redis://127.0.0.1:", "the port is not a number"},
        {"redis://127.0.0.1:65536", "the port is not a number"},
        {"redis://127.0.0.1:-1", "the port is not a number"},
        {"redis://127.0.0.1:1/x", "the database is not a number"},
        {"redis://127.0.0.1:1/1x", "the database is not a number"},
        {"redis://user:secret@127.0.0.1", "a user's name"},
    };
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int status = try_url(good[i], &c, &e);
        if (status != PYTHIA_OK)
            print_error("%s: %s\n", good[i], e.sentence);
        assert_int_equal(status, PYTHIA_OK);
        c->ops->destroy(c);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        c = NULL;
        assert_int_equal(try_url(bad[i].url, &c, &e), PYTHIA_EUSAGE);
        assert_null(c);
        if (!strstr(e.sentence, bad[i].why))
            assert_string_equal(e.sentence, bad[i].why);
        assert_null(strstr(e.sentence, "secret")); /* which would go into a log */
    }
    char path[300];
    snprintf(path, sizeof(path), "unix:/%0200d", 1);
    assert_int_equal(try_url(path, &c, &e), PYTHIA_EUSAGE);
}

/* ---- servers that are none ---- */

struct server {
    pid_t process;
    char url[64];
};

/* Accepts connections, and gives each what `answer` says: NULL, nothing at all; "", an end. */
static _Noreturn void serve(int listening, const char *answer)
{
    char bytes[4096];
    for (;;) {
        int client = accept(listening, NULL, NULL);
        if (client < 0)
            _exit(1);
        if (!answer)
            continue;
        while (*answer && read(client, bytes, sizeof(bytes)) > 0)
            if (write(client, answer, strlen(answer)) < 0)
                break;
        close(client);
    }
}

static struct server start(const char *answer)
{
    struct server s;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listening, 16), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&address, &size), 0);
    snprintf(s.url, sizeof(s.url), "redis://127.0.0.1:%d/0", ntohs(address.sin_port));
    s.process = fork();
    if (s.process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
        serve(listening, answer);
    }
    close(listening);
    return s;
}

static void end(struct server *s)
{
    kill(s->process, SIGKILL);
    waitpid(s->process, NULL, 0);
}

/* No call may take longer on a quiet machine. */
#define PATIENCE (100 * MS)

static void check_call(uint64_t begin_ns, uint64_t limit_ns)
{
    uint64_t took_ns = clock_now_ns() - begin_ns;
    check_time(took_ns < limit_ns, "a call of %llu us", (unsigned long long)took_ns / 1000);
}

static void nobody_waits_for_a_server_that_does_not_answer(void **state)
{
    struct server s = start(NULL);
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    struct pythia_buf out = {0};
    assert_int_equal(try_url(s.url, &c, &e), PYTHIA_OK);
    for (uint64_t i = 0; i < 40; i++) { /* two seconds of the plane's time */
        uint64_t begin = clock_now_ns();
        pythia_error_clear(&e);
        assert_int_equal(c->ops->apply(c, NULL, 0, i + 1, S + i * 50 * MS, &e), PYTHIA_EIO);
        plane_observe(c, S + i * 50 * MS, &out);
        check_call(begin, PATIENCE);
    }
    /* And the reason is told. */
    bool told = false;
    for (uint64_t i = 40; i < 80 && !told; i++) {
        pythia_error_clear(&e);
        told = c->ops->apply(c, NULL, 0, i + 1, S + i * 50 * MS, &e) == PYTHIA_EIO &&
               strstr(e.sentence, "no answer for a second");
    }
    assert_true(told);
    uint64_t begin = clock_now_ns();
    assert_int_equal(c->ops->off(c, true, 90 * S, &e), PYTHIA_EIO);
    check_call(begin, 1000 * MS);
    c->ops->destroy(c);
    pythia_buf_free(&out);
    end(&s);
}

/* Each with what is said of it: "" if the plane must only live on. */
static void servers_that_are_no_redis_are_told(void **state)
{
    static const struct {
        const char *answer, *why;
    } cases[] = {
        {"", ""},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", ""},
        {"-NOAUTH Authentication required.\r\n-NOAUTH x\r\n-NOAUTH x\r\n-NOAUTH x\r\n-NOAUTH x\r\n",
         ""},
        {"*-5\r\n", ""},
        {"$99999999999\r\n", ""},
        {":\r\n:\r\n:\r\n", ""},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", ""},
        {"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*1\r\n$3\r\n{}x\r\n:1\r\n", ""},
    };
    struct pythia_control_wish wish = {.id = PYTHIA_TEXT("x")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct server s = start(cases[i].answer);
        struct pythia_control *c = NULL;
        struct pythia_error e = {0};
        struct pythia_buf out = {0};
        assert_int_equal(try_url(s.url, &c, &e), PYTHIA_OK);
        for (uint64_t round = 0; round < 30; round++) {
            pythia_error_clear(&e);
            c->ops->apply(c, &wish, 1, round + 1, S + round * 100 * MS, &e);
            plane_observe(c, S + round * 100 * MS, &out);
            plane_inventory(c, &out);
            assert_int_equal(out.size, 0);
            sleep_ms(2);
        }
        c->ops->off(c, true, 10 * S, &e);
        c->ops->destroy(c);
        pythia_buf_free(&out);
        end(&s);
    }
}

static void an_address_where_nobody_is_is_told(void **state)
{
    struct server s = start(NULL);
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    end(&s); /* a port that was free a moment ago */
    assert_int_equal(try_url(s.url, &c, &e), PYTHIA_OK);
    assert_int_equal(c->ops->apply(c, NULL, 0, 1, 1 * S, &e), PYTHIA_EIO);
    assert_string_equal(e.sentence, "cannot reach Redis: Connection refused");
    pythia_error_clear(&e);
    uint64_t begin = clock_now_ns();
    assert_int_equal(c->ops->off(c, true, 2 * S, &e), PYTHIA_EIO);
    check_call(begin, 1000 * MS);
    assert_int_equal(c->ops->losses(c), 0); /* nobody is there who could lose anything */
    c->ops->destroy(c);
    assert_int_equal(try_url("unix:/nonexistent/redis", &c, &e), PYTHIA_OK);
    assert_int_equal(c->ops->apply(c, NULL, 0, 1, 1 * S, &e), PYTHIA_EIO);
    c->ops->destroy(c);
}

static void want_of_memory_is_told(void **state)
{
    struct server s = start(NULL);
    for (long n = 0;; n++) {
        struct pythia_control *c = NULL;
        struct pythia_error e = {0};
        pythia_mem_fail_after(n);
        int status = try_url(s.url, &c, &e);
        if (status == PYTHIA_OK)
            status = c->ops->apply(c, NULL, 0, 1, 1 * S, &e);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || status == PYTHIA_ENOMEM || status == PYTHIA_EIO);
        if (c)
            c->ops->destroy(c);
        if (status == PYTHIA_OK || status == PYTHIA_EIO) /* nothing was short of memory */
            break;
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_checked_when_the_plane_is_made),
        cmocka_unit_test(nobody_waits_for_a_server_that_does_not_answer),
        cmocka_unit_test(servers_that_are_no_redis_are_told),
        cmocka_unit_test(an_address_where_nobody_is_is_told),
        cmocka_unit_test(want_of_memory_is_told),
    };
    signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
