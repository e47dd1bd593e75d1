#include "document_names.h"

#include <ctype.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define TEXT_NONE ((struct pythia_text){"", 0})

/* The last `c` of a text; NULL if there is none. */
static const char *find_last(struct pythia_text text, char c)
{
    for (size_t i = text.size; i > 0; i--)
        if (text.bytes[i - 1] == c)
            return text.bytes + i - 1;
    return NULL;
}

static struct pythia_text text_from_position(struct pythia_text text, const char *at)
{
    return (struct pythia_text){at, (size_t)(text.bytes + text.size - at)};
}

static bool is_verb(struct pythia_text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!isupper((unsigned char)text.bytes[i]))
            return false;
    return text.size > 1;
}

/* "a.b.C.method" is "method". A name with one dot only may be a class and its method, or a file. */
static struct pythia_text strip_package(struct pythia_text name)
{
    size_t dots = 0;
    const char *slash = memchr(name.bytes, '/', name.size);
    struct pythia_text head = {name.bytes, slash ? (size_t)(slash - name.bytes) : name.size};
    for (size_t i = 0; i < head.size; i++) {
        if (isspace((unsigned char)head.bytes[i]) ||
            (i == 0 && isdigit((unsigned char)*head.bytes)))
            return name;
        dots += head.bytes[i] == '.';
    }
    const char *dot = find_last(head, '.');
    return dots >= (slash ? 1 : 2) && dot + 1 < head.bytes + head.size
               ? text_from_position(name, dot + 1)
               : name;
}

/* The last part of an id whose parts have colons between them, behind "GET" or "SELECT" if that is
 * what stands before it. */
static void add_last_part(struct pythia_buf *to, struct pythia_text id)
{
    while (id.size > 0 && id.bytes[id.size - 1] == ':')
        id.size--;
    const char *colon = find_last(id, ':');
    struct pythia_text last = colon ? text_from_position(id, colon + 1) : id;
    if (colon) {
        struct pythia_text before = {id.bytes, (size_t)(colon - id.bytes)};
        const char *previous = find_last(before, ':');
        before = previous ? text_from_position(before, previous + 1) : before;
        if (is_verb(before)) {
            pythia_buf_text_add(to, before);
            pythia_buf_putc(to, ' ');
        }
    }
    pythia_buf_text_add(to, strip_package(last));
}

static void add_short(struct pythia_buf *to, const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    const struct pythia_tracepoint *t = pythia_vocabulary_tracepoint_at(v, tracepoint);
    struct pythia_text id = pythia_vocabulary_tracepoint_id(v, tracepoint),
                       name = pythia_vocabulary_text(v, t->name),
                       service = pythia_vocabulary_text(v, t->service);
    bool named = name.size > 0 && service.size > 0 && id.size > name.size &&
                 pythia_text_starts(id, service) && id.bytes[service.size] == ':';
    if (!named) {
        add_last_part(to, id);
        return;
    }
    /* The end of "service:scope:name", in which identifiers are replaced. */
    struct pythia_text rest = text_from_position(id, id.bytes + service.size + 1);
    pythia_buf_text_add(to, strip_package(pythia_text_ends(id, name) ? name : rest));
}

struct pythia_text pythia__point_service(const struct pythia_vocabulary *v, uint32_t tracepoint)
{
    return tracepoint == PYTHIA_NONE
               ? TEXT_NONE
               : pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, tracepoint)->service);
}

static void add_longer(struct pythia_buf *to, const struct pythia_vocabulary *v,
                       uint32_t tracepoint)
{
    struct pythia_text service = pythia__point_service(v, tracepoint);
    if (service.size > 0) {
        pythia_buf_text_add(to, service);
        pythia_buf_puts(to, " \xE2\x80\xBA ");
    }
    add_short(to, v, tracepoint);
}

