#define _GNU_SOURCE
#include "allow_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/probe_hit.h"
#include "pythia/status.h"

/* Take the next word off the front of a line; empty: there is none. */
static struct pythia_text take_word(struct pythia_text *line)
{
    size_t at = 0, end;
    while (at < line->size && (line->bytes[at] == ' ' || line->bytes[at] == '\t'))
        at++;
    for (end = at; end < line->size && line->bytes[end] != ' ' && line->bytes[end] != '\t';)
        end++;
    struct pythia_text word = {line->bytes + at, end - at};
    *line = (struct pythia_text){line->bytes + end, line->size - end};
    return word;
}

/* "query__start:1": which argument of which probe; 0: it is nothing of the kind. */
static unsigned read_argument(struct pythia_text word, struct pythia_text *probe)
{
    unsigned number = 0;
    const char *colon = memrchr(word.bytes, ':', word.size);
    if (!colon || colon == word.bytes)
        return 0;
    *probe = (struct pythia_text){word.bytes, (size_t)(colon - word.bytes)};
    for (const char *at = colon + 1; at < word.bytes + word.size; at++) {
        if (*at < '0' || *at > '9')
            return 0;
        number = number * 10 + (unsigned)(*at - '0');
        if (number > PYTHIA_USDT_OPERANDS_MAX)
            return 0;
    }
    return number;
}

static int add_user(struct pythia__allow_list *l, struct pythia_text name, struct pythia_error *e)
{
    char copy[64] = "";
    if (name.size == 0 || name.size >= sizeof(copy))
        return pythia_error_set(e, PYTHIA_EFORMAT, "'user' takes the name of a user");
    if (l->user_count == PYTHIA__USERS_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d users", PYTHIA__USERS_MAX);
    memcpy(copy, name.bytes, name.size);
    const struct passwd *user = getpwnam(copy);
    if (!user)
        return pythia_error_set(e, PYTHIA_EFORMAT, "there is no user '%s'", copy);
    l->users[l->user_count++] = user->pw_uid;
    return PYTHIA_OK;
}

static int add_line(struct pythia__allow_list *l, struct pythia_text line, struct pythia_error *e)
{
    struct pythia_text rest = line, probe, word = take_word(&rest);
    if (word.size == 0)
        return PYTHIA_OK;
    if (PYTHIA_TEXT_IS(word, "user"))
        return add_user(l, take_word(&rest), e);
    if (word.bytes[0] != '/' || word.size >= PATH_MAX)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "a line is 'user NAME' or begins with the full path of a program");
    for (struct pythia_text w = take_word(&rest); w.size > 0; w = take_word(&rest))
        if (read_argument(w, &probe) == 0)
            return pythia_error_set(e, PYTHIA_EFORMAT,
                                    "an argument that is a text is PROBE:NUMBER, from 1 to %d",
                                    PYTHIA_USDT_OPERANDS_MAX);
    if (l->line_count == PYTHIA__ALLOWED_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d programs", PYTHIA__ALLOWED_MAX);
    size_t indent = (size_t)(word.bytes - line.bytes);
    l->lines[l->line_count++] = (struct pythia_text){word.bytes, line.size - indent};
    return PYTHIA_OK;
}

int pythia__allow_list_parse(struct pythia__allow_list *out, const char *bytes, size_t size,
                             struct pythia_error *e)
{
    out->line_count = out->user_count = 0;
    if (size > PYTHIA__ALLOW_LIST_BYTES)
        return pythia_error_set(e, PYTHIA_ELIMIT, "longer than %d bytes", PYTHIA__ALLOW_LIST_BYTES);
    if (size > 0)
        memcpy(out->bytes, bytes, size);
    out->bytes[size] = '\0';
    uint64_t number = 1;
    for (char *at = out->bytes, *end = at + size; at < end; number++) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end ? line_end : end;
        char *comment = memchr(at, '#', (size_t)(line_end - at));
        struct pythia_text line = {at, (size_t)((comment ? comment : line_end) - at)};
        int status = add_line(out, line, e);
        if (status != PYTHIA_OK) {
            pythia_error_place(e, "", number, 0);
            out->line_count = out->user_count = 0;
            return status;
        }
        at = line_end + (line_end < end);
    }
    return PYTHIA_OK;
}

/* Files and folders that others than root can change are as good as an invitation to probe any
 * program: the path would then name what they like. */
static bool is_trusted(const struct stat *about)
{
    return about->st_uid == 0 && (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int pythia__trusted_open(const char *path, struct pythia_error *e)
{
    char real[PATH_MAX];
    struct stat about;
    if (!realpath(path, real))
        return pythia_error_set(e, PYTHIA_EIO, "%s: %s", path, strerror(errno));
    if (strcmp(path, real) != 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s leads to %s: name that", path, real);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s: %s", path, strerror(errno));
    bool trusted = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && is_trusted(&about);
    for (char *slash = strrchr(real, '/'); trusted && slash; slash = strrchr(real, '/')) {
        slash[slash == real] = '\0'; /* the last one is the root folder itself */
        trusted = stat(real, &about) == 0 && is_trusted(&about);
        if (slash == real)
            break;
    }
    if (trusted)
        return file;
    close(file);
    return pythia_error_set(e, PYTHIA_EIO,
                            "%s, or a folder above it, does not belong to root alone", path);
}

int pythia__allow_list_read(struct pythia__allow_list *out, const char *path,
                            struct pythia_error *e)
{
    static char bytes[PYTHIA__ALLOW_LIST_BYTES + 1];
    size_t size = 0;
    ssize_t got = 0;
    int file = pythia__trusted_open(path, e);
    if (file < 0)
        return file;
    while (size < sizeof(bytes) && (got = read(file, bytes + size, sizeof(bytes) - size)) > 0)
        size += (size_t)got;
    close(file);
    if (got < 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s: cannot be read", path);
    int status = pythia__allow_list_parse(out, bytes, size, e);
    if (status != PYTHIA_OK)
        pythia_error_place(e, path, 0, 0);
    return status;
}

bool pythia__allow_list_has_user(const struct pythia__allow_list *l, uid_t user)
{
    for (size_t i = 0; i < l->user_count; i++)
        if (l->users[i] == user)
            return true;
    return user == 0;
}

bool pythia__allow_list_has_path(const struct pythia__allow_list *l, struct pythia_text path)
{
    for (size_t i = 0; i < l->line_count; i++) {
        struct pythia_text rest = l->lines[i];
        if (pythia_text_equal(take_word(&rest), path))
            return true;
    }
    return false;
}

uint16_t pythia__allow_list_texts(const struct pythia__allow_list *l, struct pythia_text path,
                                  struct pythia_text probe)
{
    unsigned texts = 0;
    int count = 0;
    for (size_t i = 0; i < l->line_count; i++) {
        struct pythia_text named, rest = l->lines[i];
        if (!pythia_text_equal(take_word(&rest), path))
            continue;
        for (struct pythia_text w = take_word(&rest); w.size > 0; w = take_word(&rest)) {
            unsigned argument = read_argument(w, &named);
            bool is_new = argument && !(texts >> (argument - 1) & 1);
            if (is_new && pythia_text_equal(named, probe) && count++ < PYTHIA_PROBE_TEXTS_MAX)
                texts |= 1u << (argument - 1);
        }
    }
    return (uint16_t)texts;
}
