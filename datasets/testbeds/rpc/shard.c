/* SPDX-License-Identifier: MIT */
/* Keeps the values of its keys, which are made up from the key: reads a page, or writes a journal.
 */
#include "service.h"
#include "work.h"

#define SLOW_SHARD  2
#define SLOW_TIMES  4  /* as long as another shard takes to read a page */
#define VALUE_BYTES 64 /* for each key that is asked for */
#define LIST_MAX    64
#define RETRY_EACH  5 /* one key in so many is told to come again */

static void read_page(const struct service *s)
{
    const struct settings *set = &s->settings;
    PYTHIA_SPAN_AS(span, "page.read");
    PYTHIA_SET(span, "shard", shard_name(set->number));
    unsigned times =
        atomic_load(&s->problem) == PROBLEM_SHARD && set->number == SLOW_SHARD ? SLOW_TIMES : 1;
    work_wait(set->pause_us * times);
}

static int find(const struct service *s, const struct request *request, struct bytes *answer)
{
    PYTHIA_SPAN("find");
    unsigned values = request->count < 1          ? 1
                      : request->count > LIST_MAX ? LIST_MAX
                                                  : request->count;
    read_page(s);
    PYTHIA_SPAN_AS(span, "verify");
    PYTHIA_SET(span, "values", values);
    for (unsigned i = 0; i < values; i++) {
        uint64_t value[VALUE_BYTES / 8] = {request->key, i};
        value[2] = work_do(s->settings.work / values + 1, value, sizeof(value));
        if (bytes_add(answer, value, sizeof(value)) != 0)
            return 0;
    }
    return 1;
}

static void write_journal(const struct service *s, const struct request *request)
{
    PYTHIA_SPAN_AS(span, "journal");
    PYTHIA_SET(span, "value_bytes", request->value_bytes);
    {
        PYTHIA_SPAN("journal.append");
        work_do(s->settings.work, request->value, request->value_bytes);
    }
    PYTHIA_SPAN("journal.sync");
    work_wait(s->settings.pause_us);
}

static int refuses(const struct service *s, unsigned attempt, uint32_t key)
{
    PYTHIA_SPAN_AS(span, "admit");
    PYTHIA_SET(span, "attempt", attempt);
    return atomic_load(&s->problem) == PROBLEM_RETRY && attempt == 0 && key / 16 % RETRY_EACH == 0;
}

static enum status handle(struct worker *worker, unsigned method, unsigned attempt,
                          const struct request *request, struct bytes *answer)
{
    struct service *s = worker->service;
    if (refuses(s, attempt, request->key))
        return STATUS_AGAIN;
    if (method == METHOD_PUT) {
        write_journal(s, request);
        return STATUS_OK;
    }
    return find(s, request, answer) ? STATUS_OK : STATUS_FAILED;
}

const struct service_kind shard_kind = {.name = "shard", .handle = handle};
