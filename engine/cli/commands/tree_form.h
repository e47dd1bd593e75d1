/* A request as a tree for people and programs: which of its spans are shown, and how. */
#ifndef PYTHIA_CLI_TREE_FORM_H
#define PYTHIA_CLI_TREE_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "pythia/attributes.h"
#include "pythia/buf.h"
#include "pythia/critical_path.h"
#include "pythia/trace.h"

/* The spans to show; children of a hidden span are attached to its nearest shown ancestor. */
enum pythia__tree_mode {
    PYTHIA__TREE_DEBUG,   /* all */
    PYTHIA__TREE_CONCISE, /* spans that took any time */
    PYTHIA__TREE_VERBOSE, /* also spans that have key-values */
};

enum pythia__tree_form {
    PYTHIA__TREE_LIST,   /* start and duration in ms, and what is on the critical path */
    PYTHIA__TREE_SHARES, /* as HiQ prints: when, the share of the whole, branches, seconds */
    PYTHIA__TREE_JSON,   /* an object */
};

struct pythia__tree_how {
    enum pythia__tree_mode mode;
    enum pythia__tree_form form;
    uint64_t min_ns;           /* hide shorter spans too, except those that VERBOSE keeps */
    bool keys;                 /* with key-values */
    struct pythia_text metric; /* show this key-value of spans, or metric.<it>, in place of how long
                                  they took; empty: none */
};

/* Append one request. PYTHIA_OK or PYTHIA_ENOMEM. O(spans). */
int pythia__tree_add(const struct pythia__tree_how *how, const struct pythia_vocabulary *vocabulary,
                     const struct pythia_trace *trace, const struct pythia_critical_path *path,
                     struct pythia_buf *to);

#endif
