#include "pythia/strategy.h"

#include "pythia/status.h"
#include "strategy_parts.h"
#include "strategy_table.h"

#define STRATEGY_ROW(name) &pythia__strategy_##name,

static const struct pythia_strategy *const strategies[] = {&pythia__strategy_information_gain,
                                                           PYTHIA_OTHER_STRATEGIES(STRATEGY_ROW)};

const struct pythia_strategy *const *pythia_strategies(size_t *count)
{
    *count = sizeof(strategies) / sizeof(strategies[0]);
    return strategies;
}

int pythia_strategy_run(const struct pythia_strategy *strategy,
                        const struct pythia_evidence *evidence, size_t budget,
                        struct pythia_suggestion *out, size_t *count, struct pythia_buf *missing)
{
    const struct pythia_diagnosis *d = evidence->diagnosis;
    for (size_t i = 0; missing && evidence->space && i < d->type_count; i++) {
        uint32_t name = d->types[i].type->unsplit;
        size_t first = 0; /* of the parts of a type */
        while (d->types[first].type->unsplit != name)
            first++;
        if (first < i || pythia_space_type(evidence->space, name))
            continue;
        pythia_buf_text_add(missing,
                            pythia_vocabulary_text(pythia_space_vocabulary(evidence->space), name));
        pythia_buf_putc(missing, '\n');
    }
    *count = 0;
    if (missing && pythia_buf_status(missing) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (strategy->row)
        return pythia__parts_suggest(strategy->row, evidence, budget, out, count);
    return strategy->suggest(evidence, budget, out, count);
}
