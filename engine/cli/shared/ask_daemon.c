#include "ask_daemon.h"

#include <curl/curl.h>
#include <string.h>
#include <unistd.h>

#include "pythia/error.h"
#include "pythia/log.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define SOCKET_PATH "/run/pythiad/control.sock"
#define SOCKET      "unix:" SOCKET_PATH
#define ADDRESS     "127.0.0.1:4319"

static size_t take_answer_body(char *bytes, size_t size, size_t count, void *context)
{
    struct pythia__answer *a = context;
    pythia_buf_add(&a->body, bytes, size * count);
    return pythia_buf_status(&a->body) == PYTHIA_OK ? size * count : 0;
}

const char *pythia__daemon_address(const struct pythia__daemon_settings *s)
{
    if (s->address)
        return s->address;
    return access(SOCKET_PATH, F_OK) == 0 ? SOCKET : ADDRESS;
}

static int set_up_request(CURL *curl, const struct pythia__daemon_settings *s, const char *path,
                          struct curl_slist **list, struct pythia_buf *url)
{
    const char *address = pythia__daemon_address(s);
    bool socket = strncmp(address, "unix:", 5) == 0;
    if (socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address + 5);
    pythia_buf_printf(url, "%s://%s%s", s->tls_trust && !socket ? "https" : "http",
                      socket ? "localhost" : address, path);
    if (s->tls_trust)
        curl_easy_setopt(curl, CURLOPT_CAINFO, s->tls_trust);
    if (s->token) {
        struct pythia_buf token = {0}, header = {0};
        struct pythia_error why = {0};
        int status = pythia_file_read(s->token, &token, &why);
        if (status != PYTHIA_OK) {
            pythia_log_error(PYTHIA_LOG_ERROR, &why);
            return status;
        }
        while (token.size > 0 && strchr(" \t\r\n", token.bytes[token.size - 1]))
            token.size--;
        pythia_buf_printf(&header, "Authorization: Bearer %.*s", (int)token.size, token.bytes);
        if (pythia_buf_status(&header) == PYTHIA_OK)
            *list = curl_slist_append(*list, header.bytes);
        pythia_buf_free(&token);
        pythia_buf_free(&header);
    }
    return pythia_buf_status(url);
}

int pythia__ask_daemon(const struct pythia__daemon_settings *s, const char *path, const char *body,
                       double timeout_s, bool quiet, struct pythia__answer *out)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *list = curl_slist_append(NULL, "Content-Type: application/json");
    struct pythia_buf url = {0};
    int status = curl && list ? set_up_request(curl, s, path, &list, &url) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    curl_easy_setopt(curl, CURLOPT_URL, url.bytes);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(timeout_s * 1000));
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (body)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    CURLcode result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out->status);
    if (result != CURLE_OK) {
        status = PYTHIA_EIO;
        pythia_log(quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_ERROR,
                   "pythiad does not answer (is it there? --address says where): address=%s, "
                   "reason=%s",
                   pythia__daemon_address(s), curl_easy_strerror(result));
    }
out:
    pythia_buf_free(&url);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    return status;
}
