/* The report of the last cycle. It takes much longer than a decision, and is rarely read, so it is
 * made on request, on a worker's thread, and retained until the next cycle.
 *
 *   on_cycle ── evidence ──> latest ──┐ asked: evidence, and a copy of the log, are the job's
 *   asked ───── who waits ──> line ───┴──> job ──(worker)──> forms ──> all who wait are answered
 *
 * All functions are for the loop's thread. What a job works on is the job's alone until it is done:
 * the evidence is moved to it, the log of the search is copied, and nothing of either is left with
 * the loop. The vocabulary is shared: it may be read while others add to it. */
#ifndef PYTHIA_PYTHIAD_REPORTING_H
#define PYTHIA_PYTHIAD_REPORTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/groups.h"
#include "pythia/pipeline.h"
#include "pythia/report.h"
#include "pythia/vocabulary.h"
#include "shared/own_work.h"

struct pythia__reporting;

/* The forms of report.h, and parts of the JSON. */
enum pythia__report_form {
    PYTHIA__REPORT_GROUPS = PYTHIA_REPORT_FORMATS,
    PYTHIA__REPORT_VERDICTS,
    PYTHIA__REPORT_CYCLES,   /* those of the search */
    PYTHIA__REPORT_REQUESTS, /* those of one group: _ask_requests */
    PYTHIA__REPORT_FORMS
};

/* `loop`, `vocabulary`, `search_log` and `expectations` (NULL: none) are borrowed; `search_log` is
 * that of the last cycle at each request, and its verdicts get the keys that explain them when a
 * report is made. `options.look`, `options.only` and `options.stop` are set here. `types` as in
 * type_choice.h: so many are looked at. `trace_url` (borrowed; NULL: none) as in struct
 * pythia_report_view. PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia__reporting_create(uv_loop_t *loop, const struct pythia_vocabulary *vocabulary,
                             const struct pythia_diagnosis_options *options, size_t types,
                             struct pythia_loop *search_log,
                             const struct pythia_expectations *expectations, const char *trace_url,
                             struct pythia__reporting **out);
void pythia__reporting_destroy(struct pythia__reporting *r); /* when no job runs; may be NULL */

/* A cycle has ended: `groups` is its evidence (taken), finished; `look` its number, `input` what
 * was taken in until then (copied). What was made of the cycle before is dropped. */
void pythia__reporting_cycle(struct pythia__reporting *r, struct pythia_groups *groups,
                             uint64_t look, const struct pythia_pipeline_result *input);
bool pythia__reporting_has(const struct pythia__reporting *r); /* has a cycle ended yet? */

/* Set the current cost of tracing (copied) for reports that are requested from now on; NULL:
 * they do not mention it. */
void pythia__reporting_set_overhead(struct pythia__reporting *r,
                                    const struct pythia_report_overhead *overhead);

/* Called once for whoever asked, on the loop's thread: PYTHIA_OK and the bytes, borrowed for the
 * call; PYTHIA_ENOMEM; PYTHIA_ESTOPPED after _stop. */
typedef void (*pythia__report_made)(void *context, int status, const char *bytes, size_t size);

/* Ask for the report of the last cycle, of which there is one, in a form (of report.h, or one of
 * these); `width` as in struct pythia_report_view. `made` is called now or later. Who asks while
 * one is made of a cycle before gets one of the last. */
void pythia__reporting_ask(struct pythia__reporting *r, unsigned form, size_t width,
                           pythia__report_made made, void *context);

/* As above, for the requests of the group of that id (copied), as report_requests.h writes them; no
 * bytes if the last cycle has no such group. */
void pythia__reporting_ask_requests(struct pythia__reporting *r, const char *group,
                                    pythia__report_made made, void *context);

/* No more are made: whoever waits is told now, and a job that runs ends soon. */
void pythia__reporting_stop(struct pythia__reporting *r);
bool pythia__reporting_is_busy(const struct pythia__reporting *r);  /* a job runs */
uint64_t pythia__reporting_made(const struct pythia__reporting *r); /* reports, so far */
/* Of them, those that found another key for a verdict than it had. */
uint64_t pythia__reporting_keys(const struct pythia__reporting *r);
/* Jobs, each of which makes a report or writes further forms of it. */
struct pythia__own_work pythia__reporting_work(const struct pythia__reporting *r);

#endif
