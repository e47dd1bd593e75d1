/* C programs with libpythia-tracepoints. Their switches are a word each in memory that all programs
 * of a user share (pythia/switchboard.h), so a switch is in force when it is thrown, also in a
 * program that begins later, and the inventory is what programs have put there. What is applied is
 * read back: somebody else may have thrown a switch, or made another switchboard. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "board.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/wishes.h"
#include "shared/guard.h"
#include "shared/planes.h"

#define OPEN_NS UINT64_C(1000000000) /* between looks whether the switchboard is still the one */

struct settings {
    const char *directory, *defaults;
};

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("directory", 0, "DIR", offsetof(struct settings, directory),
                       "where the switchboard is; default: where programs look for it"),
    PYTHIA_TEXT_OPTION("open-by-default", 0, "PATTERNS", offsetof(struct settings, defaults),
                       "points that are open when nobody says otherwise: ids with * and ?, commas "
                       "between them"),
    {0},
};

struct gate {
    struct pythia_control control;
    struct pythia__board board;
    struct pythia__guard *guard; /* NULL: not needed yet, or it could not be had */
    struct pythia_wishes wishes;
    char *directory, *defaults; /* owned; directory NULL: the usual one */
    uint64_t lease_ns, opened_ns, version, owner;
    bool opened;     /* opened_ns holds */
    bool is_refused; /* the switchboard that is there, as of the last look */
};

static void destroy_gate(struct pythia_control *c)
{
    struct gate *g = (struct gate *)c;
    if (!g)
        return;
    pythia__guard_leave(g->guard, false);
    pythia__board_close(&g->board);
    pythia_wishes_free(&g->wishes);
    pythia_free(g->directory);
    pythia_free(g->defaults);
    pythia_free(g);
}

/* Not 0, and another's only by chance. */
static uint64_t choose_owner(void)
{
    uint64_t number = 0;
    struct timespec now;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number)) {
        clock_gettime(CLOCK_REALTIME, &now);
        number = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 48;
    }
    return number | 1;
}

