/* HTTP by libcurl, which is loaded when somebody asks for the first time (late_library.h). */
#include "pythia/web.h"

#include <curl/curl.h>
#include <threads.h>

#include "pythia/late_library.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#undef curl_easy_setopt /* a macro that checks types, by the name of the function */
#undef curl_easy_getinfo

static struct {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_setopt) *easy_setopt;
    __typeof__(curl_easy_perform) *easy_perform;
    __typeof__(curl_easy_getinfo) *easy_getinfo;
    __typeof__(curl_easy_strerror) *easy_strerror;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_slist_append) *slist_append;
    __typeof__(curl_slist_free_all) *slist_free_all;
} curl;

static bool is_loaded;

static void load_curl(void)
{
    const struct pythia_late_function functions[] = {
        {"curl_global_init", &curl.global_init},   {"curl_easy_init", &curl.easy_init},
        {"curl_easy_setopt", &curl.easy_setopt},   {"curl_easy_perform", &curl.easy_perform},
        {"curl_easy_getinfo", &curl.easy_getinfo}, {"curl_easy_strerror", &curl.easy_strerror},
        {"curl_easy_cleanup", &curl.easy_cleanup}, {"curl_easy_reset", &curl.easy_reset},
        {"curl_slist_append", &curl.slist_append}, {"curl_slist_free_all", &curl.slist_free_all},
    };
    is_loaded = pythia_late_load(PYTHIA_CURL_LIBRARY, false, functions,
                                 sizeof(functions) / sizeof(functions[0])) &&
                curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

struct taking {
    struct pythia_buf *body;
    size_t max;
};

/* Fewer bytes than there are end the request. */
static size_t take_body_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct taking *t = context;
    if (t->max > 0 && t->body->size + size * count > t->max)
        return 0;
    pythia_buf_add(t->body, bytes, size * count);
    return pythia_buf_status(t->body) == PYTHIA_OK ? size * count : 0;
}

/* libcurl calls this at least once a second; other than 0 ends the request. */
static int is_stopped(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const atomic_bool *stop = context;
    (void)a, (void)b, (void)c, (void)d;
    return atomic_load_explicit(stop, memory_order_relaxed);
}

static void set_request(CURL *easy, const struct pythia_web_request *r, struct taking *taking)
{
    curl.easy_setopt(easy, CURLOPT_URL, r->url);
    curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Without this a request waits, also after its time is up, until a name has been looked up. */
    curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl.easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(r->timeout_s * 1000));
    curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body_bytes);
    curl.easy_setopt(easy, CURLOPT_WRITEDATA, taking);
    if (r->socket)
        curl.easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, r->socket);
    if (r->trust)
        curl.easy_setopt(easy, CURLOPT_CAINFO, r->trust);
    if (r->body) {
        curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_size);
        curl.easy_setopt(easy, CURLOPT_POSTFIELDS, r->body);
    }
    if (r->stop) {
        curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
        curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_stopped);
        curl.easy_setopt(easy, CURLOPT_XFERINFODATA, pythia_without_const(r->stop));
    }
}

/* NULL when out of memory. */
static struct curl_slist *list_headers(const struct pythia_web_request *r)
{
    struct curl_slist *list = curl.slist_append(NULL, "Expect:"); /* no wait for 100 Continue */
    for (size_t i = 0; list && i < PYTHIA_WEB_HEADERS && r->headers[i]; i++) {
        struct curl_slist *more = curl.slist_append(list, r->headers[i]);
        if (!more)
            curl.slist_free_all(list);
        list = more;
    }
    return list;
}

static bool can_ask(void)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, load_curl);
    return is_loaded;
}

/* libcurl keeps the connections of a handle, also when its options are reset. */
struct pythia_web_link {
    CURL *easy;
};

struct pythia_web_link *pythia_web_link_create(void)
{
    struct pythia_web_link *link = can_ask() ? pythia_calloc(1, sizeof(*link)) : NULL;
    if (link && !(link->easy = curl.easy_init())) {
        pythia_free(link);
        return NULL;
    }
    return link;
}

void pythia_web_link_destroy(struct pythia_web_link *link)
{
    if (!link)
        return;
    curl.easy_cleanup(link->easy);
    pythia_free(link);
}

int pythia_web_ask(const struct pythia_web_request *request, struct pythia_web_answer *out,
                   struct pythia_error *e)
{
    if (!can_ask())
        return pythia_error_set(e, PYTHIA_EIO,
                                "libcurl cannot be loaded (on Debian: apt-get install libcurl4)");
    struct taking taking = {&out->body, request->answer_max};
    CURL *easy = request->link ? request->link->easy : curl.easy_init();
    struct curl_slist *headers = easy ? list_headers(request) : NULL;
    int status = headers ? PYTHIA_OK : PYTHIA_ENOMEM;
    if (headers) {
        set_request(easy, request, &taking);
        curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        CURLcode result = curl.easy_perform(easy);
        curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &out->status);
        if (result != CURLE_OK)
            status = pythia_error_set(e, PYTHIA_EIO, "%s", curl.easy_strerror(result));
    }
    if (easy && request->link)
        curl.easy_reset(easy); /* it must not point to the headers any more */
    else if (easy)
        curl.easy_cleanup(easy);
    curl.slist_free_all(headers);
    return status;
}
