#ifndef PYTHIA_EACH_H
#define PYTHIA_EACH_H

#include <stddef.h>

#include "pythia/status.h"

/* Jobs that do not depend on each other, for a library that has no threads of its own: whoever
 * calls it may lend some. */
struct pythia_each {
    /* Call job(of, i) for each i below `count`, in any order, several at once perhaps, and return
     * when all have ended: PYTHIA_OK, or one of the negative statuses; then some may not have been
     * called. */
    int (*run)(void *context, size_t count, int (*job)(void *of, size_t i), void *of);
    void *context;
};

/* The same; one after the other if there is nobody (`e` NULL). */
static inline int pythia_each_run(const struct pythia_each *e, size_t count,
                                  int (*job)(void *of, size_t i), void *of)
{
    if (e)
        return e->run(e->context, count, job, of);
    for (size_t i = 0; i < count; i++) {
        int status = job(of, i);
        if (status < 0)
            return status;
    }
    return PYTHIA_OK;
}

#endif
