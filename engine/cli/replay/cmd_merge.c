/* The second half of pythia replay: what it gathers comes from files of evidence instead of traces.
 * Each file is read twice, because the first look at all of them decides which request types there
 * are (evidence_merge.h). */
#include <inttypes.h>
#include <stddef.h>

#include "pythia/confine.h"
#include "pythia/evidence_merge.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "report_run.h"
#include "shared/command.h"

struct settings {
    struct pythia__report_settings report;
    const char *evidence;
    bool quiet;
};

#define OPTION(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("evidence", 0, "FILE", OPTION(evidence),
                       "Write the merged evidence to a file, for another pythia merge, instead of "
                       "a report"),
    PYTHIA_FLAG("quiet", 'q', OPTION(quiet), "Log only warnings and errors"),
    {0},
};

struct merging {
    const struct settings *s;
    struct pythia_vocabulary *vocabulary;
    struct pythia_evidence_merge *merge;
    struct pythia__report_run run;
};

typedef int read_evidence(struct pythia_evidence_merge *m, const char *name,
                          struct pythia_text file, struct pythia_error *e);

static int read_evidence_part(struct merging *x, const char *path, read_evidence *read)
{
    struct pythia_error why = {0};
    struct pythia_buf file = {0};
    char text[1024];
    int status = pythia_file_read(path, &file, &why);
    if (status != PYTHIA_OK)
        goto out;
    status = read(x->merge, path, pythia_buf_text(&file), &why);
out:
    if (status != PYTHIA_OK && why.status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
    pythia_buf_free(&file);
    return status;
}

static int merge_evidence_files(struct merging *x, const char *const *paths, size_t count)
{
    int status = pythia_vocabulary_create(&x->vocabulary);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_evidence_merge_create(x->vocabulary, x->s->evidence != NULL, &x->merge);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if ((status = read_evidence_part(x, paths[i], pythia_evidence_merge_look)) != PYTHIA_OK)
            return status;
    for (size_t i = 0; i < count; i++)
        if ((status = read_evidence_part(x, paths[i], pythia_evidence_merge_add)) != PYTHIA_OK)
            return status;
    return pythia_evidence_merge_finish(x->merge);
}

static int write_merged(const struct merging *x, const struct pythia_evidence_source *source)
{
    struct pythia_buf file = {0};
    int status = pythia_evidence_write(source, &file);
    return pythia__write_text(x->s->evidence, status, &file);
}

/* The report is on all paths that the replays were given. */
static int report_merged(struct merging *x, const struct pythia_evidence_source *source)
{
    size_t count = 0;
    for (size_t i = 0; i < source->input_count; i++)
        count += source->inputs[i].source_count;
    const char **paths = pythia_calloc(count, sizeof(char *));
    if (!paths)
        return PYTHIA_ENOMEM;
    count = 0;
    for (size_t i = 0; i < source->input_count; i++)
        for (size_t k = 0; k < source->inputs[i].source_count; k++)
            paths[count++] = source->inputs[i].sources[k];
    x->run = (struct pythia__report_run){.s = &x->s->report,
                                         .vocabulary = x->vocabulary,
                                         .input = source->result,
                                         .groups = source->groups};
    int status = pythia__report_diagnose(&x->run);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__report_write(&x->run, paths, count);
out:
    pythia_free(paths);
    return status;
}

static int write_merge_result(struct merging *x)
{
    const struct pythia_evidence_source source = pythia_evidence_merge_source(x->merge);
    pythia_log(PYTHIA_LOG_INFO,
               "Merged evidence of %" PRIu64 " spans: inputs=%zu, traces=%" PRIu64 ", files=%zu",
               source.result->counts.kept, source.input_count, source.result->counts.traces,
               source.result->files);
    return x->s->evidence ? write_merged(x, &source) : report_merged(x, &source);
}

/* The exit status is that of a replay of everything, whose input may have been read only in
 * part. */
static int find_exit(const struct merging *x, int status)
{
    if (status != PYTHIA_OK)
        return status == PYTHIA_ENOMEM   ? pythia__fail(status)
               : status == PYTHIA_EUSAGE ? PYTHIA__EXIT_USAGE
                                         : PYTHIA__EXIT_FAILED;
    const struct pythia_evidence_source source = pythia_evidence_merge_source(x->merge);
    if (source.result->failed_files > 0)
        return PYTHIA__EXIT_FAILED;
    return x->s->evidence ? PYTHIA__EXIT_DONE : pythia__report_exit(&x->run);
}

static int run_merge(const void *settings, char *const *operands, int count)
{
    struct merging x = {.s = settings};
    const char *const outputs[] = {x.s->evidence ? x.s->evidence : x.s->report.output};
    struct pythia_confinement held;
    pythia_log_setup("pythia", x.s->quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO);
    int status = pythia_confine(outputs, 1, 0, &held);
    if (status != PYTHIA_OK || (status = merge_evidence_files(&x, (const char *const *)operands,
                                                              (size_t)count)) != PYTHIA_OK)
        goto out;
    status = write_merge_result(&x);
out:;
    int code = find_exit(&x, status);
    pythia__report_free(&x.run);
    pythia_evidence_merge_destroy(x.merge);
    pythia_vocabulary_destroy(x.vocabulary);
    return code;
}

const struct pythia__command pythia__cmd_merge = {
    .name = "merge",
    .operands = "EVIDENCE...",
    .summary = "Report on evidence from several runs of pythia replay",
    .description =
        "Reads files written by pythia replay --evidence, from different parts of the input and "
        "possibly from different machines, and writes the report that pythia replay would have "
        "given for all the traces at once: byte for byte, and whatever the order of the files. "
        "With --evidence it writes one file of evidence instead, so that parts can be merged in "
        "steps.\n\n"
        "No trace may be in two parts, because its halves would count as two requests; pythia "
        "shuffle brings the spans of each trace together. A part that is given twice, by itself "
        "or within merged evidence, is refused. So is evidence that was gathered with different "
        "options, or by a pythia whose evidence has another version.\n\n"
        "Memory depends on the number of request types and the size of their samples, not on how "
        "many traces were read.",
    .examples = "# Gather evidence where each day's traces are, then write one report\n"
                "pythia replay --evidence monday.evidence traces/monday\n"
                "pythia replay --evidence tuesday.evidence traces/tuesday\n"
                "pythia merge monday.evidence tuesday.evidence\n"
                "# Merge into one file, for a colleague who has the other days\n"
                "pythia merge --evidence both.evidence monday.evidence tuesday.evidence\n",
    .see_also = "pythia-replay(1), pythia-shuffle(1), pythia-evidence(5), pythia-scale(7)",
    .options = options,
    .shared_options = pythia__report_options,
    .shared_offset = offsetof(struct settings, report),
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_merge,
};