static const struct pythia__doc_name *add_forms(struct pythia__doc *d, enum pythia__doc_space space,
                                                struct pythia_buf *shortest,
                                                struct pythia_buf *longer, struct pythia_text full)
{
    d->failed = d->failed || shortest->failed || longer->failed;
    const struct pythia__doc_name *name =
        pythia__doc_name(d, space, pythia_buf_text(shortest), pythia_buf_text(longer), full);
    pythia_buf_free(shortest);
    pythia_buf_free(longer);
    return name;
}

/* A document names the same trace points again and again: their forms are worked out once. */
void pythia__doc_point(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       uint32_t tracepoint)
{
    struct pythia_buf shortest = {0}, longer = {0};
    if (pythia_reach(&d->points, &d->point_capacity, tracepoint, sizeof(void *)) != PYTHIA_OK) {
        d->failed = true;
        return;
    }
    if (d->points[tracepoint]) {
        pythia__doc_name_again(d, d->points[tracepoint]);
        return;
    }
    add_short(&shortest, v, tracepoint);
    add_longer(&longer, v, tracepoint);
    d->points[tracepoint] = add_forms(d, PYTHIA__DOC_POINT, &shortest, &longer,
                                      pythia_vocabulary_tracepoint_id(v, tracepoint));
}

/* ---- request types ---- */

/* Take the first of "A + B + C" off `rest`. */
static struct pythia_text next_root(struct pythia_text *rest)
{
    struct pythia_text first = *rest;
    for (size_t i = 0; i + 3 <= rest->size; i++)
        if (memcmp(rest->bytes + i, " + ", 3) == 0) {
            first.size = i;
            *rest = text_from_position(*rest, rest->bytes + i + 3);
            return first;
        }
    *rest = TEXT_NONE;
    return first;
}

static void add_root(struct pythia_buf *to, const struct pythia_vocabulary *v,
                     struct pythia_text root)
{
    uint32_t tracepoint = pythia_vocabulary_tracepoint_find(v, root);
    if (tracepoint == PYTHIA_NONE && memchr(root.bytes, ' ', root.size))
        pythia_buf_text_add(to, root); /* its route, or what the program calls it */
    else if (tracepoint == PYTHIA_NONE)
        add_last_part(to, root);
    else
        add_short(to, v, tracepoint);
}

void pythia__doc_type(struct pythia__doc *d, const struct pythia_vocabulary *v,
                      const struct pythia_type *type, uint32_t root)
{
    pythia__doc_type_names(d, v, type->name, type->unsplit, root);
}

void pythia__doc_type_names(struct pythia__doc *d, const struct pythia_vocabulary *v, uint32_t name,
                            uint32_t unsplit, uint32_t root)
{
    struct pythia_text full = pythia_vocabulary_text(v, name),
                       rest = pythia_vocabulary_text(v, unsplit), last = rest;
    struct pythia_text part =
        full.size > rest.size ? text_from_position(full, full.bytes + rest.size) : TEXT_NONE;
    struct pythia_buf shortest = {0}, longer = {0};
    while (rest.size > 0) {
        struct pythia_text one = next_root(&rest);
        pythia_buf_puts(&longer, longer.size ? " + " : "");
        add_root(&longer, v, one);
        bool wanted = root != PYTHIA_NONE &&
                      pythia_text_equal(one, pythia_vocabulary_tracepoint_pattern(v, root));
        if (wanted || shortest.size == 0)
            last = one;
        if (wanted || (shortest.size == 0 && rest.size == 0)) {
            pythia_buf_clear(&shortest);
            add_root(&shortest, v, last);
        }
    }
    pythia_buf_text_add(&shortest, part);
    pythia_buf_text_add(&longer, part);
    (void)add_forms(d, PYTHIA__DOC_TYPE, &shortest, &longer, full);
}

/* ---- keys ---- */

#define HAS " has " /* between a key and one of its values */

