/* Splits in words: those that are proposed for a group. */
#include <math.h>
#include <string.h>

#include "sentences.h"

#define OPTION_SHOWN 400 /* bytes of an option */

/* A shortened option would be another one when pasted. */
static bool option_fits(const char *option)
{
    return strlen(option) <= OPTION_SHOWN;
}

void pythia__say_option(struct pythia__doc *d, const char *option, const char *key)
{
    struct pythia_text name = pythia_text_of(key);
    if (option_fits(option)) {
        pythia__doc_text(d, PYTHIA__DOC_CODE, pythia_text_of(option));
        return;
    }
    (void)pythia__doc_name(d, PYTHIA__DOC_KEY, name, name, name);
    pythia__doc_words(d, " (the option is too long to show here; see the JSON report)");
}

void pythia__say_proposal(struct pythia__doc *d, const struct pythia_split_proposal *p)
{
    if (p->instead && option_fits(p->instead)) {
        pythia__doc_words(d, "instead of '");
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(p->instead));
        pythia__doc_words(d, "' ");
    }
    pythia__doc_words(d, "accounts for ");
    pythia__doc_percent(d, p->between.share);
    if (isfinite(p->between.low) && isfinite(p->between.high))
        pythia__doc_words(d, " (%.0f to %.0f)", 100 * p->between.low, 100 * p->between.high);
    pythia__doc_words(d, " of the variance%s.", p->of_modes ? ", and separates the modes" : "");
}
