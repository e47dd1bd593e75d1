/* The input, and the problems that a reader should know of. */
#include <math.h>

#include "document/document_names.h"
#include "sentences.h"

#define INCOMPLETE_MIN .01 /* of the requests: fewer are not worth a sentence */

uint64_t pythia__sum_of(const uint64_t *counts, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += counts[i];
    return sum;
}

void pythia__say_origin(struct pythia__doc *d, const struct pythia_report_source *s)
{
    if (s->live)
        pythia__doc_words(d, "a live stream");
    else
        pythia__doc_count(d, (double)s->input->files, " file", " files");
}

void pythia__say_sampling(struct pythia__doc *d, const struct pythia_report_source *s)
{
    double seen = (double)s->diagnosis->seen;
    if (s->diagnosis->seen == s->diagnosis->requests)
        return;
    pythia__doc_words(d, "Sampled: ");
    pythia__doc_count(d, seen, " request", " requests");
    pythia__doc_words(d, "%s %s ", s->loop ? " of the last cycle" : "",
                      seen == 1 ? "stands for" : "stand for");
    pythia__doc_count(d, (double)s->diagnosis->requests, "", "");
    pythia__doc_words(d, ".");
}

void pythia__say_incomplete(struct pythia__doc *d, const struct pythia_counts *n)
{
    double all = (double)n->traces, sum = (double)pythia__sum_of(n->incomplete, PYTHIA_INCOMPLETES);
    const char *comma = ": ";
    if (!(sum > INCOMPLETE_MIN * all))
        return;
    pythia__doc_words(d, "%.2g %% of the requests are incomplete and were left out",
                      100 * sum / all);
    for (int i = 0; i < PYTHIA_INCOMPLETES; i++) {
        if (n->incomplete[i] == 0)
            continue;
        pythia__doc_words(d, "%s", comma);
        pythia__doc_count(d, (double)n->incomplete[i], "", "");
        pythia__doc_words(d, " because %s", pythia_incomplete_help((enum pythia_incomplete)i));
        comma = "; ";
    }
    pythia__doc_words(d, ".");
}

void pythia__say_clock_bases(struct pythia__doc *d, uint64_t spans)
{
    if (spans == 0)
        return;
    pythia__doc_count(d, (double)spans, " span was", " spans were");
    pythia__doc_words(d, " recorded by a clock that has no common base with the caller's; only "
                         "durations are used there.");
}

void pythia__say_overhead(struct pythia__doc *d, const struct pythia_vocabulary *v,
                          const struct pythia_report_overhead *o)
{
    enum { SHOWN = 10 };
    if (isfinite(o->share))
        pythia__doc_words(d, "Tracing takes %.3g %% of the time of requests; the limit is %.3g %%",
                          100 * o->share, 100 * o->limit);
    else
        pythia__doc_words(d, "Tracing may take up to %.3g %% of the time of requests",
                          100 * o->limit);
    pythia__doc_words(d, o->beyond_limit ? "; everything that can be closed is closed." : ".");
    for (size_t i = 0; i < o->listed && i < SHOWN; i++) {
        pythia__doc_words(d, i ? "; " : " Closed for its cost: ");
        pythia__doc_point(d, v, o->dropped[i].tracepoint);
        pythia__doc_words(d, " (cost %.3g %%, accounted for %.3g %% of the variance)",
                          100 * o->dropped[i].share, 100 * o->dropped[i].explained);
    }
    if (o->dropped_count > SHOWN)
        pythia__doc_words(d, "; and %zu more", (size_t)o->dropped_count - SHOWN);
    pythia__doc_words(d, o->dropped_count > 0 ? "." : "");
}
