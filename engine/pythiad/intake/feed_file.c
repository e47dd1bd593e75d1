#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "feed.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define WAIT_MS 100

/* ---- a file that grows ---- */

struct follow {
    struct pythia__feed_reader reader;
    char *path; /* owned */
    int file;
    off_t at;
    dev_t device;
    ino_t inode;
};

/* If it is a pipe, neither this nor a read waits for a program that writes: nobody could end the
 * thread. */
static int open_again(struct follow *f)
{
    struct stat about;
    int file = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &about) != 0) {
        if (file >= 0)
            close(file);
        return -1;
    }
    if (f->file >= 0)
        close(f->file);
    f->file = file;
    f->at = 0;
    f->device = about.st_dev;
    f->inode = about.st_ino;
    return 0;
}

/* At the end: was the file cut short, or is there another one of that name? */
static void check_for_more(struct follow *f)
{
    struct stat open_one, named_one;
    if (fstat(f->file, &open_one) == 0 && S_ISREG(open_one.st_mode) && open_one.st_size < f->at) {
        pythia_log(PYTHIA_LOG_WARNING,
                   "A file was truncated; reading it from the beginning: file=%s", f->path);
        f->at = 0;
        (void)lseek(f->file, 0, SEEK_SET);
        return;
    }
    if (stat(f->path, &named_one) == 0 &&
        (named_one.st_dev != f->device || named_one.st_ino != f->inode) && open_again(f) == 0)
        pythia_log(PYTHIA_LOG_INFO, "A file was replaced; reading the new one: file=%s", f->path);
}

static int read_follow(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got,
                       bool *ended, struct pythia_error *e)
{
    struct follow *f = (struct follow *)r;
    *ended = false;
    *got = 0;
    ssize_t size = read(f->file, to, capacity);
    if (size < 0 && errno != EINTR && errno != EAGAIN)
        return pythia_error_set(e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
    if (size > 0) {
        f->at += size;
        *got = (size_t)size;
        return PYTHIA_OK;
    }
    poll(NULL, 0, WAIT_MS);
    check_for_more(f);
    return PYTHIA_OK;
}

static void destroy_follow(struct pythia__feed_reader *r)
{
    struct follow *f = (struct follow *)r;
    if (f->file >= 0)
        close(f->file);
    pythia_free(f->path);
    pythia_free(f);
}

int pythia__follow_create(const char *path, struct pythia__feed_reader **out,
                          struct pythia_error *e)
{
    struct follow *f = pythia_calloc(1, sizeof(*f));
    if (!f)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory to start");
    *f = (struct follow){.reader = {read_follow, destroy_follow, false, false}, .file = -1};
    f->path = pythia_strndup(path, strlen(path));
    if (!f->path || open_again(f) != 0) {
        int number = f->path ? errno : ENOMEM;
        destroy_follow(&f->reader);
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EIO, "cannot be followed: %s", strerror(number));
    }
    *out = &f->reader;
    return PYTHIA_OK;
}

/* ---- a connection ---- */

struct connection {
    struct pythia__feed_reader reader;
    int socket;
};

static int read_connection(struct pythia__feed_reader *r, void *to, size_t capacity, size_t *got,
                           bool *ended, struct pythia_error *e)
{
    struct connection *c = (struct connection *)r;
    struct pollfd wait = {.fd = c->socket, .events = POLLIN};
    *got = 0;
    if (poll(&wait, 1, WAIT_MS) <= 0)
        return PYTHIA_OK;
    ssize_t size = read(c->socket, to, capacity);
    if (size < 0 && errno != EINTR && errno != EAGAIN)
        return pythia_error_set(e, PYTHIA_EIO, "the connection is broken: %s", strerror(errno));
    *ended = size == 0;
    *got = size > 0 ? (size_t)size : 0;
    return PYTHIA_OK;
}

static void destroy_connection(struct pythia__feed_reader *r)
{
    struct connection *c = (struct connection *)r;
    close(c->socket);
    pythia_free(c);
}

int pythia__connection_create(int socket, struct pythia__feed_reader **out)
{
    struct connection *c = pythia_calloc(1, sizeof(*c));
    if (!c)
        return PYTHIA_ENOMEM;
    *c = (struct connection){{read_connection, destroy_connection, false, true}, socket};
    *out = &c->reader;
    return PYTHIA_OK;
}
