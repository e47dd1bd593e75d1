#include <inttypes.h>
#include <math.h>

#include "document/document_names.h"
#include "profile_forms.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"

/* The last columns are left out where a terminal is narrow: they fit in WIDE_COLUMNS. */
static const struct pythia__doc_column row_columns[] = {
    {.title = "callpath", .name = true, .flexible = true},
    {.title = "calls", .right = true},
    {.title = "total", .right = true},
    {.title = "share", .right = true},
    {.title = "own", .right = true},
    {.title = "mean", .right = true},
    {.title = "p50", .right = true},
    {.title = "p99", .right = true},
    {.title = "min", .right = true},
    {.title = "max", .right = true}};
static const struct pythia__doc_column part_columns[] = {
    {.title = "process", .name = true, .flexible = true},
    {.title = "calls", .right = true},
    {.title = "total", .right = true},
    {.title = "share", .right = true},
    {.title = "mean", .right = true},
    {.title = "p50", .right = true},
    {.title = "p99", .right = true},
    {.title = "min", .right = true},
    {.title = "max", .right = true}};
static const struct pythia__doc_column pair_columns[] = {
    {.title = "origin", .name = true},         {.title = "target"},
    {.title = "callpath", .flexible = true},   {.title = "calls", .right = true},
    {.title = "origin's time", .right = true}, {.title = "target's time", .right = true}};
static const struct pythia__doc_column slot_columns[] = {
    {.title = "callpath", .name = true, .flexible = true}, {.title = ""}, {.title = "over time"}};

#define WIDE_COLUMNS   100
#define NARROW_DROPPED 2 /* min and max */

static size_t count_columns(const struct pythia__profile_shown *s, size_t all)
{
    bool narrow = s->view->format == PYTHIA_PROFILE_TEXT && s->view->width < WIDE_COLUMNS;
    return narrow ? all - NARROW_DROPPED : all;
}

/* ---- names ---- */

/* By the last point alone where no other callpath ends in it, else with its caller, else whole. */
static void add_row_name(const struct pythia__profile_shown *s,
                         const struct pythia_profile_row *row, struct pythia__doc *d)
{
    struct pythia_buf last = {0}, two = {0}, all = {0};
    if (row->node == PYTHIA_NONE && row->tracepoint != PYTHIA_NONE) {
        pythia__doc_point(d, pythia_profile_vocabulary(s->profile), row->tracepoint);
        return;
    }
    if (row->tracepoint != PYTHIA_NONE)
        pythia_buf_text_add(&last, pythia_vocabulary_tracepoint_id(
                                       pythia_profile_vocabulary(s->profile), row->tracepoint));
    else
        pythia__profile_name(s->profile, row, 1, &last);
    pythia__profile_name(s->profile, row, 2, &two);
    pythia__profile_name(s->profile, row, PYTHIA__PROFILE_NAME_LEVELS, &all);
    pythia__doc_name(d, PYTHIA__DOC_TYPE, pythia_buf_text(&last), pythia_buf_text(&two),
                     pythia_buf_text(&all));
    d->failed = d->failed || last.failed || two.failed || all.failed;
    pythia_buf_free(&last);
    pythia_buf_free(&two);
    pythia_buf_free(&all);
}

/* Callers that are not traced are the clients of the system: nobody misses them. */
static void add_side(const struct pythia__profile_shown *s, const struct pythia_profile_row *row,
                     struct pythia__doc *d)
{
    struct pythia_buf text = {0};
    bool origin = row->side == PYTHIA_PROFILE_ORIGIN;
    if (!origin && !row->peer)
        return;
    pythia_buf_puts(&text, origin ? " to " : " from ");
    if (row->peer)
        pythia_shown_add(&text,
                         pythia_vocabulary_text(pythia_profile_vocabulary(s->profile), row->peer),
                         SIZE_MAX);
    else
        pythia_buf_puts(&text, "(not traced)");
    pythia_buf_puts(&text, row->peers ? " and others" : "");
    pythia__doc_take(d, PYTHIA__DOC_WORDS, &text);
}

static void add_name_part(struct pythia_buf *to, const char *before, struct pythia_text name)
{
    if (name.size == 0)
        return;
    pythia_buf_puts(to, to->size > 0 ? before : "");
    pythia_shown_add(to, name, SIZE_MAX);
}

