/* SPDX-License-Identifier: MIT */
/* Requests at random times, whatever becomes of those before them (open loop): the gaps are of an
 * exponential distribution, and all is drawn by a seed. With --outstanding N there are always as
 * many under way, and the next is sent when one is answered (closed loop): what services can do at
 * most. When it ends it prints one object of JSON. With --turns it reads lines "REQUESTS SEED" from
 * its input, sends as many for each over the same connections, and prints an object for each.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "service.h"

#define CONNECTIONS_MAX 64
#define READ_BYTES      65536
#define LATE_NS         4000000U
#define RATE            100U
#define OUTSTANDING_MAX 100000

struct sent {
    uint64_t due_ns; /* when it was to be sent: what waits here counts, too */
    unsigned answered;
};

struct load;

struct link {
    uv_tcp_t tcp;
    uv_connect_t connect;
    struct load *load;
    struct bytes in;
    int up;
};

struct load {
    uv_loop_t loop;
    uv_timer_t next, give_up;
    uv_signal_t term;
    struct link links[CONNECTIONS_MAX];
    struct sent *sent;
    double *latency_us;
    size_t room, count, answered, by_status[STATUSES];
    unsigned connections, put_percent, list_percent, patience_s, value_bytes, ready;
    unsigned most;        /* requests; 0: as many as come up */
    unsigned outstanding; /* requests under way all the time; 0: they come at a rate */
    double rate, seconds;
    size_t late; /* sent more than LATE_NS after they were due: the machine had no time for it */
    uint64_t seed, begun_ns, due_ns, answered_ns;
    int ends, broken, turns;
    unsigned char reading[READ_BYTES];
};

struct message {
    uv_write_t write;
    struct bytes bytes;
};

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
static uint64_t draw(struct load *l)
{
    uint64_t z = l->seed += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static double draw_gap_ns(struct load *l)
{
    double u = ((double)(draw(l) >> 11) + 0.5) / 9007199254740992.0;
    return -log(u) * 1e9 / l->rate;
}

/* ---- the end ---- */

static void close_all(struct load *l)
{
    for (unsigned i = 0; i < l->connections; i++)
        if (l->links[i].load && !uv_is_closing((uv_handle_t *)&l->links[i].tcp))
            uv_close((uv_handle_t *)&l->links[i].tcp, NULL);
    uv_handle_t *const others[] = {(uv_handle_t *)&l->next, (uv_handle_t *)&l->give_up,
                                   (uv_handle_t *)&l->term};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!uv_is_closing(others[i]))
            uv_close(others[i], NULL);
}

static void end_if_all_answered(struct load *l)
{
    if (!l->ends || l->answered != l->count)
        return;
    if (!l->turns) {
        close_all(l);
        return;
    }
    uv_timer_stop(&l->give_up);
    uv_stop(&l->loop);
}

static void fail(struct load *l, const char *what, const char *why)
{
    if (!l->broken)
        fprintf(stderr, "load: %s: %s\n", what, why);
    l->broken = 1;
    close_all(l);
}

static void on_give_up(uv_timer_t *timer)
{
    fail(timer->data, "Not all requests were answered", "there is no time left");
}

static void stop_sending(struct load *l)
{
    if (l->ends)
        return;
    l->ends = 1;
    uv_timer_stop(&l->next);
    uv_timer_start(&l->give_up, on_give_up, (uint64_t)l->patience_s * 1000, 0);
    end_if_all_answered(l);
}

static void on_term(uv_signal_t *handle, int number)
{
    (void)number;
    stop_sending(handle->data);
}

/* ---- answers ---- */

static void take_answer(struct load *l, const struct frame *answer)
{
    struct sent *sent = answer->number < l->count ? &l->sent[answer->number] : NULL;
    if (!sent || sent->answered || answer->kind != FRAME_ANSWER) {
        fail(l, "An answer cannot be used", "nothing was asked that it answers");
        return;
    }
    sent->answered = 1;
    l->answered_ns = uv_hrtime();
    l->latency_us[l->answered++] = (double)(l->answered_ns - sent->due_ns) / 1e3;
    l->by_status[answer->status]++;
}

