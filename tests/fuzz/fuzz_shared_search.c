/* Messages of members that share a search, as another member reads them from their topic: each is a
 * line of JSON, its head, and then a file of evidence, or the parts of a snapshot. Two bytes of 0
 * before the next head end a message. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_member.h"
#include "pythia/buf.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"
#include "pythia/status.h"

struct member {
    struct pythia_vocabulary *vocabulary;
    struct pythia_live *live;
};

static void begin_member(struct member *m)
{
    *m = (struct member){0};
    MUST(pythia_vocabulary_create(&m->vocabulary) == PYTHIA_OK);
    MUST(pythia_live_create(m->vocabulary, NULL, &options,
                            (struct pythia_live_taker){ignore_cycle, NULL}, &m->live) == PYTHIA_OK);
}

static void end_member(struct member *m)
{
    pythia_live_destroy(m->live);
    pythia_vocabulary_destroy(m->vocabulary);
}

static void read_one(struct member *m, struct pythia_text message)
{
    struct pythia_error why = {0};
    bool snapshot = pythia_text_starts(message, PYTHIA_TEXT("{\"format\":\"pythia.snapshot"));
    int status =
        (snapshot ? pythia_live_snapshot_restore : pythia_live_shared_read)(m->live, message, &why);
    MUST(status == PYTHIA_OK || status == PYTHIA_EFORMAT);
    MUST(status == PYTHIA_OK || why.sentence[0]);
}

/* What a member saves, another one can begin with. */
static void check_snapshot(const struct member *m)
{
    struct pythia_buf once = {0}, twice = {0};
    struct pythia_error why = {0};
    struct member other;
    if (!pythia_live_has_snapshot(m->live))
        return;
    begin_member(&other);
    MUST(pythia_live_snapshot_save(m->live, &once) == PYTHIA_OK);
    MUST(pythia_live_snapshot_restore(other.live, pythia_buf_text(&once), &why) == PYTHIA_OK);
    MUST(pythia_live_shared_numbers(other.live).rounds ==
         pythia_live_shared_numbers(m->live).rounds);
    MUST(pythia_live_snapshot_save(other.live, &twice) == PYTHIA_OK);
    MUST(once.size > 0 && twice.size > 0);
    end_member(&other);
    pythia_buf_free(&once);
    pythia_buf_free(&twice);
}

/* Evidence may have bytes of 0 itself. */
static size_t find_end(struct pythia_text left)
{
    for (size_t end = 0; end + 2 < left.size; end++)
        if (!left.bytes[end] && !left.bytes[end + 1] && left.bytes[end + 2] == '{')
            return end;
    return left.size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct member m;
    struct pythia_text left = {(const char *)bytes, size};
    begin_member(&m);
    while (left.size > 0) {
        size_t end = find_end(left);
        read_one(&m, (struct pythia_text){left.bytes, end});
        size_t skip = end < left.size ? end + 2 : end;
        left.bytes += skip;
        left.size -= skip;
    }
    check_snapshot(&m);
    end_member(&m);
    return 0;
}
