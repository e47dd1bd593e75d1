/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_TRACEPOINTS_H
#define PYTHIA_TRACEPOINTS_H

/* Trace points for programs in C and C++, closed until they are wanted:
 *
 *     int checkout(struct cart *cart)
 *     {
 *         PYTHIA_REQUEST("checkout");              what kind of request begins here
 *         PYTHIA_SPAN_AS(span, "checkout");        a span until the end of the block
 *         PYTHIA_SET(span, "items", cart->count);  looked at only while the point is open
 *         if (!reserve(cart))
 *             PYTHIA_ANNOTATE("out of stock");
 *         …
 *
 * A closed point costs two loads and a branch. Each can be opened and closed from outside while the
 * program runs, for all requests or for some kinds of them (libpythia-tracepoints(3)). A closed
 * point is transparent: what is below it hangs on the nearest open one above.
 *
 * Everything here may be called from any thread, and waits for nobody: what cannot be recorded is
 * counted as lost. A scope of NULL is a point that is closed, and is passed over. Where
 * PYTHIA_TRACEPOINTS_DISABLE is defined nothing is left of all this, and no library is needed. */

#include <pythia/records.h>
#include <stddef.h>
#include <stdint.h>

/* A program may run with a later library than the one whose headers it was compiled with, as long
 * as both have one soname. So no struct of these headers is without a mark of its layout:
 *
 * - Points, requests and labels are initialised by the program, contexts and scopes by the
 *   library. These five have a field `version`, the version of the header that the program was
 *   compiled with; 0 is the same layout as 1. Their sizes are fixed: a feature that needs more
 *   fields gets new functions.
 * - All other structs (options, states, counts, handlers, observations) may get more fields at
 *   their end. The inline functions that programs call pass them with their size, to a function
 *   whose name ends in _sized. The library takes 0 for fields that the program lacks. It returns
 *   -E2BIG for fields that it lacks itself, if they are not 0. A struct that it gives back is cut
 *   to the size that the program has, or filled up with 0. */
#define PYTHIA_TRACEPOINTS_VERSION 1

enum pythia_point_kind {
    PYTHIA_POINT_INTERNAL,
    PYTHIA_POINT_SERVER, /* a request from elsewhere is answered */
    PYTHIA_POINT_CLIENT, /* another process is asked, and waited for */
    PYTHIA_POINT_PRODUCER,
    PYTHIA_POINT_CONSUMER,
};

/* A place in the program. Each macro below has one, static; PYTHIA_POINT is for places that are
 * found at run time. It must outlive every call that is given it. */
struct pythia_point {
    const uint64_t *switches; /* bit r: open for request type r; never NULL */
    const char *name;
    uint32_t name_bytes;
    uint32_t number; /* in this process; 0 until the first pass */
    uint8_t kind;
    uint8_t version;       /* PYTHIA_TRACEPOINTS_VERSION */
    const uint64_t **near; /* gets the same switches; NULL: there is nothing else */
};

#define PYTHIA_POINT(kind, name, bytes)                                                            \
    {                                                                                              \
        &pythia__unbound, name, bytes, 0, kind, PYTHIA_TRACEPOINTS_VERSION, PYTHIA__NULL           \
    }

/* The switches of all points until their first pass: open, so that it is noticed. */
static const uint64_t pythia__unbound __attribute__((unused)) = UINT64_MAX;

/* A kind of request: "GET /cart", "checkout". */
struct pythia_request {
    const char *name;
    size_t name_bytes;
    uint64_t version; /* PYTHIA_TRACEPOINTS_VERSION */
};

enum pythia_context_flag {
    PYTHIA_CONTEXT_SAMPLED = 1, /* else nothing of this request is recorded */
    PYTHIA_CONTEXT_REMOTE = 2,  /* the span is another process's */
    PYTHIA_CONTEXT_REQUEST = 4, /* a request has begun, even if no span of it is open */
    PYTHIA_CONTEXT_LOSSY = 32,  /* there was no room to record a span or an annotation here */
};

/* The context of a thread: the parent of its next span. Valid in this process; from process to
 * process it goes as W3C trace context. */
