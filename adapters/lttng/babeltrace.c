#include "babeltrace.h"

#include <stdbool.h>

#include "pythia/late_library.h"
#include "pythia/status.h"

struct pythia__babeltrace pythia__bt;

int pythia__babeltrace_load(struct pythia_error *e)
{
    static const struct pythia_late_function functions[] = {
#define X(name) {"bt_" #name, &pythia__bt.name},
        PYTHIA__BABELTRACE_FUNCTIONS(X)
#undef X
    };
    static bool loaded;
    if (!loaded)
        loaded = pythia_late_load(PYTHIA_BABELTRACE_LIBRARY, false, functions,
                                  sizeof(functions) / sizeof(functions[0]));
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
