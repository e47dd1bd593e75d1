/* The instance of each service at which points are opened that cost too much at all of its
 * instances (live.h). All calls are the loop's. */
#ifndef PYTHIA_PYTHIAD_CHOSEN_H
#define PYTHIA_PYTHIAD_CHOSEN_H

#include "switches.h"

/* A service, and which instance was chosen of it. */
struct pythia__chosen {
    uint32_t service;  /* number of a string */
    size_t instances;  /* that agents have reported and are not lost */
    bool one_switch;   /* a plane has points of it that it cannot switch at single instances */
    char *name;        /* owned; the chosen instance; NULL: none */
    char *place;       /* owned; the same as a place (instances.h) */
    uint64_t tried_ns; /* when there was none to choose */
    uint64_t
        until_ns; /* it was chosen before this start, and has until then to report; 0: it has */
};

/* Struct pythia_live_instances, with the switching as context. Where an agent cannot be told from
 * others by the resources of spans, its service has no instances here. While none is chosen, each
 * resource is: the point is closed everywhere. */
uint32_t pythia__chosen_count(void *switching, uint32_t tracepoint);
bool pythia__chosen_prefer(void *switching, uint32_t tracepoint, struct pythia_text host);
bool pythia__chosen_is(void *switching, uint32_t resource);

/* A plane has a point of a service. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__chosen_note(struct pythia__switching *w, const struct pythia_controlled *point);

/* Where a trace point is open that is open at one instance only; size 0: nowhere. Borrowed until
 * another instance is chosen. */
struct pythia_text pythia__chosen_place(const struct pythia__switching *w, uint32_t tracepoint);

/* Choose again where an instance is lost. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__chosen_look(struct pythia__switching *w);

/* Name in each verdict the instance that it is about, if it is about one only. */
void pythia__chosen_name(const struct pythia__switching *w, struct pythia_verdicts *verdicts);

/* The chosen instances as text, for the next start; and take them up there: each stays chosen, with
 * what is open at it alone, unless it has not reported within 30 s. What is no such text is left
 * out. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__chosen_save(const struct pythia__switching *w, struct pythia_buf *out);
int pythia__chosen_restore(struct pythia__switching *w, struct pythia_text saved);

void pythia__chosen_free(struct pythia__switching *w);

#endif
