/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION    1
#define LINE_BYTES 256
#define FILE_PATH  (PYTHIA__PATH + 80)

void pythia__random_bytes(void *to, size_t bytes)
{
    unsigned char *at = to;
    ssize_t got = getrandom(at, bytes, GRND_NONBLOCK);
    if (got == (ssize_t)bytes)
        return;
    /* Early in a boot, or in a sandbox: the time, the process and the place in memory differ. */
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_sec * 1000000007U ^ (uint64_t)now.tv_nsec << 32 ^
                     (uint64_t)getpid() << 20 ^ (uint64_t)(uintptr_t)&state;
    for (size_t i = 0; i < bytes; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        at[i] = (unsigned char)(state >> 56);
    }
}

/* ---- the directory ---- */

static int check_directory(const char *path, int reader, struct pythia__directory *out, char *why)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return pythia__why(why, -errno, "%.150s cannot be made: %s", path, strerror(errno));
    struct stat about;
    if (lstat(path, &about) != 0)
        return pythia__why(why, -errno, "%.150s cannot be looked at: %s", path, strerror(errno));
    if (!S_ISDIR(about.st_mode))
        return pythia__why(why, -ENOTDIR, "%.150s is not a directory", path);
    uid_t user = geteuid();
    if (about.st_uid != user && about.st_uid != 0 && !(reader && user == 0))
        return pythia__why(why, -EPERM, "%.150s belongs to user %lu", path,
                           (unsigned long)about.st_uid);
    if (about.st_mode & (S_IWGRP | S_IWOTH))
        return pythia__why(why, -EPERM, "%.150s may be written to by others than its owner", path);
    out->owner = about.st_uid;
    snprintf(out->path, sizeof(out->path), "%s", path);
    return 0;
}

#define SHARED "/dev/shm" /* sticky: what is in it can be made by everybody, not removed */

/* The directory of this user with a name that nobody can guess: the first by name, if several were
 * made at once. 0: there is none. */
static int find_own(char path[PYTHIA__PATH])
{
    char prefix[40], first[256] = "";
    DIR *folder = opendir(SHARED);
    snprintf(prefix, sizeof(prefix), "pythia-%lu-", (unsigned long)geteuid());
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        struct stat about;
        if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 || strlen(e->d_name) > 80 ||
            (first[0] && strcmp(first, e->d_name) < 0))
            continue;
        snprintf(path, PYTHIA__PATH, SHARED "/%.80s", e->d_name);
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
            !(about.st_mode & (S_IWGRP | S_IWOTH)))
            snprintf(first, sizeof(first), "%.80s", e->d_name);
    }
    if (folder)
        closedir(folder);
    snprintf(path, PYTHIA__PATH, SHARED "/%s", first);
    return first[0] != '\0';
}

/* Another user can make the usual directory first: then this user has one of another name, which
 * programs and their reader find by whose it is. */
static int find_instead(int reader, struct pythia__directory *out, char *why)
{
    char path[PYTHIA__PATH];
    if (!find_own(path)) {
        snprintf(path, sizeof(path), SHARED "/pythia-%lu-XXXXXX", (unsigned long)geteuid());
        if (!mkdtemp(path))
            return pythia__why(why, -errno, "no directory can be made in " SHARED ": %s",
                               strerror(errno));
        if (!find_own(path))
            return pythia__why(why, -ENOENT, "%.150s has gone again", path);
    }
    return check_directory(path, reader, out, why);
}

static int find_shared(int reader, struct pythia__directory *out, char *why)
{
    char path[PYTHIA__PATH];
    snprintf(path, sizeof(path), SHARED "/pythia-%lu", (unsigned long)geteuid());
    int status = check_directory(path, reader, out, why);
    return status == -EPERM || status == -ENOTDIR ? find_instead(reader, out, why) : status;
}

