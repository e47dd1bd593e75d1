#ifndef PYTHIA_RELOCATE_H
#define PYTHIA_RELOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "site_plan.h"

/* Move the instructions that a jump of 5 bytes at a probe takes the place of, so that they do
 * elsewhere what they did there. `code` has `size` bytes, which begin with the nop of a probe; its
 * `address`, and those that the result refers to, are relative to the base of the object.
 *
 * Whatever is relative to the instruction pointer becomes a fixup, since the place of the moved
 * code is not known yet. A branch becomes one of 32 bits. A call becomes a push of the address that
 * it would have returned to, and a jump: so the moved code is never on the stack, where an
 * unwinder would not know it. The moved code does not end with a jump back; whoever places it
 * adds that.
 *
 * Returns NULL with *out filled in, or why only int3 can stand there, a sentence without a full
 * stop; *out is then without code. */
const char *pythia_relocate(const uint8_t *code, size_t size, uint64_t address,
                            struct pythia__site_code *out);

/* Bytes of the nop that `code` begins with; 0: it begins with something else. */
size_t pythia_relocate_nop(const uint8_t *code, size_t size);

/* Mark which of some addresses (in ascending order) are the target of a direct branch or call in a
 * section of code: code is decoded from its first byte to its last, and data among it decodes to
 * something, too, so that this is a hint and not a proof. `targeted` has a byte for each. */
void pythia_relocate_targets(const uint8_t *code, size_t size, uint64_t address,
                             const uint64_t *addresses, size_t count, uint8_t *targeted);

#endif
