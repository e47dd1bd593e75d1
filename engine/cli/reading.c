#include <inttypes.h>
#include <unistd.h>

#include <uv.h>

#include "command.h"

#include "pythia/log.h"
#include "pythia/status.h"

static void on_problem(void *context, const struct pythia_error *why)
{
    struct pythia__reading *r = context;
    char text[1024];
    r->problems++;
    pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(why, text, sizeof(text)));
}

static unsigned choose_threads(int64_t wanted)
{
    unsigned processors = uv_available_parallelism();
    return wanted > 0 ? (unsigned)wanted : processors > 0 ? processors : 1;
}

int pythia__reading_begin(struct pythia__reading *r, const struct pythia__read_settings *settings, char *const *paths,
                          int count)
{
    static const char *const formats[] = {NULL, "jaeger", "osprofiler", "otlp", "zipkin"};
    *r = (struct pythia__reading){0};
    pythia_log_setup("pythia", settings->quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO);
    size_t left_out = 0;
    for (size_t i = 0; i < settings->left_out.count; i++)
        if (settings->left_out.texts[i][0])
            r->left_out[left_out++] = settings->left_out.texts[i];
    if (settings->left_out.count == 0)
        r->left_out[left_out++] = PYTHIA_LEFT_OUT_DEFAULT;
    r->groups = (struct pythia_groups_options){
        .latency = settings->latency ? PYTHIA_LATENCY_CLIENT : PYTHIA_LATENCY_COMPLETION,
        .fold = !settings->no_fold,
        .types = {.attribute = settings->type_attribute, .left_out = r->left_out, .left_out_count = left_out}};
    const char *format = formats[settings->input_format];
    r->pipeline = (struct pythia_pipeline_options){.format = format ? pythia_adapter_named(format) : NULL,
                                                   .threads = choose_threads(settings->threads),
                                                   .expansion_max = settings->max_expansion,
                                                   .progress = !settings->quiet && isatty(STDERR_FILENO)};
    int status = pythia_vocabulary_create(&r->vocabulary);
    if (status == PYTHIA_OK)
        status = pythia_input_create((const char *const *)paths, (size_t)count, on_problem, r, &r->input);
    return status;
}

static void tell_losses(const struct pythia__reading *r)
{
    const struct pythia_pipeline_result *in = &r->result;
    pythia_log(PYTHIA_LOG_INFO, "Read %" PRIu64 " spans: records=%" PRIu64 ", traces=%" PRIu64 ", files=%zu, bytes=%" PRIu64,
               in->counts.kept, in->counts.spans, in->counts.traces, in->files, in->bytes);
    for (size_t i = 0; i < PYTHIA_REPAIRS; i++)
        if (in->counts.repaired[i])
            pythia_log(PYTHIA_LOG_INFO, "Repaired %s: count=%" PRIu64 " (%s)", pythia_repair_name((enum pythia_repair)i),
                       in->counts.repaired[i], pythia_repair_help((enum pythia_repair)i));
    for (size_t i = 0; i < PYTHIA_DROPS; i++)
        if (in->counts.dropped[i])
            pythia_log(i == PYTHIA_DROP_HIDDEN ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING, "Dropped %s: count=%" PRIu64 " (%s)",
                       pythia_drop_name((enum pythia_drop)i), in->counts.dropped[i], pythia_drop_help((enum pythia_drop)i));
    if (in->skipped_files)
        pythia_log(PYTHIA_LOG_INFO, "Skipped files that hold no traces: count=%zu", in->skipped_files);
}

int pythia__reading_run(struct pythia__reading *r, const struct pythia_consumer *consumer)
{
    int status = pythia_pipeline_run(r->vocabulary, r->input, &r->pipeline, consumer, &r->result);
    if (status == PYTHIA_OK)
        tell_losses(r);
    return status;
}

void pythia__reading_end(struct pythia__reading *r)
{
    pythia_input_destroy(r->input);
    pythia_vocabulary_destroy(r->vocabulary);
}

int pythia__reading_exit(const struct pythia__reading *r)
{
    if (r->problems > 0 || r->result.failed_files > 0)
        return PYTHIA__EXIT_FAILED;
    return r->result.counts.traces == 0 ? PYTHIA__EXIT_TOO_FEW : PYTHIA__EXIT_DONE;
}

int pythia__fail(int status)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_status_text(status));
    return PYTHIA__EXIT_FAILED;
}