struct pythia_context {
    uint64_t trace_high, trace_low; /* both 0: none yet */
    uint64_t span;                  /* the nearest open one above; 0: none */
    const void *type;               /* of the request; NULL: it has no name */
    uint32_t lamport;               /* events that came before */
    uint8_t request_type;           /* its bit in the switches */
    uint8_t flags;                  /* enum pythia_context_flag */
    uint16_t version;               /* PYTHIA_TRACEPOINTS_VERSION */
};

/* A span that is open: what its end needs. The caller's memory, the library's content. */
struct pythia_scope {
    struct pythia_context before;
    uint64_t trace_high, trace_low, span;
    uint64_t ticks;
    const void *thread;
    uint64_t epoch, reserved;
    uint64_t spent; /* ticks that it has cost until now, if that is measured; else 0 */
    uint32_t point;
    uint8_t error;
    uint8_t version; /* that of its point */
};

/* The settings of a program. The environment (libpythia-tracepoints(3)) has precedence over
 * them; 0 or NULL is the default. */
struct pythia_tracepoints_options {
    const char *service;   /* this program, in the ids of trace points; default: its file's name */
    const char *directory; /* where the switchboard and the rings are found */
    const char *open;      /* patterns of points to open in this process, with commas between */
    const char *records; /* file to write to; %p: the process id. Default: others read the rings */
    size_t ring_bytes;   /* for each thread, a power of two: 64 KiB to 1 GiB; default 1 MiB */
    unsigned rings;      /* threads that can record at once, 1 to 4096; default 256 */
    unsigned flush_ms;   /* between writes to that file, 1 to 60000; default 20 */
};

struct pythia_tracepoints_state {
    uint64_t points;         /* passed at least once */
    uint64_t points_refused; /* of them without a switch of their own, for want of room: closed */
    uint64_t types;          /* kinds of requests that were seen */
    uint64_t types_other;    /* of them without a bit of their own: they share the last one */
    uint64_t lost_spans, lost_ends, lost_annotations, lost_values; /* as in records.h */
    uint64_t cut_values;    /* key-values whose key or text was longer than is kept */
    uint64_t flushed_bytes; /* written to the file of records */
    char problem[256];      /* the last one, a sentence; "": there was none */
};

#define PYTHIA_TRACEPARENT_BYTES 55
#define PYTHIA_TRACESTATE_BYTES  512
#define PYTHIA_CONTEXT_BYTES     (35 + PYTHIA_NAME_BYTES) /* packed, at most */

#ifdef __cplusplus
#define PYTHIA__NULL             nullptr
#define PYTHIA__AS(type, number) static_cast<type>(number)
#else
#define PYTHIA__NULL             NULL
#define PYTHIA__AS(type, number) ((type)(number))
#endif

#ifndef PYTHIA_TRACEPOINTS_DISABLE

