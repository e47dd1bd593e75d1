#include <string.h>
#include <zstd.h>

#include "fuzz.h"
#include "pythia/diagnosis.h"
#include "pythia/evidence_merge.h"
#include "pythia/status.h"

/* Merge one file; NULL if it is refused. */
static struct pythia_evidence_merge *merge(struct pythia_vocabulary *vocabulary, bool again,
                                           struct pythia_text file)
{
    struct pythia_evidence_merge *m = NULL;
    struct pythia_error why = {0};
    MUST(pythia_evidence_merge_create(vocabulary, again, &m) == PYTHIA_OK);
    int status = pythia_evidence_merge_look(m, "input", file, &why);
    if (status == PYTHIA_OK)
        status = pythia_evidence_merge_add(m, "input", file, &why);
    if (status == PYTHIA_OK) {
        MUST(pythia_evidence_merge_finish(m) == PYTHIA_OK);
        return m;
    }
    MUST(status == why.status && why.sentence[0] && strcmp(why.source, "input") == 0);
    pythia_evidence_merge_destroy(m);
    return NULL;
}

/* What was merged, as a file. */
static bool write_again(struct pythia_text file, struct pythia_buf *out)
{
    struct pythia_vocabulary *vocabulary = NULL;
    MUST(pythia_vocabulary_create(&vocabulary) == PYTHIA_OK);
    struct pythia_evidence_merge *m = merge(vocabulary, true, file);
    if (m) {
        const struct pythia_evidence_source source = pythia_evidence_merge_source(m);
        MUST(pythia_evidence_write(&source, out) == PYTHIA_OK);
    }
    pythia_evidence_merge_destroy(m);
    pythia_vocabulary_destroy(vocabulary);
    return m != NULL;
}

/* Whatever was accepted can be reported. */
static void diagnose(struct pythia_text file)
{
    const struct pythia_diagnosis_options options = {.alpha = .05, .min_requests = 4, .seed = 1};
    struct pythia_vocabulary *vocabulary = NULL;
    struct pythia_diagnosis *diagnosis = NULL;
    MUST(pythia_vocabulary_create(&vocabulary) == PYTHIA_OK);
    struct pythia_evidence_merge *m = merge(vocabulary, false, file);
    MUST(m);
    const struct pythia_evidence_source source = pythia_evidence_merge_source(m);
    MUST(pythia_diagnose(source.groups, &options, &diagnosis) == PYTHIA_OK);
    pythia_diagnosis_destroy(diagnosis);
    pythia_evidence_merge_destroy(m);
    pythia_vocabulary_destroy(vocabulary);
}

/* What is written of evidence that was read is read as the same evidence. */
static void check(struct pythia_text file)
{
    struct pythia_buf once = {0}, twice = {0};
    if (write_again(file, &once)) {
        MUST(write_again(pythia_buf_text(&once), &twice));
        MUST(pythia_text_equal(pythia_buf_text(&once), pythia_buf_text(&twice)));
        diagnose(file);
    }
    pythia_buf_free(&once);
    pythia_buf_free(&twice);
}

/* The input as a file, and as what is compressed in one. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_buf file = {0};
    size_t bound = ZSTD_compressBound(size);
    pythia_buf_puts(&file, "pythia evidence 2\n");
    char *to = pythia_buf_reserve(&file, bound);
    MUST(to);
    file.size += ZSTD_compress(to, bound, bytes, size, 1);
    check(pythia_buf_text(&file));
    check((struct pythia_text){(const char *)bytes, size});
    pythia_buf_free(&file);
    return 0;
}
