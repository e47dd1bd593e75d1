#include "board.h"

#include <errno.h>
#include <string.h>

#include "pythia/status.h"

/* A place among the points that no program passes: its switches are the number of the owner. */
#define OWNER "pythia:gate:owner"

int pythia__board_open(struct pythia__board *b, const char *directory, bool create,
                       struct pythia_error *e)
{
    char why[256] = "";
    struct pythia_switchboard *now = NULL;
    int status = pythia_switchboard_open(directory, create, &now, why);
    pythia_switchboard_close(b->switches);
    b->switches = NULL;
    if (status != 0) {
        int kind = status == -ENOENT || status == -ESTALE ? PYTHIA_ENOTFOUND
                   : status == -ENOMEM                    ? PYTHIA_ENOMEM
                                                          : PYTHIA_EIO;
        return pythia_error_set(e, kind, "%s", why[0] ? why : strerror(-status));
    }
    b->switches = now;
    return PYTHIA_OK;
}

void pythia__board_close(struct pythia__board *b)
{
    pythia_switchboard_close(b->switches);
    b->switches = NULL;
}

static bool is_owner(const struct pythia_switchboard_point *point)
{
    return point->id_bytes == sizeof(OWNER) - 1 && memcmp(point->id, OWNER, sizeof(OWNER) - 1) == 0;
}

int pythia__board_next(const struct pythia__board *b, uint32_t *index,
                       struct pythia_switchboard_point *out)
{
    uint32_t count = b->switches ? pythia_switchboard_points(b->switches) : 0;
    while (*index < count)
        if (pythia_switchboard_at(b->switches, (*index)++, out) == 0 && !is_owner(out))
            return 0;
    return 1;
}

bool pythia__board_set(struct pythia__board *b, const struct pythia_switchboard_point *point,
                       uint64_t switches)
{
    return point->switches == switches ||
           pythia_switchboard_throw(b->switches, point->id, point->id_bytes, PYTHIA_SWITCHES_ALL,
                                    switches) == 0;
}

/* The bit of a kind of request by its name; -1: there is none of that name. */
static int find_board_type(const struct pythia__board *b, struct pythia_text name)
{
    char known[272];
    for (int type = PYTHIA_TYPE_FIRST; type <= PYTHIA_TYPE_LAST; type++)
        if (pythia_switchboard_type_name(b->switches, type, known) == 0 &&
            pythia_text_equal(pythia_text_of(known), name))
            return type;
    return -1;
}

/* A type may be named by the trace point of its root, which has a service in front. */
bool pythia__board_types(const struct pythia__board *b, const struct pythia_text *types,
                         size_t count, uint64_t *switches)
{
    *switches = 0;
    for (size_t i = 0; i < count; i++) {
        size_t service = pythia__board_service(types[i]).size + 1;
        int type = find_board_type(b, types[i]);
        if (type < 0 && service < types[i].size)
            type = find_board_type(
                b, (struct pythia_text){types[i].bytes + service, types[i].size - service});
        if (type < 0)
            return false;
        *switches |= UINT64_C(1) << type;
    }
    return true;
}

void pythia__board_claim(struct pythia__board *b, uint64_t owner)
{
    pythia_switchboard_throw(b->switches, OWNER, sizeof(OWNER) - 1, PYTHIA_SWITCHES_ALL, owner);
}

bool pythia__board_is_claimed(const struct pythia__board *b, uint64_t owner)
{
    struct pythia_switchboard_point point;
    uint32_t count = pythia_switchboard_points(b->switches);
    for (uint32_t i = 0; i < count; i++)
        if (pythia_switchboard_at(b->switches, i, &point) == 0 && is_owner(&point))
            return point.switches == owner;
    return false;
}

struct pythia_text pythia__board_service(struct pythia_text id)
{
    const char *colon = id.size ? memchr(id.bytes, ':', id.size) : NULL;
    return (struct pythia_text){id.bytes, colon ? (size_t)(colon - id.bytes) : id.size};
}

bool pythia__board_fits(const char *patterns, struct pythia_text id)
{
    while (*patterns) {
        size_t size = strcspn(patterns, ",");
        if (size && pythia_text_fits(id, (struct pythia_text){patterns, size}, false))
            return true;
        patterns += size + (patterns[size] == ',');
    }
    return false;
}