static int create_gate(const void *settings, struct pythia_control **out, struct pythia_error *e)
{
    const struct settings *s = settings;
    const char *defaults = s->defaults ? s->defaults : "";
    bool directory = s->directory && *s->directory;
    struct gate *g = pythia_calloc(1, sizeof(*g));
    if (g) {
        g->control.ops = &pythia__control_gate;
        g->lease_ns = PYTHIA_CONTROL_LEASE_NS;
        g->owner = choose_owner();
        g->defaults = pythia_strndup(defaults, strlen(defaults));
        g->directory = directory ? pythia_strndup(s->directory, strlen(s->directory)) : NULL;
    }
    if (!g || !g->defaults || (directory && !g->directory)) {
        destroy_gate(g ? &g->control : NULL);
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    *out = &g->control;
    return PYTHIA_OK;
}

/* Put back what is open by default, if nobody else has taken over. A guard whose number is not
 * there any more leaves the switches alone. */
static void put_gate_back(void *context)
{
    const struct gate *g = context;
    struct pythia__board board = {0};
    struct pythia_switchboard_point point;
    uint32_t index = 0;
    if (pythia__board_open(&board, g->directory, false, NULL) != PYTHIA_OK)
        return;
    if (pythia__board_is_claimed(&board, g->owner))
        while (pythia__board_next(&board, &index, &point) == 0)
            pythia__board_set(
                &board, &point,
                pythia__board_fits(g->defaults, (struct pythia_text){point.id, point.id_bytes})
                    ? PYTHIA_SWITCHES_ALL
                    : 0);
    pythia__board_close(&board);
}

/* A lease is set before anything is applied. The guard is forked now, while there is little to
 * copy. */
static void set_gate_lease(struct pythia_control *c, uint64_t lease_ns)
{
    struct gate *g = (struct gate *)c;
    g->lease_ns = lease_ns;
    if (!g->guard && pythia__guard_start(put_gate_back, g, &g->guard) != PYTHIA_OK)
        g->guard = NULL; /* _apply tries again, and says so */
}

/* Have the switchboard open that programs use. */
static int reach_board(struct gate *g, bool make, uint64_t now_ns, struct pythia_error *e)
{
    bool due = !g->opened || now_ns >= g->opened_ns + OPEN_NS;
    if (!due && (g->board.switches || !make))
        return g->board.switches ? PYTHIA_OK : PYTHIA_ENOTFOUND;
    g->opened = true;
    g->opened_ns = now_ns;
    return pythia__board_open(&g->board, g->directory, make, e);
}

/* ---- what a plane is asked ---- */

static struct pythia_text read_point_id(const struct pythia_switchboard_point *point)
{
    return (struct pythia_text){point->id, point->id_bytes};
}

/* Nobody may have made it yet; one that is refused is reported once. */
static void look_for_board(struct gate *g)
{
    struct pythia_error why = {0};
    int status = pythia__board_open(&g->board, g->directory, false, &why);
    if (status == PYTHIA_EIO && !g->is_refused)
        pythia_log(PYTHIA_LOG_ERROR, "Trace points of programs cannot be switched: %s",
                   why.sentence);
    g->is_refused = status == PYTHIA_EIO;
}

static int list_gate(struct pythia_control *c,
                     int (*each)(void *context, const struct pythia_control_point *point),
                     void *context)
{
    struct gate *g = (struct gate *)c;
    struct pythia_switchboard_point point;
    uint32_t index = 0;
    int status = PYTHIA_OK;
    if (!g->board.switches)
        look_for_board(g);
    while (status >= 0 && pythia__board_next(&g->board, &index, &point) == 0) {
        struct pythia_control_point out = {
            .id = read_point_id(&point),
            .target = pythia__board_service(read_point_id(&point)),
            .price_ns = NAN,
            .open_by_default = pythia__board_fits(g->defaults, read_point_id(&point)),
        };
        status = each(context, &out);
    }
    return status < 0 ? status : PYTHIA_OK;
}

/* How the switches of a point are to be. */
static uint64_t find_wanted(const struct gate *g, const struct pythia_switchboard_point *point)
{
    uint64_t switches;
    size_t at = pythia_wishes_find(&g->wishes, read_point_id(point));
    if (at == PYTHIA_NO_WISH)
        return 0;
    const struct pythia_control_wish *wish = &g->wishes.wishes[at];
    return wish->types && pythia__board_types(&g->board, wish->types, wish->type_count, &switches)
               ? switches
               : PYTHIA_SWITCHES_ALL;
}

static int apply_gate(struct pythia_control *c, const struct pythia_control_wish *wishes,
                      size_t count, uint64_t version, uint64_t now_ns, struct pythia_error *e)
{
    struct gate *g = (struct gate *)c;
    struct pythia_switchboard_point point;
    struct pythia_wishes copy;
    uint32_t index = 0;
    int status = reach_board(g, true, now_ns, e);
    if (status != PYTHIA_OK)
        return status;
    set_gate_lease(c, g->lease_ns);
    if (!g->guard)
        return pythia_error_set(e, PYTHIA_EIO, "there is nobody to watch the lease: fork failed");
    if (pythia_wishes_copy(wishes, count, &copy) != PYTHIA_OK)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pythia_wishes_free(&g->wishes);
    g->wishes = copy;
    g->version = version;
    pythia__guard_renew(g->guard, g->lease_ns);
    pythia__board_claim(&g->board, g->owner);
    while (pythia__board_next(&g->board, &index, &point) == 0)
        pythia__board_set(&g->board, &point,
                          find_wanted(g, &point)); /* observe sees what came of it */
    return PYTHIA_OK;
}

static int observe_points(struct gate *g, bool *found,
                          int (*each)(void *context, struct pythia_text id,
                                      struct pythia_text target, enum pythia_control_result result,
                                      uint64_t version),
                          void *context)
{
    struct pythia_switchboard_point point;
    uint32_t index = 0;
    int status = PYTHIA_OK;
    while (status >= 0 && pythia__board_next(&g->board, &index, &point) == 0) {
        size_t wish = pythia_wishes_find(&g->wishes, read_point_id(&point));
        bool as_wanted = point.switches == find_wanted(g, &point);
        if (wish != PYTHIA_NO_WISH)
            found[wish] = true;
        status = each(context, read_point_id(&point), pythia__board_service(read_point_id(&point)),
                      as_wanted ? PYTHIA_CONTROL_APPLIED : PYTHIA_CONTROL_PENDING,
                      as_wanted ? g->version : 0);
    }
    return status;
}

static int observe_gate(struct pythia_control *c, uint64_t now_ns,
                        int (*each)(void *context, struct pythia_text id, struct pythia_text target,
                                    enum pythia_control_result result, uint64_t version),
                        void *context)
{
    struct gate *g = (struct gate *)c;
    bool *found = pythia_calloc(g->wishes.count, sizeof(*found));
    if (!found)
        return PYTHIA_ENOMEM;
    reach_board(g, false, now_ns, NULL);
    int status = observe_points(g, found, each, context);
    for (size_t i = 0; i < g->wishes.count && status >= 0; i++)
        if (!found[i])
            status = each(context, g->wishes.wishes[i].id, (struct pythia_text){"", 0},
                          PYTHIA_CONTROL_REFUSED, 0);
    pythia_free(found);
    return status < 0 ? status : PYTHIA_OK;
}

static int switch_off_gate(struct pythia_control *c, bool off_now, uint64_t now_ns,
                           struct pythia_error *e)
{
    struct gate *g = (struct gate *)c;
    int status = reach_board(g, true, now_ns, e);
    if (status != PYTHIA_OK)
        return status;
    pythia_switchboard_off(g->board.switches, off_now);
    return PYTHIA_OK;
}

/* The word is the same for all: there is no way from here to there. */
static uint64_t estimate_gate_latency_ns(const struct pythia_control *c)
{
    (void)c;
    return UINT64_C(10000000);
}

const struct pythia_control_ops pythia__control_gate = {
    .name = "gate",
    .help = "C and C++ programs with libpythia-tracepoints, through shared memory",
    .options = options,
    .settings_size = sizeof(struct settings),
    .by_type = true,
    .spans_tell = true,
    .create = create_gate,
    .destroy = destroy_gate,
    .set_lease = set_gate_lease,
    .inventory = list_gate,
    .apply = apply_gate,
    .observe = observe_gate,
    .off = switch_off_gate,
    .latency_ns = estimate_gate_latency_ns,
};
