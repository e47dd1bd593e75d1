/* A program of somebody else, in C and in C++, that can be traced. */
#include <pythia/drain.h>
#include <pythia/switchboard.h>
#include <pythia/tracepoints.h>
#include <stdio.h>

int main(void)
{
    const struct pythia_tracepoints_options options = {"traced", NULL, NULL, NULL, 0, 0, 0};
    if (pythia_tracepoints_setup(&options) != 0)
        return 1;
    PYTHIA_REQUEST("greeting");
    PYTHIA_SPAN_AS(span, "greet");
    PYTHIA_SET(span, "whom", "world");
    return span ? 0 : 2;
}
