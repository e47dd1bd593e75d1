#include "json_finding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SENTENCES_MAX ((size_t)1 << 20) /* bytes of sentences before their memory is given back */

static json_t *json_of_place(struct pythia__json *w, const struct pythia_place *p)
{
    json_t *out = json_object();
    pythia__json_set(w, out, "from", pythia__json_event(w, p->from_tracepoint, p->from_event));
    pythia__json_set(w, out, "to", pythia__json_event(w, p->to_tracepoint, p->to_event));
    pythia__json_set(w, out, "inside",
                     p->context == PYTHIA_NONE ? json_null() : pythia__json_point(w, p->context));
    if (p->own)
        pythia__json_set(w, out, "own_time", json_true());
    if (p->hosted)
        pythia__json_set(w, out, "host", pythia__json_point(w, p->host));
    return out;
}

json_t *pythia__json_finding(struct pythia__json *w, const struct pythia_finding *f)
{
    if (isnan(f->share))
        return json_null();
    json_t *out = json_object();
    pythia__json_set(w, out, "edge", json_of_place(w, &f->place));
    pythia__json_set(w, out, "share", pythia__json_real(f->share));
    pythia__json_set(w, out, "share_low", pythia__json_real(f->low));
    pythia__json_set(w, out, "share_high", pythia__json_real(f->high));
    return out;
}

json_t *pythia__json_group_id(uint64_t id)
{
    char text[20];
    snprintf(text, sizeof(text), "%016" PRIx64, id);
    return id ? json_string(text) : json_null();
}

struct pythia__doc *pythia__json_say(struct pythia__report_writer *w)
{
    if (pythia_arena_bytes(&w->d.memory) > SENTENCES_MAX) {
        w->json.failed = w->json.failed || w->d.failed;
        pythia__doc_free(&w->d);
        pythia__doc_begin(&w->d);
    }
    pythia__doc_paragraph(&w->d, PYTHIA__DOC_TEXT);
    return &w->d;
}

json_t *pythia__json_said(struct pythia__report_writer *w)
{
    struct pythia_buf text = {0};
    if (!w->d.failed)
        pythia__doc_plain(&w->d.last->line, &text);
    json_t *out = text.size > 0 ? pythia__json_text(pythia_buf_text(&text)) : json_null();
    w->json.failed = w->json.failed || w->d.failed || text.failed;
    pythia_buf_free(&text);
    return out;
}
