#include "http_framing.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct headers_seen {
    unsigned lengths, codings, hosts;
    const char *host; /* of the last one; NULL: none */
    bool is_chunked;  /* that is the only coding, as the last one said */
    const char *fault;
};

bool pythia__http_target_is_good(const char *target)
{
    for (; *target; target++) {
        const unsigned char c = (unsigned char)*target;
        if (c <= ' ' || c == 0x7f)
            return false;
        if (c != '%')
            continue;
        if (!isxdigit((unsigned char)target[1]) || !isxdigit((unsigned char)target[2]))
            return false;
        if (target[1] == '0' && target[2] == '0')
            return false;
    }
    return true;
}

/* The bytes of "http://", if a target begins with it; 0: it has not the absolute form. */
static size_t scheme_size(const char *target)
{
    if (strncasecmp(target, "http://", 7) == 0)
        return 7;
    return strncasecmp(target, "https://", 8) == 0 ? 8 : 0;
}

const char *pythia__http_target_path(const char *target)
{
    const size_t scheme = scheme_size(target);
    if (scheme == 0)
        return target;
    const char *path = strchr(target + scheme, '/');
    return path ? path : "/";
}

/* An absolute target names the host once more. It would hold, and Host would not: they are to
 * agree. */
static bool agrees_with_host(const char *target, const char *host)
{
    const size_t scheme = scheme_size(target);
    if (scheme == 0)
        return true;
    const size_t size = strcspn(target + scheme, "/");
    return host && strlen(host) == size && strncasecmp(target + scheme, host, size) == 0;
}

/* A token of RFC 9110, 5.6.2. A name with a blank at its end is "Transfer-Encoding : chunked". */
static bool is_token(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c >= 0x80 || (!isalnum(c) && (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c))))
            return false;
    }
    return size > 0;
}

static bool is_field_value(const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)value[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* The characters of a host and a port (RFC 3986, 3.2.2). Whether there is such a host is not
 * asked. */
static bool is_authority(const char *host, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)host[i];
        if (c >= 0x80 || (!isalnum(c) && (c == '\0' || !strchr("-._~%!$&'()*+,;=:[]", c))))
            return false;
    }
    return true;
}

static bool is_named(const char *name, size_t size, const char *what)
{
    return strlen(what) == size && strncasecmp(name, what, size) == 0;
}

/* A line that continues the header before it (RFC 9112, 5.2) is added to the name of that header by
 * libmicrohttpd 0.9.75: "Transfer-Encoding: chunked", "<blank>x" is handed over as
 * "Transfer-Encodingx: chunked", and the body would be the next request. */
static bool is_folded(const char *name, size_t size, const char *what)
{
    return size > strlen(what) && strncasecmp(name, what, strlen(what)) == 0;
}

static enum MHD_Result see_header(void *context, enum MHD_ValueKind kind, const char *name,
                                  size_t name_size, const char *value, size_t size)
{
    struct headers_seen *seen = context;
    (void)kind;
    value = value ? value : "";
    if (!is_token(name, name_size)) {
        seen->fault = "the name of a header has a character that is not allowed there\n";
    } else if (!is_field_value(value, size)) {
        seen->fault = "a header has a control character\n";
    } else if (is_folded(name, name_size, "Content-Length") ||
               is_folded(name, name_size, "Transfer-Encoding")) {
        seen->fault =
            "Content-Length or Transfer-Encoding goes on in another line, or a name begins "
            "with one of them\n";
    } else if (is_named(name, name_size, "Content-Length")) {
        seen->lengths++;
    } else if (is_named(name, name_size, "Transfer-Encoding")) {
        seen->codings++;
        seen->is_chunked = is_named(value, size, "chunked");
    } else if (is_named(name, name_size, "Host")) {
        seen->hosts++;
        seen->host = value;
        if (!is_authority(value, size))
            seen->fault = "Host has a character that is not allowed there\n";
    }
    return seen->fault ? MHD_NO : MHD_YES;
}

/* MHD accepts requests that RFC 9112 lets two servers read differently, which is how requests
 * are smuggled. */
unsigned pythia__http_framing_fault(struct MHD_Connection *mhd, const char *version,
                                    const char *path, const char **why)
{
    struct headers_seen seen = {0};
    const bool is_old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, see_header, &seen);
    *why = seen.fault;
    if (!*why && seen.lengths > 1)
        *why = "there are several headers Content-Length\n";
    if (!*why && seen.codings > 1)
        *why = "there are several headers Transfer-Encoding\n";
    if (!*why && seen.codings > 0 && seen.lengths > 0)
        *why = "there are Content-Length and Transfer-Encoding\n";
    if (!*why && seen.codings > 0 && is_old)
        *why = "HTTP/1.0 has no Transfer-Encoding\n";
    if (!*why && seen.hosts != 1 && !(is_old && seen.hosts == 0))
        *why = "a request has one header Host\n";
    if (!*why && !agrees_with_host(path, seen.host))
        *why = "the host of the target is not that of the header Host\n";
    if (*why)
        return MHD_HTTP_BAD_REQUEST;
    *why = "this Transfer-Encoding is not known: chunked\n";
    return seen.codings > 0 && !seen.is_chunked ? MHD_HTTP_NOT_IMPLEMENTED : 0;
}
