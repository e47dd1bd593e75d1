/* Shared by agents.c and agent_report.c. */
#ifndef PYTHIA_CONTROLS_AGENT_STATE_H
#define PYTHIA_CONTROLS_AGENT_STATE_H

#include "agents.h"
#include "pythia/wishes.h"

struct pythia__agent_point {
    struct pythia_text id; /* owned */
    double price_ns;
    uint64_t hits;
    bool open_by_default;
    bool listed, decided; /* the controller knows it, and has applied a set since */
    uint64_t refused;     /* the set of wishes at which an agent refused it; 0: none */
    uint64_t set;         /* the set of wishes for which `wish` holds; 0: none */
    size_t wish;          /* its place there, or PYTHIA_NO_WISH */
};

/* Lists that an agent had before: one that is slow to confirm has one of them in force. */
#define PYTHIA__AGENT_OLDER_LISTS 32

struct pythia__agent_older_list {
    uint64_t etag;
    uint64_t version; /* the last one of which all switches are in this list */
};

/* A list of a service. Instances that are at the same places (`key`) share it: mostly there is one,
 * and some more while a point is wished for at some instances only. Of more than there is space for
 * the oldest is made again when it is needed. */
#define PYTHIA__AGENT_LISTS 16

struct pythia__agent_list {
    struct pythia_buf json;
    uint64_t key, etag;
};

struct pythia__agent_service {
    struct pythia_text name;             /* owned */
    struct pythia__agent_point **points; /* owned, in order of id */
    size_t count, capacity;
    uint64_t idle_ns; /* when its last agent was forgotten */
    size_t agents;
    uint64_t changes; /* of its points, as far as a list shows them */
    struct pythia__agent_list lists[PYTHIA__AGENT_LISTS]; /* a ring; all are of one set */
    size_t list_count;                                    /* ever made of that set */
    uint64_t list_set, list_changes;
    uint64_t told; /* the hash of the list for no instance */
};

struct pythia__agent {
    struct pythia__agent_service *service; /* borrowed */
    struct pythia_text instance;           /* owned */
    uint64_t seen_ns;
    uint64_t applied; /* the hash of the list that it has in force; 0: none */
    uint64_t etag;    /* of the list that it shall have, as of `list_set` and `list_changes` */
    uint64_t list_set, list_changes;
    struct pythia__agent_older_list older[PYTHIA__AGENT_OLDER_LISTS]; /* a ring */
    size_t older_count;                                               /* lists ever replaced */
};

struct pythia__agents {
    struct pythia__agents_options options;
    struct pythia_wishes wishes;
    uint64_t set; /* changes with the wishes, with off and with the lease: lists are of one */
    uint64_t version, applied_ns, lease_ns;
    uint64_t observed_ns;                    /* the last time that is known */
    bool off, typed;                         /* typed: a point is wished for some types only */
    struct pythia_buf types;                 /* that points are wished for, as JSON; empty: none */
    bool placed;                             /* a point is wished for at some instances only */
    struct pythia__agent_service **services; /* owned, in order of name */
    size_t service_count, service_capacity;
    struct pythia__agent **agents; /* owned, in order of service and instance */
    size_t agent_count, agent_capacity;
    size_t point_count;
    struct pythia__agent_service nobody; /* the service without points */
    struct pythia__agents_numbers numbers;
};

/* Find, or make: *out. PYTHIA_OK, PYTHIA_ENOTFOUND (only if not `make`), PYTHIA_ELIMIT or
 * PYTHIA_ENOMEM. */
int pythia__agents_agent(struct pythia__agents *a, struct pythia_text service,
                         struct pythia_text instance, bool make, struct pythia__agent **out);
int pythia__agents_point(struct pythia__agents *a, struct pythia__agent_service *service,
                         struct pythia_text id, bool make, struct pythia__agent_point **out);

#endif
