/* What a client of pythia-probe sends, and what root may have written into its allow-list: whatever
 * it is, each message has one answer, nothing is opened that is not in the list, and at the end
 * nothing is open. The input is the list, a 0, and messages with a 0 between them. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "session.h"

#define S UINT64_C(1000000000)

static struct pythia_allow_list allowed;
static int opened;

static int open_listed(struct pythia__opener *o, const struct pythia_probe_message *m,
                       uint16_t texts, uint32_t number, struct pythia__sites *out,
                       struct pythia_error *e)
{
    (void)o;
    MUST(pythia_allow_list_has_path(&allowed, pythia_text_of(m->id.path)) && m->id.path[0] == '/');
    MUST(m->id.provider.size > 0 && m->id.name.size > 0 && number > 0);
    MUST(m->mark <= PYTHIA_PROBE_MARK_MAX && m->id.pid <= PYTHIA_PROBE_PID_MAX);
    MUST(__builtin_popcount(texts) <= 4);
    if (opened > 64)
        return pythia_error_set(e, PYTHIA_EIO, "enough");
    out->events = pythia_calloc(1, sizeof(*out->events));
    MUST(out->events);
    out->events[0] = dup(0);
    out->count = 1;
    opened++;
    return PYTHIA_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia__opener opener = {open_listed};
    struct pythia__session s = {.allowed = &allowed, .opener = &opener, .lease_ns = 3 * S};
    struct pythia_error e = {0};
    const char *at = size ? (const char *)bytes : "", *end = at + size;
    const char *stop = size ? memchr(at, 0, size) : NULL;
    int status = pythia_allow_list_parse(&allowed, at, stop ? (size_t)(stop - at) : size, &e);
    MUST(status == PYTHIA_OK ? !e.status : e.line > 0 || e.status == PYTHIA_ELIMIT);
    MUST(status == PYTHIA_OK || allowed.line_count + allowed.user_count == 0);
    opened = 0;
    for (uint64_t now = 0; stop && now < 100 * S; now += S) {
        struct pythia_buf answer = {0};
        at = stop + 1;
        stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        struct pythia_text message = {at, (size_t)((stop ? stop : end) - at)};
        pythia__session_answer(&s, message, now, &answer);
        struct pythia_text text = pythia_buf_text(&answer);
        MUST(pythia_text_starts(text, PYTHIA_TEXT("attached ")) ||
             pythia_text_starts(text, PYTHIA_TEXT("detached ")) ||
             pythia_text_starts(text, PYTHIA_TEXT("refused ")));
        MUST(s.count <= PYTHIA__ATTACHED_MAX && s.count <= (size_t)opened);
        pythia_buf_free(&answer);
        pythia__session_expire(&s, now);
    }
    pythia__session_end(&s);
    MUST(s.count == 0);
    return 0;
}
