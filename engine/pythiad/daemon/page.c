#include "page.h"

#include <string.h>

#include "page_files.h"
#include "pythia/buf.h"
#include "pythia/mem.h"

/* Nothing from elsewhere, no script or style in the markup, no frame around it, and no text that a
 * script makes markup of. */
#define POLICY                                                                                     \
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "                 \
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

void pythia__page_handle(void *context, struct pythia__http_exchange *x)
{
    const char *path = pythia__http_path(x);
    const struct page_file *file = NULL;
    (void)context;
    path = strcmp(path, "/") == 0 ? "page.html" : path + strlen(PYTHIA__PAGE_FOLDER);
    for (size_t i = 0; i < sizeof(page_files) / sizeof(page_files[0]) && !file; i++)
        file = strcmp(page_files[i].name, path) == 0 ? &page_files[i] : NULL;
    if (!file) {
        pythia__http_say(x, 404, "there is nothing at this path\n");
        return;
    }
    char *copy = pythia_strndup((const char *)file->bytes, file->size);
    if (!copy) {
        pythia__http_say(x, 503, "out of memory\n");
        return;
    }
    pythia__http_set(x, "Content-Security-Policy", POLICY);
    pythia__http_set(x, "X-Content-Type-Options", "nosniff");
    pythia__http_set(x, "Referrer-Policy", "no-referrer");
    pythia__http_set(x, "Cache-Control", "no-cache"); /* it belongs to this pythiad's release */
    pythia__http_answer(x, 200, file->type, copy, file->size);
}
