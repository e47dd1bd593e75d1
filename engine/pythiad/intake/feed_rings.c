#include <poll.h>
#include <pythia/drain.h>
#include <string.h>

#include "feed.h"
#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define PASS_MS 20 /* between looks at rings that were found empty */

struct rings {
    struct pythia__feed_reader reader;
    struct pythia_drain *drain;
    struct pythia_buf frames; /* that were read out, from `at` on */
    size_t at;
    bool last; /* the pass that they are of was begun after it was asked to stop */
};

static int take_frame(void *context, const void *bytes, size_t size)
{
    struct rings *r = context;
    pythia_buf_add(&r->frames, bytes, size);
    return pythia_buf_status(&r->frames);
}

static void on_refused(void *context, const char *name, const char *why)
{
    (void)context;
    pythia_log(PYTHIA_LOG_WARNING, "Records of a traced program were refused: of=%s, reason=%s",
               name, why);
}

static int read_rings(struct pythia__feed_reader *reader, void *to, size_t capacity, size_t *got,
                      bool *ended, struct pythia_error *e)
{
    struct rings *r = (struct rings *)reader;
    *ended = false;
    if (r->at == r->frames.size) {
        pythia_buf_clear(&r->frames);
        r->at = 0;
        *got = 0;
        *ended = r->last; /* programs that are busy always have more */
        if (r->last)
            return PYTHIA_OK;
        r->last = reader->stopping;
        if (pythia_drain_pass(r->drain) < 0)
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for records");
    }
    *got = r->frames.size - r->at < capacity ? r->frames.size - r->at : capacity;
    if (*got == 0) {
        poll(NULL, 0, PASS_MS);
        return PYTHIA_OK;
    }
    memcpy(to, r->frames.bytes + r->at, *got);
    r->at += *got;
    return PYTHIA_OK;
}

static void destroy_rings(struct pythia__feed_reader *reader)
{
    struct rings *r = (struct rings *)reader;
    pythia_drain_close(r->drain);
    pythia_buf_free(&r->frames);
    pythia_free(r);
}

int pythia__rings_create(const char *directory, struct pythia__feed_reader **out,
                         struct pythia_error *e)
{
    char why[256] = "";
    struct rings *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    *r = (struct rings){.reader = {read_rings, destroy_rings, false, false}};
    struct pythia_drain_handler handler = {
        .frame = take_frame, .refused = on_refused, .context = r};
    if (pythia_drain_open(directory, &handler, &r->drain, why) < 0) {
        pythia_free(r);
        return pythia_error_set(e, PYTHIA_EIO, "the records of traced programs cannot be read: %s",
                                *why ? why : "there is no memory");
    }
    pythia_log(PYTHIA_LOG_INFO,
               "Receiving records of programs: folder=%s (PYTHIA_DIRECTORY, for programs that do "
               "not find it)",
               pythia_drain_directory(r->drain));
    *out = &r->reader;
    return PYTHIA_OK;
}
