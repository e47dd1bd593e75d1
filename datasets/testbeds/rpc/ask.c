/* SPDX-License-Identifier: MIT */
/* Asking a service itself: which problem it is to have, and what it has done so far. And a reader
 * of what all of them record, which throws it away. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pythia/drain.h>
#include <pythia/records.h>
#include <pythia/switchboard.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "service.h"

static int send_frame(int link, const struct frame *frame)
{
    struct bytes out = {0};
    int code = frame_write(&out, frame);
    for (size_t sent = 0; code == 0 && sent < out.used;) {
        ssize_t n = send(link, out.data + sent, out.used - sent, MSG_NOSIGNAL);
        if (n <= 0)
            code = -EPIPE;
        else
            sent += (size_t)n;
    }
    bytes_free(&out);
    return code;
}

/* The answer's status, with its body on stdout; negative: there was none. */
static int print_answer(int link)
{
    struct bytes in = {0};
    struct frame frame;
    const char *why;
    long used = 0;
    while (used == 0) {
        unsigned char *room = bytes_room(&in, 4096);
        ssize_t n = room ? recv(link, room, 4096, 0) : 0;
        if (n <= 0)
            break;
        in.used += (size_t)n;
        used = frame_read(in.data, in.used, &frame, &why);
    }
    int status = used > 0 ? frame.status : -EPROTO;
    if (used > 0)
        fprintf(status == STATUS_OK ? stdout : stderr, "%.*s\n", (int)frame.body_bytes,
                (const char *)frame.body);
    bytes_free(&in);
    return status;
}

static int ask(const char *where, unsigned method, const char *text)
{
    struct sockaddr_in address;
    if (address_read(where, &address) != 0) {
        fprintf(stderr, "rpc_testbed: %s is not an address: expected HOST:PORT\n", where);
        return 2;
    }
    const struct frame frame = {.kind = FRAME_REQUEST,
                                .method = (uint8_t)method,
                                .body = (const unsigned char *)text,
                                .body_bytes = strlen(text)};
    int link = socket(AF_INET, SOCK_STREAM, 0), code = -1;
    if (link >= 0 && connect(link, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
        send_frame(link, &frame) == 0)
        code = print_answer(link);
    else
        fprintf(stderr, "rpc_testbed: %s does not answer: %s\n", where, strerror(errno));
    if (link >= 0)
        close(link);
    return code != STATUS_OK;
}

int plant_main(int argc, char **argv)
{
    if (argc < 2 || problem_of(argv[0], strlen(argv[0])) < 0) {
        fprintf(stderr, "usage: rpc_testbed plant none|pool|shard|lock|retry HOST:PORT...\n");
        return 2;
    }
    int code = 0;
    for (int i = 1; i < argc && code == 0; i++)
        code = ask(argv[i], METHOD_PLANT, argv[0]);
    return code;
}

int state_main(int argc, char **argv)
{
    int code = argc < 1 ? 2 : 0;
    if (code)
        fprintf(stderr, "usage: rpc_testbed state HOST:PORT...\n");
    for (int i = 0; i < argc && code == 0; i++)
        code = ask(argv[i], METHOD_STATE, "");
    return code;
}

/* Is a point open, of which the name is one of those with commas between, or is it "*"? */
static int is_wanted(const char *names, const char *id)
{
    const char *colon = strchr(id, ':'), *name = colon ? colon + 1 : id;
    size_t bytes = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if ((at[0] == '*' && bytes > 0) ||
            (strncmp(at, name, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0')))
            return 1;
    return 0;
}

int open_main(int argc, char **argv)
{
    struct pythia_switchboard *board;
    struct pythia_switchboard_point point;
    char why[256] = "";
    if (argc != 1) {
        fprintf(stderr, "usage: rpc_testbed open NAME,...|'*'|none\n");
        return 2;
    }
    if (pythia_switchboard_open(NULL, 1, &board, why) != 0) {
        fprintf(stderr, "rpc_testbed: There is no switchboard: %s\n", why);
        return 1;
    }
    int code = 0;
    for (uint32_t i = 0; i < pythia_switchboard_points(board) && code == 0; i++)
        if (pythia_switchboard_at(board, i, &point) == 0)
            code = pythia_switchboard_throw(board, point.id, point.id_bytes, PYTHIA_SWITCHES_ALL,
                                            is_wanted(argv[0], point.id) ? PYTHIA_SWITCHES_ALL : 0);
    pythia_switchboard_close(board);
    return code != 0;
}

static volatile sig_atomic_t drain_ends;

static void on_end(int number)
{
    (void)number;
    drain_ends = 1;
}

/* Throw a frame away; what its stream has lost so far counts, of the one that has lost most. */
static int forget(void *context, const void *bytes, size_t size)
{
    uint64_t *lost = context;
    struct pythia_frame frame;
    if (size < sizeof(frame))
        return 0;
    memcpy(&frame, bytes, sizeof(frame));
    uint64_t here = frame.lost_spans + frame.lost_ends + frame.lost_annotations + frame.lost_values;
    *lost = here > *lost ? here : *lost;
    return 0;
}

int drain_main(int argc, char **argv)
{
    uint64_t lost = 0;
    const struct pythia_drain_handler handler = {.frame = forget, .context = &lost};
    const struct sigaction action = {.sa_handler = on_end};
    const struct option_row rows[] = {{NULL, OPTION_TEXT, NULL, 0, 0}};
    struct pythia_drain_counts counts;
    struct pythia_drain *drain;
    char why[256] = "";
    if (options_read(argc, argv, rows) != 0)
        return 2;
    if (pythia_drain_open(NULL, &handler, &drain, why) != 0) {
        fprintf(stderr, "rpc_testbed: Rings cannot be read: %s\n", why);
        return 1;
    }
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    printf("drains\n");
    fflush(stdout);
    int code = 0;
    while (!drain_ends && code == 0) {
        code = pythia_drain_pass(drain);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    }
    code = code ? code : pythia_drain_pass(drain);
    pythia_drain_counts_get(drain, &counts);
    printf("{\"records\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n",
           counts.records, counts.bytes, lost);
    pythia_drain_close(drain);
    return code != 0;
}
