/* From evidence to a written report: what the commands that report evidence share. */
#ifndef PYTHIA_CLI_REPORT_RUN_H
#define PYTHIA_CLI_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/closed_loop.h"
#include "pythia/diagnosis.h"
#include "pythia/expectation_judge.h"
#include "pythia/groups.h"
#include "pythia/open_points.h"
#include "pythia/option.h"
#include "pythia/pipeline.h"
#include "pythia/saturated.h"
#include "pythia/space.h"
#include "pythia/strategy.h"
#include "pythia/vocabulary.h"
#include "shared/search_options.h"

#define PYTHIA__POINTS_MAX 64 /* trace points that can be suggested */

/* A member of the settings of a command, and the table of its options. */
struct pythia__report_settings {
    int format, rank_by, strategy;
    const char *output, *trace_url;
    struct pythia_option_texts limits;
    int64_t seed, min_requests, points;
    double min_cov, alpha, price_ns;
    bool verbose, all;
    struct pythia__search_settings search;
};
extern const struct pythia_option pythia__report_options[];

/* Everything is borrowed but what comes last. */
struct pythia__report_run {
    const struct pythia__report_settings *s;
    struct pythia_vocabulary *vocabulary;
    const struct pythia_pipeline_result *input;
    const char *events;                             /* rules that it was read by; NULL: none */
    const struct pythia_groups *groups;             /* finished */
    const struct pythia_space *space;               /* NULL: none is known */
    struct pythia_open_points *open;                /* NULL: everything was open */
    struct pythia_loop *loop;                       /* NULL: it was one look */
    const struct pythia_expectations *expectations; /* NULL: none */
    const struct pythia_each *each;                 /* NULL: one after the other */
    /* Owned: */
    struct pythia__search_given given;
    struct pythia_diagnosis *diagnosis;
    struct pythia_saturated saturated;
    struct pythia_expected_results expected;
    struct pythia_saturated_limit limits[PYTHIA_OPTION_TEXTS_MAX];
    struct pythia_suggestion next[PYTHIA__POINTS_MAX];
    size_t next_count;
};

/* Read pins, prices and history, of trace points that are known by now. As search_options.h. */
int pythia__report_take_options(struct pythia__report_run *r);

/* Diagnose the types and choose what to open next; without a loop, read the options first.
 * PYTHIA_OK, PYTHIA_ENOMEM, or what the options returned. */
int pythia__report_diagnose(struct pythia__report_run *r);

/* Write the report on these sources, in any order, where the settings say. PYTHIA_OK,
 * PYTHIA_ENOMEM or, told, PYTHIA_EIO. */
int pythia__report_write(const struct pythia__report_run *r, const char *const *sources,
                         size_t count);

/* The exit status that the diagnosis means: there may have been nothing to diagnose. */
int pythia__report_exit(const struct pythia__report_run *r);

void pythia__report_free(struct pythia__report_run *r);

#endif
