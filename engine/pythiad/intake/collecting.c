#include "collecting.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/series_files.h"
#include "pythia/series_join.h"
#include "pythia/status.h"
#include "recording_file.h"

#define LOOK_MS    200
#define FILES_TURN 16                /* read at once, before others of the loop have their turn */
#define POINTS_MAX ((size_t)4000000) /* of all series: 64 MB */
#define TOLD_MAX   3

#define SERIES_HEAD "Timepoint,Measurement,Label,PID\n"

/* A file that was read, and could not be removed: it must not be read again. */
struct kept {
    dev_t device;
    ino_t inode;
};

/* A file that was read, until its content has been stored. */
struct file {
    char *path;
    struct stat about;
    struct pythia_series_set *set;
    struct pythia_series_files_result result;
};

struct pythia__collecting {
    struct pythia_vocabulary *vocabulary;
    struct pythia__collecting_options o;
    uv_timer_t timer;
    struct pythia_series_set *set; /* NULL: none yet */
    struct pythia_series_join *join;
    struct pythia_series_join_counts joined; /* by joins that are gone */
    struct kept *kept;
    size_t kept_count, kept_capacity;
    FILE *record;
    uint64_t told;
    struct pythia__collecting_numbers numbers;
};

/* ---- the series ---- */

/* The points of `from` that are not older than `since_ns`, into `to`; the last `most` of a series
 * at most. */
