#include "reports.h"

#include "pythia/groups.h"
#include "pythia/live.h"
#include "pythia/status.h"
#include "shared/reporting.h"
#include "switching/budget.h"

void pythia__reports_hand(struct pythia__daemon *d, struct pythia_groups *groups, uint64_t look)
{
    struct pythia_pipeline_result input = {.counts = *pythia_live_counts(d->engine.live)};
    pythia_counts_add(&input.counts, pythia__intake_counts(d->intake));
    pythia_counts_add(&input.counts, pythia__feeds_counts(d->feeds));
    input.bytes = pythia__intake_numbers(d->intake).bytes + pythia__feeds_numbers(d->feeds).bytes;
    pythia__budget_report(&d->switching);
    pythia__reporting_cycle(d->engine.reporting, groups, look, &input);
}

int pythia__reports_begin(struct pythia__daemon *d)
{
    const struct pythia_groups_options none = {0};
    struct pythia_groups *groups;
    if (pythia__reporting_has(d->engine.reporting) ||
        pythia__reporting_is_busy(d->engine.reporting))
        return PYTHIA_OK;
    int status = pythia_groups_create(d->engine.vocabulary, &none, &groups);
    if (status != PYTHIA_OK)
        return status;
    if ((status = pythia_groups_finish(groups)) == PYTHIA_OK)
        pythia__reports_hand(d, groups, 0);
    else
        pythia_groups_destroy(groups);
    return status;
}
