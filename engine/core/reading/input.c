#include "pythia/input.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decompress.h"
#include "folder_link.h"
#include "pythia/buf.h"
#include "pythia/lttng_events.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "trace_chunks.h"
#include "trace_events.h"

#define HEAD_BYTES   ((size_t)64 * 1024)
#define READ_BYTES   ((size_t)128 * 1024)
#define FOLDER_DEPTH 64

/* ---- finding files ---- */

struct pythia_input {
    struct pythia_input_file *files;
    size_t count, capacity, outward; /* links that led out of their folder */
    char *first_outward;             /* in order of path; owned; NULL: none */
    bool follow;
    bool *failed, *told; /* owned: of each file */
    void (*problem)(void *context, const struct pythia_error *why);
    void *context;
};

static void report_problem_path(const struct pythia_input *in, const char *path, int number)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EIO, "cannot be read: %s", strerror(number));
    pythia_error_place(&why, path, 0, 0);
    in->problem(in->context, &why);
}

static int add_input_file(struct pythia_input *in, const char *path, const struct stat *about,
                          bool named)
{
    if (pythia_grow(&in->files, &in->capacity, in->count, sizeof(*in->files)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    char *copy = pythia_strndup(path, strlen(path));
    if (!copy)
        return PYTHIA_ENOMEM;
    bool regular = about && S_ISREG(about->st_mode);
    in->files[in->count++] =
        (struct pythia_input_file){.path = copy,
                                   .size_bytes = regular ? (uint64_t)about->st_size : 0,
                                   .named = named,
                                   .again = regular};
    return PYTHIA_OK;
}

/* The files of a folder of events belong together. */
static int add_event_folder(struct pythia_input *in, const char *path, bool named)
{
    int status = add_input_file(in, path, NULL, named);
    if (status == PYTHIA_OK)
        in->files[in->count - 1].again = in->files[in->count - 1].is_events = true;
    return status;
}

/* A link to a folder may lead in circles; a link to a file outside of the folder would make us
 * read, and show, what the user who made the link may not read. */
static int add_link(struct pythia_input *in, const char *top, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return PYTHIA_OK;
    if (in->follow || !pythia__link_leads_out(top, path))
        return add_input_file(in, path, &about, false);
    in->outward++;
    if (in->first_outward && strcmp(in->first_outward, path) <= 0)
        return PYTHIA_OK;
    pythia_free(in->first_outward);
    in->first_outward = pythia_strndup(path, strlen(path));
    return in->first_outward ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* `top` is the folder that the user named. The entries come in any order: pythia_input_create
 * sorts. */
static int add_input_folder(struct pythia_input *in, const char *top, const char *path, int depth)
{
    DIR *folder = depth < FOLDER_DEPTH ? opendir(path) : NULL;
    if (!folder) {
        report_problem_path(in, path, depth < FOLDER_DEPTH ? errno : ELOOP);
        return PYTHIA_OK;
    }
    if (pythia_lttng_is_trace(path)) {
        closedir(folder);
        return add_event_folder(in, path, depth == 0);
    }
    int status = PYTHIA_OK;
    struct pythia_buf name = {0};
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        pythia_buf_clear(&name);
        pythia_buf_printf(&name, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                          entry->d_name);
        if (pythia_buf_status(&name) != PYTHIA_OK)
            status = PYTHIA_ENOMEM;
        else if (fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            report_problem_path(in, name.bytes, errno);
        else if (S_ISDIR(about.st_mode))
            status = add_input_folder(in, top, name.bytes, depth + 1);
        else if (S_ISLNK(about.st_mode))
            status = add_link(in, top, name.bytes);
        else if (S_ISREG(about.st_mode))
            status = add_input_file(in, name.bytes, &about, false);
        if (status != PYTHIA_OK)
            break;
    }
    closedir(folder);
    pythia_buf_free(&name);
    return status;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct pythia_input_file *)a)->path,
                  ((const struct pythia_input_file *)b)->path);
}