#ifdef __cplusplus
extern "C" {
#endif
#ifndef PYTHIA_API
#define PYTHIA_API __attribute__((visibility("default")))
#endif

/* ---- the library as a whole ---- */

/* Before the first point is passed: 0, -EBUSY if one was, -EINVAL for a number out of range. */
PYTHIA_API int pythia_tracepoints_setup_sized(const struct pythia_tracepoints_options *options,
                                              size_t options_bytes);
static inline int pythia_tracepoints_setup(const struct pythia_tracepoints_options *options)
{
    return pythia_tracepoints_setup_sized(options, sizeof(*options));
}

/* The records that this process has made and lost so far. O(rings). */
PYTHIA_API void pythia_tracepoints_state_get_sized(struct pythia_tracepoints_state *out,
                                                   size_t out_bytes);
static inline void pythia_tracepoints_state_get(struct pythia_tracepoints_state *out)
{
    pythia_tracepoints_state_get_sized(out, sizeof(*out));
}

/* Write what is recorded until now to the file of records, and wait until that is done. 0, -ENOENT
 * if there is no such file, or the negative errno of writing it. */
PYTHIA_API int pythia_tracepoints_flush(void);

/* ---- behind the macros ---- */

/* Enter a span below the one that is open, on this thread, and leave it there. NULL: closed. */
PYTHIA_API struct pythia_scope *pythia_enter(struct pythia_point *point,
                                             struct pythia_scope *scope);
PYTHIA_API void pythia_exit(struct pythia_scope *scope);

/* Begin a span that does not become the thread's own, and end it on whatever thread. */
PYTHIA_API struct pythia_scope *pythia_begin(struct pythia_point *point,
                                             struct pythia_scope *scope);
PYTHIA_API void pythia_end(struct pythia_scope *scope);

/* As above, below the span of *context, whatever the thread's own context is: for loops that
 * have many requests in hand. It counts the event; what is to be below the span is told by
 * pythia_context_below. */
PYTHIA_API struct pythia_scope *pythia_begin_at(struct pythia_point *point,
                                                struct pythia_scope *scope,
                                                struct pythia_context *context);

/* Record that this thread hit a point, as an event without duration below the current span.
 * Does nothing where the point is closed. */
PYTHIA_API void pythia_annotate(struct pythia_point *point);

/* A key-value of a span that is open. Neither key nor text needs a NUL after it. */
PYTHIA_API void pythia_set_text(const struct pythia_scope *scope, const char *key, size_t key_bytes,
                                const char *text, size_t text_bytes);
PYTHIA_API void pythia_set_integer(const struct pythia_scope *scope, const char *key,
                                   size_t key_bytes, int64_t number);
PYTHIA_API void pythia_set_real(const struct pythia_scope *scope, const char *key, size_t key_bytes,
                                double number);
PYTHIA_API void pythia_set_bool(const struct pythia_scope *scope, const char *key, size_t key_bytes,
                                int truth);

/* The innermost span that is open on this thread, in `room`; NULL if there is none. */
PYTHIA_API const struct pythia_scope *pythia_here(struct pythia_scope *room);

/* A request begins, or one that has come from elsewhere gets a name here if it had none; until
 * pythia_request_end puts back what was before. */
PYTHIA_API void pythia_request_begin(const struct pythia_request *request,
                                     struct pythia_context *before);
PYTHIA_API void pythia_request_end(const struct pythia_context *before);

/* Name the current request, whose kind is known only now: what follows counts as of that kind. */
PYTHIA_API void pythia_request_name(const char *name, size_t name_bytes);

/* ---- work that goes from thread to thread ---- */

/* The context of this thread, for work that another thread will do. */
PYTHIA_API void pythia_context_get(struct pythia_context *out);

/* The context below a span of pythia_begin; NULL: that of this thread. */
PYTHIA_API void pythia_context_of(const struct pythia_scope *scope, struct pythia_context *out);

/* Stand there. *before gets where the thread stood, to be put back later; NULL: no need. */
PYTHIA_API void pythia_context_set(const struct pythia_context *context,
                                   struct pythia_context *before);

/* Name the request that stands there, if that is known only now. */
PYTHIA_API void pythia_context_name(struct pythia_context *context, const char *name,
                                    size_t name_bytes);

/* An answer has come in, which was sent after `lamport` events: count on from there. */
PYTHIA_API void pythia_context_receive(uint32_t lamport);

/* ---- requests that go from process to process: W3C trace context, level 1, 2021 ---- */

/* Read a header `traceparent`: 0 and *out for pythia_context_set; or -EINVAL and *out untouched,
 * which means that a new trace begins. Refused are upper case, ids of zeros, version ff, and, of
 * version 00, anything behind the flags. */
PYTHIA_API int pythia_traceparent_read(const char *header, size_t bytes,
                                       struct pythia_context *out);

/* Read our own entry of a header `tracestate`, if there is one: Lamport count and request type. */
PYTHIA_API void pythia_tracestate_read(const char *header, size_t bytes,
                                       struct pythia_context *out);

/* The headers of a request that this thread sends, with a NUL after. Returns their bytes; 0: there
 * is no request at hand, so send none. `received` is the tracestate that came in (NULL: none): the
 * entries of others go along behind ours, as many as fit. */
PYTHIA_API size_t pythia_traceparent_write(char out[PYTHIA_TRACEPARENT_BYTES + 1]);
PYTHIA_API size_t pythia_tracestate_write(const char *received, size_t received_bytes,
                                          char out[PYTHIA_TRACESTATE_BYTES + 1]);

/* ---- and in a binary form, for protocols of one's own ----
 *
 * Half of the bytes, and a sixth of the time. The first 29 are a traceparent as W3C's draft of a
 * binary form has it (archived in 2025), which is what "grpc-trace-bin" holds; behind it, Lamport
 * count and request type (libpythia-tracepoints(3)). Entries of others have no place in it. */

/* The headers of a request that this thread sends. Returns their bytes; 0: there is no current
 * request, so send none. All of *out may be written to. */
PYTHIA_API size_t pythia_context_pack(unsigned char out[PYTHIA_CONTEXT_BYTES]);

/* Read that, or a traceparent alone: 0 and *out for pythia_context_set; or -EINVAL and *out
 * untouched, which means that a new trace begins. Nothing beyond `bytes` is looked at; what comes
 * after the traceparent and is not ours is passed over. */
PYTHIA_API int pythia_context_unpack(const void *packed, size_t bytes, struct pythia_context *out);

#ifdef __cplusplus
}
#endif

