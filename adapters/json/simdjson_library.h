/* simdjson, which is loaded when JSON is read for the first time: it brings the C++ library, and
 * the dynamic linker spends more on the two than on all other libraries of `pythia`. */
#ifndef PYTHIA_JSON_SIMDJSON_LIBRARY_H
#define PYTHIA_JSON_SIMDJSON_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Its functions that are in the library, and not in its header, as C sees them. */
struct pythia__simdjson {
    void *(*get_active_implementation)(void); /* a reference, which is an address */
    bool (*validate_utf8)(const char *text, size_t size);
};

/* The functions; NULL if there is no library, which is logged. Any thread. */
const struct pythia__simdjson *pythia__simdjson_load(void);

#ifdef __cplusplus
}
#endif

#endif
