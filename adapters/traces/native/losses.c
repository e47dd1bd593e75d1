/* Losses that a traced program reports: because a ring was full or there was none, in the header of
 * a frame; for another reason, in a record. It counts them itself, in memory that it shares with
 * the reader, so that a stray write, or malice, can put any number there. A loss costs its program
 * an atomic addition, which takes longer than a nanosecond on every machine: a count cannot have
 * gone up by more than nanoseconds have passed since the last frame of its stream, and before the
 * first one by more than the machine has run. The reader takes the count a little after it has
 * looked at the clock; slack is for what it was held up in between. */
#include <inttypes.h>

#include "native.h"

#define SLACK_NS UINT64_C(10000000)

/* The sum of what was lost, which does not run over. */
static uint64_t sum_losses(const struct pythia_frame *f)
{
    const uint64_t parts[] = {f->lost_spans, f->lost_ends, f->lost_annotations, f->lost_values};
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        sum = parts[i] > UINT64_MAX - sum ? UINT64_MAX : sum + parts[i];
    return sum;
}

/* A program whose count was believed once is believed from the new one on: the next loss is told
 * from it. */
static void refuse_losses(struct pythia__native *n, uint64_t more, uint64_t possible)
{
    struct pythia_error why = {0};
    n->d.to->counts->dropped[PYTHIA_DROP_LOSS_COUNT]++;
    pythia_error_set(&why, PYTHIA_EFORMAT,
                     "the program claims to have lost %" PRIu64 " records since the last look, and "
                     "cannot have lost more than %" PRIu64 ": not counted",
                     more, possible);
    pythia_error_place(&why, n->frames->from->name, n->frames->number, n->offset);
    n->d.to->broken(n->d.to, &why);
}

/* Losses are counted from the beginning of a stream: those before the first frame here are of what
 * stands elsewhere. */
void pythia__native_count_losses(struct pythia__native *n, struct pythia__native_stream *s,
                                 const struct pythia_frame *f)
{
    uint64_t lost = sum_losses(f);
    uint64_t passed = f->anchor_ns > s->told_ns ? f->anchor_ns - s->told_ns : 0;
    n->droppable = passed + SLACK_NS;
    if (!s->begun && f->position > 0)
        s->lost = lost;
    bool is_more = lost > s->lost, is_possible = is_more && lost - s->lost <= passed + SLACK_NS;
    if (is_possible)
        n->d.to->counts->dropped[PYTHIA_DROP_FULL_RING] += lost - s->lost;
    else if (is_more)
        refuse_losses(n, lost - s->lost, passed + SLACK_NS);
    if (is_more || s->lied) { /* what was claimed once may be taken back */
        s->lied = is_more && !is_possible;
        s->lost = lost;
    }
    if (f->anchor_ns > s->told_ns)
        s->told_ns = f->anchor_ns;
}

int pythia__native_dropped(struct pythia__native *n, struct pythia_text record)
{
    static const enum pythia_drop reasons[] = {
        [PYTHIA_DROPPED_SWITCHED] = PYTHIA_DROP_SWITCHED,
        [PYTHIA_DROPPED_ABANDONED] = PYTHIA_DROP_ABANDONED,
        [PYTHIA_DROPPED_OVERSIZE] = PYTHIA_DROP_OVERSIZE,
    };
    if (record.size < sizeof(struct pythia_record_dropped))
        return pythia__native_tell(n, "a count of dropped spans that is too short");
    uint64_t reason = PYTHIA__MEMBER(record.bytes, pythia_record, number),
             spans = PYTHIA__MEMBER(record.bytes, pythia_record_dropped, spans);
    if (reason == 0 || reason >= sizeof(reasons) / sizeof(reasons[0])) /* of a later version */
        n->d.to->counts->dropped[PYTHIA_DROP_NOT_A_TRACE]++;
    else if (spans > n->droppable)
        refuse_losses(n, spans, n->droppable);
    else
        n->d.to->counts->dropped[reasons[reason]] += spans;
    n->droppable -= spans < n->droppable ? spans : n->droppable;
    return PYTHIA_OK;
}