/* ---- inline ---- */

static inline int pythia__is_open(const uint64_t *const *at)
{
    const uint64_t *switches = __atomic_load_n(at, __ATOMIC_RELAXED);
    return __builtin_expect(__atomic_load_n(switches, __ATOMIC_RELAXED) != 0, 0) ? 1 : 0;
}

static inline int pythia_is_open(const struct pythia_point *point)
{
    return pythia__is_open(&point->switches);
}

static inline void pythia_leave(struct pythia_scope *scope)
{
    if (__builtin_expect(scope != PYTHIA__NULL, 0))
        pythia_exit(scope);
}

static inline void pythia__leave(struct pythia_scope *const *scope)
{
    pythia_leave(*scope);
}

static inline void pythia__fail(struct pythia_scope *scope)
{
    if (scope)
        scope->error = 1;
}

/* Bytes before the first NUL, at most `most`, and never beyond the object if its size is known. */
static inline size_t pythia__bytes(const char *text, size_t object, size_t most)
{
    size_t bytes = 0, end = object < most ? object : most;
    while (text && bytes < end && text[bytes])
        bytes++;
    return bytes;
}

static inline void pythia__set_string(const struct pythia_scope *scope, const char *key,
                                      size_t key_bytes, const char *text)
{
    pythia_set_text(scope, key, key_bytes, text,
                    pythia__bytes(text, SIZE_MAX, PYTHIA_TEXT_BYTES + 1));
}

static inline void pythia__set_unsigned(const struct pythia_scope *scope, const char *key,
                                        size_t key_bytes, uint64_t number)
{
    if (number <= INT64_MAX)
        pythia_set_integer(scope, key, key_bytes, PYTHIA__AS(int64_t, number));
    else
        pythia_set_real(scope, key, key_bytes, PYTHIA__AS(double, number));
}

/* Stand below a span that was begun there; NULL: nothing changes. */
static inline void pythia_context_below(struct pythia_context *context,
                                        const struct pythia_scope *scope)
{
    if (__builtin_expect(scope == PYTHIA__NULL, 1))
        return;
    context->trace_high = scope->trace_high;
    context->trace_low = scope->trace_low;
    context->span = scope->span;
    context->flags = PYTHIA__AS(uint8_t, context->flags & ~PYTHIA_CONTEXT_REMOTE);
}

/* ---- macros ---- */

#define PYTHIA__PASTE(a, b) a##b
#define PYTHIA__NAME(a, b)  PYTHIA__PASTE(a, b)
/* Closed points read data that is close together, since it has to be fetched: eight of them to a
 * cache line. (In C++, functions of headers cannot have their data in a section of that name.) */
#ifdef __cplusplus
#define PYTHIA__NEAR
#else
#define PYTHIA__NEAR __attribute__((section("pythia_switches")))
#endif
#define PYTHIA__STATIC(point, kind, name)                                                          \
    static const uint64_t *PYTHIA__NAME(point, near) PYTHIA__NEAR = &pythia__unbound;              \
    static struct pythia_point point = {                                                           \
        &pythia__unbound,          "" name, sizeof(name) - 1, 0, kind, PYTHIA_TRACEPOINTS_VERSION, \
        &PYTHIA__NAME(point, near)}

