#include "pythia/vocabulary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define BLOCK_SIZE 1024u
#define BLOCKS     65536u /* of trace points: 64 Mi of them */

/* Strings and resources are looked up without a lock (strtab). A trace point is more than its id,
 * so making one, and finding it by its parts, is done under a lock; decoders keep a cache in front
 * of it. */
struct pythia_vocabulary {
    struct pythia_strtab *strings, *resources, *tracepoint_ids;
    _Atomic(struct pythia_tracepoint *) blocks[BLOCKS];
    _Atomic uint32_t tracepoints;
    pthread_mutex_t lock; /* of trace points */
    struct pythia_buf text;
};

/* What is in front of the attributes in the bytes of a resource. */
struct resource_head {
    uint32_t service, host, instance;
};

int pythia_vocabulary_create(struct pythia_vocabulary **out)
{
    struct pythia_vocabulary *v = pythia_calloc(1, sizeof(*v));
    if (!v)
        return PYTHIA_ENOMEM;
    pthread_mutex_init(&v->lock, NULL);
    if (pythia_strtab_create(&v->strings) != PYTHIA_OK ||
        pythia_strtab_create(&v->resources) != PYTHIA_OK ||
        pythia_strtab_create(&v->tracepoint_ids) != PYTHIA_OK) {
        pythia_vocabulary_destroy(v);
        return PYTHIA_ENOMEM;
    }
    *out = v;
    return PYTHIA_OK;
}

void pythia_vocabulary_destroy(struct pythia_vocabulary *v)
{
    if (!v)
        return;
    pythia_strtab_destroy(v->strings);
    pythia_strtab_destroy(v->resources);
    pythia_strtab_destroy(v->tracepoint_ids);
    for (size_t i = 0; i < BLOCKS && v->blocks[i]; i++)
        pythia_free(v->blocks[i]);
    pythia_buf_free(&v->text);
    pthread_mutex_destroy(&v->lock);
    pythia_free(v);
}

uint32_t pythia_vocabulary_string(struct pythia_vocabulary *v, struct pythia_text text)
{
    return pythia_strtab_intern(v->strings, text);
}

struct pythia_text pythia_vocabulary_text(const struct pythia_vocabulary *v, uint32_t string)
{
    return pythia_strtab_text(v->strings, string);
}

/* The string of `text` with its identifiers replaced. An element of one digit and its '/' become
 * five bytes. */
static uint32_t pattern_string(struct pythia_vocabulary *v, struct pythia_text text)
{
    char stack[1024], *heap = NULL;
    size_t room = text.size * 3 + 8;
    if (room > sizeof(stack)) {
        heap = pythia_realloc(NULL, room, 1);
        if (!heap)
            return PYTHIA_NONE;
    }
    size_t size = pythia_text_template(text, heap ? heap : stack, room);
    uint32_t string =
        pythia_vocabulary_string(v, size ? (struct pythia_text){heap ? heap : stack, size} : text);
    pythia_free(heap);
    return string;
}

/* The id goes into its table last: it is the last step that can fail, and whoever finds it without
 * the lock finds a trace point behind it. */
static uint32_t tracepoint_locked(struct pythia_vocabulary *v, struct pythia_text id,
                                  uint32_t service, uint32_t name)
{
    if (id.size == 0) /* the table's own empty string; an empty id is still one trace point */
        id = PYTHIA_TEXT("(unnamed)");
    uint32_t known = pythia_strtab_find(v->tracepoint_ids, id);
    if (known != PYTHIA_STRTAB_NONE)
        return known - 1;
    uint32_t index = atomic_load_explicit(&v->tracepoints, memory_order_relaxed);
    size_t block = index / BLOCK_SIZE;
    if (block >= BLOCKS)
        return PYTHIA_NONE;
    struct pythia_tracepoint *points =
        atomic_load_explicit(&v->blocks[block], memory_order_relaxed);
    if (!points) {
        points = pythia_calloc(BLOCK_SIZE, sizeof(*points));
        if (!points)
            return PYTHIA_NONE;
        atomic_store_explicit(&v->blocks[block], points, memory_order_release);
    }
    struct pythia_tracepoint point = {.id = pythia_vocabulary_string(v, id),
                                      .service = service,
                                      .name = name,
                                      .pattern = pattern_string(v, id)};
    if (point.id == PYTHIA_NONE || point.pattern == PYTHIA_NONE)
        return PYTHIA_NONE;
    points[index % BLOCK_SIZE] = point;
    if (pythia_strtab_intern(v->tracepoint_ids, id) == PYTHIA_STRTAB_NONE)
        return PYTHIA_NONE;
    atomic_store_explicit(&v->tracepoints, index + 1, memory_order_release);
    return index;
}

