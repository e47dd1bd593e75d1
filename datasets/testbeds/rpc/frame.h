/* SPDX-License-Identifier: MIT */
/* What goes over a connection: frames, and what is in them. All numbers are big endian.
 *
 *      0  'R' 'P'   2  version (2)   3  kind   4  method   5  status   6  attempt   7  0
 *      8  number of the call   12  Lamport count   16  bytes of the body
 *     20  bytes of the trace context   22  0
 *     24  trace context (pythia_context_pack), body
 *
 * A request's body is tenant (2), key (4), count (2) and the value; an answer's is what was asked
 * for, or what was wrong. */
#ifndef RPC_FRAME_H
#define RPC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_HEAD     24
#define FRAME_VERSION  2
#define FRAME_BODY_MAX (1 << 20)
#define CONTEXT_MAX    256
#define REQUEST_HEAD   8 /* of a request's body, before the value */

enum frame_kind {
    FRAME_REQUEST = 1,
    FRAME_ANSWER = 2,
};

enum method {
    METHOD_GET = 1,
    METHOD_PUT,
    METHOD_LIST,
    METHODS, /* of requests; below, what is asked of a service itself */
    METHOD_PLANT = 16,
    METHOD_STATE,
};

enum status {
    STATUS_OK,
    STATUS_BUSY,   /* its queue is full */
    STATUS_AGAIN,  /* not now: the same may go well the next time */
    STATUS_BROKEN, /* that was no frame, or no request */
    STATUS_FAILED, /* a service below did not answer */
    STATUSES,
};

struct bytes {
    unsigned char *data; /* by malloc */
    size_t used, room;
};

struct frame {
    uint8_t kind, method, status, attempt;
    uint32_t number, lamport;
    const unsigned char *context, *body; /* borrowed */
    size_t context_bytes, body_bytes;
};

struct request {
    uint16_t tenant, count;
    uint32_t key;
    const unsigned char *value; /* borrowed */
    size_t value_bytes;
};

/* The frame that begins at `data`: how many bytes it has; 0 if they are not all there yet; -EPROTO
 * and *why if it cannot be one. What *out borrows is in `data`. */
long frame_read(const unsigned char *data, size_t bytes, struct frame *out, const char **why);

/* Append a frame. -ENOMEM, or -EMSGSIZE for parts that are longer than frames have. */
int frame_write(struct bytes *to, const struct frame *frame);

/* The request in a body: 0, or -EPROTO. */
int request_read(const unsigned char *body, size_t bytes, struct request *out);
int request_write(struct bytes *to, const struct request *request); /* 0, or -ENOMEM */

/* Room for so many bytes more; NULL, and nothing has changed: there is none. */
unsigned char *bytes_room(struct bytes *b, size_t more);
int bytes_add(struct bytes *b, const void *data, size_t bytes); /* 0, or -ENOMEM */
void bytes_free(struct bytes *b);

const char *method_name(unsigned method);
const char *status_name(unsigned status);

#endif