static int copy_points(struct pythia__collecting *c, const struct pythia_series_set *from,
                       uint64_t since_ns, size_t most, struct pythia_series_set *to)
{
    size_t count;
    const struct pythia_series *each = pythia_series_each(from, &count);
    for (size_t s = 0; s < count; s++) {
        size_t first = 0;
        while (first < each[s].count && each[s].points[first].time_ns < since_ns)
            first++;
        if (each[s].count - first > most) {
            c->numbers.dropped += each[s].count - first - most;
            first = each[s].count - most;
        }
        for (size_t i = first; i < each[s].count; i++) {
            int status = pythia_series_set_add(to, each[s].label, (uint32_t)each[s].process,
                                               each[s].points[i].time_ns, each[s].points[i].value);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

static size_t count_series_points(const struct pythia_series_set *set, uint64_t *last_ns,
                                  size_t *series)
{
    size_t count = 0, points = 0;
    const struct pythia_series *each = set ? pythia_series_each(set, &count) : NULL;
    for (size_t s = 0; s < count; s++) {
        points += each[s].count;
        if (each[s].count > 0 && each[s].points[each[s].count - 1].time_ns > *last_ns)
            *last_ns = each[s].points[each[s].count - 1].time_ns;
    }
    *series += count;
    return points;
}

/* Merge new series into the existing ones in one step, because everything has to be sorted
 * again. Values too old for any future request are dropped. */
static int join_files(struct pythia__collecting *c, const struct file *files, size_t count)
{
    struct pythia_series_set *set = NULL;
    struct pythia_series_join *join = NULL;
    uint64_t last_ns = 0;
    size_t series = 0, points = count_series_points(c->set, &last_ns, &series);
    for (size_t i = 0; i < count; i++)
        points += count_series_points(files[i].set, &last_ns, &series);
    uint64_t since_ns = last_ns > c->o.keep_ns ? last_ns - c->o.keep_ns : 0;
    size_t most = points > POINTS_MAX ? POINTS_MAX / (series ? series : 1) : points;
    int status = pythia_series_set_create(&set);
    if (status != PYTHIA_OK)
        return status;
    if (c->set && (status = copy_points(c, c->set, since_ns, most, set)) != PYTHIA_OK)
        goto out;
    for (size_t i = 0; i < count; i++)
        if ((status = copy_points(c, files[i].set, since_ns, most, set)) != PYTHIA_OK)
            goto out;
    if ((status = pythia_series_set_finish(set)) != PYTHIA_OK)
        goto out;
    status = pythia_series_join_create(set, c->o.age_ns, c->vocabulary, &join);
    if (status != PYTHIA_OK)
        goto out;
    if (c->join) {
        c->joined.joined += pythia_series_join_counts(c->join).joined;
        c->joined.missing += pythia_series_join_counts(c->join).missing;
    }
    pythia_series_join_destroy(c->join);
    pythia_series_set_destroy(c->set);
    c->join = join;
    c->set = set;
    pythia_series_all(set, &series);
    c->numbers.series = series;
    return PYTHIA_OK;
out:
    pythia_series_set_destroy(set);
    return status;
}

/* ---- the recording ---- */

static void record_one(const struct pythia__collecting *c, const struct pythia_series *s)
{
    struct pythia_buf label = {0};
    for (size_t i = 0; i < s->label.size; i++) {
        if (s->label.bytes[i] == '"')
            pythia_buf_putc(&label, '"');
        pythia_buf_putc(&label, s->label.bytes[i]);
    }
    pythia_buf_puts(&label, "");
    for (size_t i = 0; i < s->count; i++)
        fprintf(c->record, "%" PRIu64 ",%.17g,\"%s\",%" PRIu64 "\n", s->points[i].time_ns,
                s->points[i].value, label.bytes ? label.bytes : "", s->process);
    pythia_buf_free(&label);
}

/* Before the file is removed: what is lost then is nowhere else. */
static void record_series(struct pythia__collecting *c, const struct pythia_series_set *set)
{
    size_t count;
    const struct pythia_series *each = pythia_series_each(set, &count);
    if (!c->record)
        return;
    for (size_t s = 0; s < count; s++)
        record_one(c, &each[s]);
    if (fflush(c->record) == 0)
        return;
    pythia_log(PYTHIA_LOG_ERROR, "Stopped recording series: reason=%s", strerror(errno));
    c->numbers.failures++;
    fclose(c->record);
    c->record = NULL;
}

static int begin_series_record(struct pythia__collecting *c, struct pythia_error *e)
{
    struct pythia_buf path = {0};
    if (!c->o.record || !c->o.directory)
        return PYTHIA_OK;
    pythia_buf_printf(&path, "%s.series.csv", c->o.record);
    int file = path.bytes ? pythia__recording_open(path.bytes, SERIES_HEAD, e) : PYTHIA_ENOMEM;
    pythia_buf_free(&path);
    if (file < 0)
        return file;
    c->record = fdopen(file, "w");
    if (!c->record) {
        close(file);
        return pythia_error_set(e, PYTHIA_EIO, "series cannot be recorded: %s", strerror(errno));
    }
    fputs(SERIES_HEAD, c->record);
    fflush(c->record);
    return PYTHIA_OK;
}

/* ---- files ---- */

static void log_collecting_problem(void *context, const struct pythia_error *why)
{
    struct pythia__collecting *c = context;
    char text[640];
    if (c->told++ < TOLD_MAX)
        pythia_log(PYTHIA_LOG_WARNING, "A series cannot be read: %s",
                   pythia_error_text(why, text, sizeof(text)));
}

/* A file that is not a series is renamed, with its content, and not read again. */
static bool put_series_aside(const char *path)
{
    struct pythia_buf to = {0};
    pythia_buf_printf(&to, "%s.refused", path);
    bool done = to.bytes && rename(path, to.bytes) == 0;
    if (done)
        pythia_log(PYTHIA_LOG_WARNING, "Renamed a file that is not a series: file=%s, as=%s", path,
                   to.bytes);
    pythia_buf_free(&to);
    return done;
}

static bool is_kept(const struct pythia__collecting *c, const struct stat *about)
{
    for (size_t i = 0; i < c->kept_count; i++)
        if (c->kept[i].device == about->st_dev && c->kept[i].inode == about->st_ino)
            return true;
    return false;
}

/* It is done with. One that cannot be removed is remembered; without memory for that it is read
 * again, which changes nothing: the same values at the same times. */
static void remove_series_file(struct pythia__collecting *c, const char *path,
                               const struct stat *about, bool refused)
{
    if (refused ? put_series_aside(path) : unlink(path) == 0 || errno == ENOENT)
        return;
    if (c->numbers.failures++ == 0)
        pythia_log(PYTHIA_LOG_ERROR, "Cannot remove a series that was read: file=%s, reason=%s",
                   path, strerror(errno));
    if (pythia_grow(&c->kept, &c->kept_capacity, c->kept_count, sizeof(*c->kept)) == PYTHIA_OK)
        c->kept[c->kept_count++] = (struct kept){about->st_dev, about->st_ino};
}

/* False: nothing came of it, because it is being written, or is no file. */
static bool read_collected_file(struct pythia__collecting *c, const char *path, struct file *out)
{
    struct file f = {.path = NULL};
    if (lstat(path, &f.about) != 0 || !S_ISREG(f.about.st_mode) || is_kept(c, &f.about))
        return false;
    if (pythia_series_files_read(&path, 1, false, log_collecting_problem, c, &f.set, &f.result) ==
            PYTHIA_OK &&
        f.result.files + f.result.refused > 0)
        f.path = pythia_strndup(path, strlen(path));
    if (!f.path) {
        pythia_series_set_destroy(f.set);
        return false;
    }
    *out = f;
    return true;
}

/* Record the series, then remove their files; on failure (false) the files are read again the
 * next time. */
static bool finish_files(struct pythia__collecting *c, struct file *files, size_t count)
{
    int status = count > 0 ? join_files(c, files, count) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "Series could not be processed: reason=%s",
                   pythia_status_text(status));
    for (size_t i = 0; i < count; i++) {
        const struct pythia_series_files_result *r = &files[i].result;
        if (status == PYTHIA_OK) {
            record_series(c, files[i].set);
            remove_series_file(c, files[i].path, &files[i].about, r->refused > 0);
            c->numbers.files += r->files;
            c->numbers.rows += r->csv.rows;
            c->numbers.refused += r->refused;
            c->numbers.broken += r->csv.broken + r->csv.cut;
        }
        pythia_series_set_destroy(files[i].set);
        pythia_free(files[i].path);
    }
    return status == PYTHIA_OK;
}

static int is_series_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && dot != entry->d_name && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".tmp") == 0);
}

