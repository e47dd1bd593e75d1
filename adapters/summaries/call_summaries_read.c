#include "pythia/call_summaries.h"
#include "pythia/status.h"
#include "summary_parts.h"

int pythia_call_summaries_read(struct pythia_call_summaries *s, const char *name,
                               struct pythia_text content, struct pythia_error *e)
{
    if (pythia__is_symbiosys_profile(content))
        return pythia__read_symbiosys_profile(s, name, content);
    if (pythia__is_margo_statistics(content))
        return pythia__read_margo_statistics(s, name, content, e);
    pythia_error_set(e, PYTHIA_EFORMAT,
                     "has no summaries of calls: neither a profile (.csv) of SYMBIOSYS nor "
                     "statistics (.stats.json) of margo");
    pythia_error_place(e, name, 0, 0);
    return PYTHIA_EFORMAT;
}
