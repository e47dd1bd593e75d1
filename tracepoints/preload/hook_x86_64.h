/* SPDX-License-Identifier: MIT */
/* Definitions shared by the C code and the assembly. */
#ifndef PYTHIA_HOOK_X86_64_H
#define PYTHIA_HOOK_X86_64_H

/* Calls of hooked functions that can be under way at once, in all threads. */
#define PYTHIA__SLOTS 16384

#endif
