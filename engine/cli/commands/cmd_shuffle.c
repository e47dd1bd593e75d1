/* Spans go to parts by a hash of their trace id. Each part is a file of bodies in the format
 * "spans", each compressed by itself, so that memory holds one body of each part:
 *
 *   span ─> hash of its trace id ─> writer of that part ─> body ─> Zstandard frame ─> file
 *
 * The files are written into a folder beside the one that was asked for, which takes its place at
 * the end: a full disk, an error or Ctrl-C leaves nothing behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "pythia/hash.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/spans_writer.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/output.h"

#define PARTS_MAX 512 /* each is an open file */
#define LEVEL     1   /* of compression: the parts are read once or twice */

/* Definitions are repeated in each body, so bodies are large where there are few parts. */
#define ALL_BODIES ((size_t)64 * 1024 * 1024)
#define BODY_MAX   ((size_t)1024 * 1024)

struct settings {
    struct pythia__read_settings read;
    int64_t parts;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("parts", 'n', "N", NULL, 1, PARTS_MAX, offsetof(struct settings, parts),
                   "Number of parts"),
    {0},
};

struct part {
    struct pythia_spans_writer *writer;
    struct pythia_buf body;
    int file;
    uint64_t spans;
};

struct shuffling {
    struct pythia__reading reading;
    struct part *parts;
    size_t count, body_bytes;
    ZSTD_CCtx *packer;
    struct pythia_buf packed;
    const char *out;
    uint64_t spans, forks; /* forks: spans that begin work under another trace id */
};

/* A signal handler removes these: the folder that is being written, and the files in it. */
static char folder[4096];
static char names[PARTS_MAX][32];
static volatile sig_atomic_t made; /* files */

static void remove_files(void)
{
    int at = folder[0] ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (int i = 0; at >= 0 && i < made; i++)
        unlinkat(at, names[i], 0);
    if (at >= 0)
        close(at);
    if (folder[0])
        rmdir(folder);
}

static void remove_on_signal(int number)
{
    remove_files();
    _exit(128 + number);
}

static int report_folder(const char *path, int number)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be written: %s", path, strerror(number));
    return PYTHIA_EIO;
}

static int report_part(const struct shuffling *x, size_t part, int number)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s/%s: cannot be written: %s", x->out, names[part],
               strerror(number));
    return PYTHIA_EIO;
}

/* ---- the parts ---- */

/* Can a folder be put here: is there nothing, or an empty folder? 0, or an errno. */
static int check_place(const char *path)
{
    DIR *there = opendir(path);
    if (!there)
        return errno == ENOENT ? 0 : errno;
    int number = 0;
    for (const struct dirent *entry; (entry = readdir(there)) && number == 0;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            number = ENOTEMPTY;
    closedir(there);
    return number;
}

/* Make the folder beside its place. */
static int make_part_folder(const char *out)
{
    size_t size = strlen(out);
    while (size > 1 && out[size - 1] == '/')
        size--;
    int written = snprintf(folder, sizeof(folder), "%.*s.%ld.tmp", (int)size, out, (long)getpid());
    int number = written < 0 || (size_t)written >= sizeof(folder) ? ENAMETOOLONG : check_place(out);
    if (number == 0 && mkdir(folder, 0777) != 0)
        number = errno;
    if (number == 0)
        return PYTHIA_OK;
    folder[0] = '\0';
    return report_folder(out, number);
}

static int create_part_files(struct shuffling *x)
{
    const struct sigaction action = {.sa_handler = remove_on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int status = make_part_folder(x->out);
    if (status != PYTHIA_OK)
        return status;
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return report_folder(folder, errno);
    for (size_t i = 0; i < x->count; i++) {
        struct part *p = &x->parts[i];
        snprintf(names[i], sizeof(names[i]), "part-%03u.jsonl.zst", (unsigned)i);
        p->file = openat(at, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (p->file < 0)
            status = report_part(x, i, errno);
        else
            status = pythia_spans_writer_create(x->reading.vocabulary, &p->writer);
        made = (int)i + 1; /* also a file without a writer is there to be removed */
        if (status != PYTHIA_OK)
            break;
        pythia_spans_writer_begin(p->writer, &p->body);
    }
    close(at);
    return status;
}

/* Compress the body of a part, write it, and begin another one. */
static int write_body(struct shuffling *x, struct part *p)
{
    size_t bound = ZSTD_compressBound(p->body.size);
    pythia_buf_clear(&x->packed);
    char *to = pythia_buf_reserve(&x->packed, bound);
    if (!to)
        return PYTHIA_ENOMEM;
    size_t size = ZSTD_compressCCtx(x->packer, to, bound, p->body.bytes, p->body.size, LEVEL);
    if (ZSTD_isError(size))
        return PYTHIA_ENOMEM; /* nothing else can be wrong */
    int number = pythia__write_bytes(p->file, (struct pythia_text){to, size});
    if (number != 0)
        return report_part(x, (size_t)(p - x->parts), number);
    pythia_buf_clear(&p->body);
    pythia_spans_writer_begin(p->writer, &p->body);
    return pythia_buf_status(&p->body);
}

/* The hash is none that samples are drawn by (row.h): a part is a fair sample of the requests, and
 * a sample of it is one, too. */
static int write_span_to_part(void *context, const struct pythia_trace_id *trace,
                              const struct pythia_span *span)
{
    struct shuffling *x = context;
    uint64_t hash = pythia_hash_mix(pythia_hash_mix(trace->low, trace->high), x->count);
    struct part *p = &x->parts[hash % x->count];
    x->spans++;
    x->forks += span->part == PYTHIA_PART_FORK;
    p->spans++;
    int status = pythia_spans_writer_add(p->writer, trace, span);
    if (status != PYTHIA_OK)
        return status;
    return p->body.size >= x->body_bytes ? write_body(x, p) : PYTHIA_OK;
}

/* Close the file of a part once it is on disk: 0, or an errno. */
static int close_file(struct part *p)
{
    int file = p->file, number = fsync(file) != 0 && errno != EINVAL ? errno : 0;
    p->file = -1;
    return close(file) != 0 && number == 0 ? errno : number;
}

/* Write what is left, and put the folder in its place. */
static int finish_parts(struct shuffling *x)
{
    for (size_t i = 0; i < x->count; i++) {
        int status = write_body(x, &x->parts[i]);
        if (status != PYTHIA_OK)
            return status;
        int number = close_file(&x->parts[i]);
        if (number != 0)
            return report_part(x, i, number);
    }
    if (rename(folder, x->out) != 0)
        return report_folder(x->out, errno);
    folder[0] = '\0'; /* nothing is left to remove */
    return PYTHIA_OK;
}

static void report_spans(const struct shuffling *x)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < x->count; i++) {
        uint64_t spans = x->parts[i].spans;
        least = spans < least ? spans : least;
        most = spans > most ? spans : most;
    }
    pythia_log(PYTHIA_LOG_INFO,
               "Wrote %" PRIu64 " spans: files=%zu, bytes=%" PRIu64 ", parts=%zu, smallest=%" PRIu64
               ", largest=%" PRIu64,
               x->spans, x->reading.result.files, x->reading.result.bytes, x->count, least, most);
    if (x->forks > 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Some requests have several trace ids, and may be spread over several parts: "
                   "forks=%" PRIu64,
                   x->forks);
}

static int shuffle_all(struct shuffling *x)
{
    struct pythia__reading *r = &x->reading;
    x->parts = pythia_calloc(x->count, sizeof(*x->parts));
    x->packer = ZSTD_createCCtx();
    for (size_t i = 0; x->parts && i < x->count; i++)
        x->parts[i].file = -1;
    if (!x->parts || !x->packer)
        return PYTHIA_ENOMEM;
    int status = create_part_files(x);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_pipeline_spans(r->vocabulary, r->input, &r->pipeline, write_span_to_part, x,
                                   &r->result);
    if (status != PYTHIA_OK || (status = finish_parts(x)) != PYTHIA_OK)
        return status;
    pythia__reading_tell_losses(r);
    report_spans(x);
    return PYTHIA_OK;
}

static int run_shuffle(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct shuffling x = {.out = operands[0], .count = (size_t)s->parts};
    if (s->parts == 0) {
        pythia_log(PYTHIA_LOG_ERROR, "pythia shuffle requires --parts N");
        return PYTHIA__EXIT_USAGE;
    }
    if (s->read.skew) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "--skew has no effect on spans as they are written; give it to "
                   "the command that reads the parts");
        return PYTHIA__EXIT_USAGE;
    }
    x.body_bytes = ALL_BODIES / x.count < BODY_MAX ? ALL_BODIES / x.count : BODY_MAX;
    int status =
        pythia__reading_begin(&x.reading, &s->read, (const char *const *)operands + 1, count - 1);
    if (status != PYTHIA_OK)
        goto out;
    status = shuffle_all(&x);
