/* The records of points that a control plane opens, and whose hits it has read. */
#include <poll.h>
#include <string.h>

#include "feed.h"
#include "pythia/buf.h"
#include "pythia/control_lttng.h"
#include "pythia/control_probe.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define PASS_MS 20 /* between looks at what was found empty */

struct plane_records {
    struct pythia__feed_reader reader;
    struct pythia_probe_feed *probes; /* of the plane "probe", or … */
    struct pythia_lttng_feed *lttng;  /* … of the plane "lttng" */
    struct pythia_buf frames;         /* that were read out, from `at` on */
    size_t at;
    bool last; /* the pass that they are of was begun after it was asked to stop */
};

static int read_plane(struct pythia__feed_reader *reader, void *to, size_t capacity, size_t *got,
                      bool *ended, struct pythia_error *e)
{
    struct plane_records *p = (struct plane_records *)reader;
    *ended = false;
    *got = 0;
    if (p->at == p->frames.size) {
        pythia_buf_clear(&p->frames);
        p->at = 0;
        *ended = p->last;
        if (p->last)
            return PYTHIA_OK;
        p->last = reader->stopping;
        int status = p->probes ? pythia_probe_feed_read(p->probes, &p->frames, e)
                               : pythia_lttng_feed_read(p->lttng, &p->frames, e);
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

static void destroy_plane_records(struct pythia__feed_reader *reader)
{
    struct plane_records *p = (struct plane_records *)reader;
    pythia_probe_feed_release(p->probes);
    pythia_lttng_feed_release(p->lttng);
    pythia_buf_free(&p->frames);
    pythia_free(p);
}

static struct plane_records *make_plane_records(void)
{
    struct plane_records *p = pythia_calloc(1, sizeof(*p));
    if (p)
        p->reader = (struct pythia__feed_reader){read_plane, destroy_plane_records, false, false};
    return p;
}

int pythia__probes_create(struct pythia_control *plane, struct pythia__feed_reader **out)
{
    struct plane_records *p = make_plane_records();
    if (!p)
        return PYTHIA_ENOMEM;
    p->probes = pythia_control_probe_feed(plane);
    *out = &p->reader;
    return PYTHIA_OK;
}

int pythia__lttng_create(struct pythia_control *plane, struct pythia__feed_reader **out)
{
    struct plane_records *p = make_plane_records();
    if (!p)
        return PYTHIA_ENOMEM;
    p->lttng = pythia_control_lttng_feed(plane);
    *out = &p->reader;
    return PYTHIA_OK;
}
