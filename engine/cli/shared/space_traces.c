#include "space_traces.h"

#include "pythia/critical_path.h"
#include "pythia/request_type.h"
#include "pythia/status.h"

struct building {
    struct pythia__reading *reading;
    struct pythia_space *space;
    struct pythia_request_types *types;
    struct pythia_critical_path path;
    bool begun;
};

static int begin_space(void *context)
{
    struct building *b = context;
    if (b->begun) /* all is read again: what was counted must go */
        pythia_space_clear(b->space);
    b->begun = true;
    return PYTHIA_OK;
}

static int add_trace_to_space(void *context, const struct pythia_trace *trace)
{
    struct building *b = context;
    int status = pythia_critical_path_find(&b->path, trace, b->reading->groups.latency);
    if (status != PYTHIA_OK)
        return status;
    uint32_t type = pythia_request_type(b->types, trace);
    return type == PYTHIA_NONE ? PYTHIA_ENOMEM : pythia_space_add(b->space, type, trace, &b->path);
}

int pythia__space_from_traces(struct pythia__reading *reading, struct pythia_space *space)
{
    struct building b = {.reading = reading, .space = space};
    int status = pythia_request_types_create(reading->vocabulary, &reading->groups.types, &b.types);
    if (status != PYTHIA_OK)
        goto out;
    struct pythia_consumer consumer = {begin_space, add_trace_to_space, &b, NULL};
    status = pythia__reading_run(reading, &consumer);
out:
    pythia_critical_path_free(&b.path);
    pythia_request_types_destroy(b.types);
    return status;
}
