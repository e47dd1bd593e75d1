#include "fake_plane.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/status.h"

static void destroy(struct pythia_control *c)
{
    if (c)
        ((struct fake_plane *)c)->destroyed++;
}

static void set_lease(struct pythia_control *c, uint64_t lease_ns)
{
    ((struct fake_plane *)c)->lease_ns = lease_ns;
}

static int inventory(struct pythia_control *c,
                     int (*each)(void *context, const struct pythia_control_point *point),
                     void *context)
{
    struct fake_plane *f = (struct fake_plane *)c;
    int status = PYTHIA_OK;
    f->inventories++;
    for (size_t i = 0; i < f->count && status == PYTHIA_OK; i++) {
        struct pythia_control_point p = {.id = pythia_text_of(f->points[i].id),
                                         .target = pythia_text_of(f->points[i].target),
                                         .price_ns = f->points[i].knows_nothing ? (double)NAN
                                                                                : 100 + (double)i,
                                         .hits = f->points[i].knows_nothing ? 0 : i,
                                         .open_by_default = f->points[i].open_by_default,
                                         .pinned = f->points[i].pinned};
        status = each(context, &p);
    }
    return status;
}

static int apply(struct pythia_control *c, const struct pythia_control_wish *wishes, size_t count,
                 uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    struct fake_plane *f = (struct fake_plane *)c;
    f->applies++;
    if (f->broken)
        return pythia_error_set(e, PYTHIA_EIO, "the wire is cut");
    for (size_t i = 0; i < f->count; i++) {
        const struct pythia_control_wish *wish = NULL;
        for (size_t w = 0; w < count; w++)
            if (pythia_text_equal(wishes[w].id, pythia_text_of(f->points[i].id)))
                wish = &wishes[w];
        f->points[i].switches += f->points[i].told != (wish != NULL);
        f->points[i].told = wish != NULL;
        f->points[i].types = wish && wish->types ? wish->type_count : 0;
        f->points[i].places = wish && wish->at ? wish->at_count : 0;
        f->points[i].except = wish && wish->except_count > 0;
    }
    for (size_t w = 0; w < count; w++) {
        bool known = false;
        for (size_t i = 0; i < f->count; i++)
            known = known || pythia_text_equal(wishes[w].id, pythia_text_of(f->points[i].id));
        if (!known)
            snprintf(f->unknown, sizeof(f->unknown), "%.*s", (int)wishes[w].id.size,
                     wishes[w].id.bytes);
    }
    if (version != f->version) {
        f->told_ns = now_ns;
        f->before = f->version;
    }
    f->version = version;
    return PYTHIA_OK;
}

static int observe(struct pythia_control *c, uint64_t now_ns,
                   int (*each)(void *context, struct pythia_text id, struct pythia_text target,
                               enum pythia_control_result result, uint64_t version),
                   void *context)
{
    struct fake_plane *f = (struct fake_plane *)c;
    int status = PYTHIA_OK;
    f->observations++;
    if (f->blind)
        return PYTHIA_EIO;
    for (size_t i = 0; i < f->count && status == PYTHIA_OK; i++) {
        struct fake_point *p = &f->points[i];
        enum pythia_control_result result = PYTHIA_CONTROL_PENDING;
        uint64_t version = 0;
        if (p->mood == FAKE_OBEYS && now_ns >= f->told_ns + f->delay_ns) {
            p->open = p->told;
            result = PYTHIA_CONTROL_APPLIED;
            version = f->version;
        } else if (p->mood == FAKE_REFUSES) {
            result = PYTHIA_CONTROL_REFUSED;
        } else if (p->mood == FAKE_LIES) {
            result = PYTHIA_CONTROL_APPLIED;
            version = f->version - 1;
        } else if (p->mood == FAKE_LATE) {
            version = f->before;
        } else if (p->mood == FAKE_LOST) {
            result = PYTHIA_CONTROL_LOST;
        }
        status = each(context, pythia_text_of(p->id), pythia_text_of(p->target), result, version);
    }
    return status;
}

static int off(struct pythia_control *c, bool off_now, uint64_t now_ns, struct pythia_error *e)
{
    struct fake_plane *f = (struct fake_plane *)c;
    (void)now_ns;
    if (f->off_broken)
        return pythia_error_set(e, PYTHIA_EIO, "the switch is stuck");
    f->off = off_now;
    return PYTHIA_OK;
}

static uint64_t latency_ns(const struct pythia_control *c)
{
    return ((const struct fake_plane *)c)->latency_ns;
}

static uint64_t losses(const struct pythia_control *c)
{
    return ((const struct fake_plane *)c)->losses;
}

static struct pythia_control_ops make_ops(const char *name, bool by_type)
{
    return (struct pythia_control_ops){.name = name,
                                       .help = "does as a test says",
                                       .by_type = by_type,
                                       .destroy = destroy,
                                       .set_lease = set_lease,
                                       .inventory = inventory,
                                       .apply = apply,
                                       .observe = observe,
                                       .off = off,
                                       .latency_ns = latency_ns};
}

/* Of the last eight planes. */
static const struct pythia_control_ops *keep_ops(struct pythia_control_ops made)
{
    static struct pythia_control_ops ops[8];
    static size_t used;
    ops[used % 8] = made;
    return &ops[used++ % 8];
}

void fake_plane_init(struct fake_plane *f, const char *name, bool by_type)
{
    *f = (struct fake_plane){.control = {keep_ops(make_ops(name, by_type))}};
}

void fake_plane_of_processes(struct fake_plane *f)
{
    struct pythia_control_ops ops = *f->control.ops;
    ops.losses = losses;
    f->control.ops = keep_ops(ops);
}

void fake_plane_of_instances(struct fake_plane *f)
{
    struct pythia_control_ops ops = *f->control.ops;
    ops.by_instance = true;
    f->control.ops = keep_ops(ops);
}

struct fake_point *fake_plane_add(struct fake_plane *f, const char *id, const char *target)
{
    f->points[f->count] = (struct fake_point){.id = id, .target = target};
    return &f->points[f->count++];
}
