#include "pythia/series_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "reading/folder_link.h"

#define READ_BYTES ((size_t)256 * 1024)

/* A file as it was found. What a collector has named, "<prefix>.<process>.<number>.<id>.csv", can
 * be counted. */
struct found {
    char *path;
    bool temporary, named;
    const char *prefix, *id; /* in path; NULL: it has another kind of name */
    size_t prefix_size, id_size;
    uint64_t number;
};

struct finding {
    struct found *files;
    size_t count, capacity;
    void (*problem)(void *context, const struct pythia_error *why);
    void *context;
    struct pythia_series_files_result *result;
    struct pythia_series_csv csv;
    struct pythia_buf content;
    struct inode { /* of files that were read under their temporary name */
        dev_t device;
        ino_t number;
    } * inodes;
    size_t inode_count, inode_capacity;
    bool follow;
};

static void report_unreadable(const struct finding *f, const char *path, int number)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EIO, "cannot be read: %s", strerror(number));
    pythia_error_place(&why, path, 0, 0);
    f->problem(f->context, &why);
    f->result->refused++;
}

static void report_broken(void *context, const struct pythia_error *why)
{
    const struct finding *f = context;
    f->problem(f->context, why);
}

/* ---- finding ---- */

static bool ends_in(const char *name, const char *end)
{
    size_t size = strlen(name), last = strlen(end);
    return size > last && strcmp(name + size - last, end) == 0;
}

/* Split a name of four parts with dots between them, of which the third is a number. */
static void split_name(struct found *file)
{
    const char *name = strrchr(file->path, '/');
    name = name ? name + 1 : file->path;
    const char *dots[4] = {0};
    size_t count = 0;
    for (const char *at = name; *at; at++)
        if (*at == '.' && count++ < 4)
            dots[count - 1] = at;
    if (count != 4)
        return;
    char *end;
    errno = 0;
    file->number = strtoull(dots[1] + 1, &end, 10);
    if (end != dots[2] || errno != 0 || end == dots[1] + 1)
        return;
    file->prefix = name; /* and the process */
    file->prefix_size = (size_t)(dots[1] - name);
    file->id = dots[2] + 1;
    file->id_size = (size_t)(dots[3] - file->id);
}