int pythia__directory_find(const char *wanted, int reader, struct pythia__directory *out, char *why)
{
    char path[PYTHIA__PATH];
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (!wanted || !*wanted)
        wanted = secure_getenv("PYTHIA_DIRECTORY");
    if (wanted && *wanted) {
        if (strlen(wanted) >= sizeof(path))
            return pythia__why(why, -ENAMETOOLONG, "the path of the directory is too long");
        return check_directory(wanted, reader, out, why);
    }
    if (runtime && *runtime == '/' && strlen(runtime) < sizeof(path) - 16) {
        snprintf(path, sizeof(path), "%.*s/pythia", (int)sizeof(path) - 16, runtime);
        if (check_directory(path, reader, out, why) == 0)
            return 0; /* else the session is another user's, as under sudo */
    }
    snprintf(path, sizeof(path), "/run/user/%lu/pythia", (unsigned long)geteuid());
    if (check_directory(path, reader, out, why) == 0)
        return 0; /* else there is no session, as in a container */
    return find_shared(reader, out, why);
}

static void path_of(const struct pythia__directory *d, const char *name, char path[FILE_PATH])
{
    snprintf(path, FILE_PATH, "%s/%.70s", d->path, name);
}

int pythia__directory_lock(const struct pythia__directory *d, const char *name, int patience_ms)
{
    char path[FILE_PATH];
    path_of(d, name, path);
    struct stat about;
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file < 0)
        return -errno;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink != 1) {
        close(file); /* in a user's directory, root would lock another file of root's */
        return -EBADMSG;
    }
    for (;; patience_ms--) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return file;
        if (patience_ms <= 0)
            break;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    close(file);
    return -EBUSY;
}

const char *pythia__directory_lock_fault(int status)
{
    return status == -EBADMSG ? "it is not a plain file, or has several names"
           : status == -ELOOP ? "it is a symbolic link"
                              : strerror(-status);
}

/* ---- its files ---- */

/* Identifies the boot and the IPC namespace; "-" and 0 without /proc. */
static void describe_machine(char boot[40], uint64_t *namespace)
{
    char text[64] = "";
    snprintf(boot, 40, "-");
    *namespace = 0;
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t got = read(file, text, 36);
        close(file);
        if (got == 36)
            snprintf(boot, 40, "%.36s", text);
    }
    ssize_t size = readlink("/proc/self/ns/ipc", text, sizeof(text) - 1);
    if (size > 5) {
        text[size] = '\0';
        *namespace = strtoull(text + 5, NULL, 10); /* ipc:[4026531839] */
    }
}

/* The file gets its name when it is complete, so that no reader sees a half of it. Without
 * `replace` a link is made, which fails if the name is taken. */
int pythia__entry_write(const struct pythia__directory *d, const char *name,
                        const struct pythia__entry *entry, int replace)
{
    char path[FILE_PATH], temporary[FILE_PATH], hidden[80], line[LINE_BYTES], boot[40];
    uint64_t namespace, number;
    describe_machine(boot, &namespace);
    pythia__random_bytes(&number, sizeof(number));
    int size = snprintf(line, sizeof(line),
                        "pythia-%s %d %d %016" PRIx64 "%016" PRIx64 " %d %s %" PRIu64 "\n",
                        entry->kind, VERSION, entry->segment, entry->id_high, entry->id_low,
                        entry->pid, boot, namespace);
    snprintf(hidden, sizeof(hidden), ".new-%016" PRIx64, number);
    path_of(d, name, path);
    path_of(d, hidden, temporary);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    int status = write(file, line, (size_t)size) == size ? 0 : -EIO;
    close(file);
    if (status == 0 && (replace ? rename(temporary, path) : link(temporary, path)) != 0)
        status = -errno;
    if (status != 0 || !replace)
        unlink(temporary);
    return status;
}

void pythia__entry_remove(const struct pythia__directory *d, const char *name)
{
    char path[FILE_PATH];
    path_of(d, name, path);
    unlink(path);
}

/* The next word of a line, "" at its end. */
static char *next_word(char **rest)
{
    char *word = *rest, *end = strchr(word, ' ');
    *rest = end ? end + 1 : word + strlen(word);
    if (end)
        *end = '\0';
    return word;
}

