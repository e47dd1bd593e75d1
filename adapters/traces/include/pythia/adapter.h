#ifndef PYTHIA_ADAPTER_H
#define PYTHIA_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/error.h"
#include "pythia/source.h"
#include "pythia/span.h"
#include "pythia/span_count.h"
#include "pythia/text.h"
#include "pythia/vocabulary.h"

/* Begin a format's own state with this. */
struct pythia_adapter {
    const struct pythia_adapter_ops *ops;
};

/* The first bytes of an input, decompressed, up to some 64 KiB. */
struct pythia_head {
    struct pythia_text text;
    struct pythia_text outline; /* if it is JSON: its keys down to the third level, each as
                                   "<depth><key>\n"; else empty */
};

/* How a large input may be divided into inputs that are decoded apart, and give the same spans. */
enum pythia_division {
    PYTHIA_DIVISION_NONE,
    PYTHIA_DIVISION_LINES,  /* where a line ends with a document of JSON and another one begins */
    PYTHIA_DIVISION_TRACES, /* the same, or between the traces of an answer of Jaeger's API */
    PYTHIA_DIVISION_RESOURCES, /* the same as LINES, or between the ResourceSpans of OTLP's JSON */
    PYTHIA_DIVISION_SPANS,     /* the same as LINES, or between Zipkin's spans, or arrays of them */
    PYTHIA_DIVISION_FRAMES,    /* between messages with the size of each in 4 bytes before it, or
                                  between the fields 1 of a single message */
};

/* A trace format: bytes in, spans out; no file, no socket, no clock. One row of the registry. */
struct pythia_adapter_ops {
    const char *name; /* "otlp" */
    const char *help; /* what it reads, for --help and the manual */

    /* How much an input looks like this format: 0 not at all, 100 certainly. */
    int (*likeness)(const struct pythia_head *head);

    /* Make one; `vocabulary` is borrowed. PYTHIA_OK or PYTHIA_ENOMEM. */
    int (*create)(struct pythia_vocabulary *vocabulary, struct pythia_adapter **out);

    /* Read a source to its end and give each span to the sink. A record that cannot be read is
     * reported to the sink, counted and passed over. Returns PYTHIA_OK, or negative with the reason
     * in `e` when the rest could not be read; what was read until then has been delivered. May be
     * called again with another source. */
    int (*decode)(struct pythia_adapter *a, struct pythia_source *from, struct pythia_sink *to,
                  struct pythia_error *e);

    void (*destroy)(struct pythia_adapter *a); /* a may be NULL */

    /* Each source is decoded as if it were the first: nothing is carried over from one to the next.
     * False where a source goes on with what another one began. */
    bool independent;

    enum pythia_division division; /* only of an independent one */

    /* Counts the spans of an input that is not taken. NULL: of this format their number is not
     * known without decoding. */
    pythia_span_counter *count;
};

/* All formats, in order of name: the row of each, and its name, of which the choices of an option
 * are made as well. */
#define PYTHIA_FORMATS(row)                                                                        \
    row(hiq, "hiq") row(jaeger, "jaeger") row(native, "native") row(osprofiler, "osprofiler")      \
        row(otlp_json, "otlp") row(otlp_protobuf, "otlp-proto") row(recording, "recording")        \
            row(spans, "spans") row(symbiosys, "symbiosys") row(zipkin, "zipkin")
#define PYTHIA_FORMAT_CHOICE(format, name) "|" name

/* The table of them, in that order; *count of them. */
const struct pythia_adapter_ops *const *pythia_adapters(size_t *count);

/* The format that the first bytes of an input look like most, or the one of that name; NULL if
 * there is none. */
const struct pythia_adapter_ops *pythia_adapter_like(struct pythia_text text);
const struct pythia_adapter_ops *pythia_adapter_named(const char *name);

#endif
