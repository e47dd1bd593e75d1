#include "pythia/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/buf.h"
#include "pythia/log.h"
#include "pythia/own_file.h"
#include "pythia/status.h"
#include "pythia/text.h"

#define DIGITS ((size_t)2 * PYTHIA_HASH_KEY_BYTES)

static int fail_secret(struct pythia_error *e, const char *path, const char *what)
{
    int number = errno;
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "the secret for hashes %s: %s", what, strerror(number));
}

static int draw_file_secret(struct pythia_hash_key *out, struct pythia_error *e)
{
    ssize_t got = getrandom(out->bytes, sizeof(out->bytes), 0);
    return got == (ssize_t)sizeof(out->bytes)
               ? PYTHIA_OK
               : pythia_error_set(e, PYTHIA_EIO, "there are no random bytes: %s", strerror(errno));
}

/* 1: there is no file. */
static int read_secret_file(const char *path, struct pythia_hash_key *out, struct pythia_error *e)
{
    char text[DIGITS + 2];
    struct stat about;
    uint64_t high, low;
    int file = pythia_own_file_open(path, O_RDONLY, e);
    if (file < 0)
        return errno == ENOENT ? 1 : fail_secret(e, path, "cannot be read");
    ssize_t size = read(file, text, sizeof(text));
    if (size < 0) {
        int status = fail_secret(e, path, "cannot be read");
        close(file);
        return status;
    }
    bool good =
        size >= (ssize_t)DIGITS && fstat(file, &about) == 0 &&
        (size == (ssize_t)DIGITS || (size == (ssize_t)DIGITS + 1 && text[DIGITS] == '\n')) &&
        pythia_text_hex((struct pythia_text){text, DIGITS}, &high, &low);
    close(file);
    if (!good) {
        pythia_error_place(e, path, 0, 0);
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "is not a secret for hashes: expected 32 hexadecimal digits");
    }
    if (about.st_mode & 077)
        pythia_log(PYTHIA_LOG_WARNING, "Other users can read the secret: file=%s", path);
    for (int i = 0; i < 8; i++) {
        out->bytes[i] = (unsigned char)(high >> 8 * (7 - i));
        out->bytes[8 + i] = (unsigned char)(low >> 8 * (7 - i));
    }
    return PYTHIA_OK;
}

/* Written beside it first, and then given its name, unless another process was quicker. */
static int make_secret_file(const char *path, const struct pythia_hash_key *key,
                            struct pythia_error *e)
{
    struct pythia_buf beside = {0};
    char text[DIGITS + 2];
    for (size_t i = 0; i < PYTHIA_HASH_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", key->bytes[i]);
    snprintf(text + DIGITS, 2, "\n");
    pythia_buf_printf(&beside, "%s.%ld.new", path, (long)getpid());
    if (pythia_buf_status(&beside) != PYTHIA_OK) {
        pythia_buf_free(&beside);
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for a secret");
    }
    int status = PYTHIA_OK;
    unlink(beside.bytes); /* of a process that was killed and had the same number */
    int file = open(beside.bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || write(file, text, DIGITS + 1) != (ssize_t)DIGITS + 1 || fsync(file) != 0 ||
        (link(beside.bytes, path) != 0 && errno != EEXIST))
        status = fail_secret(e, path, "cannot be created");
    if (file >= 0) {
        close(file);
        unlink(beside.bytes);
    }
    pythia_buf_free(&beside);
    return status;
}

int pythia_secret_read(const char *path, struct pythia_hash_key *out, struct pythia_error *e)
{
    struct pythia_hash_key key;
    if (!path)
        return draw_file_secret(out, e);
    int status = read_secret_file(path, out, e);
    if (status != 1)
        return status;
    if ((status = draw_file_secret(&key, e)) != PYTHIA_OK ||
        (status = make_secret_file(path, &key, e)) != PYTHIA_OK)
        return status;
    status =
        read_secret_file(path, out, e); /* another process may have been first: its secret counts */
    return status == 1 ? fail_secret(e, path, "has disappeared") : status;
}
