#include <inttypes.h>
#include <math.h>

#include "breakdown.h"
#include "document/document.h"
#include "pythia/status.h"

static const struct pythia__doc_column columns[] = {{.title = "interval of the call", .name = true},
                                                    {.title = "mean", .right = true},
                                                    {.title = "share", .bar = true},
                                                    {.title = "variance", .right = true}};

static double mean_of(const struct pythia_exact_moments *m)
{
    return pythia_exact_moments_mean(m);
}

/* By the last call alone where no other callpath ends in it, else by all calls. */
static void add_callpath_heading(struct pythia__doc *d, const struct pythia_breakdown *b,
                                 uint32_t path)
{
    const struct pythia__callpath *p = &b->paths[path];
    struct pythia_buf call = {0}, all = {0};
    pythia__call_name(b, path, &call);
    pythia__callpath_name(b, path, &all);
    pythia__doc_heading(d, 2, PYTHIA__DOC_PLAIN);
    pythia__doc_name(d, PYTHIA__DOC_TYPE,
                     pythia_vocabulary_tracepoint_id(
                         b->vocabulary, p->server == PYTHIA_NONE ? p->client : p->server),
                     pythia_buf_text(&call), pythia_buf_text(&all));
    d->failed = d->failed || call.failed || all.failed;
    pythia_buf_free(&call);
    pythia_buf_free(&all);
}

static void add_part_row(struct pythia__doc *d, const struct pythia__callpath *p,
                         enum pythia_call_part part)
{
    double mean = mean_of(&p->parts[part]), share = mean / mean_of(&p->origin),
           variance = pythia__callpath_share(p, part);
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    pythia__doc_words(d, "%s", pythia_call_part_words(part));
    pythia__doc_cell(d);
    pythia__doc_duration(d, mean);
    pythia__doc_cell(d);
    pythia__doc_bar(d, PYTHIA__DOC_TIME, share > 0 ? share : 0, NAN, NAN);
    pythia__doc_percent(d, share);
    pythia__doc_cell(d);
    pythia__doc_percent(d, variance); /* "-" where all calls take the same time */
}

/* Parts without a span or key-value in any listed call; their time is unaccounted, or the
 * target's. */
static void add_missing(struct pythia__doc *d, const struct pythia_breakdown *b,
                        const uint32_t *order, size_t count)
{
    static const enum pythia_call_part instrumented[] = {PYTHIA_CALL_IN_SER,  PYTHIA_CALL_RDMA,
                                                         PYTHIA_CALL_HANDLER, PYTHIA_CALL_IN_DESER,
                                                         PYTHIA_CALL_OUT_SER, PYTHIA_CALL_O_CB};
    uint32_t told = 0;
    size_t missing = 0;
    for (size_t i = 0; i < count; i++)
        told |= b->paths[order[i]].told;
    for (size_t i = 0; i < sizeof(instrumented) / sizeof(instrumented[0]); i++) {
        if (told >> instrumented[i] & 1)
            continue;
        if (missing == 0) {
            pythia__doc_gap(d);
            pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
            pythia__doc_words(d, "Not instrumented in these calls: ");
        }
        pythia__doc_words(d, "%s%s", missing++ > 0 ? ", " : "",
                          pythia_call_part_words(instrumented[i]));
    }
    if (missing > 0)
        pythia__doc_words(d, ".");
}

/* Notes that no row has. */
static void add_call_row(struct pythia__doc *d, const struct pythia__callpath *p)
{
    pythia__doc_paragraph(d, PYTHIA__DOC_TEXT);
    pythia__doc_count(d, (double)p->origin.weight, " call", " calls");
    pythia__doc_words(d, ", mean ");
    pythia__doc_duration(d, mean_of(&p->origin));
    pythia__doc_words(d, p->server == PYTHIA_NONE ? ". The target is not instrumented"
                                                  : ", of which the target took ");
    if (p->server != PYTHIA_NONE) {
        pythia__doc_duration(d, mean_of(&p->exec));
        pythia__doc_words(d, " including its calls");
    }
    if (p->told >> PYTHIA_CALL_T_CB & 1) {
        pythia__doc_words(d, ", and ");
        pythia__doc_duration(d, mean_of(&p->parts[PYTHIA_CALL_T_CB]));
        pythia__doc_words(d, " more after its answer");
    }
    pythia__doc_words(d, p->client == PYTHIA_NONE ? ". The caller is not instrumented." : ".");
}

static void add_pool(struct pythia__doc *d, const char *before, const struct pythia_pool_sizes *s,
                     uint64_t calls)
{
    pythia__doc_words(d, "%s%.3g (%" PRIu64 " to %" PRIu64 ")", before,
                      (double)s->sum / (double)calls, s->low, s->high);
}

static void add_pools(struct pythia__doc *d, const struct pythia__callpath *p)
{
    if (p->pool_calls == 0)
        return;
    add_pool(d, " Tasks in the pool of the target as a call arrives: ", &p->all, p->pool_calls);
    add_pool(d, ", of which can run ", &p->runnable, p->pool_calls);
    pythia__doc_words(d, ".");
}

static void add_callpath(struct pythia__doc *d, const struct pythia_breakdown *b, uint32_t path)
{
    const struct pythia__callpath *p = &b->paths[path];
    pythia__doc_gap(d);
    pythia__doc_open(d, PYTHIA__DOC_SECTION, PYTHIA_TEXT(""), NULL);
    add_callpath_heading(d, b, path);
    add_call_row(d, p);
    add_pools(d, p);
    pythia__doc_table(d, columns, sizeof(columns) / sizeof(columns[0]));
    for (int i = 0; i < PYTHIA_CALL_PARTS; i++)
        if (p->told >> i & 1)
            add_part_row(d, p, (enum pythia_call_part)i);
    pythia__doc_close(d);
}

int pythia__breakdown_build(const struct pythia_breakdown *b, const uint32_t *order, size_t count,
                            struct pythia__doc *d)
{
    pythia__doc_open(d, PYTHIA__DOC_HEAD, PYTHIA_TEXT(""), NULL);
    pythia__doc_heading(d, 1, PYTHIA__DOC_PLAIN);
    pythia__doc_words(d, "Calls between services");
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__doc_count(d, (double)b->requests, " request", " requests");
    pythia__doc_words(d, " \xC2\xB7 ");
    pythia__doc_count(d, (double)(b->count - b->empty), " callpath", " callpaths");
    pythia__doc_words(d, " of calls between services");
    if (b->count == 0)
        pythia__doc_words(d,
                          ": no span is of kind client, server or consumer, and none has another "
                          "service than its parent.");
    else if (count == 0 && b->count > b->empty)
        pythia__doc_words(d, ", of which none has a name that matches --callpath");
    pythia__doc_close(d);
    for (size_t i = 0; i < count; i++)
        add_callpath(d, b, order[i]);
    if (count > 0)
        add_missing(d, b, order, count);
    return pythia__doc_finish(d);
}
