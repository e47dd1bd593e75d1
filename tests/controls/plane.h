/* What the tests of control planes share. */
#ifndef PLANE_H
#define PLANE_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/control.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* A plane by its name, with settings as "option=value", up to NULL. Fails the test if there is
 * none. */
struct pythia_control *plane_make(const char *name, const char *const *settings);

/* The same; what comes of it, for settings that are no good. */
int plane_try(const char *name, const char *const *settings, struct pythia_control **out,
              struct pythia_error *e);

/* Apply the ids of a list with blanks between them. Returns the status. */
int plane_apply(struct pythia_control *c, const char *ids, uint64_t version, uint64_t now_ns);

/* The inventory, and what is observed, a line each:
 *
 *     <target> <id> <price> <hits>[ default]       <target> <id> <result> <version>  */
void plane_inventory(struct pythia_control *c, struct pythia_buf *out);
void plane_observe(struct pythia_control *c, uint64_t now_ns, struct pythia_buf *out);

/* The result of one id. -1: it is not told. */
int plane_result(struct pythia_control *c, const char *id, uint64_t now_ns);

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */
void sleep_ms(unsigned ms);

#endif
