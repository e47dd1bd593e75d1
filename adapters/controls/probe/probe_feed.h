/* The plane gives the feed its rings, and the probe of each number. */
#ifndef PYTHIA_CONTROLS_PROBE_FEED_H
#define PYTHIA_CONTROLS_PROBE_FEED_H

#include "pythia/control_probe.h"
#include "pythia/kernel_points.h"
#include "pythia/probe_rules.h"
#include "pythia/probe_spans.h"

/* Takes the rules over, also on failure. PYTHIA_OK with *out to be released, or PYTHIA_ENOMEM. */
int pythia__probe_feed_create(struct pythia_probe_rules *rules, struct pythia_probe_feed **out);

/* Valid while the feed is not released. */
const struct pythia_probe_rules *pythia__probe_feed_rules(const struct pythia_probe_feed *f);

/* A connection to pythia-probe has begun, with these rings (taken over; 0: it has ended): what was
 * defined for the last one holds no more. */
void pythia__probe_feed_rings(struct pythia_probe_feed *f, const int *rings, size_t count);

/* Hits with `number` are of the probe that begins, or ends, a point. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__probe_feed_define(struct pythia_probe_feed *f, uint32_t number, size_t point,
                              bool done);

/* Hits with `number` are of an event of the kernel; 0: it is no longer reported. As above. */
int pythia__probe_feed_define_kernel(struct pythia_probe_feed *f, enum pythia_kernel_event event,
                                     uint32_t number);

/* Waits of the kernel become spans of a point (is_wait of its rule) from now on, or no more. As
 * above. */
int pythia__probe_feed_open_wait(struct pythia_probe_feed *f, size_t point, bool open);

/* Probes are being switched from now on, or no more. As above. */
int pythia__probe_feed_switch(struct pythia_probe_feed *f, bool switching);

/* Processes in which requests began and that still ran about a second ago: up to `max` of them (and
 * 16) into `out`. Returns how many there are. */
size_t pythia__probe_feed_processes(struct pythia_probe_feed *f, struct pythia_probe_process *out,
                                    size_t max);

/* Hits of a point outside of requests, as of about a second ago, on this connection; likewise
 * *at_ns, when they were counted (CLOCK_MONOTONIC; 0: not yet). */
uint64_t pythia__probe_feed_outside(struct pythia_probe_feed *f, size_t point, uint64_t *at_ns);

/* Likewise of each event of the kernel. Returns when they were counted. */
uint64_t pythia__probe_feed_kernel_outside(struct pythia_probe_feed *f,
                                           uint64_t hits[PYTHIA_KERNEL_EVENTS]);

/* One more user of it, that releases it. */
struct pythia_probe_feed *pythia__probe_feed_share(struct pythia_probe_feed *f);

#endif
