/* A target that obeys, for tests that send one request after the other: what is closed leaves no
 * span, and what is in it hangs on what is around it. */
#ifndef OBEY_H
#define OBEY_H

#include "stream.h"

#define SECOND UINT64_C(1000)

/* Points that have to be open for their requests to be seen stay so; others do as is wanted, once
 * something is. */
static inline bool is_on(const struct stream *s, const char *name, size_t size)
{
    struct pythia_text id = {name, size};
    uint32_t point = pythia_vocabulary_tracepoint_find(s->vocabulary, id);
    bool entry = size == 1 || *name == 'N'; /* A, R, Z, N… */
    return entry || pythia_live_wish(s->live) == 0 ||
           (point != PYTHIA_NONE && pythia_live_is_open(s->live, point));
}

/* A copy of a text of stream.h without the spans of closed points. */
static inline const char *shown(const struct stream *s, const char *text)
{
    static char out[2048];
    bool on[64] = {false};
    size_t depth = 0, size = 0;
    for (const char *end = text + strlen(text); text < end;) {
        size_t name = strcspn(text, " {}");
        if (text[name] == '{' && name > 0) {
            on[depth] = is_on(s, text, name);
            if (on[depth]) {
                memcpy(out + size, text, name + 1);
                size += name + 1;
            } else {
                out[size++] = ' ';
            }
            depth++;
            text += name + 1;
        } else if (*text == '}') {
            out[size++] = on[--depth] ? '}' : ' ';
            text++;
        } else {
            memcpy(out + size, text, name ? name : 1);
            size += name ? name : 1;
            text += name ? name : 1;
        }
        assert_true(size + 64 < sizeof(out) && depth < 64);
    }
    out[size] = '\0';
    return out;
}

/* Most of what is wanted open at once beside entry points, and for how many ms anything is. */
static inline size_t open_now(const struct stream *s)
{
    size_t count = 0;
    for (uint32_t point = 0; point < pythia_vocabulary_tracepoints(s->vocabulary); point++) {
        struct pythia_text id = pythia_vocabulary_tracepoint_id(s->vocabulary, point);
        count += id.size > 1 && id.bytes[0] != 'N' && pythia_live_is_open(s->live, point);
    }
    return count;
}

static struct {
    size_t most;
    uint64_t open_ms, wish;
    int delay; /* requests until a wish is in force */
    int left;
} target;

static inline void obey(struct stream *s)
{
    uint64_t wish = pythia_live_wish(s->live);
    if (wish != target.wish)
        target.left = target.delay + 1;
    target.wish = wish;
    if (target.left > 0 && --target.left == 0)
        stream_applied(s);
    size_t open = open_now(s);
    target.most = open > target.most ? open : target.most;
}

static inline void request(struct stream *s, const char *text)
{
    uint64_t before_ms = s->now_ms;
    bool open = open_now(s) > 0;
    stream_request(s, shown(s, text));
    target.open_ms += open ? s->now_ms - before_ms : 0;
    obey(s);
}

/* The last cycle's state of a type; NULL: it is no problem. */
static inline const struct pythia_problem *
problem_of(const struct stream *s, const struct pythia_live_cycle *cycle, const char *type)
{
    for (size_t i = 0; i < cycle->decisions.problem_count; i++) {
        const struct pythia_problem *p = &cycle->decisions.problems[i];
        if (strcmp(pythia_vocabulary_text(s->vocabulary, p->type).bytes, type) == 0)
            return p;
    }
    return NULL;
}

static inline bool is_teaching(const struct stream *s)
{
    return pythia_live_numbers(s->live).teaching;
}

#endif
