/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *put(unsigned char *to, uint32_t number, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, number >>= 8)
        to[i] = (unsigned char)number;
    return to + bytes;
}

static uint32_t get(const unsigned char *from, int bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < bytes; i++)
        number = number << 8 | from[i];
    return number;
}

static int is_method(unsigned method)
{
    return (method >= METHOD_GET && method < METHODS) || method == METHOD_PLANT ||
           method == METHOD_STATE;
}

/* What is wrong with a head, of which the first `bytes` are there; NULL: nothing so far. */
static const char *fault_of(const unsigned char *data, size_t bytes)
{
    if ((bytes > 0 && data[0] != 'R') || (bytes > 1 && data[1] != 'P'))
        return "it does not begin with RP";
    if (bytes > 2 && data[2] != FRAME_VERSION)
        return "it is of another version";
    if (bytes > 3 && data[3] != FRAME_REQUEST && data[3] != FRAME_ANSWER)
        return "it is neither a request nor an answer";
    if (bytes > 4 && !is_method(data[4]))
        return "there is no such method";
    if (bytes > 5 && data[5] >= STATUSES)
        return "there is no such status";
    if (bytes > 7 && data[7] != 0)
        return "a byte that is kept free is not 0";
    if (bytes < FRAME_HEAD)
        return NULL;
    if (get(data + 16, 4) > FRAME_BODY_MAX)
        return "its body is longer than 1 MiB";
    if (get(data + 20, 2) > CONTEXT_MAX)
        return "its trace context is longer than 256 bytes";
    return get(data + 22, 2) != 0 ? "bytes that are kept free are not 0" : NULL;
}

long frame_read(const unsigned char *data, size_t bytes, struct frame *out, const char **why)
{
    *why = fault_of(data, bytes);
    if (*why)
        return -EPROTO;
    if (bytes < FRAME_HEAD)
        return 0;
    size_t body = get(data + 16, 4), context = get(data + 20, 2);
    size_t all = FRAME_HEAD + context + body;
    if (bytes < all)
        return 0;
    *out = (struct frame){
        .kind = data[3],
        .method = data[4],
        .status = data[5],
        .attempt = data[6],
        .number = get(data + 8, 4),
        .lamport = get(data + 12, 4),
        .context = data + FRAME_HEAD,
        .context_bytes = context,
        .body = data + FRAME_HEAD + context,
        .body_bytes = body,
    };
    return (long)all;
}

int frame_write(struct bytes *to, const struct frame *frame)
{
    if (frame->body_bytes > FRAME_BODY_MAX || frame->context_bytes > CONTEXT_MAX)
        return -EMSGSIZE;
    size_t all = FRAME_HEAD + frame->context_bytes + frame->body_bytes;
    unsigned char *at = bytes_room(to, all);
    if (!at)
        return -ENOMEM;
    memcpy(at, "RP", 2);
    at[2] = FRAME_VERSION;
    at[3] = frame->kind;
    at[4] = frame->method;
    at[5] = frame->status;
    at[6] = frame->attempt;
    at[7] = 0;
    at = put(at + 8, frame->number, 4);
    at = put(at, frame->lamport, 4);
    at = put(at, (uint32_t)frame->body_bytes, 4);
    at = put(at, (uint32_t)frame->context_bytes, 2);
    at = put(at, 0, 2);
    if (frame->context_bytes)
        memcpy(at, frame->context, frame->context_bytes);
    at += frame->context_bytes;
    if (frame->body_bytes)
        memcpy(at, frame->body, frame->body_bytes);
    to->used += all;
    return 0;
}

int request_read(const unsigned char *body, size_t bytes, struct request *out)
{
    if (bytes < REQUEST_HEAD)
        return -EPROTO;
    *out = (struct request){.tenant = (uint16_t)get(body, 2),
                            .key = get(body + 2, 4),
                            .count = (uint16_t)get(body + 6, 2),
                            .value = body + REQUEST_HEAD,
                            .value_bytes = bytes - REQUEST_HEAD};
    return 0;
}

int request_write(struct bytes *to, const struct request *request)
{
    unsigned char *at = bytes_room(to, REQUEST_HEAD + request->value_bytes);
    if (!at)
        return -ENOMEM;
    at = put(at, request->tenant, 2);
    at = put(at, request->key, 4);
    at = put(at, request->count, 2);
    if (request->value_bytes)
        memcpy(at, request->value, request->value_bytes);
    to->used += REQUEST_HEAD + request->value_bytes;
    return 0;
}

unsigned char *bytes_room(struct bytes *b, size_t more)
{
    if (b->room - b->used < more) {
        size_t room = b->room * 2 > b->used + more ? b->room * 2 : b->used + more;
        unsigned char *data = realloc(b->data, room);
        if (!data)
            return NULL;
        b->data = data;
        b->room = room;
    }
    return b->data + b->used;
}

int bytes_add(struct bytes *b, const void *data, size_t bytes)
{
    if (bytes == 0)
        return 0;
    unsigned char *at = bytes_room(b, bytes);
    if (!at)
        return -ENOMEM;
    memcpy(at, data, bytes);
    b->used += bytes;
    return 0;
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

const char *method_name(unsigned method)
{
    static const char *const names[METHODS] = {
        [METHOD_GET] = "get", [METHOD_PUT] = "put", [METHOD_LIST] = "list"};
    return method < METHODS && names[method] ? names[method] : "?";
}

const char *status_name(unsigned status)
{
    static const char *const names[STATUSES] = {"ok", "busy", "again", "broken", "failed"};
    return status < STATUSES ? names[status] : "?";
}
