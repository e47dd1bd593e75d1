#include "pythia/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pythia/error.h"
#include "pythia/shown_text.h"

static const char *log_program = "pythia";
static enum pythia_log_level log_level = PYTHIA_LOG_INFO;
static bool log_never_waits;
static atomic_ulong lines_left_out;

void pythia_log_setup(const char *program, enum pythia_log_level level)
{
    log_program = program;
    log_level = level;
}

void pythia_log_never_wait(void)
{
    log_never_waits = true;
}

/* Names from traces may hold what a terminal acts on: a line is as long with marks in its place. */
static void blank_unseen(char *line, size_t size)
{
    struct pythia_text rest = {line, size};
    struct pythia_glyph glyph;
    while (rest.size > 0) {
        char *at = line + (rest.bytes - line);
        pythia_glyph_next(&rest, &glyph);
        size_t taken = (size_t)(rest.bytes - at);
        if (glyph.size != taken || memcmp(glyph.bytes, at, taken) != 0)
            memset(at, '?', taken);
    }
}

/* A pipe takes a page where it takes anything, and so does a socket: no line is longer. */
static bool would_wait(void)
{
    struct pollfd to = {.fd = STDERR_FILENO, .events = POLLOUT};
    return log_never_waits && poll(&to, 1, 0) == 0;
}

static void write_line(const char *line, size_t size)
{
    char text[128];
    if (would_wait()) {
        atomic_fetch_add(&lines_left_out, 1);
        return;
    }
    unsigned long lost = atomic_exchange(&lines_left_out, 0);
    int told = lost ? snprintf(text, sizeof(text),
                               "%.32s: warning: Left lines of the log out, because nobody read it: "
                               "lines=%lu\n",
                               log_program, lost)
                    : 0;
    if ((told > 0 && write(STDERR_FILENO, text, (size_t)told) < 0) ||
        write(STDERR_FILENO, line, size) < 0)
        return; /* nobody is left to report it to */
}

void pythia_log(enum pythia_log_level level, const char *format, ...)
{
    static const char *const marks[] = {
        [PYTHIA_LOG_ERROR] = "error: ",
        [PYTHIA_LOG_WARNING] = "warning: ",
        [PYTHIA_LOG_INFO] = "",
        [PYTHIA_LOG_DEBUG] = "debug: ",
    };
    if (level > log_level)
        return;
    char line[1024];
    int head = snprintf(line, sizeof(line), "%s: %s", log_program, marks[level]);
    size_t size = head < 0 ? 0 : (size_t)head;
    if (size > sizeof(line) - 1) /* the name of the program alone was too long */
        size = sizeof(line) - 1;
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + size, sizeof(line) - size, format, args);
    va_end(args);
    size += body < 0 ? 0 : (size_t)body;
    if (size > sizeof(line) - 2)
        size = sizeof(line) - 2;
    blank_unseen(line, size);
    line[size++] = '\n';
    write_line(line, size);
}

void pythia_log_error(enum pythia_log_level level, const struct pythia_error *e)
{
    char text[1024];
    pythia_log(level, "%s", pythia_error_text(e, text, sizeof(text)));
}
