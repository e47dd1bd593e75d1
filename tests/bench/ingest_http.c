/* OTLP over HTTP/1.1: one body at a time, on a connection that is kept. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ingest_link.h"

#define ANSWER_MAX 4096

struct link {
    int socket;
    const char *host;
    struct answer_taker to;
    struct body *body; /* NULL: none is under way */
    uint64_t due_ns;
    char head[256];
    size_t head_size, sent; /* of head and body */
    char answer[ANSWER_MAX];
    size_t answer_size;
};

static struct link *create(int socket, const char *host, unsigned depth, struct answer_taker to)
{
    struct link *l = calloc(1, sizeof(*l));
    if (!l)
        die("out of memory");
    (void)depth;
    l->socket = socket;
    l->host = host;
    l->to = to;
    return l;
}

static void destroy(struct link *l)
{
    close(l->socket);
    free(l);
}

static bool has_room(const struct link *l)
{
    return !l->body;
}

static bool wants_write(const struct link *l)
{
    return l->body && l->sent < l->head_size + l->body->size;
}

static void send_body(struct link *l, struct body *body, uint64_t due_ns)
{
    l->body = body;
    l->due_ns = due_ns;
    l->sent = l->answer_size = 0;
    l->head_size = (size_t)snprintf(l->head, sizeof(l->head),
                                    "POST /v1/traces HTTP/1.1\r\nHost: %s\r\n"
                                    "Content-Type: application/x-protobuf\r\n"
                                    "Content-Length: %zu\r\n\r\n",
                                    l->host, body->size);
}

static void write_link(struct link *l)
{
    while (wants_write(l)) {
        bool in_head = l->sent < l->head_size;
        const char *from = in_head ? l->head + l->sent
                                   : l->body->bytes + BODY_PREFIX + (l->sent - l->head_size);
        size_t left = (in_head ? l->head_size : l->head_size + l->body->size) - l->sent;
        ssize_t written = write(l->socket, from, left);
        if (written < 0 && errno == EAGAIN)
            return;
        if (written < 0)
            die("the connection is lost");
        l->sent += (size_t)written;
    }
}

/* The value of a header; NULL: there is none. `answer` ends with a NUL. */
static const char *value_of(const char *answer, const char *end, const char *name)
{
    for (const char *line = strstr(answer, "\r\n"); line && line < end;
         line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, strlen(name)) == 0 && line[2 + strlen(name)] == ':')
            return line + 3 + strlen(name);
    return NULL;
}

static void read_link(struct link *l)
{
    ssize_t size = read(l->socket, l->answer + l->answer_size, ANSWER_MAX - 1 - l->answer_size);
    if (size < 0 && errno == EAGAIN)
        return;
    if (size <= 0 || !l->body)
        die("the connection is lost");
    l->answer_size += (size_t)size;
    l->answer[l->answer_size] = '\0';
    const char *end = strstr(l->answer, "\r\n\r\n");
    const char *length = end ? value_of(l->answer, end, "Content-Length") : NULL;
    if (!end || l->answer_size < (size_t)(end + 4 - l->answer) +
                                     (length ? strtoul(length, NULL, 10) : 0))
        return;
    unsigned long status = strtoul(l->answer + strlen("HTTP/1.1 "), NULL, 10);
    struct answer answer = {.outcome = status == 200                    ? TAKEN
                                       : status == 503 || status == 429 ? REFUSED
                                                                        : FAILED};
    answer.has_delay = value_of(l->answer, end, "Retry-After") != NULL;
    answer.rejected = answer.outcome == TAKEN && l->answer_size > (size_t)(end + 4 - l->answer);
    struct body *body = l->body;
    l->body = NULL;
    l->to.take(l->to.context, body, l->due_ns, &answer);
}

const struct link_ops ingest_http = {create,      destroy,   has_room,  send_body,
                                     wants_write, read_link, write_link};
