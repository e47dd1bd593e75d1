#include "pythia/counts.h"

#include <stdbool.h>
#include <stddef.h>

#define NAME(name, text, help) text,
#define HELP(name, text, help) help,

static const char *const repair_names[] = {PYTHIA_REPAIR_MAP(NAME)};
static const char *const repair_helps[] = {PYTHIA_REPAIR_MAP(HELP)};
static const char *const drop_names[] = {PYTHIA_DROP_MAP(NAME)};
static const char *const drop_helps[] = {PYTHIA_DROP_MAP(HELP)};
static const char *const incomplete_names[] = {PYTHIA_INCOMPLETE_MAP(NAME)};
static const char *const incomplete_helps[] = {PYTHIA_INCOMPLETE_MAP(HELP)};

void pythia_counts_add(struct pythia_counts *to, const struct pythia_counts *from)
{
    to->spans += from->spans;
    to->kept += from->kept;
    to->traces += from->traces;
    to->hidden += from->hidden;
    to->outlive += from->outlive;
    to->long_values += from->long_values;
    to->hashed_values += from->hashed_values;
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        to->repaired[i] += from->repaired[i];
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        to->dropped[i] += from->dropped[i];
    for (size_t i = 0; i < PYTHIA_INCOMPLETES; i++)
        to->incomplete[i] += from->incomplete[i];
}

static bool is_of_values(size_t reason)
{
    return reason == PYTHIA_DROP_ATTRIBUTE || reason == PYTHIA_DROP_EVENT ||
           reason == PYTHIA_DROP_LINK || reason == PYTHIA_DROP_REDACTED ||
           reason == PYTHIA_DROP_CUT_TEXT;
}

uint64_t pythia_counts_dropped_values(const struct pythia_counts *counts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        sum += is_of_values(i) ? counts->dropped[i] : 0;
    return sum;
}

uint64_t pythia_counts_dropped_spans(const struct pythia_counts *counts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        sum += is_of_values(i) ? 0 : counts->dropped[i];
    return sum;
}

const char *pythia_repair_name(enum pythia_repair repair)
{
    return repair_names[repair];
}

const char *pythia_repair_help(enum pythia_repair repair)
{
    return repair_helps[repair];
}

const char *pythia_drop_name(enum pythia_drop drop)
{
    return drop_names[drop];
}

const char *pythia_drop_help(enum pythia_drop drop)
{
    return drop_helps[drop];
}

const char *pythia_incomplete_name(enum pythia_incomplete reason)
{
    return incomplete_names[reason];
}

const char *pythia_incomplete_help(enum pythia_incomplete reason)
{
    return incomplete_helps[reason];
}
