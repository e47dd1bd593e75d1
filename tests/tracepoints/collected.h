/* What a collector has written, read by a parser of its own: not the one that is to be tested. */
#ifndef COLLECTED_H
#define COLLECTED_H

#include <dirent.h>
#include <fcntl.h>
#include <pythia/collector.h>
#include <sys/stat.h>

#include "traced.h"

struct row {
    uint64_t time_ns;
    double value;
    char label[256];
    int pid;
};

struct collected_rows {
    struct row *rows;
    size_t count, capacity, files, temporary;
    uint64_t bytes;
};

/* One field; quotes are taken off. */
static inline char *take_field(char **at, char *out)
{
    char *from = *at, *to = out;
    if (*from == '"') {
        for (from++; *from && !(from[0] == '"' && from[1] != '"'); from++) {
            from += from[0] == '"';
            *to++ = *from;
        }
        from++;
    } else {
        while (*from && *from != ',' && *from != '\n')
            *to++ = *from++;
    }
    *to = '\0';
    *at = *from ? from + 1 : from;
    return out;
}

static inline void read_rows(struct collected_rows *c, char *text, const char *name)
{
    static const char heading[] = "Timepoint,Measurement,Label,PID\n";
    char field[1024], *at = text, *end;
    if (strncmp(at, heading, sizeof(heading) - 1) != 0)
        fail_msg("%s has no heading", name);
    for (at += sizeof(heading) - 1; *at;) {
        struct row row = {0};
        row.time_ns = strtoull(take_field(&at, field), &end, 10);
        assert_true(*end == '\0' && end != field);
        row.value = strtod(take_field(&at, field), &end);
        assert_true(*end == '\0' && end != field);
        snprintf(row.label, sizeof(row.label), "%.255s", take_field(&at, field));
        row.pid = (int)strtol(take_field(&at, field), &end, 10);
        assert_true(*end == '\0' && end != field && at[-1] == '\n');
        if (c->count == c->capacity) {
            c->capacity = c->capacity ? 2 * c->capacity : 1024;
            c->rows = realloc(c->rows, c->capacity * sizeof(row)); /* NOLINT */
            assert_non_null(c->rows);
        }
        c->rows[c->count++] = row;
    }
}

/* "<prefix>.<process>.<number>.<16 hexadecimal digits>.csv", with rows of that process alone. */
static inline void check_file_of_rows(const char *name, const struct row *rows, size_t count)
{
    char prefix[16], id[32];
    int pid, end = 0;
    unsigned number;
    int fields = sscanf(name, "%15[a-z].%d.%u.%31[0-9a-f].csv%n", prefix, &pid, /* NOLINT */
                        &number, id, &end);
    if (fields != 4 || end == 0 || name[end] != '\0' || strlen(id) != 16)
        fail_msg("%s is no name of a file of rows", name);
    if (strcmp(prefix, "duration") != 0 && strcmp(prefix, "observed") != 0 &&
        strcmp(prefix, "runtime") != 0)
        fail_msg("%s has no known prefix", name);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].pid, pid);
}

static inline int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* All files of a folder whose names begin so, in order of time; `take_away` removes them. */
static inline void collect_files(struct collected_rows *c, const char *folder, const char *prefix,
                                 int take_away)
{
    char path[512];
    DIR *d = opendir(folder);
    c->temporary = 0;
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        c->temporary += dot && strcmp(dot, ".tmp") == 0;
        if (!dot || strcmp(dot, ".csv") != 0 || strncmp(e->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        FILE *in = fopen(path, "rb");
        struct stat about = {0};
        assert_true(in && fstat(fileno(in), &about) == 0);
        char *text = malloc((size_t)about.st_size + 1);
        assert_non_null(text);
        assert_int_equal(fread(text, 1, (size_t)about.st_size, in), about.st_size);
        text[about.st_size] = '\0';
        fclose(in);
        size_t before = c->count;
        read_rows(c, text, path);
        check_file_of_rows(e->d_name, c->rows + before, c->count - before);
        free(text);
        c->files++;
        c->bytes += (uint64_t)about.st_size;
        if (take_away)
            assert_int_equal(unlink(path), 0);
    }
    closedir(d);
    if (c->count)
        qsort(c->rows, c->count, sizeof(*c->rows), compare_rows);
}

static inline size_t rows_of(const struct collected_rows *c, const char *label)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += strcmp(c->rows[i].label, label) == 0;
    return count;
}

static inline const struct row *row_of(const struct collected_rows *c, const char *label, size_t n)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->rows[i].label, label) == 0 && n-- == 0)
            return &c->rows[i];
    fail_msg("there is no such row of %s", label);
    return NULL;
}

static inline void collected_free(struct collected_rows *c)
{
    free(c->rows);
    memset(c, 0, sizeof(*c));
}

static char csv_folder[96];

/* For setup and teardown of each test; programs that are traced are children. */
static inline int begin_collecting(void **state)
{
    (void)state;
    traced_begin();
    snprintf(csv_folder, sizeof(csv_folder), "%s/csv", traced.directory);
    return 0;
}

static inline int end_collecting(void **state)
{
    (void)state;
    traced_end();
    memset(&traced, 0, sizeof(traced));
    return 0;
}

static inline void start_with(struct pythia_collector_options options)
{
    options.directory = csv_folder;
    assert_int_equal(pythia_collector_start(&options), 0);
}

static inline void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

#endif
