/* The section of what was expected of the requests. */
#include "report_parts.h"
#include "sentences/sentences.h"

#define RESULTS_SHOWN 200

static const struct pythia__doc_column columns[] = {{.title = "Status"},
                                                    {.title = "Expectation", .flexible = true}};

/* Violated expectations come first. */
static size_t add_with_state(const struct pythia__parts *p, enum pythia_expected_state state,
                             size_t shown)
{
    const struct pythia_expected_results *all = p->s->expected;
    for (size_t i = 0; i < all->count && shown < RESULTS_SHOWN; i++) {
        if (all->list[i].state != state)
            continue;
        bool violated = state == PYTHIA_EXPECTED_VIOLATED;
        pythia__doc_row(p->d, violated ? PYTHIA__DOC_CAUSE : PYTHIA__DOC_PLAIN);
        pythia__doc_cell(p->d);
        pythia__doc_words(p->d, "%s",
                          state == PYTHIA_EXPECTED_TOO_FEW ? "too few requests"
                                                           : pythia__expected_state_name(state));
        pythia__doc_cell(p->d);
        pythia__say_expected(p->d, p->s, &all->list[i]);
        shown++;
    }
    return shown;
}

void pythia__part_expected(const struct pythia__parts *p)
{
    if (!p->s->expected)
        return;
    pythia__doc_open(p->d, PYTHIA__DOC_SECTION, PYTHIA_TEXT("expectations"), "Expectations");
    pythia__doc_title(p->d, 2, "What was expected");
    pythia__doc_paragraph(p->d, PYTHIA__DOC_TEXT);
    pythia__say_expected_counts(p->d, p->s->expected);
    pythia__doc_words(p->d, ".");
    pythia__doc_table(p->d, columns, sizeof(columns) / sizeof(columns[0]));
    size_t shown = add_with_state(p, PYTHIA_EXPECTED_VIOLATED, 0);
    shown = add_with_state(p, PYTHIA_EXPECTED_TOO_FEW, shown);
    shown = add_with_state(p, PYTHIA_EXPECTED_HOLDS, shown);
    pythia__doc_more(p->d, p->s->expected->count, shown, "expectation", "expectations");
    pythia__doc_close(p->d);
}
