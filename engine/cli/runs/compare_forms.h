/* A comparison of runs in its forms. */
#ifndef PYTHIA_CLI_COMPARE_FORMS_H
#define PYTHIA_CLI_COMPARE_FORMS_H

#include "pythia/buf.h"
#include "pythia/run_regress.h"

enum pythia__compare_form {
    PYTHIA__COMPARE_TEXT,
    PYTHIA__COMPARE_JSON,
    PYTHIA__COMPARE_MARKDOWN,
    PYTHIA__COMPARE_JUNIT,
};

struct pythia__compared {
    const char *base, *candidate; /* tags */
    const struct pythia_regress_row *rows;
    size_t count;
    size_t runs[2], failed[2]; /* of each side; failed: by exit status or signal */
    double alpha, effect;
    bool all; /* also callpaths that did not change; else only metrics and what changed */
};

/* Append it. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__compare_write(const struct pythia__compared *c, enum pythia__compare_form form,
                          struct pythia_buf *to);

/* The number of rows with that verdict. */
size_t pythia__compare_count(const struct pythia__compared *c, enum pythia_regress_verdict verdict);

#endif
