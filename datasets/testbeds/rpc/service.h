/* SPDX-License-Identifier: MIT */
/* What the three services have in common: their settings, the problem that is planted in them, and
 * what a worker is given to do. A service is a row: its name, and how it handles a request. */
#ifndef RPC_SERVICE_H
#define RPC_SERVICE_H

#include <pythia/tracepoints.h>
#include <stdatomic.h>

#include <uv.h>

#include "frame.h"

#define PEERS_MAX   16
#define WORKERS_MAX 64
#define TENANTS     8

enum problem {
    PROBLEM_NONE,
    PROBLEM_POOL,  /* one worker of the store works, the others are idle */
    PROBLEM_SHARD, /* one shard's pages take long to read */
    PROBLEM_LOCK,  /* the store holds its index for long, for one tenant */
    PROBLEM_RETRY, /* shards say "again" the first time, for some keys */
    PROBLEMS,
};

const char *problem_name(int problem);
const char *tenant_name(unsigned tenant);       /* "tenant-7" */
const char *shard_name(unsigned shard);         /* "shard-2" */
int problem_of(const char *name, size_t bytes); /* -1: there is no such one */

struct settings {
    const char *listen;
    const char *peers[PEERS_MAX]; /* the services below: HOST:PORT */
    unsigned peer_count;
    unsigned number;    /* of a shard */
    unsigned workers;   /* threads that handle requests */
    unsigned queue_max; /* requests that wait; one more is refused */
    unsigned work;      /* rounds of real work in each handler (work.h) */
    unsigned pause_us;  /* what a page takes to be read, beyond that */
    int variables;      /* define them */
    int problem;        /* enum problem, at first */
};

struct caller;

/* A worker thread, with connections of its own to the services below. */
struct worker {
    struct service *service;
    unsigned number;
    struct caller *callers[PEERS_MAX];
    uv_thread_t thread;
};

struct service_kind {
    const char *name;
    int has_pool; /* the problem "pool" is this one's */
    /* Handle a request: append to *answer what is to be said; a status. */
    enum status (*handle)(struct worker *worker, unsigned method, unsigned attempt,
                          const struct request *request, struct bytes *answer);
};

extern const struct service_kind front_kind, store_kind, shard_kind;

struct service {
    const struct service_kind *kind;
    struct settings settings;
    struct pool *pool;
    atomic_int problem;
    uv_mutex_t index; /* of the store: one request at a time looks where keys are */
    /* As variables see them: words that one thread at a time writes. */
    long queue_length, queue_most, workers_busy, lock_waiters, lock_holder;
    unsigned long handled, refused, retries;
    int tries; /* the variable: how often calls of a request were tried again; 0: not defined */
};

/* Serve until SIGTERM: what has come in is answered first. The exit status. */
int serve(const struct service_kind *kind, const struct settings *settings);

/* Send requests (load.c), and ask or change a service itself (ask.c): exit statuses. */
int load_main(int argc, char **argv);
int plant_main(int argc, char **argv);
int state_main(int argc, char **argv);
int open_main(int argc, char **argv);
int drain_main(int argc, char **argv);

/* "127.0.0.1:7000" to an address: 0, or -EINVAL. */
int address_read(const char *text, struct sockaddr_in *out);

#endif