/* Read some; true: there may be more. */
static bool read_some(struct pythia__collecting *c)
{
    struct dirent **names = NULL;
    struct file files[FILES_TURN];
    struct pythia_buf path = {0};
    size_t done = 0;
    int count = scandir(c->o.directory, &names, is_series_name, alphasort);
    for (int i = 0; i < count; i++) {
        pythia_buf_clear(&path);
        pythia_buf_printf(&path, "%s/%s", c->o.directory, names[i]->d_name);
        if (done < FILES_TURN && pythia_buf_status(&path) == PYTHIA_OK)
            done += read_collected_file(c, path.bytes, &files[done]);
        free(names[i]);
    }
    free(names);
    pythia_buf_free(&path);
    return finish_files(c, files, done) && done == FILES_TURN;
}

static void on_timer(uv_timer_t *timer)
{
    read_some(timer->data);
}

/* ---- all of it ---- */

int pythia__collecting_create(uv_loop_t *loop, struct pythia_vocabulary *vocabulary,
                              const struct pythia__collecting_options *options,
                              struct pythia__collecting **out, struct pythia_error *e)
{
    struct pythia__collecting *c = pythia_calloc(1, sizeof(*c));
    struct stat about;
    if (!c)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    *c = (struct pythia__collecting){.vocabulary = vocabulary, .o = *options};
    int status = PYTHIA_OK;
    if (options->directory && stat(options->directory, &about) == 0 && !S_ISDIR(about.st_mode)) {
        pythia_error_place(e, options->directory, 0, 0);
        status = pythia_error_set(e, PYTHIA_EUSAGE, "is not a folder");
    }
    if (status == PYTHIA_OK)
        status = begin_series_record(c, e);
    uv_timer_init(loop, &c->timer);
    c->timer.data = c;
    if (status == PYTHIA_OK && options->directory)
        uv_timer_start(&c->timer, on_timer, 0, LOOK_MS);
    *out = c; /* on failure too: its handle has to be closed by the loop first */
    return status;
}

void pythia__collecting_stop(struct pythia__collecting *c)
{
    if (!c || uv_is_closing((uv_handle_t *)&c->timer))
        return;
    while (c->o.directory && read_some(c)) {
    }
    uv_close((uv_handle_t *)&c->timer, NULL);
}

void pythia__collecting_destroy(struct pythia__collecting *c)
{
    if (!c)
        return;
    if (c->record)
        fclose(c->record);
    pythia_series_join_destroy(c->join);
    pythia_series_set_destroy(c->set);
    pythia_free(c->kept);
    pythia_free(c);
}

const struct pythia_trace *pythia__collecting_trace(void *context, const struct pythia_trace *trace)
{
    struct pythia__collecting *c = context;
    return c->join ? pythia_series_join_trace(c->join, trace) : trace;
}

struct pythia__collecting_numbers pythia__collecting_numbers(const struct pythia__collecting *c)
{
    struct pythia__collecting_numbers n = c->numbers;
    struct pythia_series_join_counts now = {0};
    if (c->join)
        now = pythia_series_join_counts(c->join);
    n.joined = c->joined.joined + now.joined;
    n.missing = c->joined.missing + now.missing;
    return n;
}
