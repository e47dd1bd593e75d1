/* The meaning of OTLP (opentelemetry-proto 1.x, trace.proto), whichever way it is written: JSON and
 * protobuf give the same spans because both go through here. A reader says what it finds:
 *
 *     begin_resource
 *         resource             the attributes of a Resource
 *         begin_scope
 *             scope, scope_known
 *             give             a span
 *         end_scope
 *     end_resource
 *
 * A resource or a scope may come after its spans: they are held until it is known. */
#ifndef PYTHIA_TRACES_OTLP_H
#define PYTHIA_TRACES_OTLP_H

#include "shared/held.h"
#include "shared/timestamp.h"

/* Begin a reader's state with this. */
struct pythia__otlp {
    struct pythia__decoder d;
    struct pythia__held held; /* spans of the current scope, or of the current resource */
    struct pythia_buf resource_attributes;
    struct pythia_resource resource; /* at hand */
    uint32_t resource_number;
    uint32_t scope; /* number of the name of the current scope */
    bool resource_known, scope_known;
    uint32_t key_service, key_host, key_instance;
    uint32_t key_sampling;  /* PYTHIA_NONE: no span had a tracestate that says anything of it */
    struct pythia__day day; /* of the times that are written as dates */
};

/* A span as far as it has been read. */
struct pythia__otlp_span {
    struct pythia__held_span out; /* .scope is for otlp.c to set */
    uint64_t end_ns;
    bool has_start, has_end;
    double probability; /* of its tracestate (sampling.h); 0: not stated */
};

/* Over zeroed memory. PYTHIA_OK or PYTHIA_ENOMEM; to be freed in both cases. */
int pythia__otlp_init(struct pythia__otlp *o, const struct pythia_adapter_ops *ops,
                      struct pythia_vocabulary *vocabulary);
void pythia__otlp_free(struct pythia__otlp *o);

/* Nothing is known of the ResourceSpans at hand. */
void pythia__otlp_begin_resource(struct pythia__otlp *o);

/* The attributes that the decoder has collected are those of the Resource at hand. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__otlp_resource(struct pythia__otlp *o);

/* End the current ResourceSpans, whose reading ended with `status`: what was read of one that is
 * cut off or broken is emitted too. Returns `status` if it is negative, or what emitting returned.
 */
int pythia__otlp_end_resource(struct pythia__otlp *o, int status);

/* Begin a ScopeSpans; the result is for _end_scope, which emits what was held if its resource is
 * known and `status` is PYTHIA_OK. */
size_t pythia__otlp_begin_scope(struct pythia__otlp *o);
int pythia__otlp_end_scope(struct pythia__otlp *o, size_t begun, int status);

/* A span's kind by its number in the protocol; 0 for one that is not in it. */
void pythia__otlp_kind(struct pythia_span *span, int64_t kind);

/* A span has that tracestate. */
void pythia__otlp_tracestate(struct pythia__otlp *o, struct pythia__otlp_span *s,
                             struct pythia_text tracestate);

/* The reason why a span cannot be used, as a sentence; NULL: none. */
const char *pythia__otlp_fault(const struct pythia__otlp_span *s);

/* Pass on a span without a fault, with the attributes that the decoder has collected, or hold it.
 * Negative: stop. */
int pythia__otlp_give(struct pythia__otlp *o, struct pythia__otlp_span *s);

/* Append a value to the text that stands for an array: the scalars with commas between. */
void pythia__otlp_join(struct pythia_buf *joined, struct pythia_text text);
void pythia__otlp_join_real(struct pythia_buf *joined, double number);

#endif
