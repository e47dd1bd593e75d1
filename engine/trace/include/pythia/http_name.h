#ifndef PYTHIA_HTTP_NAME_H
#define PYTHIA_HTTP_NAME_H

#include "pythia/text.h"

/* The HTTP request that the name of a span describes, in the forms that instrumentations write. */
enum pythia_http_name_kind {
    PYTHIA_HTTP_NAME_OTHER, /* anything else, such as "checkout" or "shop.Cart/Add" */
    PYTHIA_HTTP_NAME_BARE,  /* only a method: "GET", "HTTP GET", "HTTP" */
    PYTHIA_HTTP_NAME_PATH,  /* a path: "GET /a/b", "HTTP GET /a", "/a/b", "GET http://host/a" */
};

struct pythia_http_name {
    enum pythia_http_name_kind kind;
    struct pythia_text method; /* empty: not said */
    struct pythia_text path;   /* from its first '/'; empty unless the kind is _PATH */
};

/* Both texts are parts of `name`. Methods may be in capitals or not. O(name). */
struct pythia_http_name pythia_http_name_of(struct pythia_text name);

/* The path of a URL or of a request target, from its first '/' to its query or fragment: a part of
 * `url`, empty if it has none. "https://ada:pw@host:80/a/b?c#d" gives "/a/b", "/a?b" gives "/a". */
struct pythia_text pythia_url_path(struct pythia_text url);

#endif
