/* Names of trace points, request types and keys in a document, with their short forms; and places,
 * which are made of them. */
#ifndef PYTHIA_REPORT_DOCUMENT_NAMES_H
#define PYTHIA_REPORT_DOCUMENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "document.h"
#include "pythia/explain.h"
#include "pythia/groups.h"
#include "pythia/place.h"
#include "pythia/vocabulary.h"

/* "build_semaphore", "nova > build_semaphore", or the id. */
void pythia__doc_point(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       uint32_t tracepoint);

/* The service of a trace point; empty if it is not known. Borrowed. */
struct pythia_text pythia__point_service(const struct pythia_vocabulary *v, uint32_t tracepoint);

/* A request type by one of its roots, by all of them, or in full. `root` is the root that matters
 * most; PYTHIA_NONE: the last. */
void pythia__doc_type_names(struct pythia__doc *d, const struct pythia_vocabulary *v, uint32_t name,
                            uint32_t unsplit, uint32_t root);
void pythia__doc_type(struct pythia__doc *d, const struct pythia_vocabulary *v,
                      const struct pythia_type *type, uint32_t root);

/* A key: without the place where it was seen, if no other key has that name. */
void pythia__doc_key(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_explanation *x);

/* A place as the subject of a sentence, `first` in it or not: "build_semaphore", "The time from the
 * end of A to the start of B". After a verb: "inside build_semaphore", "from the end of A to the
 * start of B". And as a row of a table: "build_semaphore", "end of A to start of B". */
void pythia__doc_place(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       const struct pythia_place *place, bool first);
void pythia__doc_place_phrase(struct pythia__doc *d, const struct pythia_vocabulary *v,
                              const struct pythia_place *place);
void pythia__doc_place_row(struct pythia__doc *d, const struct pythia_vocabulary *v,
                           const struct pythia_place *place);

#endif
