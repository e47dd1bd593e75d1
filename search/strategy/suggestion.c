#include "pythia/mem.h"
#include "pythia/strategy.h"

void pythia_suggestion_clear(struct pythia_suggestion *s)
{
    pythia_free(s->reason);
    s->reason = NULL;
}