static int parse_directory_number(const char *word, uint64_t most, uint64_t *out)
{
    uint64_t number = 0;
    if (!*word)
        return -EBADMSG;
    for (; *word; word++) {
        if (*word < '0' || *word > '9' || number > most / 10)
            return -EBADMSG;
        number = number * 10 + (uint64_t)(*word - '0');
    }
    *out = number;
    return number <= most ? 0 : -EBADMSG;
}

static int read_segment_id(const char *word, struct pythia__entry *out)
{
    uint64_t halves[2] = {0, 0};
    if (strlen(word) != 32)
        return -EBADMSG;
    for (int i = 0; i < 32; i++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, word[i]);
        if (!digit)
            return -EBADMSG;
        halves[i / 16] = halves[i / 16] << 4 | (uint64_t)(digit - digits);
    }
    out->id_high = halves[0];
    out->id_low = halves[1];
    return 0;
}

/* The words of a line into *out. */
static int parse_entry(char *line, const char *kind, struct pythia__entry *out, char *why)
{
    char boot[40];
    uint64_t namespace, version = 0, segment = 0, pid = 0, theirs = 0;
    char *rest = line, *word = next_word(&rest);
    if (strncmp(word, "pythia-", 7) != 0 || strcmp(word + 7, kind) != 0)
        return pythia__why(why, -EBADMSG, "does not say that it is a %s", kind);
    if (parse_directory_number(next_word(&rest), INT_MAX, &version) != 0 || version != VERSION)
        return pythia__why(why, -EPROTO, "is of another version than %d", VERSION);
    struct pythia__entry entry = {.kind = kind};
    int broken = parse_directory_number(next_word(&rest), INT_MAX, &segment) != 0 ||
                 read_segment_id(next_word(&rest), &entry) != 0 ||
                 parse_directory_number(next_word(&rest), INT_MAX, &pid) != 0;
    word = next_word(&rest);
    if (broken || parse_directory_number(next_word(&rest), UINT64_MAX / 16, &theirs) != 0 || *rest)
        return pythia__why(why, -EBADMSG, "is not such a line as it should be");
    describe_machine(boot, &namespace);
    if (strcmp(boot, word) != 0)
        return pythia__why(why, -ESTALE, "is of before the machine was started");
    if (namespace != theirs)
        return pythia__why(why, -EXDEV, "is of another IPC namespace (%" PRIu64 ")", theirs);
    entry.segment = (int)segment;
    entry.pid = (int)pid;
    *out = entry;
    return 0;
}

/* The directory may be shared: a file that others own or may write could lead a reader to memory of
 * their choice. */
int pythia__entry_read(const struct pythia__directory *d, const char *name, const char *kind,
                       struct pythia__entry *out, char *why)
{
    char path[FILE_PATH], line[LINE_BYTES + 1];
    path_of(d, name, path);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return pythia__why(why, -errno, "cannot be opened: %s", strerror(errno));
    struct stat about;
    ssize_t size = -1;
    int status = fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? 0 : -EBADMSG;
    if (status != 0)
        pythia__why(why, status, "is not a plain file");
    else if (about.st_uid != d->owner && about.st_uid != 0)
        status = pythia__why(why, -EPERM, "belongs to user %lu", (unsigned long)about.st_uid);
    else if (about.st_mode & (S_IWGRP | S_IWOTH))
        status = pythia__why(why, -EPERM, "may be written to by others than its owner");
    else
        size = read(file, line, sizeof(line));
    close(file);
    if (status != 0)
        return status;
    if (size <= 0 || size > LINE_BYTES || line[size - 1] != '\n' ||
        memchr(line, '\0', (size_t)size) || memchr(line, '\n', (size_t)size - 1))
        return pythia__why(why, -EBADMSG, "is cut short, or not one line");
    line[size - 1] = '\0';
    return parse_entry(line, kind, out, why);
}
