#include "file_messages.h"

#include <assert.h>
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

/* Messages of a piece that wait for the pieces before it, in order, or of a block. */
struct message_list {
    struct message *first, *last;
    size_t broken; /* records */
};

struct piece_messages {
    struct message_list list;
    struct message_list *blocks; /* owned; in order of their numbers, until the piece has ended */
    size_t block_count, block_capacity;
    const char *path; /* of its file; borrowed */
    bool last, ended; /* last: of its file */
};

struct pythia__file_messages {
    uv_mutex_t lock;
    struct piece_messages *of; /* owned: of each piece that was found so far */
    size_t count, capacity;
    size_t front;         /* the first piece that has not ended */
    size_t broken, shown; /* records of the front's file: before the front, and logged */
};

int pythia__file_messages_create(struct pythia__file_messages **out)
{
    struct pythia__file_messages *m = pythia_calloc(1, sizeof(*m));
    if (!m)
        return PYTHIA_ENOMEM;
    if (uv_mutex_init(&m->lock) != 0) {
        pythia_free(m);
        return PYTHIA_ENOMEM;
    }
    *out = m;
    return PYTHIA_OK;
}

int pythia__file_messages_begin(struct pythia__file_messages *m, const struct pythia__piece *piece)
{
    uv_mutex_lock(&m->lock);
    assert(piece->number == m->count);
    int status = pythia_grow(&m->of, &m->capacity, m->count, sizeof(*m->of));
    if (status == PYTHIA_OK)
        m->of[m->count++] =
            (struct piece_messages){.path = piece->of->file->path, .last = piece->last};
    uv_mutex_unlock(&m->lock);
    return status;
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

static void log_waiting(struct pythia__file_messages *m, struct message_list *of)
{
    while (of->first) {
        struct message *next = of->first->next;
        log_message(m, of->first->level, of->first->broken, of->first->text);
        pythia_free(of->first);
        of->first = next;
    }
    of->last = NULL;
}

/* No more broken records of the front's file come. */
static void count_unshown(struct pythia__file_messages *m, const char *path)
{
    if (m->broken > BROKEN_SHOWN)
        pythia_log(PYTHIA_LOG_WARNING, "%s: %zu more broken records", path,
                   m->broken - BROKEN_SHOWN);
    m->broken = m->shown = 0;
}

/* The front has ended: go on to the next piece, and say how many broken records of its file were
 * not logged if it was the last one of that. */
static void pass_front(struct pythia__file_messages *m)
{
    const struct piece_messages *of = &m->of[m->front++];
    m->broken += of->list.broken;
    if (of->last)
        count_unshown(m, of->path);
}

/* The messages of all blocks become those of their piece. */
static void join_blocks(struct piece_messages *of)
{
    for (size_t i = 0; i < of->block_count; i++) {
        const struct message_list *block = &of->blocks[i];
        of->list.broken += block->broken;
        if (!block->first)
            continue;
        *(of->list.last ? &of->list.last->next : &of->list.first) = block->first;
        of->list.last = block->last;
    }
    pythia_free(of->blocks);
    of->blocks = NULL;
    of->block_count = of->block_capacity = 0;
}

void pythia__file_messages_destroy(struct pythia__file_messages *m)
{
    if (!m)
        return;
    while (m->front < m->count) {
        join_blocks(&m->of[m->front]);
        log_waiting(m, &m->of[m->front].list);
        pass_front(m);
    }
    if (m->count > 0) /* of a file whose last piece was not found */
        count_unshown(m, m->of[m->count - 1].path);
    uv_mutex_destroy(&m->lock);
    pythia_free(m->of);
    pythia_free(m);
}

/* The list for messages of a piece, or of a block; NULL without memory. The lock is held. */
static struct message_list *find_list(struct pythia__file_messages *m, size_t piece,
                                      const struct pythia__block *block)
{
    struct piece_messages *of = &m->of[piece];
    if (!block)
        return &of->list;
    if (pythia_reach(&of->blocks, &of->block_capacity, block->number, sizeof(*of->blocks)) !=
        PYTHIA_OK)
        return NULL;
    of->block_count = block->number < of->block_count ? of->block_count : block->number + 1;
    return &of->blocks[block->number];
}

/* Log a text now, or let it wait. Without memory it is logged out of order. The lock is held. */
static void add_text(struct pythia__file_messages *m, size_t piece,
                     const struct pythia__block *block, enum pythia_log_level level, bool broken,
                     const char *text)
{
    size_t size = strlen(text) + 1;
    bool now = piece == m->front && !block;
    struct message_list *of = now ? NULL : find_list(m, piece, block);
    struct message *made = of ? pythia_malloc(sizeof(*made) + size) : NULL;
    if (!made) {
        log_message(m, level, broken, text);
        return;
    }
    *made = (struct message){.level = level, .broken = broken};
    memcpy(made->text, text, size);
    *(of->last ? &of->last->next : &of->first) = made;
    of->last = made;
}

static void place_error(const struct pythia__piece *piece, const struct pythia__block *block,
                        struct pythia_error *why)
{
    if (block)
        pythia__block_place(block, why);
    else
        pythia__piece_place(piece, why);
}

void pythia__file_messages_add(struct pythia__file_messages *m, const struct pythia__piece *piece,
                               const struct pythia__block *block, enum pythia_log_level level,
                               const struct pythia_error *why)
{
    char text[1024];
    struct pythia_error placed = *why;
    place_error(piece, block, &placed);
    (void)pythia_error_text(&placed, text, sizeof(text));
    uv_mutex_lock(&m->lock);
    add_text(m, piece->number, block, level, false, text);
    uv_mutex_unlock(&m->lock);
}

/* Is this one of the first broken records? Counts it. */
static bool is_shown(struct pythia__file_messages *m, size_t piece,
                     const struct pythia__block *block)
{
    uv_mutex_lock(&m->lock);
    struct message_list *of = find_list(m, piece, block);
    bool shown = of && ++of->broken <= BROKEN_SHOWN;
    uv_mutex_unlock(&m->lock);
    return shown;
}

void pythia__file_messages_add_broken(struct pythia__file_messages *m,
                                      const struct pythia__piece *piece,
                                      const struct pythia__block *block,
                                      const struct pythia_error *why)
{
    char text[1024];
    size_t number = piece->number;
    struct pythia_error placed = *why;
    if (!is_shown(m, number, block))
        return;
    /* A place far into the file takes time to find: without the lock. */
    place_error(piece, block, &placed);
    (void)pythia_error_text(&placed, text, sizeof(text));
    uv_mutex_lock(&m->lock);
    add_text(m, number, block, PYTHIA_LOG_WARNING, true, text);
    uv_mutex_unlock(&m->lock);
}

void pythia__file_messages_end(struct pythia__file_messages *m, const struct pythia__piece *piece)
{
    size_t number = piece->number;
    uv_mutex_lock(&m->lock);
    join_blocks(&m->of[number]);
    m->of[number].ended = true;
    if (number == m->front)
        log_waiting(m, &m->of[number].list);
    while (m->front < m->count && m->of[m->front].ended) {
        pass_front(m);
        if (m->front < m->count)
            log_waiting(m, &m->of[m->front].list);
    }
    uv_mutex_unlock(&m->lock);
}
