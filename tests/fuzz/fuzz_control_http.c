/* What agents send to the control plane "http": whatever it is, the plane answers, keeps to its
 * limits, and what it says of open points is JSON that names only points of its inventory. */
#include <string.h>

#include <jansson.h>

#include "fuzz.h"
#include "pythia/control_http.h"
#include "pythia/status.h"

#define S UINT64_C(1000000000)

static struct pythia_control *make(void)
{
    static const char *const names[] = {"agents-max", "points-max", "forget-after"};
    static const char *const values[] = {"4", "16", "20"};
    const struct pythia_control_ops *ops = pythia_control_named("http");
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    void *settings = calloc(1, ops->settings_size);
    MUST(settings);
    pythia_options_default(ops->options, settings);
    for (size_t i = 0; i < 3; i++)
        for (const struct pythia_option *o = ops->options; o->name; o++)
            if (strcmp(o->name, names[i]) == 0)
                MUST(pythia_option_set(o, settings, values[i], &e) == PYTHIA_OK);
    MUST(ops->create(settings, &c, &e) == PYTHIA_OK);
    free(settings);
    return c;
}

/* What the inventory holds, for the wishes that follow. */
struct known {
    struct pythia_control *plane;
    struct pythia_control_wish wishes[16];
    size_t count;
};

static int note(void *context, const struct pythia_control_point *p)
{
    struct known *k = context;
    MUST(k->count < 16 && p->id.size > p->target.size + 1 && p->id.size <= 512);
    MUST(memcmp(p->id.bytes, p->target.bytes, p->target.size) == 0 &&
         p->id.bytes[p->target.size] == ':');
    MUST(!(p->price_ns < 0));
    if (k->count % 2 == 0)
        k->wishes[k->count / 2].id = p->id;
    k->count++;
    return PYTHIA_OK;
}

static int take_result(void *context, struct pythia_text id, struct pythia_text target,
                       enum pythia_control_result result, uint64_t version)
{
    (void)id, (void)version;
    MUST(target.size > 0 && result != PYTHIA_CONTROL_APPLIED);
    ++*(size_t *)context;
    return PYTHIA_OK;
}

static void look(struct pythia_control *c, uint64_t now_ns)
{
    struct known k = {.plane = c};
    struct pythia_error e = {0};
    size_t results = 0;
    MUST(c->ops->inventory(c, note, &k) == PYTHIA_OK);
    MUST(c->ops->apply(c, k.wishes, (k.count + 1) / 2, 1, now_ns, &e) == PYTHIA_OK);
    MUST(c->ops->observe(c, now_ns, take_result, &results) == PYTHIA_OK);
    MUST(results == k.count);
}

/* The input is several bodies with zeros between them; each is also a service, an instance and an
 * etag that somebody asks with. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_control *c = make();
    struct pythia_buf body = {0};
    char etag[PYTHIA_CONTROL_HTTP_ETAG];
    const char *at = (const char *)bytes, *end = at + size;
    for (uint64_t now = S; at <= end && now < 40 * S; now += S) {
        const char *stop = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
        struct pythia_text text = {at, (size_t)((stop ? stop : end) - at)};
        pythia_buf_clear(&body);
        int posted = pythia_control_http_post(c, text.bytes, text.size, now, &body);
        MUST(posted == 200 || posted == 400 || posted == 413 || posted == 429);
        MUST(body.size > 0);
        struct pythia_text third = {text.bytes, text.size / 3};
        pythia_buf_clear(&body);
        int got = pythia_control_http_get(c, third, text, third, now, &body, etag);
        MUST(got == 200 || got == 304 || got == 400 || got == 503);
        look(c, now);
        pythia_buf_clear(&body);
        got =
            pythia_control_http_get(c, PYTHIA_TEXT("s"), PYTHIA_TEXT("i"), text, now, &body, etag);
        if (got == 200) {
            json_t *json = json_loadb(body.bytes, body.size, 0, NULL);
            MUST(json && json_is_array(json_object_get(json, "open")));
            json_decref(json);
        }
        struct pythia_control_http_numbers n = pythia_control_http_numbers(c, now);
        MUST(n.agents <= 4 && n.points <= 16);
        if (!stop)
            break;
        at = stop + 1;
    }
    c->ops->destroy(c);
    pythia_buf_free(&body);
    return 0;
}
