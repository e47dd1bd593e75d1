#include "shared/command.h"

static const struct pythia__command *const commands[] = {
    &pythia__cmd_replay,       &pythia__cmd_check,       &pythia__cmd_merge,
    &pythia__cmd_compare,      &pythia__cmd_space_build, &pythia__cmd_space_show,
    &pythia__cmd_tree,         &pythia__cmd_profile,     &pythia__cmd_breakdown,
    &pythia__cmd_series,       &pythia__cmd_export,      &pythia__cmd_shuffle,
    &pythia__cmd_probes,       &pythia__cmd_run,         &pythia__cmd_runs_list,
    &pythia__cmd_runs_show,    &pythia__cmd_runs_trend,  &pythia__cmd_runs_compare,
    &pythia__cmd_runs_regress, &pythia__cmd_runs_flame,  &pythia__cmd_runs_export,
    &pythia__cmd_runs_import,  &pythia__cmd_generate,    &pythia__cmd_evaluate,
    &pythia__cmd_ctl,          &pythia__cmd_mcp,
};

const struct pythia__command *const *pythia__commands(size_t *count)
{
    *count = sizeof(commands) / sizeof(commands[0]);
    return commands;
}
