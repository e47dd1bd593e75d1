/* A controller over one plane, told what to want by lines of JSON, for tests with real agents:
 *
 *     control_server PLANE [option=value …]
 *
 *     {"want": [{"id": "…", "types": ["…"]}, …]}    -> {"version": n}
 *     {"off": true}                                 -> {"status": 0}
 *     {"show": true}    -> {"in_force": …, "since_ms": …, "points": […], "numbers": {…}}
 *
 * It ticks fifty times a second. For the plane "http" it serves HTTP on a port of 127.0.0.1, which
 * it prints first: {"port": n}; one request a connection at a time, for as many as come. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "pythia/control_http.h"
#include "pythia/controller.h"
#include "pythia/status.h"

#define TICK_MS    20
#define CLIENTS    64
#define ROOM       (2 * 1024 * 1024)
#define WISHES_MAX 256

struct client {
    int socket; /* 0: free */
    char *bytes;
    size_t size;
};

static struct pythia_control *plane;
static struct pythia_controller *controller;
static uint64_t version;
static struct client clients[CLIENTS];

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void die(const char *why)
{
    fprintf(stderr, "control_server: %s\n", why);
    exit(1);
}

static void say(json_t *answer)
{
    char *text = json_dumps(answer, JSON_COMPACT);
    puts(text);
    fflush(stdout);
    free(text);
    json_decref(answer);
}

/* ---- commands ---- */

static void want(const json_t *ids)
{
    static struct pythia_control_wish wishes[WISHES_MAX];
    static struct pythia_text types[WISHES_MAX][16];
    size_t count = json_array_size(ids);
    if (count > WISHES_MAX)
        die("too many wishes");
    for (size_t i = 0; i < count; i++) {
        const json_t *wish = json_array_get(ids, i), *names = json_object_get(wish, "types");
        wishes[i] = (struct pythia_control_wish){
            .id = pythia_text_of(json_string_value(json_object_get(wish, "id"))),
            .types = names ? types[i] : NULL,
            .type_count = json_array_size(names)};
        for (size_t t = 0; t < json_array_size(names) && t < 16; t++)
            types[i][t] = pythia_text_of(json_string_value(json_array_get(names, t)));
    }
    if (pythia_controller_want(controller, wishes, count, &version) != PYTHIA_OK ||
        pythia_controller_tick(controller, now_ns()) != PYTHIA_OK)
        die("out of memory");
    say(json_pack("{s:I}", "version", (json_int_t)version));
}

static int add_point(void *context, const struct pythia_controlled *p)
{
    static const char *const results[] = {"pending", "applied", "refused", "lost"};
    json_t *point = json_pack(
        "{s:s%, s:s%, s:s, s:b, s:b, s:b, s:I}", "id", p->id.bytes, p->id.size, "target",
        p->target.bytes, p->target.size, "result", results[p->result], "wanted", p->wanted,
        "quarantined", p->quarantined, "default", p->open_by_default, "hits", (json_int_t)p->hits);
    if (point && !isnan(p->price_ns))
        json_object_set_new(point, "price_ns", json_real(p->price_ns));
    json_array_append_new(context, point);
    return PYTHIA_OK;
}

static void show(void)
{
    json_t *points = json_array();
    uint64_t since = 0;
    bool in_force = pythia_controller_in_force(controller, version, &since);
    struct pythia_controller_numbers n = pythia_controller_numbers(controller);
    pythia_controller_each(controller, add_point, points);
    say(json_pack("{s:b, s:I, s:I, s:o, s:{s:I, s:I, s:I, s:I}}", "in_force", in_force, "since_ns",
                  (json_int_t)since, "now_ns", (json_int_t)now_ns(), "points", points, "numbers",
                  "applied", (json_int_t)n.applied, "failed_applies", (json_int_t)n.failed_applies,
                  "lost_targets", (json_int_t)n.lost_targets, "in_quarantine",
                  (json_int_t)n.in_quarantine));
}

