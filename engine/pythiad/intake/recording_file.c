/* An earlier recording is put aside, not added to: its last body may have been cut off when pythiad
 * was killed, and what is behind it could not be read. */
#define _XOPEN_SOURCE 700 /* O_NOFOLLOW */
#include "recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/status.h"

#define HEAD_MAX 64
#define SAME_MAX 1000 /* recordings of one second */

static int fail_recording(struct pythia_error *e, const char *path, const char *why)
{
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "cannot be made to record into: %s", why);
}

/* Is the file a recording, or empty? */
static bool is_recording(const char *path, const char *head)
{
    char begin[HEAD_MAX];
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    size_t size = head ? strlen(head) : 0;
    ssize_t got = read(file, begin, size);
    bool good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && got >= 0 &&
                memcmp(begin, head ? head : "", (size_t)got) == 0;
    close(file);
    return good;
}

/* Give what is there a name of its own. 0, or the errno of what failed. */
static int put_recording_aside(const char *path)
{
    struct pythia_buf to = {0};
    struct stat about, other;
    struct tm when;
    char text[32];
    int number = EEXIST;
    if (lstat(path, &about) != 0 || !gmtime_r(&about.st_mtime, &when))
        return errno;
    strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &when);
    for (int same = 1; same <= SAME_MAX && number == EEXIST; same++) {
        pythia_buf_clear(&to);
        pythia_buf_printf(&to, "%s.%s", path, text);
        if (same > 1)
            pythia_buf_printf(&to, "-%d", same);
        if (pythia_buf_status(&to) != PYTHIA_OK)
            number = ENOMEM;
        else if (lstat(to.bytes, &other) != 0)
            number = rename(path, to.bytes) == 0 ? 0 : errno;
    }
    if (number == 0)
        pythia_log(PYTHIA_LOG_INFO, "Renamed an earlier recording: file=%s, as=%s", path, to.bytes);
    pythia_buf_free(&to);
    return number;
}

int pythia__recording_open(const char *path, const char *head, struct pythia_error *e)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) {
        if (!is_recording(path, head))
            return fail_recording(e, path,
                                  "a file that is not a recording exists there and was left alone");
        int number = put_recording_aside(path);
        if (number != 0)
            return fail_recording(e, path, strerror(number));
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return file >= 0 ? file : fail_recording(e, path, strerror(errno));
}
