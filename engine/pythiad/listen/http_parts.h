/* Declarations shared by http_server.c, http_forward.c and http_stream.c. */
#ifndef PYTHIA_PYTHIAD_HTTP_PARTS_H
#define PYTHIA_PYTHIAD_HTTP_PARTS_H

#include <microhttpd.h>

#include "http_server.h"
#include "listen.h"
#include "pythia/buf.h"

struct pythia__http_connection {
    struct pythia__http_connection *next, *previous;
    struct MHD_Connection *mhd;
    struct pythia__place place;
    uint64_t received; /* of the body */
    uint64_t turn;     /* in which it took bytes last */
    size_t turn_bytes; /* that it took in it */
    bool closing;
    bool has_bad_target; /* of the current request */
    bool trusted;        /* its certificate was looked at, and is good */
};

struct pythia__http_exchange {
    struct pythia__http_server *server;
    struct pythia__http_exchange *next_paused; /* of the server, if it is `paused` */
    struct MHD_Connection *mhd;
    struct pythia__http_connection *connection;
    const struct pythia__http_route *route;
    struct pythia_buf body;
    struct MHD_Response *response;
    unsigned status;
    bool suspended, handled, too_large, paused;
    struct pythia__refused_body no_room;
    size_t announced; /* bytes of the body, by its sender; 0: unknown */
    size_t room;      /* that the body has */
    struct {
        char name[64], value[192];
    } headers[8];
    size_t header_count;
    char *path;
    char *query; /* "name=value", of an exchange that was forwarded; NULL: as the client has it */
    pythia__http_wrap wrap; /* of the answer of the route it was forwarded to; NULL: none */
    void *wrap_context;
};

struct pythia__http_stream {
    struct pythia__http_stream *next, *previous; /* of the server */
    struct pythia__http_server *server;
    struct MHD_Connection *mhd;
    struct pythia__http_connection *connection;
    struct pythia_buf pending;
    size_t taken; /* bytes of `pending` that the connection has */
    bool suspended, ended;
    void (*gone)(void *context);
    void *context;
};

struct pythia__http_server {
    uv_loop_t *loop;
    struct pythia__http_options o;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t due, check;
    uv_idle_t again;
    struct pythia__http_connection *connections;
    size_t connection_count; /* except connections that are closing */
    int socket, handles_open;
    struct pythia__socket_file file;
    unsigned port;
    bool running;
    uint64_t checked_ms;                  /* when deadlines were looked at last */
    uint64_t turn;                        /* number of the current run */
    struct pythia__http_exchange *paused; /* whose connections have taken enough in this turn */
    struct pythia__http_stream *streams;
    bool left; /* a connection has gone: at its limit, MHD listens again in the round after that */
    struct pythia__http_numbers numbers;
};

/* The route for a method and path; NULL: none, and *known says if the path has other methods. */
const struct pythia__http_route *pythia__http_route_find(const struct pythia__http_server *s,
                                                         const char *method, const char *path,
                                                         bool *known);
/* Answer with a response (taken; NULL: out of memory), once. */
void pythia__http_answer_with(struct pythia__http_exchange *x, unsigned status, const char *type,
                              struct MHD_Response *response);
/* Close a connection: MHD sees in its next round that it has ended. */
void pythia__http_cut(struct pythia__http_server *s, struct pythia__http_connection *c);
/* Run the server again, once the loop has had its turn. */
void pythia__http_run_soon(struct pythia__http_server *s);

#endif
