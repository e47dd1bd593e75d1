/* Output is written to a file beside its place and then moved there, so that a full disk, an
 * error or Ctrl-C leaves no half of it behind, and an older file stays as it was. What goes to
 * standard output piece by piece is kept in a file without a name first. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define COPY_BYTES ((size_t)64 * 1024)

static char temporary[4096]; /* of the file being written, for the signal handler; "": none */

static volatile sig_atomic_t shows_progress; /* a line on a terminal, without its end */

static void end_on_signal(int number)
{
    static const char erase[] = "\r\033[K";
    if (shows_progress && write(STDERR_FILENO, erase, sizeof(erase) - 1) < 0)
        shows_progress = 0;
    if (temporary[0])
        unlink(temporary);
    _exit(128 + number);
}

void pythia__output_clears_progress(void)
{
    struct sigaction action = {.sa_handler = end_on_signal};
    shows_progress = 1;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int pythia__write_bytes(int file, struct pythia_text text)
{
    while (text.size > 0) {
        ssize_t written = write(file, text.bytes, text.size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        text.bytes += written;
        text.size -= (size_t)written;
    }
    return 0;
}

static int report_output(const char *path, int number)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be written: %s", path, strerror(number));
    return PYTHIA_EIO;
}

static bool is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* Is it a file that can be replaced? A device or a pipe is written to as it is. */
static bool is_replaceable(const char *path)
{
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

/* A file without a name, for what goes to a place that cannot be taken back. */
static int open_nameless(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof(path), "%s/pythia-XXXXXX", folder && folder[0] ? folder : "/tmp");
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    return file;
}

static int open_beside(const char *path)
{
    int size = snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof(temporary)) {
        temporary[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* The temporary file for pieces of standard output; its disk may be full, too. */
static const char *kept_at(const struct pythia__output *o)
{
    return o->copies ? "the temporary file for standard output (TMPDIR, or /tmp)" : o->path;
}

int pythia__output_begin(struct pythia__output *o, const char *path)
{
    struct sigaction action = {.sa_handler = end_on_signal};
    *o = (struct pythia__output){.path = is_stdout(path) ? "standard output" : path,
                                 .replaces = !is_stdout(path) && is_replaceable(path),
                                 .copies = is_stdout(path)};
    sigaction(SIGINT, &action, &o->interrupt);
    sigaction(SIGTERM, &action, &o->terminate);
    o->file = o->replaces ? open_beside(path)
              : o->copies ? open_nameless()
                          : open(path, O_WRONLY | O_CLOEXEC);
    if (o->file >= 0)
        return PYTHIA_OK;
    o->number = errno;
    return report_output(kept_at(o), o->number);
}

const char *pythia__output_file_name(const struct pythia__output *o)
{
    return o->replaces ? temporary : NULL;
}

int pythia__output_add(struct pythia__output *o, struct pythia_text text)
{
    if (o->number == 0)
        o->number = pythia__write_bytes(o->file, text);
    if (o->number == 0 || o->told)
        return o->number == 0 ? PYTHIA_OK : PYTHIA_EIO;
    o->told = true;
    return report_output(kept_at(o), o->number);
}

static int copy_to_stdout(int file)
{
    static char piece[COPY_BYTES];
    if (lseek(file, 0, SEEK_SET) != 0)
        return errno;
    for (;;) {
        ssize_t size = read(file, piece, sizeof(piece));
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return size < 0 ? errno : 0;
        int number = pythia__write_bytes(STDOUT_FILENO, (struct pythia_text){piece, (size_t)size});
        if (number != 0)
            return number;
    }
}

/* A file that is replaced gets its name only when all is written, and on disk: a failure leaves the
 * old one. */
int pythia__output_end(struct pythia__output *o, int status)
{
    int number = o->number;
    bool keep = status == PYTHIA_OK;
    if (o->file >= 0) {
        if (keep && number == 0 && o->replaces && fsync(o->file) != 0 && errno != EINVAL)
            number = errno;
        if (keep && number == 0 && o->copies)
            number = copy_to_stdout(o->file);
        if (close(o->file) != 0 && number == 0)
            number = errno;
    }
    if (o->replaces && keep && number == 0 && rename(temporary, o->path) != 0)
        number = errno;
    if (o->replaces && temporary[0] && (!keep || number != 0))
        unlink(temporary);
    temporary[0] = '\0';
    sigaction(SIGINT, &o->interrupt, NULL);
    sigaction(SIGTERM, &o->terminate, NULL);
    if (number != 0 && number != o->number)
        report_output(o->path, number);
    return !keep || number == 0 ? status : PYTHIA_EIO;
}

int pythia__write_output(const char *path, struct pythia_text text)
{
    if (is_stdout(path)) {
        int number = pythia__write_bytes(STDOUT_FILENO, text);
        return number ? report_output("standard output", number) : PYTHIA_OK;
    }
    struct pythia__output o;
    int status = pythia__output_begin(&o, path);
    if (status != PYTHIA_OK)
        return pythia__output_end(&o, status);
    return pythia__output_end(&o, pythia__output_add(&o, text));
}

int pythia__write_text(const char *path, int status, struct pythia_buf *text)
{
    if (status == PYTHIA_OK)
        status = pythia__write_output(path, pythia_buf_text(text));
    pythia_buf_free(text);
    return status;
}
