#include "lttng/lttng_library.h"

#include "pythia/late_library.h"
#include "pythia/status.h"

struct pythia__lttng_library pythia__lttng;

int pythia__lttng_library_load(struct pythia_error *e)
{
    static const struct pythia_late_function functions[] = {
#define X(name) {"lttng_" #name, &pythia__lttng.name},
        PYTHIA__LTTNG_FUNCTIONS(X)
#undef X
    };
    if (pythia__lttng.strerror || pythia_late_load(PYTHIA_LTTNG_LIBRARY, false, functions,
                                                   sizeof(functions) / sizeof(functions[0])))
        return PYTHIA_OK;
    return pythia_error_set(e, PYTHIA_EIO,
                            "LTTng is switched by liblttng-ctl: install the package "
                            "liblttng-ctl0");
}