static void sort_files(struct pythia_input *in)
{
    if (in->count < 2)
        return;
    qsort(in->files, in->count, sizeof(*in->files), compare_files);
    size_t kept = 1;
    for (size_t i = 1; i < in->count; i++) {
        if (strcmp(in->files[i].path, in->files[kept - 1].path) == 0) {
            in->files[kept - 1].named |= in->files[i].named;
            pythia_free(in->files[i].path);
        } else {
            in->files[kept++] = in->files[i];
        }
    }
    in->count = kept;
}

/* A file that cannot be read is reported, and no failure: the others are worth reading. Files are
 * sorted, and each is read once, so that the order of arguments does not matter. */
int pythia_input_create(const char *const *paths, size_t count, bool follow,
                        void (*problem)(void *context, const struct pythia_error *why),
                        void *context, struct pythia_input **out)
{
    struct pythia_input *in = pythia_calloc(1, sizeof(*in));
    if (!in)
        return PYTHIA_ENOMEM;
    in->problem = problem;
    in->context = context;
    in->follow = follow;
    int status = PYTHIA_OK;
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        if (strcmp(paths[i], "-") == 0)
            status = add_input_file(in, "-", NULL, true);
        else if (stat(paths[i], &about) != 0)
            report_problem_path(in, paths[i], errno);
        else if (S_ISDIR(about.st_mode))
            status = add_input_folder(in, paths[i], paths[i], 0);
        else
            status = add_input_file(in, paths[i], &about, true);
        if (status != PYTHIA_OK)
            goto out;
    }
    sort_files(in);
    in->failed = pythia_calloc(in->count + 1, sizeof(*in->failed));
    in->told = pythia_calloc(in->count + 1, sizeof(*in->told));
    if (!in->failed || !in->told) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    if ((status = pythia__trace_chunks_join(in->files, &in->count)) != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < in->count; i++) {
        in->files[i].failed = &in->failed[i];
        in->files[i].told = &in->told[i];
    }
    *out = in;
    return PYTHIA_OK;
out:
    pythia_input_destroy(in);
    return status;
}

void pythia_input_destroy(struct pythia_input *in)
{
    if (!in)
        return;
    for (size_t i = 0; i < in->count; i++) {
        for (size_t k = 1; k < in->files[i].chunk_count; k++)
            pythia_free(in->files[i].chunks[k]);
        pythia_free(in->files[i].chunks);
        pythia_free(in->files[i].path);
    }
    pythia_free(in->files);
    pythia_free(in->first_outward);
    pythia_free(in->failed);
    pythia_free(in->told);
    pythia_free(in);
}

void pythia_input_use_rules(struct pythia_input *in, const struct pythia_lttng_rules *rules,
                            struct pythia_lttng_reader *reader)
{
    for (size_t i = 0; i < in->count; i++) {
        in->files[i].rules = rules;
        in->files[i].reader = reader;
    }
}

size_t pythia_input_outward_links(const struct pythia_input *in, const char **first)
{
    *first = in->first_outward;
    return in->outward;
}

const struct pythia_input_file *pythia_input_files(const struct pythia_input *in, size_t *count)
{
    *count = in->count;
    return in->files;
}

/* ---- reading a file ---- */

enum coding { PLAIN, GZIP, ZSTANDARD };

#define SIZE_BYTES 4 /* before each frame, where there is a size */

struct pythia_input_stream {
    struct pythia_source source; /* first, so that one is the other */
    int file;
    enum coding coding;
    bool file_ended;
    struct pythia__decompressor
        packed;         /* its raw bytes and content are counted of plain files too */
    bool sized;         /* each frame has its size before it, the highest byte first */
    unsigned size_left; /* bytes of the next size that have not been read yet */
    uint32_t size;
    uint64_t raw_total;
    double expansion_max;
    _Atomic uint64_t *read_bytes;
    struct pythia__trace_events *events; /* owned; NULL: it is a file */
    bool partial; /* only a range of the file is read: so many bytes are left of it, and these texts
                     stand around it */
    uint64_t range_left;
    struct pythia_text before, after;
    char *head; /* content read to look at it */
    size_t head_size, head_at;
};

