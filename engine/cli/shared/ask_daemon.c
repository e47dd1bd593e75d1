#include "ask_daemon.h"

#include <string.h>
#include <unistd.h>

#include "pythia/error.h"
#include "pythia/log.h"
#include "pythia/own_file.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define SOCKET_PATH "/run/pythiad/control.sock"
#define SOCKET      "unix:" SOCKET_PATH
#define ADDRESS     "127.0.0.1:4319"

const char *pythia__daemon_address(const struct pythia__daemon_settings *s)
{
    if (s->address)
        return s->address;
    return access(SOCKET_PATH, F_OK) == 0 ? SOCKET : ADDRESS;
}

/* The header with the token of a file; nothing without a file. A failure is logged. */
static int write_token(const char *path, struct pythia_buf *header)
{
    struct pythia_buf token = {0};
    struct pythia_error why = {0};
    char text[1024];
    if (!path)
        return PYTHIA_OK;
    int status = pythia_file_read(path, &token, &why);
    if (status != PYTHIA_OK) {
        pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
        return status;
    }
    while (token.size > 0 && strchr(" \t\r\n", token.bytes[token.size - 1]))
        token.size--;
    pythia_buf_printf(header, "Authorization: Bearer %.*s", (int)token.size, token.bytes);
    pythia_buf_free(&token);
    return pythia_buf_status(header);
}

/* TLS is used only over TCP: a unix socket is protected by its file, and pythiad serves it
 * without. */
int pythia__ask_daemon(const struct pythia__daemon_settings *s, const char *path, const char *body,
                       double timeout_s, bool quiet, struct pythia_web_answer *out)
{
    const char *address = pythia__daemon_address(s);
    bool socket = strncmp(address, "unix:", 5) == 0;
    struct pythia_buf url = {0}, token = {0};
    struct pythia_error why = {0};
    pythia_buf_printf(&url, "%s://%s%s", s->tls_trust && !socket ? "https" : "http",
                      socket ? "localhost" : address, path);
    int status = socket ? pythia_own_socket_check(address + 5, &why) : PYTHIA_OK;
    if (status != PYTHIA_OK) {
        char text[1024];
        pythia_log(PYTHIA_LOG_ERROR, "%s", pythia_error_text(&why, text, sizeof(text)));
        goto out;
    }
    status = write_token(s->token, &token);
    if (status != PYTHIA_OK || (status = pythia_buf_status(&url)) != PYTHIA_OK)
        goto out;
    const struct pythia_web_request request = {
        .url = url.bytes,
        .socket = socket ? address + 5 : NULL,
        .trust = s->tls_trust,
        .headers = {"Content-Type: application/json", token.bytes},
        .body = body,
        .body_size = body ? strlen(body) : 0,
        .timeout_s = timeout_s};
    status = pythia_web_ask(&request, out, &why);
    if (status == PYTHIA_EIO)
        pythia_log(quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_ERROR,
                   "pythiad does not answer (is it running? --address names its address): "
                   "address=%s, reason=%s",
                   address, why.sentence);
out:
    pythia_buf_free(&url);
    pythia_buf_free(&token);
    return status;
}
