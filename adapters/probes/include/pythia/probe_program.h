#ifndef PYTHIA_PROBE_PROGRAM_H
#define PYTHIA_PROBE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "pythia/probe_hit.h"

#define PYTHIA_PROBE_PROGRAM_MAX 512 /* instructions */

struct bpf_insn;

/* Write the BPF program of a site, which puts a struct pythia_probe_hit with its arguments into the
 * ring of the current processor: `out` has room for PYTHIA_PROBE_PROGRAM_MAX instructions. `rings`
 * is the descriptor of a BPF_MAP_TYPE_PERF_EVENT_ARRAY; `texts` says which arguments are read as
 * texts (bit 0: the first), at most PYTHIA_PROBE_TEXTS_MAX. Returns the number of instructions. */
size_t pythia_probe_program(const struct pythia_usdt_operand *operands, size_t count,
                            uint16_t texts, uint32_t number, int rings, struct bpf_insn *out);

#endif
