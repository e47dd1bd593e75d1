#include "session.h"

#include <string.h>
#include <unistd.h>

#include "pythia/elf_functions.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"

static void close_sites(struct pythia__sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        close(sites->events[i]);
    pythia_free(sites->events);
    *sites = (struct pythia__sites){0};
}

static size_t find_attached(const struct pythia__session *s, struct pythia_text id)
{
    size_t at = 0;
    while (at < s->count && !pythia_text_equal(pythia_text_of(s->attached[at].id), id))
        at++;
    return at;
}

static void detach_at(struct pythia__session *s, size_t at)
{
    struct pythia__attached *a = &s->attached[at];
    close_sites(&a->sites);
    pythia_free(a->id);
    *a = s->attached[--s->count];
}

/* A deploy replaces a program by another file of the same name; probes stay with the old one. */
static bool is_replaced(const struct pythia__attached *a, const char *path)
{
    struct stat now, then = a->sites.file;
    return stat(path, &now) != 0 || now.st_dev != then.st_dev || now.st_ino != then.st_ino ||
           memcmp(&now.st_mtim, &then.st_mtim, sizeof(now.st_mtim)) != 0;
}

static int open_attached(struct pythia__session *s, const struct pythia_probe_message *m,
                         uint64_t now_ns, struct pythia_error *e)
{
    struct pythia_text path = pythia_text_of(m->id.path);
    struct pythia__attached a = {.number = s->last + 1, .until_ns = now_ns + s->lease_ns};
    if (!pythia_allow_list_has_path(s->allowed, path))
        return pythia_error_set(e, PYTHIA_ENOTFOUND,
                                "the program is not in the allow-list, which root can change");
    if (PYTHIA_TEXT_IS(m->id.provider, PYTHIA_FUNCTION_PROVIDER) &&
        !pythia_allow_list_has_functions(s->allowed, path))
        return pythia_error_set(e, PYTHIA_ENOTFOUND,
                                "the allow-list must have 'functions' after the program");
    if (s->count == PYTHIA__ATTACHED_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d probes are attached",
                                PYTHIA__ATTACHED_MAX);
    if (pythia_grow(&s->attached, &s->capacity, s->count, sizeof(*s->attached)) != PYTHIA_OK ||
        !(a.id = pythia_strndup(m->id.whole.bytes, m->id.whole.size)))
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    uint16_t texts = pythia_allow_list_texts(s->allowed, path, m->id.name);
    int status = s->opener->open(s->opener, m, texts, a.number, &a.sites, e);
    if (status != PYTHIA_OK) {
        pythia_free(a.id);
        return status;
    }
    s->last = a.number;
    s->attached[s->count++] = a;
    return PYTHIA_OK;
}

static int attach_wanted(struct pythia__session *s, const struct pythia_probe_message *m,
                         uint64_t now_ns, struct pythia_buf *answer, struct pythia_error *e)
{
    size_t at = find_attached(s, m->id.whole);
    if (at < s->count && is_replaced(&s->attached[at], m->id.path))
        detach_at(s, at);
    if ((at = find_attached(s, m->id.whole)) < s->count) {
        s->attached[at].until_ns = now_ns + s->lease_ns;
    } else {
        int status = open_attached(s, m, now_ns, e);
        if (status != PYTHIA_OK)
            return status;
    }
    pythia_buf_printf(answer, "attached %u %s", s->attached[at].number, s->attached[at].id);
    return PYTHIA_OK;
}

void pythia__session_answer(struct pythia__session *s, struct pythia_text message, uint64_t now_ns,
                            struct pythia_buf *answer)
{
    struct pythia_probe_message m;
    struct pythia_error why = {0};
    int status = pythia_probe_message_read(message, &m, &why);
    if (status == PYTHIA_OK && !m.detach)
        status = attach_wanted(s, &m, now_ns, answer, &why);
    if (status == PYTHIA_OK && m.detach) {
        size_t at = find_attached(s, m.id.whole);
        if (at < s->count)
            detach_at(s, at);
        pythia_buf_puts(answer, "detached ");
        pythia_buf_text_add(answer, m.id.whole);
    }
    if (status != PYTHIA_OK) {
        pythia_buf_puts(answer, "refused ");
        pythia_buf_text_add(answer, m.id.whole);
        pythia_buf_printf(answer, ": %s", why.sentence);
    }
}

void pythia__session_expire(struct pythia__session *s, uint64_t now_ns)
{
    for (size_t at = 0; at < s->count;)
        if (s->attached[at].until_ns <= now_ns) {
            pythia_log(PYTHIA_LOG_WARNING, "Closed a probe whose lease was not renewed: probe=%s",
                       s->attached[at].id);
            detach_at(s, at);
        } else {
            at++;
        }
}

void pythia__session_end(struct pythia__session *s)
{
    while (s->count > 0)
        detach_at(s, s->count - 1);
    pythia_free(s->attached);
    s->attached = NULL;
    s->capacity = 0;
}