static int read_file_bytes(struct pythia_input_stream *s, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    ssize_t size;
    do
        size = read(s->file, to, capacity);
    while (size < 0 && errno == EINTR);
    if (size < 0)
        return pythia_error_set(e, PYTHIA_EIO, "cannot be read further: %s", strerror(errno));
    *got = (size_t)size;
    s->raw_total += (uint64_t)size;
    if (s->read_bytes)
        atomic_fetch_add_explicit(s->read_bytes, (uint64_t)size, memory_order_relaxed);
    return PYTHIA_OK;
}

static int fill_from_file(struct pythia_input_stream *s, struct pythia_error *e)
{
    if (s->packed.raw_at < s->packed.raw_size || s->file_ended)
        return PYTHIA_OK;
    int status = read_file_bytes(s, s->packed.raw, READ_BYTES, &s->packed.raw_size, e);
    s->packed.raw_at = 0;
    if (status != PYTHIA_OK)
        return status;
    s->file_ended = s->packed.raw_size == 0;
    return PYTHIA_OK;
}

/* Skip the size before the next frame, as far as it has been read. Does a frame follow? One of no
 * bytes is no frame. */
static bool skip_size(struct pythia_input_stream *s)
{
    while (s->size_left > 0 && s->packed.raw_at < s->packed.raw_size) {
        s->size = s->size << 8 | s->packed.raw[s->packed.raw_at++];
        if (--s->size_left == 0 && s->size == 0)
            s->size_left = SIZE_BYTES;
        else if (s->size_left == 0)
            s->packed.between = false;
    }
    return s->size_left == 0;
}

/* Each turn reads some of the file, or gives content, or ends: a frame without content is no
 * end. */
static int decompress_file(struct pythia_input_stream *s, void *to, size_t capacity, size_t *got,
                           struct pythia_error *e)
{
    *got = 0;
    for (;;) {
        int status = fill_from_file(s, e);
        if (status != PYTHIA_OK)
            return status;
        if (s->file_ended && s->packed.between)
            return s->size_left % SIZE_BYTES == 0 ? PYTHIA_OK
                                                  : pythia__decompressor_fail_cut(&s->packed, e);
        if (s->sized && !skip_size(s))
            continue;
        status = pythia__decompressor_step(&s->packed, to, capacity, got, e);
        if (status != PYTHIA_OK)
            return status;
        s->packed.content_total += *got;
        if (s->sized && s->packed.between)
            s->size_left = SIZE_BYTES;
        if (*got > 0)
            return pythia__decompressor_check(s->raw_total, s->packed.content_total,
                                              s->expansion_max, e);
        if (s->file_ended && !s->packed.between)
            return pythia__decompressor_fail_cut(&s->packed, e);
    }
}

/* Move from `from` to the buffer as many bytes as fit. */
static size_t move_text(struct pythia_text *from, void *to, size_t capacity)
{
    size_t size = from->size < capacity ? from->size : capacity;
    memcpy(to, from->bytes, size);
    from->bytes += size;
    from->size -= size;
    return size;
}

/* Read the range of a file, and the texts around it, which do not count as content of the file. */
static int read_range(struct pythia_input_stream *s, void *to, size_t capacity, size_t *got,
                      struct pythia_error *e)
{
    *got = move_text(&s->before, to, capacity);
    if (*got > 0)
        return PYTHIA_OK;
    size_t size = capacity < s->range_left ? capacity : (size_t)s->range_left;
    int status = size > 0 ? read_file_bytes(s, to, size, got, e) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        return status;
    s->range_left -= *got;
    s->packed.content_total += *got;
    if (*got == 0)
        *got = move_text(&s->after, to, capacity);
    return PYTHIA_OK;
}

