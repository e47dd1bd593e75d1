#include "plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "pythia/status.h"

int plane_try(const char *name, const char *const *settings, struct pythia_control **out,
              struct pythia_error *e)
{
    const struct pythia_control_ops *ops = pythia_control_named(name);
    assert_non_null(ops);
    void *values = calloc(1, ops->settings_size);
    assert_non_null(values);
    pythia_options_default(ops->options, values);
    int status = PYTHIA_OK;
    for (; *settings && status == PYTHIA_OK; settings++) {
        const char *equals = strchr(*settings, '=');
        const struct pythia_option *o = ops->options;
        assert_non_null(equals);
        while (o->name && (strlen(o->name) != (size_t)(equals - *settings) ||
                           strncmp(o->name, *settings, strlen(o->name)) != 0))
            o++;
        assert_non_null(o->name);
        status = pythia_option_set(o, values, equals + 1, e);
    }
    if (status == PYTHIA_OK)
        status = ops->create(values, out, e);
    free(values);
    return status;
}

struct pythia_control *plane_make(const char *name, const char *const *settings)
{
    struct pythia_control *c = NULL;
    struct pythia_error e = {0};
    int status = plane_try(name, settings, &c, &e);
    if (status != PYTHIA_OK)
        print_error("%s\n", e.sentence);
    assert_int_equal(status, PYTHIA_OK);
    return c;
}

int plane_apply(struct pythia_control *c, const char *ids, uint64_t version, uint64_t now_ns)
{
    struct pythia_control_wish wishes[64];
    struct pythia_error e = {0};
    size_t count = 0;
    while (*ids) {
        size_t size = strcspn(ids, " ");
        wishes[count++] = (struct pythia_control_wish){.id = {ids, size}};
        ids += size + (ids[size] == ' ');
    }
    int status = c->ops->apply(c, wishes, count, version, now_ns, &e);
    assert_true((status == PYTHIA_OK) == (e.status == PYTHIA_OK));
    return status;
}

static int add_point(void *context, const struct pythia_control_point *p)
{
    pythia_buf_printf(context, "%.*s %.*s %g %d%s\n", (int)p->target.size, p->target.bytes,
                      (int)p->id.size, p->id.bytes, p->price_ns, (int)p->hits,
                      p->open_by_default ? " default" : "");
    return PYTHIA_OK;
}

void plane_inventory(struct pythia_control *c, struct pythia_buf *out)
{
    pythia_buf_clear(out);
    assert_int_equal(c->ops->inventory(c, add_point, out), PYTHIA_OK);
}

static int add_result(void *context, struct pythia_text id, struct pythia_text target,
                      enum pythia_control_result result, uint64_t version)
{
    static const char *const words[] = {"pending", "applied", "refused", "lost"};
    pythia_buf_printf(context, "%.*s %.*s %s %d\n", (int)target.size, target.bytes, (int)id.size,
                      id.bytes, words[result], (int)version);
    return PYTHIA_OK;
}

void plane_observe(struct pythia_control *c, uint64_t now_ns, struct pythia_buf *out)
{
    pythia_buf_clear(out);
    assert_int_equal(c->ops->observe(c, now_ns, add_result, out), PYTHIA_OK);
}

struct wanted {
    struct pythia_text id;
    int result;
};

static int find_result(void *context, struct pythia_text id, struct pythia_text target,
                       enum pythia_control_result result, uint64_t version)
{
    struct wanted *w = context;
    (void)target, (void)version;
    if (pythia_text_equal(id, w->id))
        w->result = (int)result;
    return PYTHIA_OK;
}

int plane_result(struct pythia_control *c, const char *id, uint64_t now_ns)
{
    struct wanted w = {pythia_text_of(id), -1};
    assert_int_equal(c->ops->observe(c, now_ns, find_result, &w), PYTHIA_OK);
    return w.result;
}

uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

void sleep_ms(unsigned ms)
{
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
}