static void obey(const char *line, size_t size)
{
    json_t *command = json_loadb(line, size, 0, NULL);
    if (!command)
        die("a command that is no JSON");
    const json_t *off = json_object_get(command, "off");
    if (json_object_get(command, "want"))
        want(json_object_get(command, "want"));
    else if (off)
        say(json_pack("{s:i}", "status",
                      json_is_true(off) ? pythia_controller_off(controller, now_ns())
                                        : pythia_controller_on(controller, now_ns())));
    else
        show();
    json_decref(command);
}

/* What came on stdin, line by line. False at its end. */
static bool read_commands(void)
{
    static char bytes[65536];
    static size_t size;
    ssize_t got = read(STDIN_FILENO, bytes + size, sizeof(bytes) - size);
    if (got <= 0)
        return false;
    size += (size_t)got;
    char *newline;
    while ((newline = memchr(bytes, '\n', size))) {
        size_t line = (size_t)(newline - bytes) + 1;
        obey(bytes, line);
        memmove(bytes, bytes + line, size - line);
        size -= line;
    }
    return true;
}

/* ---- HTTP, as much as the agents need ---- */

static struct pythia_text header(const char *head, const char *name)
{
    size_t size = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, size) == 0 && line[2 + size] == ':') {
            const char *value = line + 2 + size + 1;
            value += strspn(value, " ");
            return (struct pythia_text){value, strcspn(value, "\r")};
        }
    return (struct pythia_text){"", 0};
}

/* A parameter of the request's line, its %xx decoded into `room`. */
static struct pythia_text parameter(const char *head, const char *name, char room[1024])
{
    size_t size = 0;
    char key[64];
    const char *line = strstr(head, "\r\n");
    snprintf(key, sizeof(key), "%s=", name);
    const char *at = strstr(head, key);
    if (!at || at > line)
        return (struct pythia_text){"", 0};
    for (at += strlen(key); *at != ' ' && *at != '&' && size < 1023; at++) {
        unsigned byte = (unsigned char)*at;
        uint64_t high, low;
        if (*at == '%' && at[1] && at[2] &&
            pythia_text_hex((struct pythia_text){at + 1, 2}, &high, &low)) {
            byte = (unsigned)low;
            at += 2;
        }
        room[size++] = (char)byte;
    }
    return (struct pythia_text){room, size};
}

static void answer(struct client *c, const char *head, struct pythia_text content)
{
    char service[1024], instance[1024], etag[PYTHIA_CONTROL_HTTP_ETAG] = "";
    struct pythia_buf body = {0}, out = {0};
    int status;
    if (strncmp(head, "GET ", 4) == 0)
        status = pythia_control_http_get(plane, parameter(head, "service", service),
                                         parameter(head, "instance", instance),
                                         header(head, "if-none-match"), now_ns(), &body, etag);
    else
        status = pythia_control_http_post(plane, content.bytes, content.size, now_ns(), &body);
    pythia_buf_printf(&out, "HTTP/1.1 %d Answer\r\nContent-Length: %zu\r\n", status,
                      status == 304 ? 0 : body.size);
    if (etag[0])
        pythia_buf_printf(&out, "ETag: %s\r\n", etag);
    pythia_buf_puts(&out, "Content-Type: application/json\r\n\r\n");
    pythia_buf_text_add(&out, pythia_buf_text(&body));
    if (write(c->socket, out.bytes, out.size) < 0 && errno != EPIPE)
        perror("control_server");
    pythia_buf_free(&body);
    pythia_buf_free(&out);
}

static void end_client(struct client *c)
{
    close(c->socket);
    free(c->bytes);
    *c = (struct client){0};
}