out:
    remove_files();
    int code = pythia__reading_exit(&x.reading, status);
    if (code == PYTHIA__EXIT_TOO_FEW && x.spans > 0)
        code = PYTHIA__EXIT_DONE; /* it counts no traces */
    for (size_t i = 0; x.parts && i < x.count; i++) {
        pythia_spans_writer_destroy(x.parts[i].writer);
        pythia_buf_free(&x.parts[i].body);
        if (x.parts[i].file >= 0)
            close(x.parts[i].file);
    }
    ZSTD_freeCCtx(x.packer);
    pythia_buf_free(&x.packed);
    pythia_free(x.parts);
    pythia__reading_end(&x.reading);
    return code;
}

const struct pythia__command pythia__cmd_shuffle = {
    .name = "shuffle",
    .operands = "OUT PATH...",
    .summary = "Divide captured traces into parts without splitting a trace",
    .description =
        "Reads captured traces in any format that pythia replay reads, and writes their spans to "
        "N files in a new folder OUT: part-000.jsonl.zst and so on. All spans of a trace go to "
        "the same part, however far apart they are in the input and whatever files they are in; "
        "the part depends only on the trace id and N. So parts made on several machines can be "
        "combined: the files part-007 of all machines together hold complete traces.\n\n"
        "Each part is a fair sample of the requests: its report is that of one request in N. "
        "pythia replay --evidence and pythia merge give the report of all parts.\n\n"
        "Memory does not grow with the size of the input, only with the number of different names "
        "in it; at most 64 MiB of spans wait to be written. It uses one thread, so that the parts "
        "have the same bytes each time. Values are written as they were read, after --redact.\n\n"
        "A request that continues under another trace id, as OSProfiler's asynchronous work does, "
        "may be in several parts; a warning reports it.\n\n"
        "OUT must not exist, or be an empty folder. It appears only when all parts are complete.",
    .examples = "# Parts that each fit into memory, and the report of one\n"
                "pythia shuffle --parts 16 parts traces/\n"
                "pythia replay parts/part-000.jsonl.zst\n",
    .exits = "0 done, 1 failed (also: part of the input could not be read), 2 wrong usage, 4 no "
             "span.",
    .see_also = "pythia-replay(1), pythia-merge(1), pythia-scale(7)",
    .options = options,
    .read_offset = offsetof(struct settings, read),
    .settings_size = sizeof(struct settings),
    .operands_min = 2,
    .operands_max = -1,
    .run = run_shuffle,
};
