#include "pythia/probe_id.h"

#include <string.h>

#include "pythia/status.h"

static int read_id(struct pythia_text text, struct pythia_probe_id *out, struct pythia_error *e)
{
    const char *end = text.bytes + text.size, *colon = memchr(text.bytes, ':', text.size),
               *space = colon ? memchr(colon, ' ', (size_t)(end - colon)) : NULL,
               *after = space ? memchr(space + 1, ' ', (size_t)(end - space - 1)) : NULL;
    const char *path_end = after ? after : end;
    uint64_t pid = 0;
    if (!space || colon == text.bytes || space == colon + 1 || path_end - space < 2 ||
        space[1] != '/' || memchr(text.bytes, 0, text.size) || path_end - space > PATH_MAX ||
        (after && (!pythia_text_unsigned((struct pythia_text){after + 1, (size_t)(end - after - 1)},
                                         PYTHIA_PROBE_PID_MAX, &pid) ||
                   pid == 0)))
        return pythia_error_set(e, PYTHIA_EFORMAT, "an id is PROVIDER:NAME /PATH [PID]");
    out->whole = text;
    out->provider = (struct pythia_text){text.bytes, (size_t)(colon - text.bytes)};
    out->name = (struct pythia_text){colon + 1, (size_t)(space - colon - 1)};
    out->pid = (uint32_t)pid;
    memcpy(out->path, space + 1, (size_t)(path_end - space - 1));
    out->path[path_end - space - 1] = '\0';
    return PYTHIA_OK;
}

int pythia_probe_message_read(struct pythia_text text, struct pythia_probe_message *out,
                              struct pythia_error *e)
{
    static const struct {
        const char *verb;
        enum pythia_probe_role role;
        bool mark, detach;
    } verbs[] = {
        {"attach ", PYTHIA_PROBE_ANYWHERE, false, false},
        {"enter ", PYTHIA_PROBE_ENTER, true, false},
        {"leave ", PYTHIA_PROBE_LEAVE, true, false},
        {"within ", PYTHIA_PROBE_WITHIN, false, false},
        {"detach ", PYTHIA_PROBE_ANYWHERE, false, true},
    };
    const size_t count = sizeof(verbs) / sizeof(verbs[0]);
    size_t i = 0;
    out->id.whole = PYTHIA_TEXT("");
    while (i < count && !pythia_text_starts(text, pythia_text_of(verbs[i].verb)))
        i++;
    if (i == count)
        return pythia_error_set(e, PYTHIA_EFORMAT,
                                "a message is attach, enter MARK, leave MARK, within or detach, "
                                "and an ID");
    size_t verb = strlen(verbs[i].verb);
    struct pythia_text id = {text.bytes + verb, text.size - verb};
    out->role = verbs[i].role;
    out->detach = verbs[i].detach;
    out->mark = 0;
    if (verbs[i].mark) {
        const char *space = memchr(id.bytes, ' ', id.size);
        size_t size = space ? (size_t)(space - id.bytes) : id.size;
        uint64_t mark = 0;
        if (!space || !pythia_text_unsigned((struct pythia_text){id.bytes, size},
                                            PYTHIA_PROBE_MARK_MAX, &mark))
            return pythia_error_set(e, PYTHIA_EFORMAT, "a mark is a number from 0 to %d",
                                    PYTHIA_PROBE_MARK_MAX);
        out->mark = (uint32_t)mark;
        id = (struct pythia_text){space + 1, id.size - size - 1};
    }
    out->id.whole = id;
    return read_id(id, &out->id, e);
}
