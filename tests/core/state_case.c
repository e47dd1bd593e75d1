#include "state_case.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

void make_place(struct place *p)
{
    /* Every decision waits for the disk: where there is one in memory, that is quicker. */
    snprintf(p->folder, sizeof(p->folder), "%s/pythia-state-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->state, sizeof(p->state), "%s/state.db", p->folder);
    snprintf(p->copy, sizeof(p->copy), "%s/copy.db", p->folder);
}

void remove_all(const char *path)
{
    static const char *const ends[] = {"",        "-wal",        "-shm",        "-journal",
                                       ".broken", ".broken-wal", ".broken-shm", ".lock"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        unlink(name);
    }
}

void remove_place(const struct place *p)
{
    remove_all(p->state);
    remove_all(p->copy);
    assert_int_equal(rmdir(p->folder), 0);
}

struct pythia_state *opened(const char *path)
{
    struct pythia_state *s = NULL;
    struct pythia_error e = {0};
    int status = pythia_state_open(path, &s, &e);
    if (status != PYTHIA_OK)
        print_error("%s: %s\n", path, e.sentence);
    assert_int_equal(status, PYTHIA_OK);
    return s;
}

void read_file(const char *path, struct pythia_buf *out)
{
    struct pythia_error e = {0};
    pythia_buf_clear(out);
    struct stat about;
    if (stat(path, &about) == 0 && about.st_size > 0)
        assert_int_equal(pythia_file_read(path, out, &e), PYTHIA_OK);
}

void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(size == 0 || fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
}

static int take_pin(void *context, struct pythia_text id, int pin)
{
    struct pins *p = context;
    assert_true(id.size == 2 && id.bytes[0] == 'p');
    p->pin[id.bytes[1] - '0'] = pin;
    p->count++;
    return PYTHIA_OK;
}

struct pins pins_of(struct pythia_state *s)
{
    struct pins p = {0};
    assert_int_equal(pythia_state_each_pin(s, take_pin, &p), PYTHIA_OK);
    return p;
}

struct pythia_text point(int number)
{
    static const char *const names[POINTS] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
    return pythia_text_of(names[number]);
}

int take_desired(void *context, struct pythia_text id, const struct pythia_text *type)
{
    struct desired *d = context;
    strncat(d->all, id.bytes, id.size);
    if (type) {
        strcat(d->all, "/");
        strncat(d->all, type->bytes, type->size);
    }
    d->count++;
    return PYTHIA_OK;
}

/* Decision number n of a run: what it leaves behind is told by pins and desired set together. */
int decide(struct pythia_state *s, int n)
{
    struct pythia_control_wish ids[POINTS] = {{.types = NULL}};
    if (n % 2 == 0)
        return pythia_state_put_pin(s, point(n / 2 % POINTS), n / 2 % 3 == 0 ? -1 : 1);
    for (int i = 0; i < POINTS; i++)
        ids[i].id = point((n + i) % POINTS);
    return pythia_state_put_desired(s, ids, (size_t)(n / 2 % POINTS), (uint64_t)n, NULL);
}

/* All that decisions leave behind, as a text. */
void tell(struct pythia_state *s, char out[256])
{
    struct pins p = pins_of(s);
    struct desired d = {0};
    uint64_t version;
    assert_int_equal(pythia_state_each_desired(s, take_desired, &d, &version), PYTHIA_OK);
    int at = snprintf(out, 256, "%llu %s", (unsigned long long)version, d.all);
    for (int i = 0; i < POINTS; i++)
        at += snprintf(out + at, 256 - (size_t)at, " %d", p.pin[i]);
}

int take_pin_place(void *context, struct pythia_text id, int pin, struct pythia_text place)
{
    struct pythia_buf *all = context;
    pythia_buf_text_add(all, id);
    pythia_buf_printf(all, " %d ", pin);
    pythia_buf_text_add(all, place);
    pythia_buf_puts(all, "; ");
    return pythia_buf_status(all);
}

void execute(const char *path, const char *query)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, query, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}
