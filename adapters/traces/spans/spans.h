/* Shared by the writer and the reader of spans. */
#ifndef PYTHIA_TRACES_SPANS_H
#define PYTHIA_TRACES_SPANS_H

#define PYTHIA__SPANS_HEAD "{\"spans\":1}"

enum {
    PYTHIA__SPANS_ERROR = 1,
    PYTHIA__SPANS_SHARED = 2,
    PYTHIA__SPANS_MANY_ROOTS = 4,
    PYTHIA__SPANS_LOSSY = 8
};

#endif
