/* OTLP in protobuf, in the notation of protobuf_text.h, and what becomes of it. */
#ifndef OTLP_PROTOBUF_TEXT_H
#define OTLP_PROTOBUF_TEXT_H

#include "collect.h"
#include "protobuf_text.h"

#define FORMAT "otlp-proto"

/* The ids of a span; with its start they are all that it needs to be read. */
#define IDS   "1#000000000000000000000000000000ab 2#00000000000000cd"
#define NEEDS IDS " 7!5"

/* What a message, as protobuf_text.h has it, decodes to, the same in one piece and in several. */
static inline void collect_message(struct collection *c, const char *text)
{
    struct pythia_buf message = protobuf_of(text);
    collection_open(c);
    collect_bytes(c, FORMAT, pythia_buf_text(&message), 0);
    assert_int_equal(c->status, PYTHIA_OK);
    assert_pieces_do_not_matter_of(FORMAT, pythia_buf_text(&message));
    pythia_buf_free(&message);
}

/* The same of one span, whose further fields are `fields`. */
static inline void collect_span_with(struct collection *c, const char *fields)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "1{2{2{" NEEDS " %s}}}", fields);
    collect_message(c, text.bytes);
    pythia_buf_free(&text);
}

#endif
