/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_SWITCHBOARD_H
#define PYTHIA_SWITCHBOARD_H

#include <stddef.h>
#include <stdint.h>

#ifndef PYTHIA_API
#define PYTHIA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The switches of all trace points of one user's programs, in memory that the programs share: a
 * switch takes effect in every running process, and in later ones. A trace point is known by its
 * id, "<service>:<name>", a kind of request by its name. Any number of threads and processes;
 * nobody waits for anybody. Functions that can fail return 0 or a negative errno, and put a
 * sentence into `why` (256 bytes, or NULL). */
struct pythia_switchboard;

#define PYTHIA_SWITCHBOARD_POINTS 131072 /* on one switchboard, at most */
#define PYTHIA_SWITCHES_ALL       UINT64_MAX

/* The bits of a point's switches: requests without a name, those of a name of their own, and all
 * whose name came when there was no bit left. */
#define PYTHIA_TYPE_NONE  0
#define PYTHIA_TYPE_FIRST 1
#define PYTHIA_TYPE_LAST  62
#define PYTHIA_TYPE_OTHER 63

/* Find the one in a directory (NULL: where programs look for it), and make it if it is not there.
 * -ENOENT: it is not, and `create` is 0. On success *out is owned. */
PYTHIA_API int pythia_switchboard_open(const char *directory, int create,
                                       struct pythia_switchboard **out, char *why);
PYTHIA_API void pythia_switchboard_close(struct pythia_switchboard *b); /* b may be NULL */

/* Remove it: programs that use it keep it, new ones make another. -ENOENT: there is none. */
PYTHIA_API int pythia_switchboard_remove(const char *directory, char *why);

struct pythia_switchboard_point {
    char id[272]; /* NUL-terminated; the id itself has none */
    size_t id_bytes;
    uint64_t switches; /* bit r: open for request type r */
};

/* The number of points, and point number `index`; -ENOENT if there is none, or its entry is
 * invalid. */
PYTHIA_API uint32_t pythia_switchboard_points(const struct pythia_switchboard *b);
PYTHIA_API int pythia_switchboard_at_sized(const struct pythia_switchboard *b, uint32_t index,
                                           struct pythia_switchboard_point *out, size_t out_bytes);
static inline int pythia_switchboard_at(const struct pythia_switchboard *b, uint32_t index,
                                        struct pythia_switchboard_point *out)
{
    return pythia_switchboard_at_sized(b, index, out, sizeof(*out));
}

/* Throw the switches of a point: those in `of` become as in `to`. A point that is not known yet
 * gets its place, and finds its switches thrown when it is passed. -ENOSPC: no place left. */
PYTHIA_API int pythia_switchboard_throw(struct pythia_switchboard *b, const char *id,
                                        size_t id_bytes, uint64_t of, uint64_t to);

/* The bit of a kind of request, PYTHIA_TYPE_FIRST to PYTHIA_TYPE_LAST: given to it if it has none;
 * PYTHIA_TYPE_OTHER if there is none left. */
PYTHIA_API int pythia_switchboard_type(struct pythia_switchboard *b, const char *name,
                                       size_t name_bytes);

/* The name of a bit, into `name` (272 bytes, NUL-terminated); -ENOENT if it has none. */
PYTHIA_API int pythia_switchboard_type_name(const struct pythia_switchboard *b, int type,
                                            char *name);

/* Throw switches as a text says, a line each: "open" or "close", a tab, an id, and, if it is only
 * for some, a tab and the name of a kind of request. An id may have * and ? in it, and then stands
 * for the points that are known. Empty lines and those that begin with # are passed over. -EINVAL:
 * a line that is not so, told in `why`; those before it are in force. Returns how many switches
 * were thrown. */
PYTHIA_API int64_t pythia_switchboard_apply(struct pythia_switchboard *b, const char *text,
                                            size_t bytes, char *why);

/* Close all points at once, whatever their switches say; and back. */
PYTHIA_API void pythia_switchboard_off(struct pythia_switchboard *b, int off);

struct pythia_switchboard_state {
    uint32_t points;
    int types, off;
    uint64_t refused_points, refused_types; /* for which there was no place */
    uint64_t removed_areas, removed_bytes;  /* rings of dead processes that nobody came to read */
};

/* Fill the first `out_bytes` of *out. The size is that of the struct which the caller was
 * compiled with, so that the struct may grow. Use the function without _sized. */
PYTHIA_API void pythia_switchboard_state_get_sized(const struct pythia_switchboard *b,
                                                   struct pythia_switchboard_state *out,
                                                   size_t out_bytes);
static inline void pythia_switchboard_state_get(const struct pythia_switchboard *b,
                                                struct pythia_switchboard_state *out)
{
    pythia_switchboard_state_get_sized(b, out, sizeof(*out));
}

#ifdef __cplusplus
}
#endif

#endif