/* The bytes read to detect the format (`head`) and the compression (raw bytes) come first. */
static int stream_read(struct pythia_source *source, void *to, size_t capacity, size_t *got,
                       struct pythia_error *e)
{
    struct pythia_input_stream *s = (struct pythia_input_stream *)source;
    int status = PYTHIA_OK;
    if (s->head_at < s->head_size) {
        size_t left = s->head_size - s->head_at, size = left < capacity ? left : capacity;
        memcpy(to, s->head + s->head_at, size);
        s->head_at += size;
        *got = size;
        return PYTHIA_OK;
    }
    if (s->events) {
        status = pythia__trace_events_read(s->events, to, capacity, got, e);
    } else if (s->partial) {
        status = read_range(s, to, capacity, got, e);
    } else if (s->coding != PLAIN) {
        status = decompress_file(s, to, capacity, got, e);
    } else if (s->packed.raw_at <
               s->packed.raw_size) { /* what was read to find out that it is plain */
        size_t left = s->packed.raw_size - s->packed.raw_at,
               size = left < capacity ? left : capacity;
        memcpy(to, s->packed.raw + s->packed.raw_at, size);
        s->packed.raw_at += size;
        *got = size;
    } else {
        status = read_file_bytes(s, to, capacity, got, e);
    }
    if (status != PYTHIA_OK)
        pythia_error_place(e, s->source.name, 0, 0);
    else if (s->coding == PLAIN && !s->partial)
        s->packed.content_total += *got;
    return status;
}

/* Read enough to see whether the file is compressed: as a whole, or message by message with the
 * size before each, as the OpenTelemetry Collector's file exporter does with
 * "compression: zstd". */
static int find_coding(struct pythia_input_stream *s, struct pythia_error *e)
{
    static const char magic[] = {0x28, (char)0xb5, 0x2f, (char)0xfd};
    size_t got = 1;
    while (s->packed.raw_size < SIZE_BYTES + sizeof(magic) && got > 0) {
        int status = read_file_bytes(s, s->packed.raw + s->packed.raw_size,
                                     READ_BYTES - s->packed.raw_size, &got, e);
        if (status != PYTHIA_OK)
            return status;
        s->packed.raw_size += got;
    }
    if (s->packed.raw_size < sizeof(magic))
        return PYTHIA_OK;
    if (s->packed.raw[0] == 0x1f && s->packed.raw[1] == 0x8b) {
        s->coding = GZIP;
        return pythia__decompressor_begin_gzip(&s->packed)
                   ? PYTHIA_OK
                   : pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress");
    }
    s->sized = s->packed.raw_size >= SIZE_BYTES + sizeof(magic) &&
               memcmp(s->packed.raw + SIZE_BYTES, magic, sizeof(magic)) == 0;
    s->size_left = s->sized ? SIZE_BYTES : 0;
    if (s->sized || memcmp(s->packed.raw, magic, sizeof(magic)) == 0) {
        s->coding = ZSTANDARD;
        return pythia__decompressor_begin_zstd(&s->packed)
                   ? PYTHIA_OK
                   : pythia_error_set(e, PYTHIA_ENOMEM, "no memory to decompress");
    }
    return PYTHIA_OK;
}

/* Open a stream, and read nothing yet. *out is set also after a failure, for its name. */
static int open_stream(const char *path, _Atomic uint64_t *read_bytes,
                       struct pythia_input_stream **out, struct pythia_error *e)
{
    struct pythia_input_stream *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", path);
    bool standard = strcmp(path, "-") == 0;
    *s = (struct pythia_input_stream){
        .source = {.name = standard ? "standard input" : path, .read = stream_read},
        .file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC),
        .read_bytes = read_bytes,
    };
    *out = s;
    return s->file < 0 ? pythia_error_set(e, PYTHIA_EIO, "cannot be opened: %s", strerror(errno))
                       : PYTHIA_OK;
}

