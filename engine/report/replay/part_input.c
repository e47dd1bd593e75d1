/* The input of a report: what was read, repaired and left out. */
#include "document/document_names.h"
#include "report_parts.h"
#include "sentences/sentences.h"
#include "write/words.h"

#define SOURCES_SHOWN 2000

static const struct pythia__doc_column counter_columns[] = {
    {.title = "Counter"}, {.title = "Spans", .right = true}, {.title = "What it means"}};

static void add_input_counter(struct pythia__doc *d, const char *name, uint64_t count,
                              const char *help)
{
    if (count == 0)
        return;
    pythia__doc_row(d, PYTHIA__DOC_PLAIN);
    pythia__doc_cell(d);
    pythia__doc_strong(d, name);
    pythia__doc_cell(d);
    pythia__doc_count(d, (double)count, "", "");
    pythia__doc_cell(d);
    pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(help));
}

/* Repairs and losses, in detail. */
static void add_input_counters(struct pythia__doc *d, const struct pythia_counts *n)
{
    pythia__doc_open(d, PYTHIA__DOC_FOLD, PYTHIA_TEXT(""), NULL);
    pythia__doc_words(d, "What was repaired or dropped");
    pythia__doc_table(d, counter_columns, sizeof(counter_columns) / sizeof(counter_columns[0]));
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        add_input_counter(d, pythia_repair_name((enum pythia_repair)i), n->repaired[i],
                          pythia_repair_help((enum pythia_repair)i));
    for (int i = 0; i < PYTHIA_DROPS; i++)
        add_input_counter(d, pythia_drop_name((enum pythia_drop)i), n->dropped[i],
                          pythia_drop_help((enum pythia_drop)i));
    pythia__doc_close(d);
}

static void add_sources(const struct pythia__parts *p)
{
    size_t count = p->s->path_count;
    if (count == 0 || p->s->live)
        return;
    pythia__doc_open(p->d, PYTHIA__DOC_FOLD, PYTHIA_TEXT(""), NULL);
    pythia__doc_words(p->d, "Where it was read from");
    for (size_t i = 0; i < count && i < SOURCES_SHOWN; i++) {
        struct pythia_text path = pythia_text_of(p->s->paths[i]);
        pythia__doc_item(p->d);
        (void)pythia__doc_name(p->d, PYTHIA__DOC_FILE, path, path, path);
    }
    pythia__doc_more(p->d, count, SOURCES_SHOWN, "path", "paths");
    pythia__doc_close(p->d);
}

static void add_input_totals(const struct pythia__parts *p)
{
    const struct pythia_counts *n = &p->s->input->counts;
    const struct pythia_diagnosis *all = p->s->diagnosis;
    const struct {
        uint64_t count;
        const char *what;
    } counts[] = {{pythia__sum_of(n->repaired, PYTHIA_REPAIRS), " repaired."},
                  {pythia_counts_dropped_spans(n), " dropped."},
                  {pythia_counts_dropped_values(n), " key-values and events dropped."},
                  {n->hidden, " hidden by closed trace points."}};
    struct pythia_buf requests = {0};
    pythia__doc_paragraph(p->d, PYTHIA__DOC_READ);
    pythia__add_count(&requests, (double)n->traces);
    pythia_buf_puts(&requests, n->traces == 1 ? " request" : " requests");
    pythia__doc_take(p->d, PYTHIA__DOC_STRONG, &requests);
    pythia__doc_words(p->d, " of ");
    pythia__doc_count(p->d, (double)all->type_count, " type", " types");
    if (all->not_asked > 0)
        pythia__doc_words(p->d, " (%zu of them not analysed closely: see --report-types)",
                          all->not_asked);
    pythia__doc_words(p->d, ", ");
    pythia__doc_count(p->d, (double)n->kept, " span", " spans");
    pythia__doc_words(p->d, ", from ");
    pythia__say_origin(p->d, p->s);
    pythia__doc_words(p->d, " (%.1f MB).", (double)p->s->input->bytes / 1e6);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (counts[i].count > 0) {
            pythia__doc_words(p->d, " ");
            pythia__doc_count(p->d, (double)counts[i].count, counts[i].what, counts[i].what);
        }
}

struct pythia__doc_block *pythia__part_input(const struct pythia__parts *p)
{
    const struct pythia_counts *n = &p->s->input->counts;
    struct pythia__doc *d = p->d;
    add_input_totals(p);
    if (p->s->input->failed_files > 0) {
        pythia__doc_paragraph(d, PYTHIA__DOC_WARN);
        pythia__doc_count(d, (double)p->s->input->failed_files, " file", " files");
        pythia__doc_words(d, " could not be read to the end, so the report lacks the rest.");
    }
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    pythia__say_sampling(d, p->s);
    pythia__doc_paragraph(d, PYTHIA__DOC_WARN);
    pythia__say_incomplete(d, n);
    pythia__doc_paragraph(d, PYTHIA__DOC_WARN);
    pythia__say_clock_bases(d, n->repaired[PYTHIA_REPAIR_CLOCK_BASE]);
    pythia__doc_paragraph(d, PYTHIA__DOC_READ);
    struct pythia__doc_block *overhead = d->last;
    if (pythia__sum_of(n->repaired, PYTHIA_REPAIRS) + pythia__sum_of(n->dropped, PYTHIA_DROPS) > 0)
        add_input_counters(d, n);
    add_sources(p);
    return overhead;
}
