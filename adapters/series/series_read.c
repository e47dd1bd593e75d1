#include "series_margo.h"
#include "series_stats.h"

int pythia_series_read(struct pythia_series_csv *csv, const char *name, struct pythia_text content,
                       bool unfinished)
{
    if (pythia__series_is_margo(content))
        return pythia__series_margo_read(csv, name, content);
    return pythia__series_is_stats(content)
               ? pythia__series_stats_read(csv, name, content)
               : pythia_series_csv_read(csv, name, content, unfinished);
}