#define PYTHIA__SPAN(span, kind, name, n)                                                          \
    PYTHIA__STATIC(PYTHIA__NAME(pythia_point_, n), kind, name);                                    \
    struct pythia_scope PYTHIA__NAME(pythia_scope_, n);                                            \
    struct pythia_scope *const span __attribute__((cleanup(pythia__leave), unused)) =              \
        pythia__is_open(&PYTHIA__NAME(PYTHIA__NAME(pythia_point_, n), near))                       \
            ? pythia_enter(&PYTHIA__NAME(pythia_point_, n), &PYTHIA__NAME(pythia_scope_, n))       \
            : PYTHIA__NULL

/* A span from here to the end of the block, however it is left. Names are string literals. */
#define PYTHIA_SPAN(name)                PYTHIA__SPAN_HERE(PYTHIA_POINT_INTERNAL, name, __COUNTER__)
#define PYTHIA__SPAN_HERE(kind, name, n) PYTHIA__SPAN(PYTHIA__NAME(pythia_span_, n), kind, name, n)

/* As above, with a variable `span` for later calls; NULL while the point is closed. */
#define PYTHIA_SPAN_AS(span, name)       PYTHIA_SPAN_OF(span, PYTHIA_POINT_INTERNAL, name)
#define PYTHIA_SPAN_OF(span, kind, name) PYTHIA__SPAN(span, kind, name, __COUNTER__)

#define PYTHIA__CALL(function, kind, name, ...)                                                    \
    __extension__({                                                                                \
        PYTHIA__STATIC(pythia_point_, kind, name);                                                 \
        pythia__is_open(&PYTHIA__NAME(pythia_point_, near))                                        \
            ? function(&pythia_point_, __VA_ARGS__)                                                \
            : PYTHIA__NULL;                                                                        \
    })

/* Entry and exit by hand: struct pythia_scope room, *span = PYTHIA_ENTER(&room, "name"); … until
 * PYTHIA_EXIT(span), on the same thread, innermost first. */
#define PYTHIA_ENTER(room, name) PYTHIA__CALL(pythia_enter, PYTHIA_POINT_INTERNAL, name, room)
#define PYTHIA_EXIT(span)        pythia_leave(span)

/* For work that other threads continue: PYTHIA_BEGIN(&room, kind, "name"), PYTHIA_END(span). */
#define PYTHIA_BEGIN(room, kind, name) PYTHIA__CALL(pythia_begin, kind, name, room)
#define PYTHIA_END(span)               ((span) ? pythia_end(span) : pythia__nothing())

/* And where a struct pythia_context * stands: PYTHIA_BEGIN_AT(&context, &room, kind, "name"). */
#define PYTHIA_BEGIN_AT(context, room, kind, name)                                                 \
    PYTHIA__CALL(pythia_begin_at, kind, name, room, context)

/* A point in time, as a part of the span that is open. */
#define PYTHIA_ANNOTATE(name)                                                                      \
    do {                                                                                           \
        PYTHIA__STATIC(pythia_point_, PYTHIA_POINT_INTERNAL, name);                                \
        if (pythia__is_open(&PYTHIA__NAME(pythia_point_, near)))                                   \
            pythia_annotate(&pythia_point_);                                                       \
    } while (0)

static inline void pythia__nothing(void)
{
}

#define PYTHIA__KEY(key)                                                                           \
    (key), __builtin_constant_p(__builtin_strlen(key))                                             \
               ? __builtin_strlen(key)                                                             \
               : pythia__bytes((key), __builtin_object_size((key), 1), PYTHIA_KEY_BYTES + 1)

/* A key-value of a span: a number, a truth or a string; in C++ also what has data() and size().
 * Neither key nor value is looked at while the point is closed. */
#define PYTHIA_SET(span, key, value)                                                               \
    ((span) ? PYTHIA__SET(value)((span), PYTHIA__KEY(key), (value)) : pythia__nothing())
#define PYTHIA_SET_TEXT(span, key, text, bytes)                                                    \
    ((span) ? pythia_set_text((span), PYTHIA__KEY(key), (text), (bytes)) : pythia__nothing())

