#include "file_messages.h"

#include <string.h>

#include <uv.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define BROKEN_SHOWN 5 /* of each file; the rest is counted */

struct message {
    struct message *next;
    enum pythia_log_level level;
    bool broken;
    char text[];
};

/* Messages of a piece that wait for the pieces before it, in order. */
struct piece_messages {
    struct message *first, *last;
    size_t broken; /* records */
    bool ended;
};

struct pythia__file_messages {
    uv_mutex_t lock;
    const struct pythia__pieces *pieces;
    struct piece_messages *of; /* owned: of each piece */
    size_t front;              /* the first piece that has not ended */
    size_t broken, shown;      /* records of the front's file: before the front, and logged */
};

int pythia__file_messages_create(const struct pythia__pieces *pieces,
                                 struct pythia__file_messages **out)
{
    struct pythia__file_messages *m = pythia_calloc(1, sizeof(*m));
    if (!m)
        return PYTHIA_ENOMEM;
    m->pieces = pieces;
    m->of = pythia_calloc(pieces->count, sizeof(*m->of));
    if (!m->of || uv_mutex_init(&m->lock) != 0) {
        pythia_free(m->of);
        pythia_free(m);
        return PYTHIA_ENOMEM;
    }
    *out = m;
    return PYTHIA_OK;
}

/* Log a message of the front. */
static void log_message(struct pythia__file_messages *m, enum pythia_log_level level, bool broken,
                        const char *text)
{
    if (broken && m->shown == BROKEN_SHOWN)
        return;
    m->shown += broken;
    pythia_log(level, "%s", text);
}

static void log_waiting(struct pythia__file_messages *m, struct piece_messages *of)
{
    while (of->first) {
        struct message *next = of->first->next;
        log_message(m, of->first->level, of->first->broken, of->first->text);
        pythia_free(of->first);
        of->first = next;
    }
    of->last = NULL;
}

/* The front has ended: go on to the next piece, and say how many broken records of its file were
 * not logged if it was the last one of that. */
static void pass_front(struct pythia__file_messages *m)
{
    const struct pythia__piece *piece = &m->pieces->list[m->front];
    m->broken += m->of[m->front].broken;
    m->front++;
    if (m->front < m->pieces->count && m->pieces->list[m->front].of == piece->of)
        return;
    if (m->broken > BROKEN_SHOWN)
        pythia_log(PYTHIA_LOG_WARNING, "%s: %zu more broken records", piece->of->file->path,
                   m->broken - BROKEN_SHOWN);
    m->broken = m->shown = 0;
}

void pythia__file_messages_destroy(struct pythia__file_messages *m)
{
    if (!m)
        return;
    while (m->front < m->pieces->count) {
        log_waiting(m, &m->of[m->front]);
        pass_front(m);
    }
    uv_mutex_destroy(&m->lock);
    pythia_free(m->of);
    pythia_free(m);
}

/* Log a text now, or let it wait. Without memory it is logged out of order. The lock is held. */
static void add_text(struct pythia__file_messages *m, size_t piece, enum pythia_log_level level,
                     bool broken, const char *text)
{
    size_t size = strlen(text) + 1;
    struct message *made = piece == m->front ? NULL : pythia_malloc(sizeof(*made) + size);
    if (!made) {
        log_message(m, level, broken, text);
        return;
    }
    *made = (struct message){.level = level, .broken = broken};
    memcpy(made->text, text, size);
    struct piece_messages *of = &m->of[piece];
    *(of->last ? &of->last->next : &of->first) = made;
    of->last = made;
}

static size_t number_of(const struct pythia__file_messages *m, const struct pythia__piece *piece)
{
    return (size_t)(piece - m->pieces->list);
}

void pythia__file_messages_add(struct pythia__file_messages *m, const struct pythia__piece *piece,
                               enum pythia_log_level level, const struct pythia_error *why)
{
    char text[1024];
    (void)pythia_error_text(why, text, sizeof(text));
    uv_mutex_lock(&m->lock);
    add_text(m, number_of(m, piece), level, false, text);
    uv_mutex_unlock(&m->lock);
}

void pythia__file_messages_add_broken(struct pythia__file_messages *m,
                                      const struct pythia__piece *piece,
                                      const struct pythia_error *why)
{
    char text[1024];
    size_t number = number_of(m, piece);
    struct pythia_error placed = *why;
    /* Only the thread that decodes a piece changes this, and none reads it before the end. */
    if (++m->of[number].broken > BROKEN_SHOWN)
        return;
    pythia__piece_place(piece, &placed);
    (void)pythia_error_text(&placed, text, sizeof(text));
    uv_mutex_lock(&m->lock);
    add_text(m, number, PYTHIA_LOG_WARNING, true, text);
    uv_mutex_unlock(&m->lock);
}

void pythia__file_messages_end(struct pythia__file_messages *m, const struct pythia__piece *piece)
{
    uv_mutex_lock(&m->lock);
    m->of[number_of(m, piece)].ended = true;
    while (m->front < m->pieces->count && m->of[m->front].ended) {
        pass_front(m);
        if (m->front < m->pieces->count)
            log_waiting(m, &m->of[m->front]);
    }
    uv_mutex_unlock(&m->lock);
}