static void refill(struct load *l);

static void on_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
    struct link *link = stream->data;
    struct load *l = link->load;
    struct frame frame;
    const char *why = "it is broken";
    size_t at = 0;
    long used = 0;
    if (bytes == 0 || l->broken)
        return;
    if (bytes < 0 || bytes_add(&link->in, buffer->base, (size_t)bytes) != 0) {
        fail(l, "The connection is gone", bytes < 0 ? uv_strerror((int)bytes) : "no memory");
        return;
    }
    while ((used = frame_read(link->in.data + at, link->in.used - at, &frame, &why)) > 0) {
        take_answer(l, &frame);
        at += (size_t)used;
    }
    if (used < 0)
        fail(l, "An answer cannot be read", why);
    memmove(link->in.data, link->in.data + at, link->in.used - at);
    link->in.used -= at;
    refill(l);
    end_if_all_answered(l);
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *room)
{
    const struct link *link = handle->data;
    (void)suggested;
    *room = uv_buf_init((char *)link->load->reading, READ_BYTES);
}

/* ---- requests ---- */

static void on_written(uv_write_t *write, int status)
{
    struct message *message = (struct message *)write;
    (void)status; /* who reads learns it, too */
    bytes_free(&message->bytes);
    free(message);
}

static unsigned draw_method(struct load *l)
{
    unsigned percent = (unsigned)(draw(l) % 100);
    return percent < l->put_percent                     ? METHOD_PUT
           : percent < l->put_percent + l->list_percent ? METHOD_LIST
                                                        : METHOD_GET;
}

static int write_message(struct load *l, struct bytes *to)
{
    static const unsigned char value[FRAME_BODY_MAX - REQUEST_HEAD];
    unsigned method = draw_method(l);
    uint64_t drawn = draw(l);
    const struct request request = {
        .tenant = (uint16_t)(drawn % TENANTS),
        .count = method == METHOD_LIST ? (uint16_t)(1 + drawn / TENANTS % 8) : 1,
        .key = (uint32_t)(drawn >> 32),
        .value = value,
        .value_bytes = method == METHOD_PUT ? l->value_bytes : 0};
    struct bytes body = {0};
    struct frame frame = {
        .kind = FRAME_REQUEST, .method = (uint8_t)method, .number = (uint32_t)l->count};
    int code = request_write(&body, &request);
    frame.body = body.data;
    frame.body_bytes = body.used;
    code = code ? code : frame_write(to, &frame);
    bytes_free(&body);
    return code;
}

static int grow(struct load *l)
{
    if (l->count < l->room)
        return 1;
    size_t room = l->room ? l->room * 2 : 4096;
    struct sent *sent = realloc(l->sent, room * sizeof(*sent));
    if (sent)
        l->sent = sent;
    double *latency = sent ? realloc(l->latency_us, room * sizeof(*latency)) : NULL;
    if (!latency)
        return 0;
    l->latency_us = latency;
    l->room = room;
    return 1;
}

static void send_one(struct load *l)
{
    struct message *message = grow(l) ? calloc(1, sizeof(*message)) : NULL;
    if (!message || write_message(l, &message->bytes) != 0) {
        free(message);
        fail(l, "A request cannot be made", "there is no memory");
        return;
    }
    struct link *link = &l->links[l->count % l->connections];
    const uv_buf_t buffer = uv_buf_init((char *)message->bytes.data, (unsigned)message->bytes.used);
    l->late += uv_hrtime() - l->due_ns > LATE_NS;
    l->sent[l->count++] = (struct sent){.due_ns = l->due_ns};
    int code = uv_write(&message->write, (uv_stream_t *)&link->tcp, &buffer, 1, on_written);
    if (code < 0) {
        on_written(&message->write, code);
        fail(l, "A request cannot be sent", uv_strerror(code));
    }
}

