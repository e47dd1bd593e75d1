#include "search_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "pythia/history_file.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define SHOWN 200 /* bytes of an id in a message */

struct reading {
    const char *option; /* "--never" */
    struct pythia_vocabulary *vocabulary;
    const bool *known, *skeleton; /* by trace point; NULL: all, none */
    uint32_t points;
    struct pythia__search_given *out;
    /* the entry at hand */
    const char *file; /* NULL: from the command line */
    uint64_t line, offset;
    int (*take)(struct reading *r, struct pythia_text entry);
};

/* ---- messages ---- */

static void log_price_line(const struct reading *r, enum pythia_log_level level,
                           const char *sentence)
{
    char text[1024];
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EUSAGE, "%s", sentence);
    if (r->file)
        pythia_error_place(&why, r->file, r->line, r->offset);
    pythia_error_text(&why, text, sizeof(text));
    pythia_log(level, "%s%s%s", r->file ? "" : r->option, r->file ? "" : ": ", text);
}

/* An id as it may be shown, in `to` of SHOWN + 64 bytes. */
static const char *show_id(struct pythia_text id, char *to)
{
    struct pythia_buf text = {0};
    pythia_shown_add(&text, id, SHOWN / 4); /* characters; one may take four bytes */
    snprintf(to, SHOWN + 64, "%s", text.bytes ? text.bytes : "");
    pythia_buf_free(&text);
    return to;
}

static int fail_line(const struct reading *r, const char *sentence)
{
    log_price_line(r, PYTHIA_LOG_ERROR, sentence);
    return r->file ? PYTHIA_EFORMAT : PYTHIA_EUSAGE;
}

/* ---- entries ---- */

static int read_lines(struct reading *r, struct pythia_text text)
{
    int status = PYTHIA_OK;
    const char *begin = text.bytes;
    for (r->line = 1; text.size > 0; r->line++) {
        const char *newline = memchr(text.bytes, '\n', text.size);
        struct pythia_text line = {text.bytes,
                                   newline ? (size_t)(newline - text.bytes) : text.size};
        size_t step = line.size + (newline != NULL);
        r->offset = (uint64_t)(text.bytes - begin);
        while (line.size > 0 && strchr(" \t\r", line.bytes[line.size - 1]))
            line.size--;
        if (line.size > 0 && line.bytes[0] != '#')
            status = r->take(r, line);
        if (status != PYTHIA_OK)
            return status;
        text = (struct pythia_text){text.bytes + step, text.size - step};
    }
    return PYTHIA_OK;
}

static int read_pin_file(struct reading *r, const char *path)
{
    struct pythia_buf bytes = {0};
    struct pythia_error why = {0};
    if (!*path)
        return fail_line(r, "@ needs the name of a file");
    int status = pythia_file_read(path, &bytes, &why);
    if (status != PYTHIA_OK) {
        if (status != PYTHIA_ENOMEM)
            pythia_log_error(PYTHIA_LOG_ERROR, &why);
        goto out;
    }
    r->file = path;
    status = read_lines(r, pythia_buf_text(&bytes));
    r->file = NULL;
out:
    pythia_buf_free(&bytes);
    return status;
}

