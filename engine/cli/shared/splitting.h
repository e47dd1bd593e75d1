/* --split, of the commands that group requests. */
#ifndef PYTHIA_CLI_SPLITTING_H
#define PYTHIA_CLI_SPLITTING_H

#include "command.h"
#include "pythia/grouping_key.h"
#include "pythia/option.h"

/* The row of a table of options; `where` is the offset of a struct pythia_option_texts. */
#define PYTHIA__SPLIT_OPTION(where)                                                                \
    {                                                                                              \
        "split", 0, PYTHIA_OPTION_TEXTS, "SPEC", NULL, NULL, 0, 0, where,                          \
            "Split the requests of a type by a key as well. KEY=3,10 splits numbers (below 3, "    \
            "from 3 to below 10, from 10 on), KEY={a,b},{c} splits levels (a or b, c, any "        \
            "other), KEY=* separates requests with the key from those without it, and KEY "        \
            "alone splits by level, or at the numbers that separate the modes of the "             \
            "durations; count:POINT=2 and has:POINT split by hits of a trace point; may be "       \
            "given several times"                                                                  \
    }

/* The grouping key that was asked for; *out is NULL if none was. PYTHIA_OK with *out owned by the
 * caller, PYTHIA_ENOMEM, or PYTHIA_EUSAGE after saying why. */
int pythia__splitting_begin(const struct pythia_option_texts *asked,
                            struct pythia_vocabulary *vocabulary, struct pythia_grouping_key **out);

/* If rules have to be found: read everything of `count` readings once more, keep `rows` requests of
 * each type, and find them; say on stderr what they are. PYTHIA_OK, PYTHIA_ENOMEM, or what reading
 * returned; PYTHIA_EUSAGE, told, if something can be read only once. */
int pythia__splitting_learn(struct pythia_grouping_key *key,
                            struct pythia__reading *const *readings, size_t count, int64_t rows,
                            double alpha, int64_t seed);

/* Say which keys no request had, and which parts. `hidden`: trace points were closed. Returns
 * whether all keys were there. */
bool pythia__splitting_tell(const struct pythia_grouping_key *key, bool hidden);

#endif
