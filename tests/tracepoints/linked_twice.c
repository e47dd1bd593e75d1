#include "linked_twice.h"

#include <pythia/tracepoints.h>

void pass_in_library(int passes)
{
    for (int i = 0; i < passes; i++) {
        PYTHIA_SPAN_AS(span, "in library");
        PYTHIA_SET(span, "i", i);
    }
}