/* "store on host-3, instance 7" */
static void add_process_row(const struct pythia__profile_shown *s, uint32_t process,
                            struct pythia__doc *d)
{
    const struct pythia_vocabulary *v = pythia_profile_vocabulary(s->profile);
    struct pythia_buf text = {0};
    if (process != PYTHIA_NONE) {
        const struct pythia_profile_process *x = pythia_profile_process(s->profile, process);
        add_name_part(&text, "", pythia_vocabulary_text(v, x->service));
        add_name_part(&text, " on ", pythia_vocabulary_text(v, x->host));
        add_name_part(&text, ", instance ", pythia_vocabulary_text(v, x->instance));
    }
    if (text.size == 0)
        pythia_buf_puts(&text, process == PYTHIA_NONE ? "(not traced)" : "(unknown)");
    pythia__doc_take(d, PYTHIA__DOC_WORDS, &text);
}

/* ---- rows ---- */

static void add_count_cell(struct pythia__doc *d, uint64_t count)
{
    pythia__doc_cell(d);
    pythia__doc_count(d, (double)count, "", "");
}

static void add_time_cell(struct pythia__doc *d, double ns)
{
    pythia__doc_cell(d);
    pythia__doc_duration(d, ns);
}

static void add_share_cell(struct pythia__doc *d, double part, double of)
{
    pythia__doc_cell(d);
    pythia__doc_percent(d, of > 0 ? part / of : NAN);
}

static void add_times(const struct pythia__profile_shown *s, const struct pythia_profile_times *t,
                      struct pythia__doc *d)
{
    add_time_cell(d, pythia_exact_moments_mean(&t->moments));
    add_time_cell(d, pythia_profile_quantile(t, .5));
    add_time_cell(d, pythia_profile_quantile(t, .99));
    if (count_columns(s, NARROW_DROPPED) == 0)
        return;
    add_time_cell(d, pythia_profile_min(t));
    add_time_cell(d, pythia_profile_max(t));
}

static void add_row(const struct pythia__profile_shown *s, const struct pythia_profile_row *row,
                    struct pythia__doc *d)
{
    double all = (double)s->totals.request_ns, total = (double)pythia_profile_sum_ns(&row->times);
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    add_row_name(s, row, d);
    if (row->level > 0)
        pythia__doc_words(d, " at level %" PRIu32, row->level);
    add_side(s, row, d);
    add_count_cell(d, row->times.moments.weight);
    add_time_cell(d, total);
    add_share_cell(d, total, all);
    add_share_cell(d, (double)row->exclusive_ns, all);
    add_times(s, &row->times, d);
}

/* ---- processes ---- */

static void add_imbalance(const struct pythia__profile_shown *s, const uint32_t *parts,
                          size_t count, struct pythia__doc *d)
{
    struct pythia__profile_imbalance most = pythia__profile_imbalance_of(s, parts, count);
    pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
    add_process_row(s, most.process, d);
    if (count == 1) {
        pythia__doc_words(d, " has all calls.");
        return;
    }
    pythia__doc_words(d, " has most calls: %.1f times the mean of the other %zu, and %.1f times ",
                      most.calls, count - 1, most.time);
    pythia__doc_words(d, "their time.");
}

static void add_instances(const struct pythia__profile_shown *s, uint32_t row,
                          struct pythia__doc *d)
{
    size_t count, columns = sizeof(part_columns) / sizeof(part_columns[0]);
    const uint32_t *parts = pythia__profile_parts_of(s, row, &count);
    double all = (double)pythia_profile_sum_ns(&s->rows[row].times);
    if (count == 0)
        return;
    pythia__doc_gap(d);
    pythia__doc_heading(d, 2, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "Processes of ");
    add_row_name(s, &s->rows[row], d);
    add_imbalance(s, parts, count, d);
    pythia__doc_table(d, part_columns, count_columns(s, columns));
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_part *part = &s->parts[parts[i]];
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        add_process_row(s, part->process, d);
        add_count_cell(d, part->times.moments.weight);
        add_time_cell(d, (double)pythia_profile_sum_ns(&part->times));
        add_share_cell(d, (double)pythia_profile_sum_ns(&part->times), all);
        add_times(s, &part->times, d);
    }
}

static void add_process_pairs(const struct pythia__profile_shown *s, struct pythia__doc *d)
{
    size_t count = s->pair_count < s->view->top ? s->pair_count : s->view->top;
    pythia__doc_gap(d);
    pythia__doc_title(d, 2, "Calls from process to process");
    if (s->pair_count == 0) {
        pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
        pythia__doc_words(d, "There is no call between services.");
        return;
    }
    pythia__doc_table(d, pair_columns, sizeof(pair_columns) / sizeof(pair_columns[0]));
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_pair *pair = &s->pairs[s->pair_order[i]];
        pythia__doc_row(d, PYTHIA__DOC_PLAIN);
        pythia__doc_cell(d);
        add_process_row(s, pair->origin, d);
        pythia__doc_cell(d);
        add_process_row(s, pair->target, d);
        pythia__doc_cell(d);
        add_row_name(s, &s->rows[pair->row], d);
        add_count_cell(d, pair->calls);
        add_time_cell(d, pair->origin == PYTHIA_NONE ? NAN : (double)pair->origin_ns);
        add_time_cell(d, pair->target == PYTHIA_NONE ? NAN : (double)pair->target_ns);
    }
    pythia__doc_more(d, s->pair_count, count, "pair", "pairs");
}

