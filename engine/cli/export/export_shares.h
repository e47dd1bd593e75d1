/* The share of the latency variance in the own time of each trace point, by request type. */
#ifndef PYTHIA_CLI_EXPORT_SHARES_H
#define PYTHIA_CLI_EXPORT_SHARES_H

#include "pythia/export.h"
#include "shared/command.h"

struct pythia__export_shares;

/* Read everything, as it is read again for the export. PYTHIA_OK with *out owned, or negative, said
 * on stderr. */
int pythia__export_shares_learn(struct pythia__reading *reading,
                                struct pythia__export_shares **out);
void pythia__export_shares_destroy(struct pythia__export_shares *s); /* s may be NULL */

/* The shares in requests of the type of this one, sorted by trace point: *count of them, none if
 * there are too few requests. Borrowed. */
const struct pythia_export_share *pythia__export_shares_of(struct pythia__export_shares *s,
                                                           const struct pythia_trace *trace,
                                                           size_t *count);

#endif
