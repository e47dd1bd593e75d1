#include "pythia/late_library.h"

#include <dlfcn.h>
#include <string.h>

#include "pythia/log.h"

bool pythia_late_load(const char *library, bool shared,
                      const struct pythia_late_function *functions, size_t count)
{
    void *handle = dlopen(library, RTLD_NOW | (shared ? RTLD_GLOBAL : RTLD_LOCAL));
    for (size_t i = 0; handle && i < count; i++) {
        void *address = dlsym(handle, functions[i].name);
        if (!address)
            handle = NULL;
        memcpy(functions[i].pointer, &address, sizeof(address)); /* C has no cast for this */
    }
    if (!handle) {
        const char *why = dlerror();
        pythia_log(PYTHIA_LOG_ERROR, "Cannot load a library: library=%s, reason=%s", library,
                   why ? why : "a function is missing");
    }
    return handle != NULL;
}
