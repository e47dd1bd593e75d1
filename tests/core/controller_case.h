/* A controller over one plane with three points, and what it is asked. */
#ifndef CONTROLLER_CASE_H
#define CONTROLLER_CASE_H

#include <string.h>

#include "check.h"
#include "fake_plane.h"
#include "pythia/buf.h"
#include "pythia/controller.h"
#include "pythia/status.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* Three points of two services; a controller over them that has seen them. Time begins at 100 s. */
static inline struct pythia_controller *begin(struct fake_plane *f,
                                              const struct pythia_controller_options *options)
{
    struct pythia_controller *c = NULL;
    fake_plane_init(f, "fake", true);
    fake_plane_add(f, "shop:pay", "shop");
    fake_plane_add(f, "shop:cart", "shop");
    fake_plane_add(f, "stock:find", "stock");
    struct pythia_control *plane = &f->control;
    assert_int_equal(pythia_controller_create(&plane, 1, options, &c), PYTHIA_OK);
    return c;
}

/* Wish for the ids of a list with blanks between them. */
static inline uint64_t want(struct pythia_controller *c, const char *ids)
{
    struct pythia_control_wish wishes[16];
    size_t count = 0;
    uint64_t version = 0;
    while (*ids) {
        size_t size = strcspn(ids, " ");
        wishes[count++] = (struct pythia_control_wish){.id = {ids, size}};
        ids += size + (ids[size] == ' ');
    }
    assert_int_equal(pythia_controller_want(c, wishes, count, &version), PYTHIA_OK);
    return version;
}

static inline void tick(struct pythia_controller *c, uint64_t now_ns)
{
    assert_int_equal(pythia_controller_tick(c, now_ns), PYTHIA_OK);
}

/* Tick ten times a second from one time to another. */
static inline void run(struct pythia_controller *c, uint64_t from_ns, uint64_t to_ns)
{
    for (uint64_t now = from_ns; now <= to_ns; now += 100 * MS)
        tick(c, now);
}

/* What the plane was told: ids with blanks. */
static inline void assert_told(const struct fake_plane *f, const char *ids)
{
    struct pythia_buf told = {0};
    for (size_t i = 0; i < f->count; i++)
        if (f->points[i].told) {
            pythia_buf_puts(&told, told.size ? " " : "");
            pythia_buf_puts(&told, f->points[i].id);
        }
    assert_string_equal(told.size ? told.bytes : "", ids);
    pythia_buf_free(&told);
}

static inline int show(void *context, const struct pythia_controlled *p)
{
    static const char *const results[] = {"pending", "applied", "refused", "lost"};
    pythia_buf_printf(context, "%s %.*s %.*s %g %d %s%s%s%s\n", p->plane, (int)p->target.size,
                      p->target.bytes, (int)p->id.size, p->id.bytes, p->price_ns, (int)p->hits,
                      results[p->result], p->wanted ? " wanted" : "", p->pinned ? " pinned" : "",
                      p->quarantined ? " quarantined" : "");
    return PYTHIA_OK;
}

static inline void assert_shown(struct pythia_controller *c, const char *text)
{
    struct pythia_buf out = {0};
    assert_int_equal(pythia_controller_each(c, show, &out), PYTHIA_OK);
    assert_string_equal(out.size ? out.bytes : "", text);
    pythia_buf_free(&out);
}

#endif
