#include "pythia/run.h"

#include <string.h>

const struct pythia_run_metric_info pythia_run_metrics[PYTHIA_RUN_METRICS] = {
    {"wall", "wall-clock time", "wall_ns", PYTHIA_RUN_NANOSECONDS, true},
    {"user", "CPU time in user mode", "user_ns", PYTHIA_RUN_NANOSECONDS, false},
    {"sys", "CPU time in the kernel", "sys_ns", PYTHIA_RUN_NANOSECONDS, false},
    {"cpu", "CPU time", NULL, PYTHIA_RUN_NANOSECONDS, true},
    {"max_rss", "peak of resident memory", "max_rss_bytes", PYTHIA_RUN_BYTES, true},
    {"major_faults", "page faults that read from storage", "majflt", PYTHIA_RUN_COUNT, false},
    {"minor_faults", "other page faults", "minflt", PYTHIA_RUN_COUNT, false},
    {"voluntary_switches", "times it waited", "nvcsw", PYTHIA_RUN_COUNT, false},
    {"involuntary_switches", "times it was preempted", "nivcsw", PYTHIA_RUN_COUNT, false},
    {"in_blocks", "blocks of 512 bytes read", "inblock", PYTHIA_RUN_COUNT, false},
    {"out_blocks", "blocks of 512 bytes written", "oublock", PYTHIA_RUN_COUNT, false},
    {"read_bytes", "bytes read from storage", "read_bytes", PYTHIA_RUN_BYTES, false},
    {"write_bytes", "bytes written to storage", "write_bytes", PYTHIA_RUN_BYTES, false},
    {"processes", "processes that were traced", "processes", PYTHIA_RUN_COUNT, false},
    {"overhead", "time that open trace points took", "overhead_ns", PYTHIA_RUN_NANOSECONDS, false},
};

int pythia_run_metric_find(const char *name)
{
    for (int i = 0; i < PYTHIA_RUN_METRICS; i++)
        if (strcmp(pythia_run_metrics[i].name, name) == 0)
            return i;
    return -1;
}