/* A key-value of the innermost span that is open: one that explains requests, wherever in them. */
#define PYTHIA_SET_HERE(key, value)                                                                \
    do {                                                                                           \
        struct pythia_scope pythia_room_;                                                          \
        const struct pythia_scope *pythia_here_ = pythia_here(&pythia_room_);                      \
        PYTHIA_SET(pythia_here_, key, value);                                                      \
    } while (0)

/* The span has failed. */
#define PYTHIA_FAIL(span) pythia__fail(span)

/* A request of this kind begins, and ends with the block. */
#define PYTHIA_REQUEST(name) PYTHIA__REQUEST(name, __COUNTER__)
#define PYTHIA__REQUEST(name, n)                                                                   \
    static const struct pythia_request PYTHIA__NAME(pythia_request_, n) = {                        \
        "" name, sizeof(name) - 1, PYTHIA_TRACEPOINTS_VERSION};                                    \
    struct pythia_context PYTHIA__NAME(pythia_before_, n)                                          \
        __attribute__((cleanup(pythia_request_end)));                                              \
    pythia_request_begin(&PYTHIA__NAME(pythia_request_, n), &PYTHIA__NAME(pythia_before_, n))

/* Stand where another thread stood (struct pythia_context *), until the end of the block. */
#define PYTHIA_CONTEXT(context) PYTHIA__CONTEXT(context, __COUNTER__)
#define PYTHIA__CONTEXT(context, n)                                                                \
    struct pythia_context PYTHIA__NAME(pythia_before_, n)                                          \
        __attribute__((cleanup(pythia_request_end)));                                              \
    pythia_context_set(context, &PYTHIA__NAME(pythia_before_, n))

#ifndef __cplusplus

#define PYTHIA__SET(value)                                                                         \
    _Generic((value), _Bool                                                                        \
             : pythia_set_bool, char                                                               \
             : pythia_set_integer, signed char                                                     \
             : pythia_set_integer, short                                                           \
             : pythia_set_integer, int                                                             \
             : pythia_set_integer, long                                                            \
             : pythia_set_integer, long long                                                       \
             : pythia_set_integer, unsigned char                                                   \
             : pythia__set_unsigned, unsigned short                                                \
             : pythia__set_unsigned, unsigned int                                                  \
             : pythia__set_unsigned, unsigned long                                                 \
             : pythia__set_unsigned, unsigned long long                                            \
             : pythia__set_unsigned, float                                                         \
             : pythia_set_real, double                                                             \
             : pythia_set_real, char *                                                             \
             : pythia__set_string, const char *                                                    \
             : pythia__set_string)

#else

#define PYTHIA__SET(value) pythia__set

