#define _GNU_SOURCE
#include "pythia/allow_list.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

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

static int add_user(struct pythia_allow_list *l, struct pythia_text name, struct pythia_error *e)
{
    char copy[64] = "";
    if (name.size == 0 || name.size >= sizeof(copy))
        return pythia_error_set(e, PYTHIA_EFORMAT, "'user' takes the name of a user");
    if (l->user_count == PYTHIA_ALLOW_USERS_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d users", PYTHIA_ALLOW_USERS_MAX);
    memcpy(copy, name.bytes, name.size);
    const struct passwd *user = getpwnam(copy);
    if (!user)
        return pythia_error_set(e, PYTHIA_EFORMAT, "there is no user '%s'", copy);
    l->users[l->user_count++] = user->pw_uid;
    return PYTHIA_OK;
}

static int add_line(struct pythia_allow_list *l, struct pythia_text line, struct pythia_error *e)
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
        if (!PYTHIA_TEXT_IS(w, "functions") && read_argument(w, &probe) == 0)
            return pythia_error_set(e, PYTHIA_EFORMAT,
                                    "after a path there is 'functions', or PROBE:NUMBER, from 1 to "
                                    "%d, for an argument that is a text",
                                    PYTHIA_USDT_OPERANDS_MAX);
    if (l->line_count == PYTHIA_ALLOWED_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d programs", PYTHIA_ALLOWED_MAX);
    size_t indent = (size_t)(word.bytes - line.bytes);
    l->lines[l->line_count++] = (struct pythia_text){word.bytes, line.size - indent};
    return PYTHIA_OK;
}

int pythia_allow_list_parse(struct pythia_allow_list *out, const char *bytes, size_t size,
                            struct pythia_error *e)
{
    out->line_count = out->user_count = 0;
    if (size > PYTHIA_ALLOW_LIST_BYTES)
        return pythia_error_set(e, PYTHIA_ELIMIT, "longer than %d bytes", PYTHIA_ALLOW_LIST_BYTES);
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

bool pythia_allow_list_has_user(const struct pythia_allow_list *l, uid_t user)
{
    for (size_t i = 0; i < l->user_count; i++)
        if (l->users[i] == user)
            return true;
    return user == 0;
}

bool pythia_allow_list_has_path(const struct pythia_allow_list *l, struct pythia_text path)
{
    for (size_t i = 0; i < l->line_count; i++) {
        struct pythia_text rest = l->lines[i];
        if (pythia_text_equal(take_word(&rest), path))
            return true;
    }
    return false;
}

bool pythia_allow_list_has_functions(const struct pythia_allow_list *l, struct pythia_text path)
{
    for (size_t i = 0; i < l->line_count; i++) {
        struct pythia_text rest = l->lines[i];
        if (!pythia_text_equal(take_word(&rest), path))
            continue;
        for (struct pythia_text w = take_word(&rest); w.size > 0; w = take_word(&rest))
            if (PYTHIA_TEXT_IS(w, "functions"))
                return true;
    }
    return false;
}

uint16_t pythia_allow_list_texts(const struct pythia_allow_list *l, struct pythia_text path,
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
