/* A file gets its name only when all of it has been written. */
#include "export_sink.h"

#include <errno.h>
#include <sqlite3.h>
#include <time.h>

#include "pythia/flame.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/web.h"
#include "shared/command.h"

#define TIMEOUT_S  30
#define ANSWER_MAX 65536
/* The pauses double from PAUSE_NS on: 51 s in all, as long as a collector may take to start. */
#define TRIES    10
#define PAUSE_NS 100000000

/* ---- a database ---- */

static int report_database(const struct pythia__export_sink *s)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be written: %s", s->output.path,
               sqlite3_errmsg(s->database));
    return PYTHIA_EIO;
}

static int run_export_statements(struct pythia__export_sink *s, const char *statements)
{
    return sqlite3_exec(s->database, statements, NULL, NULL, NULL) == SQLITE_OK
               ? PYTHIA_OK
               : report_database(s);
}

/* The file is new, and is left out if anything fails: a journal would only cost time. */
static int open_export_database(struct pythia__export_sink *s)
{
    const char *name = pythia__output_file_name(&s->output);
    if (!name) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: a database has to be a file: give one with --output FILE",
                   s->output.path);
        return PYTHIA_EIO;
    }
    if (sqlite3_open(name, &s->database) != SQLITE_OK)
        return report_database(s);
    return run_export_statements(s, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;");
}

static int close_database(struct pythia__export_sink *s, int status)
{
    bool closed = sqlite3_close(s->database) == SQLITE_OK;
    s->database = NULL;
    if (status != PYTHIA_OK || closed)
        return status;
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be closed", s->output.path);
    return PYTHIA_EIO;
}

/* ---- a collector ---- */

static void pause_before(int attempt)
{
    int64_t ns = (int64_t)PAUSE_NS << attempt;
    struct timespec left = {ns / 1000000000, ns % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* 1: a collector that is down or busy may take it later. */
static int try_posting(const struct pythia__export_sink *s, struct pythia_text document)
{
    struct pythia_web_answer answer = {0};
    struct pythia_error why = {0};
    struct pythia_web_request request = {.url = s->url,
                                         .headers = {"Content-Type: application/json"},
                                         .body = document.bytes,
                                         .body_size = document.size,
                                         .answer_max = ANSWER_MAX,
                                         .timeout_s = TIMEOUT_S};
    for (size_t i = 0; i < PYTHIA_HEADERS_MAX; i++)
        request.headers[1 + i] = s->headers.lines[i];
    int status = pythia_web_ask(&request, &answer, &why);
    long code = answer.status;
    pythia_buf_free(&answer.body);
    if (status == PYTHIA_ENOMEM)
        return status;
    if (status != PYTHIA_OK || code == 408 || code == 429 || code >= 500) {
        pythia_log(PYTHIA_LOG_WARNING, "%s: not taken yet: status=%ld, reason=%s", s->url, code,
                   why.sentence);
        return 1;
    }
    if (code >= 200 && code <= 299)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "%s: refused: status=%ld", s->url, code);
    return PYTHIA_EIO;
}

static int post_document(const struct pythia__export_sink *s, struct pythia_text document)
{
    for (int attempt = 0; attempt < TRIES; attempt++) {
        if (attempt > 0)
            pause_before(attempt - 1);
        int status = try_posting(s, document);
        if (status <= 0)
            return status;
    }
    pythia_log(PYTHIA_LOG_ERROR, "%s: given up after %d tries", s->url, TRIES);
    return PYTHIA_EIO;
}

/* ---- a picture ---- */

static int draw_picture(struct pythia__export_sink *s)
{
    const struct pythia_flame_options style = {
        .title = "Critical paths", .unit = "ms", .scale = 1e6};
    struct pythia_buf picture = {0};
    int status = pythia_flame_svg(s->flame, &style, &picture);
    if (status == PYTHIA_OK)
        status = pythia__output_add(&s->output, pythia_buf_text(&picture));
    pythia_buf_free(&picture);
    return status;
}

/* ---- any of them ---- */

int pythia__export_sink_begin(struct pythia__export_sink *s, const char *path)
{
    if (s->kind == PYTHIA__SINK_COLLECTOR)
        return PYTHIA_OK;
    int status = pythia__output_begin(&s->output, path);
    if (status != PYTHIA_OK)
        return status;
    if (s->kind == PYTHIA__SINK_PICTURE)
        return pythia_flame_create(&s->flame);
    return s->kind == PYTHIA__SINK_DATABASE ? open_export_database(s) : PYTHIA_OK;
}

int pythia__export_sink_add(struct pythia__export_sink *s, struct pythia_text text)
{
    if (s->kind == PYTHIA__SINK_DATABASE)
        return run_export_statements(s, text.bytes);
    if (s->kind == PYTHIA__SINK_PICTURE)
        return pythia_flame_add_folded(s->flame, text, 0, NULL);
    if (s->kind == PYTHIA__SINK_COLLECTOR)
        return post_document(s, text);
    return pythia__output_add(&s->output, text);
}

int pythia__export_sink_end(struct pythia__export_sink *s, int status)
{
    if (s->kind == PYTHIA__SINK_COLLECTOR)
        return status;
    if (s->kind == PYTHIA__SINK_DATABASE)
        status = close_database(s, status);
    if (status == PYTHIA_OK && s->kind == PYTHIA__SINK_PICTURE)
        status = draw_picture(s);
    pythia_flame_destroy(s->flame);
    return pythia__output_end(&s->output, status);
}