static int is_over(const struct load *l)
{
    return (double)(l->due_ns - l->begun_ns) > l->seconds * 1e9 ||
           (l->most > 0 && l->count >= l->most);
}

/* In a closed loop: as many as have been answered. */
static void refill(struct load *l)
{
    while (l->outstanding > 0 && !l->ends && !l->broken &&
           l->count - l->answered < l->outstanding) {
        l->due_ns = uv_hrtime();
        if (is_over(l))
            stop_sending(l);
        else
            send_one(l);
    }
}

static void on_next(uv_timer_t *timer)
{
    struct load *l = timer->data;
    uint64_t now = uv_hrtime();
    while (l->due_ns <= now && !l->broken) {
        if (is_over(l)) {
            stop_sending(l);
            return;
        }
        send_one(l);
        l->due_ns += (uint64_t)draw_gap_ns(l);
    }
    if (!l->broken) /* timers have a grain of a millisecond, and those that are due meanwhile go
                       together */
        uv_timer_start(&l->next, on_next, (l->due_ns - now) / 1000000 + 1, 0);
}

static void begin(struct load *l)
{
    l->begun_ns = uv_hrtime();
    if (l->outstanding > 0) {
        refill(l);
        return;
    }
    l->due_ns = l->begun_ns + (uint64_t)draw_gap_ns(l);
    on_next(&l->next);
}

static void on_connect(uv_connect_t *connect, int status)
{
    struct link *link = connect->data;
    struct load *l = link->load;
    if (status < 0) {
        fail(l, "Cannot connect", uv_strerror(status));
        return;
    }
    uv_tcp_nodelay(&link->tcp, 1);
    uv_read_start((uv_stream_t *)&link->tcp, give_room, on_read);
    if (++l->ready < l->connections)
        return;
    if (l->turns)
        uv_stop(&l->loop);
    else
        begin(l);
}

/* ---- from the beginning to the end ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_result(struct load *l)
{
    double sum = 0;
    size_t n = l->answered;
    for (size_t i = 0; i < n; i++)
        sum += l->latency_us[i];
    if (n)
        qsort(l->latency_us, n, sizeof(double), compare);
    printf("{\"sent\": %zu, \"answered\": %zu", l->count, n);
    for (int i = 0; i < STATUSES; i++)
        printf(", \"%s\": %zu", status_name((unsigned)i), l->by_status[i]);
    if (n)
        printf(", \"mean_us\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
               "\"seconds\": %.6f",
               sum / (double)n, l->latency_us[n / 2], l->latency_us[n * 99 / 100],
               l->latency_us[n - 1], (double)(l->answered_ns - l->begun_ns) / 1e9);
    printf(", \"late\": %zu}\n", l->late);
}

static int connect_all(struct load *l, const char *where)
{
    struct sockaddr_in address;
    if (address_read(where, &address) != 0) {
        fprintf(stderr, "load: %s is not an address: expected HOST:PORT\n", where);
        return 2;
    }
    for (unsigned i = 0; i < l->connections; i++) {
        struct link *link = &l->links[i];
        uv_tcp_init(&l->loop, &link->tcp);
        link->tcp.data = link->connect.data = link;
        link->load = l;
        uv_tcp_connect(&link->connect, &link->tcp, (const struct sockaddr *)&address, on_connect);
    }
    return 0;
}

/* One load: 0 if all was answered well. */
static int play(struct load *l)
{
    uv_run(&l->loop, UV_RUN_DEFAULT);
    print_result(l);
    return l->broken || l->by_status[STATUS_OK] != l->count;
}

