/* What a connection of gRPC may take in one turn of the loop, and what all of them may. Frames of
 * PING are counted by their answers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "listen/grpc_server.h"
#include "pythia/status.h"

#define PING_BYTES 17
#define PINGS      900
#define SLICE      2048 /* of what is taken before the budget is looked at again */
#define CLIENTS    4

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
static const char ping[] = "\0\0\x8\6\0\0\0\0\0"
                           "pingpong";

#define BAD 300 /* streams sent at once */
static const char bad_stream[9 + 4] =
    "\0\0\4\1\5\0\0\0\0\0\1A"; /* a header whose name has an upper-case letter, and no value */

struct rig {
    uv_loop_t loop;
    struct pythia__grpc_server *grpc;
    struct sockaddr_un name;
    char address[sizeof(((struct sockaddr_un *)0)->sun_path) + 8];
};

static void handle(void *context, struct pythia__grpc_call *call, char *message, size_t size,
                   enum pythia_packing packing)
{
    fail_msg("nothing calls");
}

static void begin(struct rig *r, size_t turn_bytes, unsigned turn_us)
{
    static const struct pythia__grpc_method method = {"/t/E", handle, NULL, NULL};
    static unsigned number; /* a test that failed has left its socket */
    struct pythia_error e = {0};
    memset(r, 0, sizeof(*r));
    r->name.sun_family = AF_UNIX;
    snprintf(r->name.sun_path, sizeof(r->name.sun_path), "/tmp/pythia-turns-%ld-%u", (long)getpid(),
             ++number);
    snprintf(r->address, sizeof(r->address), "unix:%s", r->name.sun_path);
    assert_int_equal(uv_loop_init(&r->loop), 0);
    const struct pythia__grpc_options o = {.address = r->address,
                                           .methods = &method,
                                           .method_count = 1,
                                           .turn_bytes = turn_bytes,
                                           .turn_us = turn_us};
    assert_int_equal(pythia__grpc_create(&r->loop, &o, &r->grpc, &e), PYTHIA_OK);
}

static void end(struct rig *r)
{
    pythia__grpc_destroy(r->grpc);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
}

static void turn(struct rig *r)
{
    uv_run(&r->loop, UV_RUN_NOWAIT);
}

static void send_pings(int s)
{
    char all[PINGS * PING_BYTES];
    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = ping[i % PING_BYTES];
    assert_int_equal(send(s, all, sizeof(all), MSG_NOSIGNAL), sizeof(all));
}

static int join(struct rig *r)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(s >= 0);
    assert_int_equal(connect(s, (struct sockaddr *)&r->name, sizeof(r->name)), 0);
    assert_int_equal(send(s, preface, sizeof(preface) - 1, MSG_NOSIGNAL), sizeof(preface) - 1);
    return s;
}

/* Answers to PING that have come. */
static size_t answers(int s)
{
    static char bytes[1 << 16];
    size_t count = 0, kept = 0;
    for (;;) {
        ssize_t got = recv(s, bytes + kept, sizeof(bytes) - kept, 0);
        if (got <= 0)
            return count;
        size_t size = kept + (size_t)got, at = 0;
        while (size - at >= 9) {
            const unsigned char *b = (const unsigned char *)bytes + at;
            size_t frame = 9 + ((size_t)b[0] << 16 | (size_t)b[1] << 8 | b[2]);
            if (size - at < frame)
                break;
            count += b[3] == 6;
            at += frame;
        }
        kept = size - at;
        memmove(bytes, bytes + at, kept);
    }
}

static void greet(struct rig *r, int *clients, size_t count)
{
    for (size_t i = 0; i < count; i++)
        clients[i] = join(r);
    for (size_t i = 0; i < 8 * count; i++)
        turn(r);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(answers(clients[i]), 0);
}

static void a_connection_takes_so_many_bytes_in_a_turn(void **state)
{
    struct rig r;
    int client;
    size_t all = 0, turns = 0;
    begin(&r, 4096, 60000000);
    greet(&r, &client, 1);
    send_pings(client);
    while (all < PINGS && turns < 100) {
        turn(&r);
        size_t more = answers(client);
        /* The check at the end of a turn begins the next one, so that a turn of libuv is of two. */
        assert_true(more <= 2 * (4096 + SLICE) / PING_BYTES);
        all += more;
        turns++;
    }
    assert_int_equal(all, PINGS);
    assert_true(turns >= 2);
    assert_true(pythia__grpc_numbers(r.grpc).deferred > 0);
    close(client);
    end(&r);
}

/* Without time for more, one connection takes one slice in a turn, and all of them take the
 * same. */
static void connections_take_turns(void **state)
{
    struct rig r;
    int clients[CLIENTS];
    size_t all[CLIENTS] = {0}, least = 0, most = 0;
    begin(&r, 1 << 20, 1);
    greet(&r, clients, CLIENTS);
    for (size_t i = 0; i < CLIENTS; i++)
        send_pings(clients[i]);
    for (size_t turns = 0; turns < 4 * CLIENTS; turns++) {
        size_t in_turn = 0;
        turn(&r);
        for (size_t i = 0; i < CLIENTS; i++) {
            size_t more = answers(clients[i]);
            all[i] += more;
            in_turn += more;
        }
        assert_true(in_turn <= 2 * (SLICE / PING_BYTES + 1));
    }
    least = most = all[0];
    for (size_t i = 0; i < CLIENTS; i++) {
        least = all[i] < least ? all[i] : least;
        most = all[i] > most ? all[i] : most;
        close(clients[i]);
    }
    assert_true(least > 0);
    assert_true(most - least <= 2 * (SLICE / PING_BYTES + 1));
    end(&r);
}

/* Each stream of it is answered by a reset. Nobody reads those: after some of them it is read no
 * more. */
static void a_peer_that_does_not_read_is_not_read(void **state)
{
    struct rig r;
    int client;
    begin(&r, 0, 0);
    greet(&r, &client, 1);
    size_t sent = 0, stream = 1;
    char bad[BAD][9 + 4];
    for (size_t turns = 0; turns < 2000; turns++) {
        for (size_t i = 0; i < BAD; i++) {
            const size_t id = stream + 2 * i;
            memcpy(bad[i], bad_stream, sizeof(bad[i]));
            for (size_t byte = 0; byte < 4; byte++)
                bad[i][5 + byte] = (char)(id >> (24 - 8 * byte));
        }
        ssize_t done = send(client, bad, sizeof(bad), MSG_NOSIGNAL);
        assert_true(done < 0 || done == sizeof(bad));
        sent += done > 0 ? BAD : 0;
        stream += done > 0 ? 2 * BAD : 0;
        turn(&r);
    }
    printf("%zu streams\n", sent);
    assert_true(sent > 1000);
    assert_true(sent < 100000);
    close(client);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_takes_so_many_bytes_in_a_turn),
        cmocka_unit_test(connections_take_turns),
        cmocka_unit_test(a_peer_that_does_not_read_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
