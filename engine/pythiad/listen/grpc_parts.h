/* Shared by the files of gRPC's server. Each calls those after it: grpc_server.c (the listener,
 * deadlines), grpc_receive.c (bytes that come, and the budget for them), grpc_call.c (calls, and
 * what nghttp2 reports of them), grpc_connection.c (one connection, and its end). */
#ifndef PYTHIA_PYTHIAD_GRPC_PARTS_H
#define PYTHIA_PYTHIAD_GRPC_PARTS_H

#include <nghttp2/nghttp2.h>
#include <stdbool.h>

#include "grpc_server.h"
#include "grpc_status.h"
#include "listen.h"
#include "pythia/buf.h"
#include "tls.h"

#define PYTHIA__GRPC_PREFIX            5 /* of a message: is it packed? and its length */
#define PYTHIA__GRPC_READ_BYTES        ((size_t)64 * 1024)
#define PYTHIA__GRPC_HEADER_LIST_BYTES ((size_t)16 * 1024) /* as HTTP/2 counts them */
#define PYTHIA__GRPC_FRAME_HEAD        9

struct pythia__grpc_connection;

struct pythia__grpc_call {
    struct pythia__grpc_server *server;
    struct pythia__grpc_connection
        *connection;                           /* NULL: it is closed, and the answer goes nowhere */
    struct pythia__grpc_call *next, *previous; /* of the connection */
    int32_t stream;
    const struct pythia__grpc_method *method;
    enum pythia_packing packing; /* of messages that say they are packed */
    bool is_post, is_grpc, has_token, headed, ended, handled, answered, refused, has_long_list;
    unsigned char prefix[PYTHIA__GRPC_PREFIX];
    size_t prefix_size;
    struct pythia_buf body;              /* behind the prefix */
    size_t received, room;               /* of both; and the room that they have */
    struct pythia__refused_body no_room; /* what there was no room for */
    size_t header_bytes;                 /* as HTTP/2 counts them */
    char *answer;                        /* message with its prefix */
    size_t answer_size, answer_at;
    enum pythia__grpc_status status;
    const char *http_status; /* of a request that is no call of gRPC, static; NULL: it is one */
    char text[192], details[PYTHIA__GRPC_DETAILS];
    uint64_t since_ms; /* begun, or its headers are there, or it is answered */
};

struct pythia__grpc_connection {
    struct pythia__grpc_connection *next, *previous;
    struct pythia__grpc_server *server;
    uv_stream_t *stream; /* of the handle below */
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } handle;
    uv_write_t write;
    nghttp2_session *session;
    struct pythia__tls_session *tls;
    struct pythia_buf plain, wire; /* wire: what is being written */
    struct pythia_buf waiting;     /* bytes that came when the budget of the turn was spent */
    size_t waiting_at;             /* of them: the first that was not taken */
    struct pythia__grpc_connection *next_waiting; /* in the server's queue, if it is `queued` */
    uint64_t turn;                                /* of the loop, in which bytes were taken last */
    size_t turn_bytes;                            /* that were taken in it */
    unsigned long_lists; /* streams whose list of headers was above the limit */
    unsigned char frame_head[PYTHIA__GRPC_FRAME_HEAD + 1]; /* of the frame that begins */
    size_t frame_head_size;                                /* bytes of it that have come */
    size_t frame_left;     /* bytes until the next frame begins: of the preface, or of a frame */
    size_t overhead_bytes; /* received without content, and not paid for by content */
    struct pythia__grpc_call *calls;
    bool queued;    /* it is resumed in a later turn */
    bool ends;      /* it broke a limit for good: it is told so, and nothing more is read */
    bool receiving; /* nghttp2 is calling back: it must not be asked for what to send */
    bool writing, closing, greeted, served; /* a call was answered */
    uint64_t since_ms;                      /* connected, or the last call ended */
};

struct pythia__grpc_server {
    uv_loop_t *loop;
    struct pythia__grpc_options o;
    union {
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } listener;
    uv_timer_t check;
    uv_check_t turns;       /* ends one turn of the loop, begins the next */
    uv_idle_t busy;         /* keeps the loop from sleeping while some wait */
    uint64_t turn, turn_ns; /* its number, and the time it has cost so far */
    struct pythia__grpc_connection *first_waiting, **last_waiting;
    size_t waiting_count;
    uint64_t checked_ms; /* when deadlines were looked at last */
    bool has_newcomer;   /* a connection waits to be taken: libuv listens for no other until then */
    nghttp2_session_callbacks *callbacks;
    struct pythia__tls *tls;
    struct pythia__grpc_connection *connections;
    size_t connection_count; /* except connections that are closing */
    size_t handles_open, calls_open;
    void (*take_connection)(struct pythia__grpc_server *s); /* that has come to the listener */
    unsigned port;
    struct pythia__socket_file file;
    bool is_pipe, listening, destroyed;
    struct pythia__grpc_numbers numbers;
    char buffer[PYTHIA__GRPC_READ_BYTES];
};

/* ---- one connection: grpc_connection.c ---- */

/* Send what nghttp2 has to say, unless it is calling back, or a write is under way. */
void pythia__grpc_flush(struct pythia__grpc_connection *c);
/* Close a connection at once; what it has to send is not sent. */
void pythia__grpc_close(struct pythia__grpc_connection *c);

/* Does its peer not read what it is sent? */
bool pythia__grpc_is_blocked(const struct pythia__grpc_connection *c);
/* The last place in the queue of connections whose bytes wait for a later turn of the loop. */
void pythia__grpc_queue(struct pythia__grpc_connection *c);
void pythia__grpc_unqueue(struct pythia__grpc_connection *c);
/* While it is active (of uv_idle_start), the loop does not sleep. */
void pythia__grpc_stay_awake(uv_idle_t *busy);

/* The body of a call is not kept, or not any more. */
void pythia__grpc_leave_room(struct pythia__grpc_call *call);
void pythia__grpc_free_call(struct pythia__grpc_call *call);
/* The stream of a call is gone: a call that is being worked on is answered into the void. */
void pythia__grpc_leave_call(struct pythia__grpc_call *call);

/* Free a server that was destroyed once nothing is left of it. */
void pythia__grpc_forget_if_done(struct pythia__grpc_server *s);

/* ---- bytes that come: grpc_receive.c ---- */

/* Read a connection from now on. */
void pythia__grpc_read(struct pythia__grpc_connection *c);
/* One more has come (of uv_listen); it is taken when there is budget for it. */
void pythia__grpc_on_connection(uv_stream_t *listener, int status);
/* Begin to count turns of the loop; both handles are to be closed by the caller. */
void pythia__grpc_start_turns(struct pythia__grpc_server *s);

/* ---- calls: grpc_call.c ---- */

/* Set what nghttp2 calls for calls. */
void pythia__grpc_call_callbacks(nghttp2_session_callbacks *callbacks);

#endif
