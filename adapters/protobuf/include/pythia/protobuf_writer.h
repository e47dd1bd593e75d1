#ifndef PYTHIA_PROTOBUF_WRITER_H
#define PYTHIA_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/text.h"

/* Append one field of a message (protobuf.h) to a buffer, whose `failed` says whether memory was
 * missing. A message inside another one is written by itself first, and then put as bytes. */
void pythia_protobuf_put_number(struct pythia_buf *to, uint32_t field, uint64_t number);
void pythia_protobuf_put_fixed64(struct pythia_buf *to, uint32_t field, uint64_t number);
void pythia_protobuf_put_double(struct pythia_buf *to, uint32_t field, double number);
void pythia_protobuf_put_bytes(struct pythia_buf *to, uint32_t field, struct pythia_text bytes);

/* The tag and length before `size` bytes of a field, to append them piece by piece. */
void pythia_protobuf_put_size(struct pythia_buf *to, uint32_t field, uint64_t size);

#endif
