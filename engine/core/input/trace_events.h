/* A folder of events of LTTng as a source of records. */
#ifndef PYTHIA_CORE_TRACE_EVENTS_H
#define PYTHIA_CORE_TRACE_EVENTS_H

#include "pythia/input.h"

struct pythia__trace_events;

/* PYTHIA_OK with *out owned, or negative with the reason in `e`. */
int pythia__trace_events_open(const struct pythia_input_file *file,
                              struct pythia__trace_events **out, struct pythia_error *e);
/* As the read function of a source. */
int pythia__trace_events_read(struct pythia__trace_events *t, void *to, size_t capacity,
                              size_t *got, struct pythia_error *e);
void pythia__trace_events_close(struct pythia__trace_events *t); /* t may be NULL */

#endif
