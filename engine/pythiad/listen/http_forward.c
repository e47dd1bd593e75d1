#include <string.h>

#include "http_parts.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* The path and the query of the exchange become those of `target`. False: no memory. */
static bool set_target(struct pythia__http_exchange *x, const char *target)
{
    size_t size = strcspn(target, "?");
    char *path = pythia_strndup(target, size);
    char *query = target[size] ? pythia_strndup(target + size + 1, strlen(target + size + 1))
                               : pythia_strndup("", 0);
    if (!path || !query) {
        pythia_free(path);
        pythia_free(query);
        return false;
    }
    pythia_free(x->path);
    pythia_free(x->query);
    x->path = path;
    x->query = query;
    return true;
}

/* The role of the inner route is checked again, because the outer one only admits to the
 * forwarding route. */
void pythia__http_forward(struct pythia__http_exchange *x, const char *target, char *body,
                          pythia__http_wrap wrap, void *context)
{
    const char *method = body ? "POST" : "GET";
    bool known;
    x->wrap = wrap;
    x->wrap_context = context;
    pythia_buf_free(&x->body);
    if (body)
        pythia_buf_puts(&x->body, body);
    pythia_free(body);
    if (pythia_buf_status(&x->body) != PYTHIA_OK || !set_target(x, target)) {
        pythia__http_say(x, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
        return;
    }
    const struct pythia__http_route *route =
        pythia__http_route_find(x->server, method, x->path, &known);
    if (!route)
        pythia__http_say(x, MHD_HTTP_NOT_FOUND, "there is nothing at this path\n");
    else if (!pythia__http_has_role(x, route->role))
        pythia__http_say(x, MHD_HTTP_UNAUTHORIZED, "that needs another token\n");
    else
        route->handle(route->context, x);
}
