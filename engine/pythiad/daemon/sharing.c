#include "sharing.h"

#include <inttypes.h>

#include "pythia/hash.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "shared/pin_place.h"
#include "switching/pins.h"
#include "switching/saved_search.h"

static int add_shared_pins(struct pythia_buf *text, const char *name, struct pythia_open_points *to,
                           const struct pythia_option_texts *pins)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < pins->count && status == PYTHIA_OK; i++) {
        pythia_buf_printf(text, ", %s=%s", name, pins->texts[i]);
        status = pythia__pin_place_add(to, pins->texts[i]); /* places concern switches alone */
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

/* A setting that is one of some words. */
static void add_word(struct pythia_buf *text, const char *name, int value)
{
    const char *word = pythia__setting(name)->choices;
    while (value-- > 0)
        word += strcspn(word, "|") + 1;
    pythia_buf_printf(text, "%s=%.*s, ", name, (int)strcspn(word, "|"), word);
}

/* All that a decision follows from beside the evidence, under the names of the settings. */
static void add_numbers(struct pythia_buf *text, const struct pythia__settings *s)
{
    add_word(text, "strategy", s->strategy);
    add_word(text, "latency", s->latency);
    pythia_buf_printf(text,
                      "points=%" PRId64 ", points-open=%" PRId64
                      ", added-ns=%.17g, price-ns=%.17g, alpha=%.17g, min-requests=%" PRId64
                      ", min-cov=%.17g, patience=%" PRId64 ", problems-per-cycle=%" PRId64
                      ", seed=%" PRId64 ", no-fold=%s, request-type-attribute=%s",
                      s->points, s->points_open, s->added_ns, s->price_ns, s->alpha,
                      s->min_requests, s->min_cov, s->patience, s->problems_per_cycle, s->seed,
                      s->no_fold ? "yes" : "no", s->type_attribute ? s->type_attribute : "");
}

/* Members decide alike if they have the same version, too, and the same pins. A pythiad that is
 * alone goes on with the search of an earlier version, and its pins may change at any time. */
static int add_of_group(const struct pythia__daemon *d, struct pythia__sharing *out)
{
    const struct pythia__settings *s = &d->engine.s;
    int status;
    if ((status = pythia_open_points_create(d->engine.vocabulary, &out->always)) != PYTHIA_OK ||
        (status = pythia_open_points_create(d->engine.vocabulary, &out->never)) != PYTHIA_OK)
        return status;
    pythia_buf_printf(&out->settings, "pythiad=%s, cycle-seconds=%.17g", PYTHIA_VERSION,
                      s->cycle_seconds);
    if ((status = add_shared_pins(&out->settings, "always", out->always, &s->always)) !=
            PYTHIA_OK ||
        (status = add_shared_pins(&out->settings, "never", out->never, &s->never)) != PYTHIA_OK)
        return status;
    pythia_buf_puts(&out->settings, ", ");
    return PYTHIA_OK;
}

int pythia__sharing_read(const struct pythia__daemon *d, struct pythia__sharing *out,
                         struct pythia_error *e)
{
    const struct pythia__settings *s = &d->engine.s;
    int status = s->kafka ? pythia__kafka_shared_group(s->kafka, &out->group, e) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    if (out->group && (status = add_of_group(d, out)) != PYTHIA_OK)
        return status;
    add_numbers(&out->settings, s);
    if ((status = add_expectations(&out->settings, s->expect, e)) != PYTHIA_OK)
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

/* ---- orders by hand ---- */

static json_t *pack_texts(const struct pythia_text *texts, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, json_stringn(texts[i].bytes, texts[i].size));
    return list;
}

static void share_order(struct pythia__daemon *d, json_t *order)
{
    if (!order || pythia__kafka_order(d->kafka, order) != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "No memory to share an order by hand; give it again");
}

void pythia__sharing_pin(void *daemon, const struct pythia_text *ids, size_t count,
                         const struct pythia__pin *pin)
{
    share_order(daemon,
                json_pack("{s:i, s:o, s:o, s:o}", "pin", pin->value, "trace_points",
                          pack_texts(ids, count), "types", pack_texts(pin->types, pin->type_count),
                          "places", pack_texts(pin->places, pin->place_count)));
}

static int set_off_here(struct pythia__daemon *d, bool off, bool *kept)
{
    int status = (off ? pythia_controller_off : pythia_controller_on)(
        d->switching.controller, pythia__engine_now(&d->engine));
    pythia_live_pause(d->engine.live, off || d->engine.s.observe_only);
    *kept = pythia_state_put_off(d->engine.state, off) == PYTHIA_OK;
    return status;
}

int pythia__sharing_set_off(struct pythia__daemon *d, bool off, bool *kept)
{
    int status = set_off_here(d, off, kept);
    share_order(d, json_pack("{s:b}", "off", off));
    return status;
}

/* The texts of a list, borrowed of it, owned as an array by the caller; NULL when out of memory. */
static struct pythia_text *list_texts(const json_t *list, size_t *count)
{
    const json_t *text;
    size_t i;
    struct pythia_text *texts = pythia_calloc(json_array_size(list) + 1, sizeof(*texts));
    *count = 0;
    json_array_foreach (texts ? list : NULL, i, text)
        if (json_string_length(text) > 0)
            texts[(*count)++] =
                (struct pythia_text){json_string_value(text), json_string_length(text)};
    return texts;
}

static int obey_pin(struct pythia__daemon *d, const json_t *order)
{
    json_int_t value = json_integer_value(json_object_get(order, "pin"));
    size_t count = 0, type_count = 0, place_count = 0;
    struct pythia_text *ids = list_texts(json_object_get(order, "trace_points"), &count),
                       *types = list_texts(json_object_get(order, "types"), &type_count),
                       *places = list_texts(json_object_get(order, "places"), &place_count);
    const struct pythia__pin pin = {(value > 0) - (value < 0), types, places, type_count,
                                    place_count};
    int status = ids && types && places ? pythia__switching_pin(&d->switching, ids, count, &pin)
                                        : PYTHIA_ENOMEM;
    pythia_free(ids);
    pythia_free(types);
    pythia_free(places);
    return status;
}

/* An order that is already fulfilled changes nothing: a member reads its own orders too, and
 * those of the past. */
void pythia__sharing_obey(void *daemon, const json_t *order)
{
    struct pythia__daemon *d = daemon;
    const json_t *off = json_object_get(order, "off");
    int status = PYTHIA_OK;
    bool kept;
    if (!json_is_boolean(off))
        status = obey_pin(d, order);
    else if (json_is_true(off) != pythia_controller_is_off(d->switching.controller))
        status = set_off_here(d, json_is_true(off), &kept);
    if (status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "An order of another member could not be obeyed: reason=%s",
                   pythia_status_text(status));
}

/* ---- verdicts ---- */

int pythia__sharing_save(const void *daemon, struct pythia_buf *out)
{
    const struct pythia__daemon *d = daemon;
    return pythia_verdicts_save(&d->engine.search_log.verdicts, d->engine.vocabulary, out);
}

int pythia__sharing_restore(void *daemon, struct pythia_text saved)
{
    struct pythia__daemon *d = daemon;
    return pythia__saved_search_show(&d->switching, saved);
}
