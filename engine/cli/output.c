/* A report is written beside its place and then moved there, so that a full disk, an error or Ctrl-C leaves no half of one
 * behind, and an older report stays as it was. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

#include "pythia/log.h"
#include "pythia/status.h"

static char temporary[4096]; /* of the file being written, for the signal handler; "" if there is none */

static void on_signal(int number)
{
    if (temporary[0])
        unlink(temporary);
    _exit(128 + number);
}

static int write_all(int file, struct pythia_text text)
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

static int complain(const char *path, int number)
{
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be written: %s", path, strerror(number));
    return PYTHIA_EIO;
}

/* Is it a file that can be replaced? A device or a pipe is written to as it is. */
static bool is_replaceable(const char *path)
{
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

static int write_in_place(const char *path, struct pythia_text text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return complain(path, errno);
    int number = write_all(file, text);
    if (close(file) != 0 && number == 0)
        number = errno;
    return number ? complain(path, number) : PYTHIA_OK;
}

static int write_and_move(const char *path, struct pythia_text text)
{
    int size = snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid());
    if (size < 0 || (size_t)size >= sizeof(temporary)) {
        temporary[0] = '\0';
        return complain(path, ENAMETOOLONG);
    }
    struct sigaction action = {.sa_handler = on_signal}, old_interrupt, old_terminate;
    sigaction(SIGINT, &action, &old_interrupt);
    sigaction(SIGTERM, &action, &old_terminate);
    int number = 0, file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        number = errno;
    } else {
        number = write_all(file, text);
        if (number == 0 && fsync(file) != 0 && errno != EINVAL)
            number = errno;
        if (close(file) != 0 && number == 0)
            number = errno;
        if (number == 0 && rename(temporary, path) != 0)
            number = errno;
        if (number != 0)
            unlink(temporary);
    }
    temporary[0] = '\0';
    sigaction(SIGINT, &old_interrupt, NULL);
    sigaction(SIGTERM, &old_terminate, NULL);
    return number ? complain(path, number) : PYTHIA_OK;
}

int pythia__write_output(const char *path, struct pythia_text text)
{
    if (path && strcmp(path, "-") != 0)
        return is_replaceable(path) ? write_and_move(path, text) : write_in_place(path, text);
    int number = write_all(STDOUT_FILENO, text);
    return number ? complain("standard output", number) : PYTHIA_OK;
}
