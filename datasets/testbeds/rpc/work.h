/* SPDX-License-Identifier: MIT */
/* Real work, as a handler has it: so many rounds of mixing a block of 1 KiB, which cost the
 * processor the same each time; and waiting, as for a device. */
#ifndef RPC_WORK_H
#define RPC_WORK_H

#include <stddef.h>
#include <stdint.h>

/* Rounds of work on `data`, of which the result is a checksum. */
uint64_t work_do(unsigned rounds, const void *data, size_t bytes);

/* How many rounds take so long here, at best. */
unsigned work_rounds(unsigned us);

void work_wait(unsigned us);

#endif
