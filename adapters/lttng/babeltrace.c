#include "babeltrace.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "pythia/late_library.h"
#include "pythia/status.h"

struct pythia__babeltrace pythia__bt;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void pythia__babeltrace_lock(void)
{
    pthread_mutex_lock(&lock);
}

void pythia__babeltrace_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- traces that the library does not survive ---- */

static _Thread_local const char *being_read;

static void write_text(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nobody is left to report it to */
}

/* After this the process ends. */
static void tell_abort(int number)
{
    (void)number;
    if (!being_read)
        return;
    write_text("pythia: error: ");
    write_text(being_read);
    write_text(
        ": libbabeltrace2 ends the process, because the trace is broken in a way that it does "
        "not expect: leave it out\n");
}

void pythia__babeltrace_reads(const char *where)
{
    being_read = where;
}

/* Whoever handles it already goes on to. */
static void handle_abort(void)
{
    const struct sigaction action = {.sa_handler = tell_abort};
    struct sigaction now;
    if (sigaction(SIGABRT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        (void)sigaction(SIGABRT, &action, NULL);
}

/* ---- loading ---- */

int pythia__babeltrace_load(struct pythia_error *e)
{
    static const struct pythia_late_function functions[] = {
#define X(name) {"bt_" #name, &pythia__bt.name},
        PYTHIA__BABELTRACE_FUNCTIONS(X)
#undef X
    };
    static bool loaded;
    pthread_mutex_lock(&lock);
    if (!loaded) {
        loaded = pythia_late_load(PYTHIA_BABELTRACE_LIBRARY, false, functions,
                                  sizeof(functions) / sizeof(functions[0]));
        handle_abort();
    }
    pthread_mutex_unlock(&lock);
    return loaded ? PYTHIA_OK
                  : pythia_error_set(e, PYTHIA_EIO,
                                     "traces of LTTng are read by libbabeltrace2: install the "
                                     "package libbabeltrace2-0");
}

/* The first cause is where it began; those after it are the callers. */
static void set_cause(struct pythia_error *e, int status, const char *what, const bt_error *why)
{
    const char *cause =
        why && pythia__bt.error_get_cause_count(why) > 0
            ? pythia__bt.error_cause_get_message(pythia__bt.error_borrow_cause_by_index(why, 0))
            : "no reason is given";
    pythia_error_set(e, status, "%s: %s", what, cause);
    if (why)
        pythia__bt.error_release(why);
}

int pythia__babeltrace_fail(struct pythia_error *e, int status, const char *what)
{
    set_cause(e, status, what, pythia__bt.current_thread_take_error());
    return status;
}

int pythia__babeltrace_check(struct pythia_error *e, int status, const char *what)
{
    const bt_error *why = pythia__bt.current_thread_take_error();
    if (!why)
        return PYTHIA_OK;
    set_cause(e, status, what, why);
    return status;
}
