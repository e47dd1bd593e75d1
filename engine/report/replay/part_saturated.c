/* Which numbers of requests are often at their limit. */
#include <math.h>

#include "page/pictures.h"
#include "report_parts.h"

#define KEYS_MAX   20
#define TREND_TOLD .3 /* a tenth of the variance of the ranks: less does not show in the picture */

static void add_saturated_key(const struct pythia__parts *p, const struct pythia_saturated_key *key)
{
    const struct pythia_saturation *s = &key->found;
    struct pythia_saturated_key *drawn = pythia__doc_alloc(p->d, sizeof(*drawn));
    pythia__doc_gap(p->d);
    pythia__doc_heading(p->d, 3, PYTHIA__DOC_NOTE);
    (void)pythia__doc_name(p->d, PYTHIA__DOC_KEY, key->name, key->name, key->name);
    pythia__doc_paragraph(p->d, PYTHIA__DOC_TEXT);
    pythia__doc_words(p->d, "At its limit of %g in ", s->limit);
    pythia__doc_percent(p->d, s->share);
    pythia__doc_words(p->d, " of ");
    pythia__doc_count(p->d, (double)key->samples, " request", " requests");
    pythia__doc_words(p->d, ", in ");
    pythia__doc_count(p->d, (double)s->bursts, " burst", " bursts");
    pythia__doc_words(p->d, " of up to ");
    pythia__doc_count(p->d, (double)s->longest, " request", " requests");
    if (fabs(s->trend) >= TREND_TOLD)
        pythia__doc_words(p->d, "; it %s over time", s->trend > 0 ? "rises" : "falls");
    pythia__doc_words(p->d, ".");
    if (!drawn)
        return;
    *drawn = *key;
    pythia__doc_picture(p->d, pythia__scatter_draw, drawn);
}

void pythia__part_saturated(const struct pythia__parts *p)
{
    const struct pythia_saturated *all = p->s->saturated;
    if (!all || all->count == 0)
        return;
    size_t shown = all->count < KEYS_MAX ? all->count : KEYS_MAX;
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("saturated"), "Saturated");
    pythia__doc_title(p->d, 2, "What is saturated");
    for (size_t i = 0; i < shown; i++)
        add_saturated_key(p, &all->keys[i]);
    pythia__doc_more(p->d, all->count, shown, "key", "keys");
    pythia__doc_close(p->d);
}