static int read_texts(struct reading *r, const char *option,
                      const struct pythia_option_texts *texts,
                      int (*take)(struct reading *, struct pythia_text))
{
    int status = PYTHIA_OK;
    r->option = option;
    r->take = take;
    for (size_t i = 0; i < texts->count; i++) {
        status = texts->texts[i][0] == '@' ? read_pin_file(r, texts->texts[i] + 1)
                                           : take(r, pythia_text_of(texts->texts[i]));
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* Count the known trace points, flagged if there are flags, that an id or a pattern matches;
 * *first is the first of them by id. PYTHIA_OK or PYTHIA_ENOMEM. */
static int count_matches(const struct reading *r, struct pythia_text entry, const bool *flags,
                         size_t *count, uint32_t *first)
{
    uint32_t exact = pythia_vocabulary_tracepoint_find(r->vocabulary, entry);
    bool is_pattern = pythia_open_points_is_pattern(entry);
    char *pattern = pythia_strndup(entry.bytes, entry.size);
    if (!pattern)
        return PYTHIA_ENOMEM;
    *count = 0;
    for (uint32_t i = 0; i < r->points; i++) {
        struct pythia_text id = pythia_vocabulary_tracepoint_id(r->vocabulary, i);
        if ((r->known && !r->known[i]) || (flags && !flags[i]) ||
            !(i == exact || (is_pattern && pythia_open_points_fits(pattern, id))))
            continue;
        if (*count == 0 ||
            pythia_text_compare(id, pythia_vocabulary_tracepoint_id(r->vocabulary, *first)) < 0)
            *first = i;
        ++*count;
    }
    pythia_free(pattern);
    return PYTHIA_OK;
}

/* Say so if an entry means nothing. */
static int warn_if_idle(const struct reading *r, struct pythia_text entry)
{
    size_t count;
    uint32_t first;
    char id[SHOWN + 64], sentence[512];
    int status = count_matches(r, entry, NULL, &count, &first);
    if (status != PYTHIA_OK || count > 0)
        return status;
    snprintf(sentence, sizeof(sentence), "'%s' matches no trace point of the %s%s",
             show_id(entry, id), r->known ? "search space" : "traces",
             r->known ? " (pythia space show lists them)" : "");
    log_price_line(r, PYTHIA_LOG_WARNING, sentence);
    return PYTHIA_OK;
}

/* ---- pins ---- */

static int take_always(struct reading *r, struct pythia_text entry)
{
    int status = pythia_open_points_add(r->out->always, entry);
    if (status != PYTHIA_OK)
        return status;
    return warn_if_idle(r, entry);
}

/* The skeleton stays open. Whoever names one of its points wants something that cannot be; whoever
 * names many points by a pattern has to know which of them it does not mean. */
static int take_never(struct reading *r, struct pythia_text entry)
{
    size_t count = 0;
    uint32_t first = 0;
    char id[SHOWN + 64], sentence[1024];
    int status = pythia_open_points_add(r->out->never, entry);
    if (status != PYTHIA_OK)
        return status;
    if (r->skeleton && (status = count_matches(r, entry, r->skeleton, &count, &first)) != PYTHIA_OK)
        return status;
    if (count == 0)
        return warn_if_idle(r, entry);
    struct pythia_text name = pythia_vocabulary_tracepoint_id(r->vocabulary, first);
    if (pythia_text_equal(name, entry)) {
        snprintf(sentence, sizeof(sentence),
                 "'%s' cannot be pinned closed: it is in the skeleton, without which requests are "
                 "incomplete; remove it (pythia space show --skeleton lists the skeleton)",
                 show_id(name, id));
        return fail_line(r, sentence);
    }
    char pattern[SHOWN + 64];
    snprintf(sentence, sizeof(sentence),
             "'%s' also matches %zu of the skeleton, which stay%s open: %s%s",
             show_id(entry, pattern), count, count == 1 ? "s" : "", show_id(name, id),
             count > 1 ? ", …" : "");
    log_price_line(r, PYTHIA_LOG_WARNING, sentence);
    return PYTHIA_OK;
}

/* A point that is pinned both open and shut: the first by id, and how many there are. */
static int look_for_contradictions(const struct reading *r)
{
    struct pythia__search_given *out = r->out;
    uint32_t first = PYTHIA_NONE;
    size_t count = 0;
    char id[SHOWN + 64], more[64] = "";
    for (uint32_t i = 0; i < r->points; i++)
        if (pythia_open_points_has(out->always, i) && pythia_open_points_has(out->never, i)) {
            count++;
            if (first == PYTHIA_NONE ||
                pythia_text_compare(pythia_vocabulary_tracepoint_id(r->vocabulary, i),
                                    pythia_vocabulary_tracepoint_id(r->vocabulary, first)) < 0)
                first = i;
        }
    if (count == 0)
        return PYTHIA_OK;
    if (count > 1)
        snprintf(more, sizeof(more), ", and so %s %zu more", count == 2 ? "is" : "are", count - 1);
    pythia_log(PYTHIA_LOG_ERROR,
               "'%s' is pinned open by --always and closed by --never%s: remove it from one of "
               "them",
               show_id(pythia_vocabulary_tracepoint_id(r->vocabulary, first), id), more);
    return PYTHIA_EUSAGE;
}

static int read_pins(struct reading *r, const struct pythia__search_settings *s)
{
    struct pythia__search_given *out = r->out;
    int status = PYTHIA_OK;
    if (s->always.count)
        status = pythia_open_points_create(r->vocabulary, &out->always);
    if (status != PYTHIA_OK)
        return status;
    if (s->never.count)
        status = pythia_open_points_create(r->vocabulary, &out->never);
    if (status != PYTHIA_OK ||
        (status = read_texts(r, "--always", &s->always, take_always)) != PYTHIA_OK ||
        (status = read_texts(r, "--never", &s->never, take_never)) != PYTHIA_OK)
        return status;
    return out->always && out->never ? look_for_contradictions(r) : PYTHIA_OK;
}

/* ---- prices and layers ---- */

static int take_price(struct reading *r, struct pythia_text entry)
{
    struct pythia_error why = {0};
    struct pythia_text point;
    double ns;
    if (pythia_prices_parse(entry, &point, &ns, &why) != PYTHIA_OK)
        return fail_line(r, why.sentence);
    int status = pythia_prices_set(r->out->prices, point, ns);
    if (status != PYTHIA_OK)
        return status;
    return warn_if_idle(r, point);
}

static int take_layer(struct reading *r, struct pythia_text entry)
{
    struct pythia_error why = {0};
    struct pythia_text point;
    enum pythia_layer layer;
    if (pythia_layers_parse(entry, &point, &layer, &why) != PYTHIA_OK)
        return fail_line(r, why.sentence);
    int status = pythia_layers_set(r->out->layers, point, layer);
    if (status != PYTHIA_OK)
        return status;
    return warn_if_idle(r, point);
}

int pythia__search_options_read(const struct pythia__search_settings *s,
                                struct pythia_vocabulary *vocabulary,
                                const struct pythia_space *space, struct pythia__search_given *out)
{
    bool *known = space ? pythia_space_points(space) : NULL;
    bool *skeleton = space ? pythia_space_skeleton(space) : NULL;
    struct reading r = {.vocabulary = vocabulary,
                        .known = known,
                        .skeleton = skeleton,
                        .points = pythia_vocabulary_tracepoints(vocabulary),
                        .out = out};
    int status = space && (!known || !skeleton) ? PYTHIA_ENOMEM : read_pins(&r, s);
    if (status != PYTHIA_OK)
        goto out;
    if (s->prices.count)
        status = pythia_prices_create(vocabulary, &out->prices);
    if (status != PYTHIA_OK)
        goto out;
    status = read_texts(&r, "--price", &s->prices, take_price);
    if (status == PYTHIA_OK && s->layers.count)
        status = pythia_layers_create(vocabulary, &out->layers);
    if (status != PYTHIA_OK)
        goto out;
    status = read_texts(&r, "--layer", &s->layers, take_layer);
out:
    pythia_free(known);
    pythia_free(skeleton);
    return status;
}

/* ---- the record of earlier searches ---- */

int pythia__history_read(const char *path, bool create, struct pythia_history **out)
{
    struct pythia_error why = {0};
    if (strcmp(path, "-") == 0) {
        pythia_log(PYTHIA_LOG_ERROR, "--history requires a file: it is read and written");
        return PYTHIA_EUSAGE;
    }
    if (create && access(path, F_OK) != 0 && errno == ENOENT)
        return pythia_history_create(out);
    int status = pythia_history_file_read(path, out, &why);
    if (status != PYTHIA_OK && status != PYTHIA_ENOMEM)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    return status;
}

int pythia__history_append(const char *path, const struct pythia_history *more)
{
    struct pythia_history *all = NULL;
    struct pythia_buf text = {0};
    int status = pythia__history_read(path, true, &all);
    if (status != PYTHIA_OK || (status = pythia_history_merge(all, more)) != PYTHIA_OK ||
        (status = pythia_history_file_write(all, &text)) != PYTHIA_OK)
        goto out;
    status = pythia__write_output(path, pythia_buf_text(&text));
out:
    pythia_buf_free(&text);
    pythia_history_destroy(all);
    return status;
}

void pythia__search_given_free(struct pythia__search_given *g)
{
    pythia_open_points_destroy(g->always);
    pythia_open_points_destroy(g->never);
    pythia_prices_destroy(g->prices);
    pythia_layers_destroy(g->layers);
    pythia_history_destroy(g->history);
    *g = (struct pythia__search_given){0};
}
