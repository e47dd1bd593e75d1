#define _DEFAULT_SOURCE
#include "pythia/header_file.h"

#include <string.h>
#include <strings.h>

#include "pythia/mem.h"
#include "pythia/own_file.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define FILE_MAX ((size_t)64 * 1024)

/* Set by whoever sends a body: another value would make it unreadable. */
static const char *const reserved[] = {"Content-Type", "Content-Encoding", "Content-Length",
                                       "Transfer-Encoding", "Host"};

/* RFC 9110, section 5.1: a name is a token. */
static size_t count_name_bytes(const char *line)
{
    return strspn(line, "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* NULL, or what is wrong with a line. Its value must not be quoted in messages. */
static const char *check_header(const char *line)
{
    size_t size = count_name_bytes(line);
    if (size == 0 || line[size] != ':')
        return "is no header: write \"Name: value\"";
    for (const char *at = line + size + 1; *at; at++)
        if ((unsigned char)*at < ' ' && *at != '\t')
            return "has a control character in its value";
    if (line[size + 1 + strspn(line + size + 1, " \t")] == '\0')
        return "has no value";
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strlen(reserved[i]) == size && strncasecmp(line, reserved[i], size) == 0)
            return "names a header that follows from the body";
    return NULL;
}

static int split_headers(const char *path, struct pythia_headers *h, struct pythia_error *e)
{
    size_t count = 0;
    uint64_t number = 1;
    for (char *line = h->text; line; number++) {
        char *end = strchr(line, '\n'), *next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        size_t size = strlen(line);
        while (size > 0 && strchr(" \t\r", line[size - 1]))
            line[--size] = '\0';
        const char *wrong = size == 0 || line[0] == '#' ? NULL : check_header(line);
        if (size > 0 && line[0] != '#' && !wrong && count == PYTHIA_HEADERS_MAX)
            wrong = "is one header too many";
        if (wrong) {
            pythia_error_set(e, PYTHIA_EUSAGE, "%s", wrong);
            pythia_error_place(e, path, number, 0);
            return PYTHIA_EUSAGE;
        }
        if (size > 0 && line[0] != '#')
            h->lines[count++] = line;
        line = next;
    }
    return PYTHIA_OK;
}

int pythia_headers_read(const char *path, struct pythia_headers *out, struct pythia_error *e)
{
    struct pythia_headers h = {0};
    struct pythia_buf bytes = {0};
    int status = pythia_own_secret_check(path, "headers", e);
    if (status == PYTHIA_OK)
        status = pythia_file_read(path, &bytes, e);
    if (status == PYTHIA_OK &&
        (bytes.size > FILE_MAX || memchr(bytes.bytes ? bytes.bytes : "", 0, bytes.size))) {
        status = pythia_error_set(e, PYTHIA_EUSAGE, "is larger than 64 KiB, or no text");
        pythia_error_place(e, path, 0, 0);
    }
    if (status == PYTHIA_OK) {
        h.text_size = bytes.size;
        h.text = pythia_strndup(bytes.bytes ? bytes.bytes : "", bytes.size);
        status = h.text ? split_headers(path, &h, e) : PYTHIA_ENOMEM;
    }
    if (bytes.bytes)
        explicit_bzero(bytes.bytes, bytes.size);
    pythia_buf_free(&bytes);
    if (status != PYTHIA_OK) {
        pythia_headers_free(&h);
        return status;
    }
    *out = h;
    return PYTHIA_OK;
}

void pythia_headers_free(struct pythia_headers *h)
{
    if (h->text)
        explicit_bzero(h->text, h->text_size);
    pythia_free(h->text);
    *h = (struct pythia_headers){0};
}
