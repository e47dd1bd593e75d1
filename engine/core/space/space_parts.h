/* Declarations shared by the writer and the reader of search spaces. */
#ifndef PYTHIA_CORE_SPACE_PARTS_H
#define PYTHIA_CORE_SPACE_PARTS_H

#define PYTHIA__SPACE_SCHEMA "pythia.space/1"

/* Flags of a node. */
enum { PYTHIA__SPACE_ROOT = 1, PYTHIA__SPACE_ENTRY = 2, PYTHIA__SPACE_OUTLIVES = 4 };

#endif
