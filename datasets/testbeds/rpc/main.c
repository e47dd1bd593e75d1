/* SPDX-License-Identifier: MIT */
/* Three services that speak to each other, with problems that can be planted, and what is needed to
 * keep them busy: one program, whose first argument is its role. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "service.h"
#include "work.h"

static const char *const problems[PROBLEMS] = {"none", "pool", "shard", "lock", "retry"};

const char *problem_name(int problem)
{
    return problems[problem];
}

const char *tenant_name(unsigned tenant)
{
    static const char *const names[TENANTS] = {"tenant-0", "tenant-1", "tenant-2", "tenant-3",
                                               "tenant-4", "tenant-5", "tenant-6", "tenant-7"};
    return tenant < TENANTS ? names[tenant] : "nobody";
}

const char *shard_name(unsigned shard)
{
    static const char *const names[PEERS_MAX] = {"shard-0",  "shard-1",  "shard-2",  "shard-3",
                                                 "shard-4",  "shard-5",  "shard-6",  "shard-7",
                                                 "shard-8",  "shard-9",  "shard-10", "shard-11",
                                                 "shard-12", "shard-13", "shard-14", "shard-15"};
    return shard < PEERS_MAX ? names[shard] : "?";
}

int problem_of(const char *name, size_t bytes)
{
    for (int i = 0; i < PROBLEMS; i++)
        if (strlen(problems[i]) == bytes && memcmp(problems[i], name, bytes) == 0)
            return i;
    return -1;
}

int address_read(const char *text, struct sockaddr_in *out)
{
    char host[64], *end;
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof(host) || !colon[1])
        return -EINVAL;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (*end || port > 65535 || uv_ip4_addr(host, (int)port, out) != 0)
        return -EINVAL;
    return 0;
}

static int check(const struct service_kind *kind, const struct settings *s, unsigned wanted)
{
    struct sockaddr_in address;
    if (s->peer_count < wanted || (wanted == 0 && s->peer_count > 0) ||
        (wanted == 1 && kind == &front_kind && s->peer_count != 1)) {
        fprintf(stderr, "rpc_testbed: %s asks %s: give as many --to\n", kind->name,
                kind == &front_kind   ? "one service"
                : kind == &store_kind ? "1 to 16 shards"
                                      : "nobody");
        return 2;
    }
    for (unsigned i = 0; i < s->peer_count; i++)
        if (address_read(s->peers[i], &address) != 0) {
            fprintf(stderr, "rpc_testbed: %s is not an address: expected HOST:PORT\n", s->peers[i]);
            return 2;
        }
    return 0;
}

static int service_main(const struct service_kind *kind, int argc, char **argv)
{
    struct settings s = {.listen = "127.0.0.1:0", .workers = 8, .queue_max = 256, .variables = 1};
    const char *problem = "none";
    unsigned work_us = 50, rounds = 0;
    int no_variables = 0;
    struct option_list peers = {s.peers, &s.peer_count, PEERS_MAX};
    const struct option_row rows[] = {
        {"listen", OPTION_TEXT, &s.listen, 0, 0},
        {"to", OPTION_EACH, &peers, 0, 0},
        {"number", OPTION_NUMBER, &s.number, 0, PEERS_MAX - 1},
        {"workers", OPTION_NUMBER, &s.workers, 1, WORKERS_MAX},
        {"queue", OPTION_NUMBER, &s.queue_max, 1, 1000000},
        {"work-us", OPTION_NUMBER, &work_us, 1, 1000000},
        {"work-rounds", OPTION_NUMBER, &rounds, 1, 100000000},
        {"pause-us", OPTION_NUMBER, &s.pause_us, 0, 10000000},
        {"problem", OPTION_TEXT, &problem, 0, 0},
        {"no-variables", OPTION_FLAG, &no_variables, 0, 0},
        {NULL, OPTION_TEXT, NULL, 0, 0},
    };
    int code = options_read(argc, argv, rows);
    code = code ? code : check(kind, &s, kind == &shard_kind ? 0 : 1);
    if (code)
        return code;
    s.problem = problem_of(problem, strlen(problem));
    if (s.problem < 0) {
        fprintf(stderr, "rpc_testbed: %s is no problem: none, pool, shard, lock and retry are\n",
                problem);
        return 2;
    }
    s.variables = !no_variables;
    s.work = rounds ? rounds : work_rounds(work_us);
    return serve(kind, &s);
}

static int front_main(int argc, char **argv)
{
    return service_main(&front_kind, argc, argv);
}

static int store_main(int argc, char **argv)
{
    return service_main(&store_kind, argc, argv);
}

static int shard_main(int argc, char **argv)
{
    return service_main(&shard_kind, argc, argv);
}

/* Rounds of work that take so many microseconds here. */
static int rounds_main(int argc, char **argv)
{
    unsigned us = 50;
    const struct option_row rows[] = {{"work-us", OPTION_NUMBER, &us, 1, 1000000},
                                      {NULL, OPTION_TEXT, NULL, 0, 0}};
    int code = options_read(argc, argv, rows);
    if (code == 0)
        printf("%u\n", work_rounds(us));
    return code;
}

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} roles[] = {
    {"front", "front --to STORE [OPTION...]", front_main},
    {"store", "store --to SHARD [--to SHARD...] [OPTION...]", store_main},
    {"shard", "shard --number N [OPTION...]", shard_main},
    {"load",
     "load --to FRONT [--rate PER_SECOND | --outstanding N] [--seconds S] [--requests N] [--seed "
     "N] [--connections N] [--turns]",
     load_main},
    {"plant", "plant none|pool|shard|lock|retry ADDRESS...", plant_main},
    {"state", "state ADDRESS...", state_main},
    {"open", "open NAME,...|'*'|none", open_main},
    {"drain", "drain", drain_main},
    {"rounds", "rounds [--work-us US]", rounds_main},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(argv[1], roles[i].name) == 0)
            return roles[i].run(argc - 2, argv + 2);
    fprintf(stderr, "usage:\n");
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        fprintf(stderr, "  rpc_testbed %s\n", roles[i].help);
    fprintf(stderr, "Options of services: --listen HOST:PORT, --workers N, --queue N, --work-us "
                    "US, --work-rounds N,\n"
                    "--pause-us US, --problem NAME, --no-variables. ADDRESS is HOST:PORT; port 0 "
                    "is a free one, which is\n"
                    "printed.\n");
    return 2;
}
