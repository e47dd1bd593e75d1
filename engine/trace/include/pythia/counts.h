#ifndef PYTHIA_COUNTS_H
#define PYTHIA_COUNTS_H

#include <stdint.h>

/* Repairs of a trace, with their names in reports. A duration is never rewritten
 * without one of these. */
#define PYTHIA_REPAIR_MAP(X)                                                                       \
    X(ORPHAN, "orphan", "the parent is missing: moved below the root")                             \
    X(EXTRA_ROOT, "extra_root", "a second root: kept beside the first")                            \
    X(DUPLICATE, "duplicate", "a duplicate span: one is kept")                                     \
    X(CONFLICT, "conflict", "two reports of one span with different times: the longest is kept")   \
    X(UNFINISHED, "unfinished", "no end was seen: assumed to last as long as the spans below it")  \
    X(CYCLE, "cycle", "a span was its own ancestor: cut off and put below the root")               \
    X(SKEW, "skew", "another host's clock was off: moved into its parent")                         \
    X(CLAMPED, "clamped", "exceeded a parent that waits for it: cut to the parent")                \
    X(NEGATIVE, "negative", "ended before it began: duration set to 0")                            \
    X(SEVERAL_PARENTS, "several_parents", "several parents: the first is kept")                    \
    X(ENCODING, "encoding", "text was not UTF-8: invalid bytes became U+FFFD")                     \
    X(CLOCK_STEP, "clock_step", "a clock was set, or the machine slept: times may be off")         \
    X(SAMPLING, "sampling", "invalid sampling probability: ignored")                               \
    X(CLOCK_BASE, "clock_base",                                                                    \
      "another host's clock has no common base: only the duration was used")

/* Losses, by reason. */
#define PYTHIA_DROP_MAP(X)                                                                         \
    X(BROKEN_RECORD, "broken_record", "a record that could not be read")                           \
    X(STOP_WITHOUT_START, "stop_without_start", "the end of a span whose start is missing")        \
    X(LATE, "late", "came after its trace was finished")                                           \
    X(NOT_A_TRACE, "not_a_trace", "a record of another kind")                                      \
    X(OVERSIZE, "oversize",                                                                        \
      "came after its trace, or its request in the traced program, had reached the largest size")  \
    X(SHED, "shed", "its whole trace was left out because memory was short")                       \
    X(FULL_RING, "full_ring", "not recorded in the traced program: its ring was full")             \
    X(SWITCHED, "switched",                                                                        \
      "trace points were switched during its request, whose end was not seen")                     \
    X(ABANDONED, "abandoned",                                                                      \
      "its request has no end: its program, thread or session ended, or an error left it")         \
    X(CUT_TEXT, "cut_text", "the rest of a text that its source truncated")                        \
    X(ATTRIBUTE, "attribute", "a key-value beyond the limit per span")                             \
    X(EVENT, "event", "an event beyond the limit per span")                                        \
    X(LINK, "link", "a link beyond the limit per span")                                            \
    X(REDACTED, "redacted", "a key-value that a redaction rule drops")                             \
    X(LOSS_COUNT, "loss_count", "an impossibly high count of losses of a traced program: ignored")

/* Why a request that was finished may lack spans. It is counted, and is evidence of nothing: the
 * spans that it lacks would look like calls that were never made. */
#define PYTHIA_INCOMPLETE_MAP(X)                                                                   \
    X(SENDER, "late_sender",                                                                       \
      "no spans arrived in time from a service that most requests of the type call")               \
    X(AGE, "age", "it exceeded the longest duration of a request")                                 \
    X(SIZE, "size", "it exceeded the limit of spans per request")                                  \
    X(RING, "full_ring", "a traced program had no room to record all of its spans")

enum pythia_incomplete {
#define X(name, text, help) PYTHIA_INCOMPLETE_##name,
    PYTHIA_INCOMPLETE_MAP(X)
#undef X
        PYTHIA_INCOMPLETES
};

enum pythia_repair {
#define X(name, text, help) PYTHIA_REPAIR_##name,
    PYTHIA_REPAIR_MAP(X)
#undef X
        PYTHIA_REPAIRS
};

enum pythia_drop {
#define X(name, text, help) PYTHIA_DROP_##name,
    PYTHIA_DROP_MAP(X)
#undef X
        PYTHIA_DROPS
};

/* Counts of the input, and of what was retained, repaired and dropped. Public, by value; {0} is
 * empty; one thread at a time. */
struct pythia_counts {
    uint64_t spans;  /* read: for sources that report start and end apart, records */
    uint64_t kept;   /* spans in finished traces */
    uint64_t traces; /* finished */
    uint64_t hidden; /* spans of closed trace points: left out because that was asked for */
    uint64_t
        outlive; /* spans that go on after their parent has ended: no fault, asynchronous work */
    uint64_t long_values; /* texts of key-values that are longer than is kept (span.h): their begin
                             is kept, and a hash of the whole, so that they differ as before */
    uint64_t hashed_values; /* of which a rule of redact keeps a hash (redaction.h) */
    uint64_t repaired[PYTHIA_REPAIRS];
    uint64_t dropped[PYTHIA_DROPS];
    uint64_t incomplete[PYTHIA_INCOMPLETES]; /* traces */
};

/* Add each counter of `from`, for example those of a worker thread to the total. */
void pythia_counts_add(struct pythia_counts *to, const struct pythia_counts *from);

/* Spans and records that were dropped, and parts of spans: key-values, events, links, texts. */
uint64_t pythia_counts_dropped_spans(const struct pythia_counts *counts);
uint64_t pythia_counts_dropped_values(const struct pythia_counts *counts);

/* Static strings: the name in a report and the sentence for people. */
const char *pythia_repair_name(enum pythia_repair repair);
const char *pythia_repair_help(enum pythia_repair repair);
const char *pythia_drop_name(enum pythia_drop drop);
const char *pythia_drop_help(enum pythia_drop drop);
const char *pythia_incomplete_name(enum pythia_incomplete reason);
const char *pythia_incomplete_help(enum pythia_incomplete reason);

#endif
