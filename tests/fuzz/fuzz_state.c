/* The file of pythiad's state, damaged, or written by somebody else: whatever it is, it is used,
 * read only, put aside, or refused with a reason; what is read of it is text and numbers, and what
 * is written after that can be read. The input is the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/log.h"
#include "pythia/state.h"
#include "pythia/status.h"

static char folder[] = "/dev/shm/fuzz_state.XXXXXX"; /* in memory: state is flushed to disk */
static char path[64];

static void remove_files(void)
{
    static const char *const parts[] = {"",        "-wal",        "-shm",        ".lock",
                                        ".broken", ".broken-wal", ".broken-shm", "-journal"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s%s", path, parts[i]);
        unlink(name);
    }
}

static void remove_folder(void)
{
    remove_files();
    rmdir(folder);
}

static void begin_once(void)
{
    if (path[0])
        return;
    pythia_log_setup("fuzz", PYTHIA_LOG_ERROR);
    MUST(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state", folder);
    atexit(remove_folder);
}

static void write_state(const uint8_t *bytes, size_t size)
{
    remove_files();
    FILE *file = fopen(path, "wb");
    MUST(file);
    MUST(fwrite(bytes, 1, size, file) == size);
    MUST(fclose(file) == 0);
}

static uint64_t sum; /* of all bytes that were given */

static void read_text(struct pythia_text t)
{
    for (size_t i = 0; i < t.size; i++)
        sum += (unsigned char)t.bytes[i];
}

static int take_desired(void *context, struct pythia_text id, const struct pythia_text *type)
{
    (void)context;
    read_text(id);
    if (type)
        read_text(*type);
    return PYTHIA_OK;
}

static int take_pin(void *context, struct pythia_text id, int pin)
{
    (void)context;
    read_text(id);
    sum += (uint64_t)pin;
    return PYTHIA_OK;
}

static int take_pin_type(void *context, struct pythia_text id, struct pythia_text type)
{
    (void)context;
    read_text(id);
    read_text(type);
    return PYTHIA_OK;
}

static int take_pin_place(void *context, struct pythia_text id, int pin, struct pythia_text place)
{
    (void)context, (void)pin;
    read_text(id);
    read_text(place);
    return PYTHIA_OK;
}

static int take_point(void *context, const struct pythia_state_point *point)
{
    (void)context;
    read_text(pythia_text_of(point->plane));
    read_text(point->target);
    read_text(point->id);
    return PYTHIA_OK;
}

static void must_be(int status)
{
    MUST(status == PYTHIA_OK || status == PYTHIA_EIO || status == PYTHIA_EFORMAT ||
         status == PYTHIA_ENOMEM);
}

static void read_all(struct pythia_state *s)
{
    struct pythia_history *history = NULL;
    struct pythia_error e = {0};
    struct pythia_buf space = {0};
    uint64_t version = 0;
    bool off = false;
    char *decisions = NULL;
    must_be(pythia_state_get_history(s, &history, &e));
    pythia_history_destroy(history);
    must_be(pythia_state_each_desired(s, take_desired, NULL, &version));
    must_be(pythia_state_get_space(s, &space));
    pythia_buf_free(&space);
    must_be(pythia_state_get_off(s, &off));
    must_be(pythia_state_each_pin(s, take_pin, NULL));
    must_be(pythia_state_each_pin_type(s, take_pin_type, NULL));
    must_be(pythia_state_each_pin_place(s, take_pin_place, NULL));
    must_be(pythia_state_each_inventory(s, take_point, NULL));
    if (pythia_state_decisions(s, 10, &decisions) == PYTHIA_OK)
        read_text(pythia_text_of(decisions));
    free(decisions);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_state *s = NULL;
    struct pythia_error e = {0};
    begin_once();
    write_state(bytes, size);
    int status = pythia_state_open(path, &s, &e);
    must_be(status);
    MUST(status == PYTHIA_OK ? s != NULL : e.sentence[0] != '\0');
    if (s) {
        read_all(s);
        must_be(pythia_state_put_pin(s, PYTHIA_TEXT("shop:a"), 1));
        must_be(pythia_state_put_off(s, true));
        read_all(s);
    }
    pythia_state_close(s);
    return 0;
}
