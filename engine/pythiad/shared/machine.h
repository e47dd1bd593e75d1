/* The machine, or the part of it, that pythiad may use. */
#ifndef PYTHIA_PYTHIAD_MACHINE_H
#define PYTHIA_PYTHIAD_MACHINE_H

#include <stdint.h>

/* Bytes of memory that this process may use: the physical memory, or the limit of its cgroup or of
 * one above it (version 2, or the memory controller of version 1), whichever is least. Files are
 * looked for below `root`, "" but in tests. */
uint64_t pythia__machine_memory(const char *root);

#endif
