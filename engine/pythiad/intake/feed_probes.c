#include <poll.h>
#include <string.h>

#include "feed.h"
#include "pythia/buf.h"
#include "pythia/control_probe.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define PASS_MS 20 /* between looks at rings that were found empty */

struct probes {
    struct pythia__feed_reader reader;
    struct pythia_probe_feed *feed;
    struct pythia_buf frames; /* that were read out, from `at` on */
    size_t at;
    bool last; /* the pass that they are of was begun after it was asked to stop */
};

static int read_probes(struct pythia__feed_reader *reader, void *to, size_t capacity, size_t *got,
                       bool *ended, struct pythia_error *e)
{
    struct probes *p = (struct probes *)reader;
    *ended = false;
    *got = 0;
    if (p->at == p->frames.size) {
        pythia_buf_clear(&p->frames);
        p->at = 0;
        *ended = p->last;
        if (p->last)
            return PYTHIA_OK;
        p->last = reader->stopping;
        int status = pythia_probe_feed_read(p->feed, &p->frames, e);
        if (status != PYTHIA_OK)
            return status;
    }
    *got = p->frames.size - p->at < capacity ? p->frames.size - p->at : capacity;
    if (*got == 0) {
        poll(NULL, 0, PASS_MS);
        return PYTHIA_OK;
    }
    memcpy(to, p->frames.bytes + p->at, *got);
    p->at += *got;
    return PYTHIA_OK;
}

static void destroy_probes(struct pythia__feed_reader *reader)
{
    struct probes *p = (struct probes *)reader;
    pythia_probe_feed_release(p->feed);
    pythia_buf_free(&p->frames);
    pythia_free(p);
}

int pythia__probes_create(struct pythia_control *plane, struct pythia__feed_reader **out)
{
    struct probes *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return PYTHIA_ENOMEM;
    *p = (struct probes){.reader = {read_probes, destroy_probes, false, false},
                         .feed = pythia_control_probe_feed(plane)};
    *out = &p->reader;
    return PYTHIA_OK;
}