void pythia__doc_key(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_explanation *x)
{
    if (x->tracepoint != PYTHIA_NONE) {
        pythia__doc_point(d, v, x->tracepoint);
        return;
    }
    /* "ATTRIBUTE@ORIGIN has VALUE"; an origin may have another '@' in it, as scopes of npm do. */
    const char *has = x->kind == PYTHIA_KEY_MEMBER ? strstr(x->name, HAS) : NULL;
    struct pythia_text full = {x->name, has ? (size_t)(has - x->name) : strlen(x->name)};
    const char *at = full.size > 1 ? memchr(full.bytes + 1, '@', full.size - 1) : NULL;
    struct pythia_text shortest = {full.bytes, at ? (size_t)(at - full.bytes) : full.size};
    pythia__doc_name(d, PYTHIA__DOC_KEY, shortest, full, full);
    if (has) {
        pythia__doc_words(d, HAS);
        pythia__doc_text(d, PYTHIA__DOC_WORDS, pythia_text_of(has + strlen(HAS)));
    }
}

/* ---- places ---- */

static bool is_inside(const struct pythia_place *p)
{
    return p->from_tracepoint == p->to_tracepoint && p->from_event == PYTHIA_EVENT_START &&
           p->to_event == PYTHIA_EVENT_END;
}

static bool is_between(const struct pythia_place *p)
{
    return p->from_tracepoint == p->to_tracepoint && p->from_event == PYTHIA_EVENT_END &&
           p->to_event == PYTHIA_EVENT_START;
}

/* "from the end of A to the start of B", with other words before each. */
static void add_event_ends(struct pythia__doc *d, const struct pythia_vocabulary *v,
                           const struct pythia_place *p, const char *from, const char *to)
{
    static const char *const events[] = {"start", "end", "point"};
    pythia__doc_words(d, "%s%s of ", from, events[p->from_event]);
    pythia__doc_point(d, v, p->from_tracepoint);
    pythia__doc_words(d, "%s%s of ", to, events[p->to_event]);
    pythia__doc_point(d, v, p->to_tracepoint);
}

/* A place below the application says for whom it is: "kernel.poll in lock__wait". */
static void add_host(struct pythia__doc *d, const struct pythia_vocabulary *v,
                     const struct pythia_place *p)
{
    if (!p->hosted)
        return;
    pythia__doc_words(d, " in ");
    pythia__doc_point(d, v, p->host);
}

void pythia__doc_place(struct pythia__doc *d, const struct pythia_vocabulary *v,
                       const struct pythia_place *p, bool first)
{
    const char *the = first ? "The" : "the";
    if (!p->own && !is_inside(p)) {
        pythia__doc_words(d, "%s time ", the);
        pythia__doc_place_phrase(d, v, p);
        return;
    }
    if (p->own)
        pythia__doc_words(d, "%s own time of ", the);
    pythia__doc_point(d, v, p->from_tracepoint);
    add_host(d, v, p);
}

void pythia__doc_place_phrase(struct pythia__doc *d, const struct pythia_vocabulary *v,
                              const struct pythia_place *p)
{
    if (is_between(p) && !p->own) {
        pythia__doc_words(d, "between one ");
        pythia__doc_point(d, v, p->from_tracepoint);
        pythia__doc_words(d, " and the next");
    } else if (p->own || is_inside(p)) {
        pythia__doc_words(d, p->own ? "in the own time of " : "inside ");
        pythia__doc_point(d, v, p->from_tracepoint);
    } else {
        add_event_ends(d, v, p, "from the ", " to the ");
    }
    add_host(d, v, p);
}

void pythia__doc_place_row(struct pythia__doc *d, const struct pythia_vocabulary *v,
                           const struct pythia_place *p)
{
    if (p->own || is_inside(p)) {
        pythia__doc_words(d, p->own ? "own time of " : "");
        pythia__doc_point(d, v, p->from_tracepoint);
    } else {
        add_event_ends(d, v, p, "", " to ");
    }
    add_host(d, v, p);
}