static int read_turn(const char *line, struct load *l)
{
    char *behind, *end;
    unsigned long most = strtoul(line, &behind, 10);
    l->most = (unsigned)most;
    l->seed = strtoull(behind, &end, 10);
    return most >= 1 && most <= UINT32_MAX && *behind == ' ' && end != behind &&
           (*end == '\n' || *end == '\0');
}

/* A load for each line of the input: 0 if all was answered well. */
static int play_turns(struct load *l)
{
    char line[64];
    int code = 0;
    uv_run(&l->loop, UV_RUN_DEFAULT); /* until all are connected */
    while (!l->broken && fgets(line, sizeof(line), stdin)) {
        if (!read_turn(line, l)) {
            fprintf(stderr, "load: A line of the input is not REQUESTS SEED\n");
            code = 2;
            break;
        }
        l->ends = 0;
        l->count = l->answered = l->late = 0;
        memset(l->by_status, 0, sizeof(l->by_status));
        uv_update_time(&l->loop); /* of before the line */
        begin(l);
        code |= play(l);
        fflush(stdout);
    }
    code |= l->broken;
    close_all(l);
    uv_run(&l->loop, UV_RUN_DEFAULT);
    return code;
}

static int run(struct load *l, const char *where)
{
    uv_loop_init(&l->loop);
    uv_timer_init(&l->loop, &l->next);
    uv_timer_init(&l->loop, &l->give_up);
    uv_signal_init(&l->loop, &l->term);
    l->next.data = l->give_up.data = l->term.data = l;
    if (!l->turns) /* else it ends at once: it may be waiting for a line */
        uv_signal_start(&l->term, on_term, SIGTERM);
    int code = connect_all(l, where);
    if (code != 0) {
        close_all(l);
        uv_run(&l->loop, UV_RUN_DEFAULT);
    } else
        code = l->turns ? play_turns(l) : play(l);
    uv_loop_close(&l->loop);
    for (unsigned i = 0; i < l->connections; i++)
        bytes_free(&l->links[i].in);
    return code;
}

int load_main(int argc, char **argv)
{
    const char *where = "";
    struct load *l = calloc(1, sizeof(*l));
    if (!l)
        return 1;
    unsigned seed = 1, rate = 0, seconds = 10;
    *l = (struct load){.connections = 8,
                       .put_percent = 20,
                       .list_percent = 10,
                       .patience_s = 20,
                       .value_bytes = 256};
    const struct option_row rows[] = {
        {"to", OPTION_TEXT, &where, 0, 0},
        {"rate", OPTION_NUMBER, &rate, 1, 100000},
        {"seconds", OPTION_NUMBER, &seconds, 1, 1000000},
        {"requests", OPTION_NUMBER, &l->most, 1, UINT32_MAX},
        {"outstanding", OPTION_NUMBER, &l->outstanding, 1, OUTSTANDING_MAX},
        {"turns", OPTION_FLAG, &l->turns, 0, 0},
        {"seed", OPTION_NUMBER, &seed, 0, UINT32_MAX},
        {"connections", OPTION_NUMBER, &l->connections, 1, CONNECTIONS_MAX},
        {"put-percent", OPTION_NUMBER, &l->put_percent, 0, 100},
        {"list-percent", OPTION_NUMBER, &l->list_percent, 0, 100},
        {"value-bytes", OPTION_NUMBER, &l->value_bytes, 0, FRAME_BODY_MAX - REQUEST_HEAD},
        {"patience", OPTION_NUMBER, &l->patience_s, 1, 3600},
        {NULL, OPTION_TEXT, NULL, 0, 0},
    };
    int code = options_read(argc, argv, rows);
    if (code == 0 && rate > 0 && l->outstanding > 0) {
        fprintf(stderr, "load: --rate and --outstanding exclude each other\n");
        code = 2;
    }
    if (code == 0) {
        l->rate = rate > 0 ? rate : RATE;
        l->seconds = seconds;
        l->seed = seed;
        code = run(l, where);
    }
    free(l->sent);
    free(l->latency_us);
    free(l);
    return code;
}
