#include "group_reading.h"

#include "command.h"
#include "pythia/grouping_key.h"
#include "pythia/groups_merge.h"
#include "pythia/mem.h"
#include "pythia/status.h"

void pythia__group_reading_free(struct pythia__group_reading *g)
{
    for (size_t i = 0; i < g->part_count; i++)
        pythia_groups_destroy(g->parts[i]);
    pythia_free(g->parts);
    pythia_groups_destroy(g->groups);
    *g = (struct pythia__group_reading){.reading = g->reading};
}

static int restart_groups(void *context)
{
    struct pythia__group_reading *g = context;
    pythia__group_reading_free(g);
    if (g->reading->groups.key)
        pythia_grouping_key_forget(g->reading->groups.key);
    return pythia_groups_create(g->reading->vocabulary, &g->reading->groups, &g->groups);
}

static int add_to_groups(void *context, const struct pythia_trace *trace)
{
    const struct pythia__group_reading *g = context;
    return pythia_groups_add(g->groups, trace);
}

static int divide_groups(void *context, size_t count)
{
    struct pythia__group_reading *g = context;
    g->parts = pythia_calloc(count, sizeof(struct pythia_groups *));
    if (!g->parts)
        return PYTHIA_ENOMEM;
    for (; g->part_count < count; g->part_count++) {
        int status = pythia_groups_create_part(g->groups, count, &g->parts[g->part_count]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int add_to_part(void *context, size_t part, const struct pythia_trace *trace)
{
    const struct pythia__group_reading *g = context;
    return pythia_groups_add(g->parts[part], trace);
}

/* 1: the groups do not have the rows that they would have had without parts, so that all has to be
 * read once more. */
static int unite_groups(void *context)
{
    const struct pythia__group_reading *g = context;
    for (size_t i = 0; i < g->part_count; i++) {
        struct pythia_groups *part = g->parts[i];
        g->parts[i] = NULL; /* it is gone even if it cannot be joined */
        int status = pythia_groups_join(g->groups, part);
        if (status != PYTHIA_OK)
            return status;
    }
    return pythia_groups_are_whole(g->groups) ? PYTHIA_OK : 1;
}

int pythia__group_reading_run(struct pythia__group_reading *g, int64_t rows)
{
    static const struct pythia_consumer_parts parts = {divide_groups, add_to_part, unite_groups};
    struct pythia_groups_options *o = &g->reading->groups;
    o->rows_per_type = (size_t)rows;
    o->rows = (size_t)rows * 4;
    struct pythia_consumer consumer = {restart_groups, add_to_groups, g,
                                       o->key || o->skeleton ? NULL : &parts};
    return pythia__reading_run(g->reading, &consumer);
}
