#include <string.h>

#include "report_forms.h"

void pythia__report_html(const json_t *report, struct pythia_buf *out)
{
    (void)report;
    (void)out;
}