static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes, bool truth)
{
    pythia_set_bool(s, key, bytes, truth);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes, int number)
{
    pythia_set_integer(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes, long number)
{
    pythia_set_integer(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               long long number)
{
    pythia_set_integer(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               unsigned number)
{
    pythia_set_integer(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               unsigned long number)
{
    pythia__set_unsigned(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               unsigned long long number)
{
    pythia__set_unsigned(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes, double number)
{
    pythia_set_real(s, key, bytes, number);
}
static inline void pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               const char *text)
{
    pythia__set_string(s, key, bytes, text);
}
template <class Text>
static inline auto pythia__set(const pythia_scope *s, const char *key, size_t bytes,
                               const Text &text) -> decltype(text.data(), text.size(), void())
{
    pythia_set_text(s, key, bytes, text.data(), text.size());
}

#endif

#else /* PYTHIA_TRACEPOINTS_DISABLE */

/* Functions that a program calls by itself still exist, and do nothing. */
#define PYTHIA__NOT(...)                                                                           \
    do {                                                                                           \
    } while (0)
/* Used, for the compiler, and not evaluated. */
#define PYTHIA__UNUSED(value) (0 ? (void)(value) : (void)0)

#define PYTHIA_SPAN(name)                PYTHIA__NOT()
#define PYTHIA_SPAN_OF(span, kind, name) PYTHIA_SPAN_AS(span, name)
#define PYTHIA_SPAN_AS(span, name)                                                                 \
    struct pythia_scope *const span __attribute__((unused)) = PYTHIA__NULL
#define PYTHIA_ENTER(room, name)                   ((void)(room), PYTHIA__CLOSED())
#define PYTHIA_EXIT(span)                          ((void)(span))
#define PYTHIA_BEGIN(room, kind, name)             PYTHIA_ENTER(room, name)
#define PYTHIA_BEGIN_AT(context, room, kind, name) ((void)(context), PYTHIA_ENTER(room, name))
#define PYTHIA_END(span)                           ((void)(span))
#define PYTHIA_ANNOTATE(name)                      PYTHIA__NOT()
#define PYTHIA_SET(span, key, value)               PYTHIA__UNUSED(value)
#define PYTHIA_SET_TEXT(span, key, text, bytes)    PYTHIA__UNUSED(((void)(text), (bytes)))
#define PYTHIA_SET_HERE(key, value)                PYTHIA__UNUSED(value)
#define PYTHIA_FAIL(span)                          ((void)(span))
#define PYTHIA_REQUEST(name)                       PYTHIA__NOT()
#define PYTHIA_CONTEXT(context)                    ((void)(context))

#define PYTHIA__OFF static inline __attribute__((unused))

PYTHIA__OFF struct pythia_scope *PYTHIA__CLOSED(void)
{
    return PYTHIA__NULL;
}
PYTHIA__OFF int pythia_tracepoints_setup(const struct pythia_tracepoints_options *options)
{
    (void)options;
    return 0;
}
PYTHIA__OFF int pythia_tracepoints_flush(void)
{
    return 0;
}
PYTHIA__OFF void pythia_request_name(const char *name, size_t name_bytes)
{
    (void)name, (void)name_bytes;
}
PYTHIA__OFF void pythia_context_get(struct pythia_context *out)
{
    out->trace_high = out->trace_low = out->span = 0;
    out->type = PYTHIA__NULL;
    out->lamport = 0;
    out->request_type = out->flags = 0;
    out->version = PYTHIA_TRACEPOINTS_VERSION;
}
PYTHIA__OFF void pythia_context_of(const struct pythia_scope *scope, struct pythia_context *out)
{
    (void)scope;
    pythia_context_get(out);
}
PYTHIA__OFF void pythia_context_set(const struct pythia_context *context,
                                    struct pythia_context *before)
{
    (void)context;
    if (before)
        pythia_context_get(before);
}
PYTHIA__OFF void pythia_context_name(struct pythia_context *context, const char *name,
                                     size_t name_bytes)
{
    (void)context, (void)name, (void)name_bytes;
}
PYTHIA__OFF void pythia_context_below(struct pythia_context *context,
                                      const struct pythia_scope *scope)
{
    (void)context, (void)scope;
}
PYTHIA__OFF void pythia_context_receive(uint32_t lamport)
{
    (void)lamport;
}
PYTHIA__OFF size_t pythia_context_pack(unsigned char out[PYTHIA_CONTEXT_BYTES])
{
    out[0] = 0;
    return 0;
}
PYTHIA__OFF int pythia_context_unpack(const void *packed, size_t bytes, struct pythia_context *out)
{
    (void)packed, (void)bytes, (void)out;
    return -22; /* EINVAL: there is none */
}
PYTHIA__OFF int pythia_traceparent_read(const char *header, size_t bytes,
                                        struct pythia_context *out)
{
    (void)header, (void)bytes, (void)out;
    return -22; /* EINVAL: there is none */
}
PYTHIA__OFF void pythia_tracestate_read(const char *header, size_t bytes,
                                        struct pythia_context *out)
{
    (void)header, (void)bytes, (void)out;
}
PYTHIA__OFF size_t pythia_traceparent_write(char out[PYTHIA_TRACEPARENT_BYTES + 1])
{
    out[0] = '\0';
    return 0;
}
PYTHIA__OFF size_t pythia_tracestate_write(const char *received, size_t received_bytes,
                                           char out[PYTHIA_TRACESTATE_BYTES + 1])
{
    (void)received, (void)received_bytes;
    out[0] = '\0';
    return 0;
}

#endif
#endif
