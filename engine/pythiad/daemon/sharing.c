#include "sharing.h"

#include <inttypes.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

static int add_pins(struct pythia_buf *text, const char *name, struct pythia_open_points *to,
                    const struct pythia_option_texts *pins)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < pins->count && status == PYTHIA_OK; i++) {
        pythia_buf_printf(text, ", %s=%s", name, pins->texts[i]);
        status = pythia_open_points_add(to, pythia_text_of(pins->texts[i]));
    }
    return status;
}

/* By its content: each member has a copy, wherever. */
static int add_expectations(struct pythia_buf *text, const char *path, struct pythia_error *e)
{
    struct pythia_buf bytes = {0};
    int status = path ? pythia_file_read(path, &bytes, e) : PYTHIA_OK;
    if (path && status == PYTHIA_OK)
        pythia_buf_printf(text, ", expect=%016" PRIx64, pythia_hash_bytes(bytes.bytes, bytes.size));
    pythia_buf_free(&bytes);
    return status;
}

/* All that a decision follows from beside the evidence, and the version, which may decide in
 * another way. */
static void add_numbers(struct pythia_buf *text, const struct pythia__settings *s)
{
    pythia_buf_printf(text,
                      "pythiad=%s, strategy=%d, points=%" PRId64 ", points-open=%" PRId64
                      ", added-ns=%.17g, price-ns=%.17g, alpha=%.17g, min-requests=%" PRId64
                      ", min-cov=%.17g, patience=%" PRId64 ", problems-per-cycle=%" PRId64
                      ", seed=%" PRId64 ", latency=%d, fold=%d, type-attribute=%s",
                      PYTHIA_VERSION, s->strategy, s->points, s->points_open, s->added_ns,
                      s->price_ns, s->alpha, s->min_requests, s->min_cov, s->patience,
                      s->problems_per_cycle, s->seed, s->latency, !s->no_fold,
                      s->type_attribute ? s->type_attribute : "");
}

int pythia__sharing_read(const struct pythia__daemon *d, struct pythia__sharing *out,
                         struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    int status = s->kafka ? pythia__kafka_shared_group(s->kafka, &out->group, e) : PYTHIA_OK;
    if (status != PYTHIA_OK || !out->group)
        return status;
    add_numbers(&out->settings, s);
    if ((status = pythia_open_points_create(d->engine.vocabulary, &out->always)) != PYTHIA_OK ||
        (status = pythia_open_points_create(d->engine.vocabulary, &out->never)) != PYTHIA_OK ||
        (status = add_pins(&out->settings, "always", out->always, &s->always)) != PYTHIA_OK ||
        (status = add_pins(&out->settings, "never", out->never, &s->never)) != PYTHIA_OK ||
        (status = add_expectations(&out->settings, s->expect, e)) != PYTHIA_OK)
        return status;
    return pythia_buf_status(&out->settings);
}

void pythia__sharing_free(struct pythia__sharing *s)
{
    pythia_free(s->group);
    pythia_buf_free(&s->settings);
    pythia_open_points_destroy(s->always);
    pythia_open_points_destroy(s->never);
}
