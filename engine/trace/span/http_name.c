#include "pythia/http_name.h"

#include <stdbool.h>
#include <strings.h>

/* The methods that instrumentations may put into a name: RFC 9110, PATCH (RFC 5789), QUERY, and
 * "_OTHER", which the semantic conventions use for all others. */
static const char *const methods[] = {"GET",     "HEAD",  "POST",  "PUT",   "DELETE", "CONNECT",
                                      "OPTIONS", "TRACE", "PATCH", "QUERY", "_OTHER"};

static struct pythia_text text_from(struct pythia_text text, size_t from)
{
    return (struct pythia_text){text.bytes + from, text.size - from};
}

/* Cut `word` and the space after it from the front of *rest; false if they do not stand there. */
static bool cut_word(struct pythia_text *rest, const char *word)
{
    size_t size = strlen(word);
    if (rest->size < size || strncasecmp(rest->bytes, word, size) != 0 ||
        (rest->size > size && rest->bytes[size] != ' '))
        return false;
    *rest = text_from(*rest, rest->size > size ? size + 1 : size);
    return true;
}

static struct pythia_text cut_method(struct pythia_text *rest)
{
    struct pythia_text whole = *rest;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (cut_word(rest, methods[i]))
            return (struct pythia_text){whole.bytes, strlen(methods[i])};
    return PYTHIA_TEXT("");
}

/* Where the path begins: after "scheme://authority", or at once. SIZE_MAX: it is no URL. */
static size_t find_path(struct pythia_text url)
{
    if (url.size > 0 && url.bytes[0] == '/')
        return 0;
    const char *colon = memchr(url.bytes, ':', url.size);
    size_t at = colon ? (size_t)(colon - url.bytes) : url.size;
    if (at == 0 || url.size - at < 3 || memcmp(url.bytes + at, "://", 3) != 0 ||
        memchr(url.bytes, ' ', at))
        return SIZE_MAX;
    for (at += 3; at < url.size && !strchr("/?#", url.bytes[at]);)
        at++;
    return at;
}

struct pythia_text pythia_url_path(struct pythia_text url)
{
    size_t from = find_path(url), to = from;
    if (from == SIZE_MAX)
        return PYTHIA_TEXT("");
    while (to < url.size && url.bytes[to] != '?' && url.bytes[to] != '#')
        to++;
    return (struct pythia_text){url.bytes + from, to - from};
}

struct pythia_http_name pythia_http_name_of(struct pythia_text name)
{
    struct pythia_http_name out = {.kind = PYTHIA_HTTP_NAME_OTHER};
    struct pythia_text rest = name;
    bool http = cut_word(&rest, "HTTP");
    out.method = cut_method(&rest);
    if (rest.size == 0) {
        out.kind = http || out.method.size ? PYTHIA_HTTP_NAME_BARE : PYTHIA_HTTP_NAME_OTHER;
        return out;
    }
    out.path = pythia_url_path(rest);
    if (out.path.size > 0)
        out.kind = PYTHIA_HTTP_NAME_PATH;
    return out;
}