static void serve(struct client *c)
{
    ssize_t got = read(c->socket, c->bytes + c->size, ROOM - c->size - 1);
    if (got <= 0) {
        end_client(c);
        return;
    }
    c->size += (size_t)got;
    c->bytes[c->size] = '\0';
    char *end;
    while ((end = strstr(c->bytes, "\r\n\r\n"))) {
        size_t head = (size_t)(end - c->bytes) + 4;
        size_t content = (size_t)strtoul(header(c->bytes, "content-length").bytes, NULL, 10);
        if (c->size < head + content)
            return;
        end[2] = '\0';
        answer(c, c->bytes, (struct pythia_text){c->bytes + head, content});
        memmove(c->bytes, c->bytes + head + content, c->size - head - content + 1);
        c->size -= head + content;
    }
}

static int listen_somewhere(void)
{
    const char *wanted = getenv("CONTROL_SERVER_PORT");
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port =
                                      htons((uint16_t)(wanted ? strtoul(wanted, NULL, 10) : 0)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int on = 1, socket_number = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(socket_number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(socket_number, (struct sockaddr *)&address, size) != 0 ||
        listen(socket_number, 64) != 0 ||
        getsockname(socket_number, (struct sockaddr *)&address, &size) != 0)
        die("no port to listen on");
    say(json_pack("{s:i}", "port", ntohs(address.sin_port)));
    return socket_number;
}

static void accept_client(int listening)
{
    int socket_number = accept(listening, NULL, NULL);
    for (size_t i = 0; i < CLIENTS && socket_number >= 0; i++)
        if (!clients[i].socket) {
            clients[i] = (struct client){.socket = socket_number, .bytes = malloc(ROOM)};
            return;
        }
    if (socket_number >= 0)
        close(socket_number);
}

/* ---- all of it ---- */

static void make_plane(int argc, char **argv)
{
    const struct pythia_control_ops *ops = pythia_control_named(argc > 1 ? argv[1] : "");
    /* A service that was kept from obeying, on a busy machine for long, is asked again soon. */
    struct pythia_controller_options o = {.quarantine_ns = UINT64_C(2000000000)};
    struct pythia_error e = {0};
    if (!ops)
        die("there is no such plane");
    void *settings = calloc(1, ops->settings_size);
    pythia_options_default(ops->options, settings);
    for (int i = 2; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        size_t size = equals ? (size_t)(equals - argv[i]) : 0;
        if (equals && strncmp(argv[i], "lease-ms=", 9) == 0)
            o.lease_ns = strtoull(equals + 1, NULL, 10) * 1000000;
        for (const struct pythia_option *row = ops->options; row->name; row++)
            if (strlen(row->name) == size && strncmp(row->name, argv[i], size) == 0 &&
                pythia_option_set(row, settings, equals + 1, &e) != PYTHIA_OK)
                die(e.sentence);
    }
    if (ops->create(settings, &plane, &e) != PYTHIA_OK)
        die(e.sentence);
    free(settings);
    if (pythia_controller_create(&plane, 1, &o, &controller) != PYTHIA_OK)
        die("out of memory");
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    make_plane(argc, argv);
    int listening = strcmp(plane->ops->name, "http") == 0 ? listen_somewhere() : -1;
    for (bool running = true; running;) {
        struct pollfd files[2 + CLIENTS];
        struct client *of[2 + CLIENTS];
        nfds_t count = 2;
        files[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
        files[1] = (struct pollfd){.fd = listening, .events = POLLIN};
        for (size_t i = 0; i < CLIENTS; i++)
            if (clients[i].socket) {
                of[count] = &clients[i];
                files[count++] = (struct pollfd){.fd = clients[i].socket, .events = POLLIN};
            }
        poll(files, count, TICK_MS);
        for (nfds_t i = 2; i < count; i++)
            if (files[i].revents)
                serve(of[i]);
        if (files[1].revents)
            accept_client(listening);
        if (pythia_controller_tick(controller, now_ns()) != PYTHIA_OK)
            die("out of memory");
        if (files[0].revents)
            running = read_commands();
    }
    pythia_controller_destroy(controller);
    return 0;
}
