#include "pythia/run.h"

#include <string.h>

const struct pythia_run_metric_info pythia_run_metrics[PYTHIA_RUN_METRICS] = {
    {"wall", "wall-clock time", PYTHIA_RUN_NANOSECONDS, "wall_ns", true},
    {"user", "CPU time in user mode", PYTHIA_RUN_NANOSECONDS, "user_ns", false},
    {"sys", "CPU time in the kernel", PYTHIA_RUN_NANOSECONDS, "sys_ns", false},
    {"cpu", "CPU time", PYTHIA_RUN_NANOSECONDS, NULL, true},
    {"max_rss", "peak of resident memory", PYTHIA_RUN_BYTES, "max_rss_bytes", true},
    {"major_faults", "page faults that read from storage", PYTHIA_RUN_COUNT, "majflt", false},
    {"minor_faults", "other page faults", PYTHIA_RUN_COUNT, "minflt", false},
    {"voluntary_switches", "times it waited", PYTHIA_RUN_COUNT, "nvcsw", false},
    {"involuntary_switches", "times it was preempted", PYTHIA_RUN_COUNT, "nivcsw", false},
    {"in_blocks", "blocks of 512 bytes read", PYTHIA_RUN_COUNT, "inblock", false},
    {"out_blocks", "blocks of 512 bytes written", PYTHIA_RUN_COUNT, "oublock", false},
    {"read_bytes", "bytes read from storage", PYTHIA_RUN_BYTES, "read_bytes", false},
    {"write_bytes", "bytes written to storage", PYTHIA_RUN_BYTES, "write_bytes", false},
    {"processes", "processes that were traced", PYTHIA_RUN_COUNT, "processes", false},
    {"overhead", "time that the recording itself added", PYTHIA_RUN_NANOSECONDS, "overhead_ns",
     false},
};

int pythia_run_metric_find(const char *name)
{
    for (int i = 0; i < PYTHIA_RUN_METRICS; i++)
        if (strcmp(pythia_run_metrics[i].name, name) == 0)
            return i;
    return -1;
}
