#include "in_force.h"

bool pythia__in_force_look(struct pythia__in_force *f, bool in_force, uint64_t since, uint64_t lost,
                           uint64_t now, uint64_t unix_ns, bool *joined)
{
    bool was = f->now;
    f->now = in_force;
    if (!in_force)
        return false;
    bool other = since != f->since;
    if (other) {
        f->since = since;
        f->since_unix_ns = unix_ns - (now - since);
    }
    *joined = lost == f->lost;
    f->lost = lost;
    return other || !was;
}