/* ---- over time ---- */

static void add_slots(const struct pythia__profile_shown *s, const struct pythia_profile_row *row,
                      const uint64_t *values, const char *label, struct pythia__doc *d)
{
    uint64_t shown[PYTHIA_PROFILE_SLOTS];
    for (size_t i = 0; i < s->totals.slots; i++)
        shown[i] = pythia_profile_slot(s->profile, values, i);
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    if (row)
        add_row_name(s, row, d);
    pythia__doc_cell(d);
    pythia__doc_words(d, "%s", label);
    pythia__doc_cell(d);
    pythia__doc_spark(d, shown, s->totals.slots);
}

static void add_over_time(const struct pythia__profile_shown *s, struct pythia__doc *d)
{
    pythia__doc_gap(d);
    pythia__doc_title(d, 2, "Over time");
    pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
    pythia__doc_words(d, "Spans by when they began, in slots of ");
    pythia__doc_duration(d, (double)s->totals.slot_ns);
    pythia__doc_words(d, "; the highest block is the largest slot of its line.");
    pythia__doc_table(d, slot_columns, sizeof(slot_columns) / sizeof(slot_columns[0]));
    for (size_t i = 0; i < s->count; i++) {
        const struct pythia_profile_row *row = &s->rows[s->order[i]];
        if (!row->counts)
            continue;
        add_slots(s, row, row->counts, "calls", d);
        add_slots(s, NULL, row->ns, "time", d);
    }
}

/* ---- all of it ---- */

static void add_profile_head(const struct pythia__profile_shown *s, struct pythia__doc *d)
{
    pythia__doc_open(d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "Profile");
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__doc_count(d, (double)s->totals.requests, " request", " requests");
    if (s->totals.seen != s->totals.requests) {
        pythia__doc_words(d, " (");
        pythia__doc_count(d, (double)s->totals.seen, " seen)", " seen)");
    }
    pythia__doc_words(d, " that took ");
    pythia__doc_duration(d, (double)s->totals.request_ns);
    pythia__doc_words(d, " \xC2\xB7 ");
    pythia__doc_count(d, (double)s->totals.spans, " span", " spans");
    pythia__doc_words(d, " \xC2\xB7 ");
    pythia__doc_count(d, (double)s->row_count, " row", " rows");
    if (s->row_count == 0 && s->totals.spans > 0)
        pythia__doc_words(d, ": no name matches --callpath");
    pythia__doc_close(d);
}

static void add_unmatched(const struct pythia__profile_shown *s, struct pythia__doc *d)
{
    const struct pythia_profile_totals *t = &s->totals;
    if (t->no_target + t->no_origin == 0)
        return;
    pythia__doc_paragraph(d, PYTHIA__DOC_WARN);
    pythia__doc_count(d, (double)(t->no_target + t->no_origin), "", "");
    pythia__doc_words(d, " of ");
    pythia__doc_count(d, (double)t->calls, " call", " calls");
    pythia__doc_words(d, " between services have a span on one side only: ");
    pythia__doc_count(d, (double)t->no_target, "", "");
    pythia__doc_words(d, " lack that of the target, ");
    pythia__doc_count(d, (double)t->no_origin, "", "");
    pythia__doc_words(d, " that of the caller.");
}

int pythia__profile_document(const struct pythia__profile_shown *s, struct pythia__doc *d)
{
    add_profile_head(s, d);
    add_unmatched(s, d);
    pythia__doc_gap(d);
    pythia__doc_table(d, row_columns,
                      count_columns(s, sizeof(row_columns) / sizeof(row_columns[0])));
    for (size_t i = 0; i < s->count; i++)
        add_row(s, &s->rows[s->order[i]], d);
    pythia__doc_more(d, s->row_count, s->count, "row", "rows");
    for (size_t i = 0; i < s->count && s->view->instances; i++)
        add_instances(s, s->order[i], d);
    if (s->view->pairs)
        add_process_pairs(s, d);
    if (s->view->slots && s->totals.slots > 0)
        add_over_time(s, d);
    return pythia__doc_finish(d);
}
