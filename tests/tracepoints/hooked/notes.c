/* Callbacks of a user at hooked functions: note what a call is about, and how it ended. */
#include <string.h>

#include "library.h"
#include "pythia/hooked.h"

#define NOTE __attribute__((visibility("default"))) void

NOTE note_integers(const struct pythia_hooked_call *call);
NOTE note_integers(const struct pythia_hooked_call *call)
{
    if (call->event == PYTHIA_HOOKED_ENTER) {
        PYTHIA_SET(call->scope, "first", (long)call->integers[0]);
        PYTHIA_SET(call->scope, "tenth", (long)call->stack[3]);
        PYTHIA_SET(call->scope, "chain",
                   first_of_chain(4)); /* hooked, and not the program's call */
    } else if (call->event == PYTHIA_HOOKED_RETURN) {
        PYTHIA_SET(call->scope, "result", (long)call->result);
    }
}

NOTE note_reals(const struct pythia_hooked_call *call);
NOTE note_reals(const struct pythia_hooked_call *call)
{
    if (call->event == PYTHIA_HOOKED_ENTER)
        PYTHIA_SET(call->scope, "eighth", call->reals[7]);
    else
        PYTHIA_SET(call->scope, "result", call->real_result);
}

NOTE note_end(const struct pythia_hooked_call *call);
NOTE note_end(const struct pythia_hooked_call *call)
{
    static const char *const events[] = {"enter", "return", "failed"};
    const char *event = events[call->event];
    PYTHIA_SET_TEXT(call->scope, event, call->point, strlen(call->point));
}