uint32_t pythia_vocabulary_tracepoint_of_id(struct pythia_vocabulary *v, struct pythia_text id,
                                            uint32_t service, uint32_t name)
{
    pthread_mutex_lock(&v->lock);
    uint32_t index = tracepoint_locked(v, id, service, name);
    pthread_mutex_unlock(&v->lock);
    return index;
}

uint32_t pythia_vocabulary_tracepoint(struct pythia_vocabulary *v, uint32_t service, uint32_t scope,
                                      uint32_t name)
{
    name = pattern_string(v, pythia_vocabulary_text(v, name));
    if (name == PYTHIA_NONE)
        return PYTHIA_NONE;
    pthread_mutex_lock(&v->lock);
    pythia_buf_clear(&v->text);
    const uint32_t parts[] = {service, scope, name};
    for (size_t i = 0; i < 3; i++) {
        struct pythia_text part = pythia_vocabulary_text(v, parts[i]);
        if (part.size == 0 && i < 2)
            continue;
        if (v->text.size)
            pythia_buf_putc(&v->text, ':');
        pythia_buf_text_add(&v->text, part);
    }
    uint32_t index = PYTHIA_NONE;
    if (pythia_buf_status(&v->text) == PYTHIA_OK)
        index = tracepoint_locked(v, pythia_buf_text(&v->text), service, name);
    v->text.failed = 0;
    pthread_mutex_unlock(&v->lock);
    return index;
}

uint32_t pythia_vocabulary_tracepoint_find(const struct pythia_vocabulary *v, struct pythia_text id)
{
    uint32_t index = pythia_strtab_find(v->tracepoint_ids, id);
    return index == PYTHIA_STRTAB_NONE || index == 0 ? PYTHIA_NONE : index - 1;
}

const struct pythia_tracepoint *pythia_vocabulary_tracepoint_at(const struct pythia_vocabulary *v,
                                                                uint32_t tracepoint)
{
    return atomic_load_explicit(&v->blocks[tracepoint / BLOCK_SIZE], memory_order_acquire) +
           tracepoint % BLOCK_SIZE;
}

uint32_t pythia_vocabulary_tracepoints(const struct pythia_vocabulary *v)
{
    return atomic_load_explicit(&v->tracepoints, memory_order_acquire);
}

struct pythia_text pythia_vocabulary_tracepoint_id(const struct pythia_vocabulary *v,
                                                   uint32_t tracepoint)
{
    return pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, tracepoint)->id);
}

struct pythia_text pythia_vocabulary_tracepoint_pattern(const struct pythia_vocabulary *v,
                                                        uint32_t tracepoint)
{
    return pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, tracepoint)->pattern);
}

uint32_t pythia_vocabulary_resource(struct pythia_vocabulary *v,
                                    const struct pythia_resource *resource)
{
    struct resource_head head = {resource->service, resource->host, resource->instance};
    if (!head.service && !head.host && !head.instance && !resource->attributes.size)
        return 0;
    struct pythia_buf bytes = {0};
    pythia_buf_add(&bytes, &head, sizeof(head));
    pythia_buf_text_add(&bytes, resource->attributes);
    uint32_t index = PYTHIA_NONE;
    if (pythia_buf_status(&bytes) == PYTHIA_OK)
        index = pythia_strtab_intern(v->resources, pythia_buf_text(&bytes));
    pythia_buf_free(&bytes);
    return index == PYTHIA_STRTAB_NONE ? PYTHIA_NONE : index;
}

struct pythia_resource pythia_vocabulary_resource_at(const struct pythia_vocabulary *v,
                                                     uint32_t resource)
{
    struct pythia_resource out = {0};
    if (resource == 0)
        return out;
    struct pythia_text bytes = pythia_strtab_text(v->resources, resource);
    struct resource_head head;
    memcpy(&head, bytes.bytes, sizeof(head));
    return (struct pythia_resource){head.service,
                                    head.host,
                                    head.instance,
                                    {bytes.bytes + sizeof(head), bytes.size - sizeof(head)}};
}
