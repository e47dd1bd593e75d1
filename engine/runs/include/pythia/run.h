#ifndef PYTHIA_RUN_H
#define PYTHIA_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/text.h"

/* The record of one run of a command: what `pythia run` writes and `pythia runs` reads. All texts
 * are borrowed, and NULL where nothing is known. */

/* Numbers of a run, each an int64_t; a negative one is not known. One table (pythia_run_metrics)
 * names them for the database, the command line and every form of output. */
enum pythia_run_metric {
    PYTHIA_RUN_WALL_NS,
    PYTHIA_RUN_USER_NS,
    PYTHIA_RUN_SYS_NS,
    PYTHIA_RUN_CPU_NS, /* user + system: not stored */
    PYTHIA_RUN_MAX_RSS,
    PYTHIA_RUN_MAJOR_FAULTS,
    PYTHIA_RUN_MINOR_FAULTS,
    PYTHIA_RUN_VOLUNTARY_SWITCHES,
    PYTHIA_RUN_INVOLUNTARY_SWITCHES,
    PYTHIA_RUN_IN_BLOCKS,
    PYTHIA_RUN_OUT_BLOCKS,
    PYTHIA_RUN_READ_BYTES,
    PYTHIA_RUN_WRITE_BYTES,
    PYTHIA_RUN_PROCESSES,
    PYTHIA_RUN_OVERHEAD_NS,
    PYTHIA_RUN_METRICS,
};

enum pythia_run_unit { PYTHIA_RUN_NANOSECONDS, PYTHIA_RUN_BYTES, PYTHIA_RUN_COUNT };

struct pythia_run_metric_info {
    const char *name; /* "wall", as on the command line and in JSON */
    const char *help;
    const char *column; /* of the database; NULL: it is made of others */
    enum pythia_run_unit unit;
    bool judged; /* a regression of it fails `pythia runs regress` by default */
};
extern const struct pythia_run_metric_info pythia_run_metrics[PYTHIA_RUN_METRICS];

/* The index of the metric of that name, or -1. */
int pythia_run_metric_find(const char *name);

struct pythia_run_pair {
    const char *key, *value;
};

struct pythia_run_host {
    const char *name, *uname, *cpu_model, *governor; /* governor: of the frequency of CPU 0 */
    int64_t cpus, memory_bytes, swap_bytes;
};

/* Time in one calling context, over all requests of the run. */
struct pythia_run_callpath {
    const char *path; /* trace points from the root on, with ';' between them */
    int64_t calls, sum_ns, min_ns, max_ns, p50_ns, p99_ns;
    int64_t exclusive_ns; /* sum_ns less the time that children cover */
    double sum_squares;   /* of durations in ns */
};

/* A process of a traced run. Numbers are -1 where they are not known: it was killed, or ended by
 * _exit. */
struct pythia_run_process {
    int64_t pid;
    const char *name; /* of the program, or NULL */
    int64_t user_ns, sys_ns, max_rss_bytes, major_faults, minor_faults;
    int64_t spans, exclusive_ns; /* of its open trace points, and the time of these alone */
};

/* The findings of a search or a replay in the traces of a run. */
struct pythia_run_finding {
    int64_t rank;               /* 1: the request type with the largest share */
    const char *type, *place;   /* request type; where its variance is */
    double share;               /* of the variance of the type; NaN: not known */
    const char *key, *sentence; /* the key-value that explains it, or NULL; the verdict */
};

/* A file that belongs to a run: output of a profiler, or a flame graph of another program. */
struct pythia_run_artifact {
    const char *name, *kind; /* kind: "folded", "svg" or "other" */
    struct pythia_text body;
};

#define PYTHIA_RUN_OUTPUT_MAX 65536 /* bytes of each output that are stored */

struct pythia_run {
    int64_t id;              /* set by the database */
    uint64_t started_ns;     /* Unix epoch */
    const char *command;     /* its arguments, a JSON list; NULL: withheld */
    const char *command_key; /* 64 hexadecimal digits: SHA-256 of `command`, or of what was
                                   withheld, so that equal commands can be told */
    const char *tag, *suite, *benchmark, *description;
    int exit_status, signal; /* exit_status -1: a signal ended it, or it is not known */
    int64_t metrics[PYTHIA_RUN_METRICS];
    const char *git_commit, *version; /* of the folder it ran in; of Pythia */
    int git_dirty;                    /* 1: files that git knows had changed; -1: not known */
    struct pythia_run_host host;
    const struct pythia_run_pair *meta; /* sorted by key when it comes from the database */
    size_t meta_count;
    struct pythia_text output[2]; /* stdout, stderr: the first PYTHIA_RUN_OUTPUT_MAX bytes */
    int64_t output_bytes[2];      /* of all that it wrote */
    const struct pythia_run_callpath *callpaths;
    size_t callpath_count;
    const struct pythia_run_process *processes; /* in the order in which they began */
    size_t process_count;
    const struct pythia_run_finding *findings;
    size_t finding_count;
    const struct pythia_run_artifact *artifacts;
    size_t artifact_count;
};

#endif
