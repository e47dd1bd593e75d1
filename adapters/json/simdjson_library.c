#include "simdjson_library.h"

#include <pthread.h>

#include "pythia/late_library.h"

static struct pythia__simdjson library;
static bool is_loaded;

static void load_simdjson(void)
{
    const struct pythia_late_function functions[] = {
        {"_ZN8simdjson25get_active_implementationEv", &library.get_active_implementation},
        {"_ZN8simdjson13validate_utf8EPKcm", &library.validate_utf8},
    };
    is_loaded = pythia_late_load(PYTHIA_SIMDJSON_LIBRARY, false, functions,
                                 sizeof(functions) / sizeof(functions[0]));
}

const struct pythia__simdjson *pythia__simdjson_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_simdjson);
    return is_loaded ? &library : NULL;
}