static int fail_opening(struct pythia_input_stream *s, int status, struct pythia_error *e)
{
    if (s)
        pythia_error_place(e, s->source.name, 0, 0);
    pythia_input_close(s);
    return status;
}

static int open_events(const struct pythia_input_file *file, struct pythia_input_stream **out,
                       struct pythia_error *e)
{
    struct pythia_input_stream *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", file->path);
    s->source = (struct pythia_source){.name = file->path, .read = stream_read};
    s->file = -1;
    int status = pythia__trace_events_open(file, &s->events, e);
    if (status != PYTHIA_OK)
        return fail_opening(s, status, e);
    *out = s;
    return PYTHIA_OK;
}

int pythia_input_open(const struct pythia_input_file *file, double expansion_max,
                      _Atomic uint64_t *read_bytes, struct pythia_input_stream **out,
                      struct pythia_error *e)
{
    struct pythia_input_stream *s = NULL;
    if (file->is_events)
        return open_events(file, out, e);
    int status = open_stream(file->path, read_bytes, &s, e);
    if (status != PYTHIA_OK)
        return fail_opening(s, status, e);
    assert(s);
    s->packed.raw = pythia_realloc(NULL, READ_BYTES, 1);
    if (!s->packed.raw)
        return fail_opening(
            s, pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", file->path), e);
    s->expansion_max = expansion_max;
    if ((status = find_coding(s, e)) != PYTHIA_OK)
        return fail_opening(s, status, e);
    *out = s;
    return PYTHIA_OK;
}

int pythia_input_open_range(const struct pythia_input_file *file,
                            const struct pythia_input_range *range, _Atomic uint64_t *read_bytes,
                            struct pythia_input_stream **out, struct pythia_error *e)
{
    struct pythia_input_stream *s = NULL;
    int status = open_stream(file->path, read_bytes, &s, e);
    if (status != PYTHIA_OK)
        return fail_opening(s, status, e);
    assert(s);
    if (lseek(s->file, (off_t)range->begin, SEEK_SET) < 0)
        return fail_opening(
            s, pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno)), e);
    s->partial = true;
    s->range_left = range->end - range->begin;
    s->before = range->before;
    s->after = range->after;
    *out = s;
    return PYTHIA_OK;
}

void pythia_input_close(struct pythia_input_stream *s)
{
    if (!s)
        return;
    if (s->file > STDERR_FILENO)
        close(s->file);
    pythia__decompressor_free(&s->packed);
    pythia__trace_events_close(s->events);
    pythia_free(s->head);
    pythia_free(s);
}

struct pythia_source *pythia_input_source(struct pythia_input_stream *s)
{
    return &s->source;
}

bool pythia_input_is_packed(const struct pythia_input_stream *s)
{
    return s->coding != PLAIN;
}

uint64_t pythia_input_content(const struct pythia_input_stream *s)
{
    return s->packed.content_total;
}

int pythia_input_head(struct pythia_input_stream *s, struct pythia_text *head,
                      struct pythia_error *e)
{
    if (!s->head) {
        s->head = pythia_realloc(NULL, HEAD_BYTES, 1);
        if (!s->head)
            return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to read %s", s->source.name);
        size_t size = 0, got = 1;
        int status = PYTHIA_OK;
        while (size < HEAD_BYTES && got > 0) {
            status = stream_read(&s->source, s->head + size, HEAD_BYTES - size, &got, e);
            if (status != PYTHIA_OK)
                break;
            size += got;
        }
        s->head_size = size;
        if (status != PYTHIA_OK && size == 0)
            return status;
        if (status != PYTHIA_OK)
            pythia_error_clear(e); /* the head can be used; the next read fails again, after it */
    }
    *head = (struct pythia_text){s->head, s->head_size};
    return PYTHIA_OK;
}