static int add_series_file(struct finding *f, const char *path, bool named)
{
    if (pythia_grow(&f->files, &f->capacity, f->count, sizeof(*f->files)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct found file = {.path = pythia_strndup(path, strlen(path)),
                         .temporary = ends_in(path, ".tmp"),
                         .named = named};
    if (!file.path)
        return PYTHIA_ENOMEM;
    split_name(&file);
    f->files[f->count++] = file;
    return PYTHIA_OK;
}

static bool is_outward_link(const struct finding *f, const char *folder, const char *path)
{
    struct stat about;
    return !f->follow && lstat(path, &about) == 0 && S_ISLNK(about.st_mode) &&
           pythia__link_leads_out(folder, path);
}

static int add_series_folder(struct finding *f, const char *path)
{
    DIR *folder = opendir(path);
    struct pythia_buf name = {0};
    int status = PYTHIA_OK;
    if (!folder) {
        report_unreadable(f, path, errno);
        return PYTHIA_OK;
    }
    for (const struct dirent *e; (e = readdir(folder));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (!ends_in(e->d_name, ".csv") && !ends_in(e->d_name, ".tmp") &&
            !ends_in(e->d_name, ".stats") && !ends_in(e->d_name, ".series.json")) {
            f->result->others++;
            continue;
        }
        pythia_buf_clear(&name);
        pythia_buf_printf(&name, "%s%s%s", path, ends_in(path, "/") ? "" : "/", e->d_name);
        if ((status = pythia_buf_status(&name)) != PYTHIA_OK)
            break;
        /* Programs that are traced may write to this folder: without the check, a link of theirs
         * would make us read, and quote in messages, a file that only our user may read. */
        if (is_outward_link(f, path, name.bytes))
            f->result->outward_links++;
        else if ((status = add_series_file(f, name.bytes, false)) != PYTHIA_OK)
            break;
    }
    pythia_buf_free(&name);
    closedir(folder);
    return status;
}

static int compare_parts(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return pythia_text_compare((struct pythia_text){a, a_size}, (struct pythia_text){b, b_size});
}

/* Temporary names first: such a file may get its own name while we look. Then those of one process
 * by their numbers. */
static int compare_series_files(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->temporary != y->temporary)
        return x->temporary ? -1 : 1;
    if ((x->prefix != NULL) != (y->prefix != NULL))
        return x->prefix ? -1 : 1;
    int order = 0;
    if (x->prefix)
        order = compare_parts(x->prefix, x->prefix_size, y->prefix, y->prefix_size);
    if (!order && x->prefix)
        order = compare_parts(x->id, x->id_size, y->id, y->id_size);
    if (!order && x->prefix)
        order = (x->number > y->number) - (x->number < y->number);
    return order ? order : strcmp(x->path, y->path);
}

/* ---- reading ---- */

/* Does no process hold the lock of a file? Then none will complete it any more. */
static bool is_left(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

static int load_file(struct finding *f, int file, const char *path)
{
    pythia_buf_clear(&f->content);
    for (;;) {
        char *to = pythia_buf_reserve(&f->content, READ_BYTES);
        if (!to)
            return PYTHIA_ENOMEM;
        ssize_t got = read(file, to, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            report_unreadable(f, path, errno);
            return PYTHIA_EIO;
        }
        if (got == 0)
            return PYTHIA_OK;
        f->content.size += (size_t)got;
    }
}

static bool was_read(const struct finding *f, const struct stat *about)
{
    for (size_t i = 0; i < f->inode_count; i++)
        if (f->inodes[i].device == about->st_dev && f->inodes[i].number == about->st_ino)
            return true;
    return false;
}

static int remember_inode(struct finding *f, const struct stat *about)
{
    if (pythia_grow(&f->inodes, &f->inode_capacity, f->inode_count, sizeof(*f->inodes)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    f->inodes[f->inode_count++] = (struct inode){about->st_dev, about->st_ino};
    return PYTHIA_OK;
}

/* A file with a temporary name is read only if its process is gone; if it was completed meanwhile,
 * it is met again under its own name, which the inode shows. */
static int read_open_file(struct finding *f, const struct found *file, int number)
{
    struct stat about, now;
    bool left = false;
    if (fstat(number, &about) != 0) {
        report_unreadable(f, file->path, errno);
        return PYTHIA_OK;
    }
    if (S_ISDIR(about.st_mode)) {
        f->result->others++;
        return PYTHIA_OK;
    }
    if (was_read(f, &about))
        return PYTHIA_OK;
    if (file->temporary && (about.st_size == 0 || !is_left(number))) {
        f->result->writing++;
        return PYTHIA_OK;
    }
    if (file->temporary) { /* unless it was completed just now */
        left = stat(file->path, &now) == 0 && now.st_ino == about.st_ino;
        if (remember_inode(f, &about) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
    }
    int status = load_file(f, number, file->path);
    if (status != PYTHIA_OK)
        return status == PYTHIA_ENOMEM ? status : PYTHIA_OK; /* else it is reported already */
    status = pythia_series_read(&f->csv, file->path, pythia_buf_text(&f->content), left);
    f->result->refused += status == PYTHIA_EFORMAT;
    if (status != PYTHIA_OK)
        return status == PYTHIA_ENOMEM ? status : PYTHIA_OK;
    f->result->files++;
    f->result->killed += left;
    return PYTHIA_OK;
}

static int read_series_file(struct finding *f, const struct found *file)
{
    int number = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (number < 0) {
        if (errno == ENOENT && !file->named)
            f->result->gone++;
        else
            report_unreadable(f, file->path, errno);
        return PYTHIA_OK;
    }
    int status = read_open_file(f, file, number);
    close(number);
    return status;
}

/* Count the gaps in the numbers of the files of each process. */
static void count_missing(struct finding *f)
{
    for (size_t i = 1; i < f->count; i++) {
        const struct found *a = &f->files[i - 1], *b = &f->files[i];
        if (!a->prefix || !b->prefix || a->temporary || b->temporary ||
            compare_parts(a->prefix, a->prefix_size, b->prefix, b->prefix_size) != 0 ||
            compare_parts(a->id, a->id_size, b->id, b->id_size) != 0)
            continue;
        f->result->missing += b->number > a->number ? b->number - a->number - 1 : 0;
    }
}

static int find_series_files(struct finding *f, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        if (stat(paths[i], &about) != 0) {
            report_unreadable(f, paths[i], errno);
            continue;
        }
        int status = S_ISDIR(about.st_mode) ? add_series_folder(f, paths[i])
                                            : add_series_file(f, paths[i], true);
        if (status != PYTHIA_OK)
            return status;
    }
    if (f->count)
        qsort(f->files, f->count, sizeof(*f->files), compare_series_files);
    count_missing(f);
    return PYTHIA_OK;
}

/* All files are found before the first is read: their order matters (compare_series_files), and
 * gaps in their numbers are counted. */
int pythia_series_files_read(const char *const *paths, size_t count, bool follow,
                             void (*problem)(void *context, const struct pythia_error *why),
                             void *context, struct pythia_series_set **out,
                             struct pythia_series_files_result *result)
{
    struct finding f = {.problem = problem, .context = context, .result = result, .follow = follow};
    struct pythia_series_set *set = NULL;
    *result = (struct pythia_series_files_result){0};
    int status = pythia_series_set_create(&set);
    if (status != PYTHIA_OK)
        return status;
    f.csv = (struct pythia_series_csv){.to = set, .broken = report_broken, .context = &f};
    if ((status = find_series_files(&f, paths, count)) != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < f.count; i++) {
        if (i > 0 && strcmp(f.files[i].path, f.files[i - 1].path) == 0)
            continue;
        if ((status = read_series_file(&f, &f.files[i])) != PYTHIA_OK)
            goto out;
    }
    if ((status = pythia_series_set_finish(set)) != PYTHIA_OK)
        goto out;
    *out = set;
    set = NULL;
out:
    result->csv = f.csv.counts;
    for (size_t i = 0; i < f.count; i++)
        pythia_free(f.files[i].path);
    pythia_free(f.files);
    pythia_free(f.inodes);
    pythia_buf_free(&f.content);
    pythia_series_set_destroy(set);
    return status;
}
