/* Shared by the readers of summaries. */
#ifndef PYTHIA_SUMMARY_PARTS_H
#define PYTHIA_SUMMARY_PARTS_H

#include <stdbool.h>

#include "pythia/arena.h"
#include "pythia/call_summaries.h"
#include "pythia/hash_table.h"

#define PYTHIA__SUMMARY_RPCS_MAX 4 /* of a callpath: 16 bits of 64 for each */

/* A process whose file was read. */
struct pythia__summary_process {
    uint64_t hash;    /* of its address, as peers are known by */
    uint32_t address; /* a string */
    const char *file; /* for messages */
};

/* The name of an RPC, as a file has it. */
struct pythia__summary_rpc {
    uint64_t id;
    uint32_t process; /* that the file is of; PYTHIA_NONE: any, the first that had the id */
    uint32_t name;    /* a string */
};

/* A summary as a file has it: names and peers may stand in files that are read later. */
struct pythia__summary_seen {
    uint64_t rpcs[PYTHIA__SUMMARY_RPCS_MAX]; /* ids, the first one called first */
    uint32_t depth;                          /* of them, at least 1 */
    uint32_t process;                        /* that has measured it */
    uint64_t line, offset;                   /* 0: not known */
    uint64_t peer_hash;
    bool target;
    uint64_t calls, sum_ns, min_ns, max_ns;
    double variance_ns2;
    uint32_t told; /* as in call_summary.h, and what follows */
    uint64_t parts_ns[PYTHIA_CALL_TIMES];
    bool has_pools;
    struct pythia_pool_sizes runnable, all;
};

struct pythia_call_summaries {
    struct pythia_vocabulary *vocabulary;
    void (*broken)(void *context, const struct pythia_error *why);
    void *context;
    struct pythia_arena arena; /* of callpaths and names */
    struct pythia__summary_seen *seen;
    size_t seen_count, seen_capacity;
    struct pythia__summary_process *processes;
    size_t process_count, process_capacity;
    struct pythia_hash_table by_hash; /* of processes */
    struct pythia__summary_rpc *rpcs;
    size_t rpc_count, rpc_capacity;
    struct pythia_hash_table by_id; /* of RPCs */
    struct pythia_call_summary *all;
    size_t all_capacity;
    struct pythia_call_summaries_counts counts;
};

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__summary_add(struct pythia_call_summaries *s, const struct pythia__summary_seen *seen);
int pythia__summary_add_process(struct pythia_call_summaries *s, const char *file, uint64_t hash,
                                struct pythia_text address, uint32_t *process);
/* `first`: the file has not named that RPC before; only then it is added. */
int pythia__summary_add_rpc(struct pythia_call_summaries *s, uint32_t process, uint64_t id,
                            struct pythia_text name, bool *first);

/* Count and tell what cannot be read; line 0: it is not known. */
void pythia__summary_refuse(struct pythia_call_summaries *s, const char *name, uint64_t line,
                            uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

bool pythia__is_symbiosys_profile(struct pythia_text content);
int pythia__read_symbiosys_profile(struct pythia_call_summaries *s, const char *name,
                                   struct pythia_text content);
bool pythia__is_margo_statistics(struct pythia_text content);
int pythia__read_margo_statistics(struct pythia_call_summaries *s, const char *name,
                                  struct pythia_text content, struct pythia_error *e);

#endif
