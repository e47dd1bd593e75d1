/* The static probes (USDT) of a program, for `pythia run --usdt`: what the shim is to patch, and
 * what has become of it. */
#ifndef PYTHIA_CLI_PROBES_H
#define PYTHIA_CLI_PROBES_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/probe_rules.h"
#include "pythia/site_plan_make.h"

struct pythia__probes {
    struct pythia_probe_rules rules; /* empty: points are named by probes */
    struct pythia_site_plan *plan;
    uint64_t jumps, traps; /* sites that were patched, in the process that had most */
    uint64_t hits, spans, outside, unmatched, abandoned, unrecorded; /* of all processes */
};

/* Read the rules (NULL: none) and the probes of the program, or of the programs that the rules
 * name. `open`: all points are to be opened. Returns DONE, or an exit status, said. To be freed in
 * any case. */
int pythia__probes_read(struct pythia__probes *p, const char *rules, const char *program,
                        bool open);
void pythia__probes_free(struct pythia__probes *p);

/* The name of the program in ids of trace points, by the rules; NULL: they do not say. */
const char *pythia__probes_service(const struct pythia__probes *p);

/* Append the plan for the shim. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__probes_write(const struct pythia__probes *p, struct pythia_buf *to);

/* Take in a line of the shim's report. False: it is none about probes. */
bool pythia__probes_take(struct pythia__probes *p, const char *line);

/* Log what was patched, hit and lost; `quiet`: only what was lost. */
void pythia__probes_tell(const struct pythia__probes *p, bool quiet);

#endif
