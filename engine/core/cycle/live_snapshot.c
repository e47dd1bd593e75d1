/* A snapshot is a line of JSON, then the search (search_save.c), then the files of evidence that
 * wait for their round, of which an engine alone has none; the line has the sizes of what follows.
 * An engine alone is one of no group: "group" is empty. Whatever an engine knows beside it, such as
 * the requests that it gathers, is its own. */
#include "pythia/live_snapshot.h"

#include <string.h>

#include "live_parts.h"
#include "pythia/json_text.h"
#include "pythia/live_shared.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

#define FORMAT "pythia.snapshot/2"

/* ---- writing ---- */

static json_t *pack_parts(const struct pythia__live_share *share)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < share->part_count; i++)
        if (json_array_append_new(parts,
                                  json_pack("{s:O, s:I}", "head", share->parts[i].head, "size",
                                            (json_int_t)share->parts[i].file.size)) != 0) {
            json_decref(parts);
            return NULL;
        }
    return parts;
}

static const char *group_name(const struct pythia__live_share *share)
{
    return share->group ? share->group : "";
}

/* Are all trace points either in the search space, or known to be hit by no type? Otherwise they
 * are sought once more after a restore: which of them had turned up is not saved. */
static bool has_sought_all(const struct pythia_live *l)
{
    return l->late.sought >= pythia_vocabulary_tracepoints(l->vocabulary);
}

static json_t *pack_snapshot(const struct pythia_live *l, const struct pythia_buf *space,
                             const struct pythia_buf *search)
{
    const struct pythia__live_share *share = &l->share;
    const struct pythia_live_shared_numbers *n = &share->numbers;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:I, s:o, s:o}",
                     "format", FORMAT, "group", group_name(share), "settings",
                     share->log_settings ? share->log_settings : share->settings, "set",
                     (json_int_t)share->set, "cycle", (json_int_t)l->last.number, "rounds",
                     (json_int_t)n->rounds, "requests", (json_int_t)n->requests, "late_requests",
                     (json_int_t)n->late_requests, "members", (json_int_t)n->members, "sought",
                     has_sought_all(l), "space", space->bytes ? space->bytes : "", "search",
                     (json_int_t)search->size, "parts", pack_parts(share), "layers",
                     pythia__live_pack_layers(l, true));
}

bool pythia_live_has_snapshot(const struct pythia_live *l)
{
    const struct pythia__live_share *share = &l->share;
    return l->search && (!share->on || (share->log_settings && !share->differs));
}

int pythia_live_snapshot_save(const struct pythia_live *l, struct pythia_buf *out)
{
    struct pythia_buf space = {0}, search = {0};
    json_t *head = NULL;
    int status = l->search ? pythia_space_file_write(l->space, &space) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    status = l->search ? pythia_search_save(l->search, &search) : PYTHIA_OK;
    if (status != PYTHIA_OK)
        goto out;
    head = pack_snapshot(l, &space, &search);
    status = pythia_json_put(out, head, JSON_COMPACT | JSON_ENSURE_ASCII, "\n");
    if (status != PYTHIA_OK)
        goto out;
    pythia_buf_text_add(out, pythia_buf_text(&search));
    for (size_t i = 0; i < l->share.part_count; i++)
        pythia_buf_text_add(out, pythia_buf_text(&l->share.parts[i].file));
    status = pythia_buf_status(out);
out:
    json_decref(head);
    pythia_buf_free(&space);
    pythia_buf_free(&search);
    return status;
}

/* ---- reading ---- */

static uint64_t whole_number(const json_t *head, const char *name)
{
    json_int_t number = json_integer_value(json_object_get(head, name));
    return number > 0 ? (uint64_t)number : 0;
}

static int refuse_snapshot(struct pythia_error *e, const char *format)
{
    if (!format || strcmp(format, FORMAT) == 0)
        return pythia_error_set(e, PYTHIA_EFORMAT, "it is no snapshot of a search");
    return pythia_error_set(e, PYTHIA_EFORMAT,
                            "it has the format %.40s, and this pythiad reads " FORMAT
                            "; run the same version of pythiad everywhere",
                            format);
}

static int read_snapshot_head(struct pythia_text *text, json_t **head, struct pythia_error *e)
{
    const char *end = text->size > 0 ? memchr(text->bytes, '\n', text->size) : NULL;
    size_t size = end ? (size_t)(end - text->bytes) : 0;
    json_t *read = end ? json_loadb(text->bytes, size, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(read, "format"));
    bool whole = format && strcmp(format, FORMAT) == 0 &&
                 json_is_string(json_object_get(read, "group")) &&
                 json_is_string(json_object_get(read, "settings")) &&
                 json_is_string(json_object_get(read, "space")) &&
                 json_is_array(json_object_get(read, "parts"));
    if (!whole) {
        int status = refuse_snapshot(e, format);
        json_decref(read);
        return status;
    }
    *head = read;
    *text = (struct pythia_text){end + 1, text->size - size - 1};
    return PYTHIA_OK;
}

int pythia_live_snapshot_check(struct pythia_text saved, struct pythia_error *e)
{
    json_t *head = NULL;
    int status = read_snapshot_head(&saved, &head, e);
    json_decref(head);
    return status;
}

/* The first bytes of what follows; false: there are not so many. */
static bool cut_off(struct pythia_text *from, uint64_t size, struct pythia_text *out)
{
    if (size > from->size)
        return false;
    *out = (struct pythia_text){from->bytes, (size_t)size};
    from->bytes += size;
    from->size -= (size_t)size;
    return true;
}

static bool is_part_head(const json_t *head)
{
    return json_is_string(json_object_get(head, "member")) &&
           json_is_string(json_object_get(head, "space"));
}

/* The evidence that waits, looked at as if it had come by itself. */
static int read_parts(const struct pythia_live *l, const json_t *list, struct pythia_text from,
                      struct pythia__live_share *to, struct pythia_error *e)
{
    const json_t *row;
    size_t i;
    json_array_foreach (list, i, row) {
        json_t *head = json_object_get(row, "head");
        struct pythia_text file;
        if (!is_part_head(head) || !cut_off(&from, whole_number(row, "size"), &file))
            return refuse_snapshot(e, NULL);
        int status = file.size > 0
                         ? pythia__live_check_file(
                               l, json_string_value(json_object_get(head, "member")), file, e)
                         : PYTHIA_OK;
        if (status == PYTHIA_OK)
            status = pythia__live_add_part(to, head, file);
        if (status != PYTHIA_OK)
            return status;
    }
    return from.size == 0 ? PYTHIA_OK : refuse_snapshot(e, NULL);
}

/* A search of its own for what was saved, in a space that has its types. `layers`: of a shared
 * one. */
static int load_search(const struct pythia_live *l, const struct pythia_space *space,
                       struct pythia_text saved, struct pythia_layers *layers,
                       struct pythia_search **out, struct pythia_error *e)
{
    struct pythia_search_options how = l->o.search;
    if (l->share.on) {
        how = pythia__live_share_search(l);
        how.layers = layers;
    }
    int status = pythia_search_create(space, &how, out);
    if (status == PYTHIA_OK)
        status = pythia_search_load(*out, saved);
    if (status == PYTHIA_EFORMAT)
        status =
            pythia_error_set(e, PYTHIA_EFORMAT, "its search is broken, or of another search space");
    if (status != PYTHIA_OK) {
        pythia_search_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Is the same open, for all types? */
static bool opens_alike(const struct pythia_live *l, const struct pythia_search *other)
{
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    size_t count;
    const struct pythia_space_type *types = pythia_space_types(l->space, &count);
    for (uint32_t point = 0; point < points; point++) {
        bool open = pythia_search_is_open(l->search, point);
        if (open != pythia_search_is_open(other, point) ||
            pythia_search_is_wide(l->search, point) != pythia_search_is_wide(other, point))
            return false;
        for (size_t i = 0; open && i < count; i++)
            if (pythia_search_is_open_for(l->search, point, types[i].name) !=
                pythia_search_is_open_for(other, point, types[i].name))
                return false;
    }
    return true;
}

/* Where nothing else becomes open, requests that began before now are evidence all the same. */
static int replace_search(struct pythia_live *l, struct pythia_search *search)
{
    bool begins = !l->search, alike = l->search && opens_alike(l, search);
    pythia_search_destroy(l->search);
    l->search = search;
    pythia__live_drop_evidence(l);
    l->last = pythia_search_stand(search);
    int status = alike ? PYTHIA_OK : pythia__live_desire(l);
    if (begins)
        l->phase = pythia__live_phase_next(l->phase, PYTHIA__LIVE_SEARCH_BEGUN);
    return status;
}

static void take_numbers(struct pythia_live *l, const json_t *head)
{
    struct pythia__live_share *share = &l->share;
    share->set = whole_number(head, "set");
    share->numbers.rounds = whole_number(head, "rounds");
    share->numbers.requests = whole_number(head, "requests");
    share->numbers.late_requests = whole_number(head, "late_requests");
    share->numbers.members = (size_t)whole_number(head, "members");
    share->offered = false;
}

/* The layers of the log as it was then. *out is owned, also after a failure. */
static int read_layers(const struct pythia_live *l, const json_t *head, struct pythia_layers **out,
                       struct pythia_error *e)
{
    int status = pythia_layers_create(l->vocabulary, out);
    if (status != PYTHIA_OK)
        return status;
    return pythia__live_take_layers(l, json_object_get(head, "layers"), *out, e);
}

/* The search that had those before is gone. */
static void replace_layers(struct pythia_live *l, struct pythia_layers *layers)
{
    pythia_layers_destroy(l->share.layers);
    l->share.layers = layers;
}

/* A search that has not begun: nothing that was sent for it counts. */
static int restore_nothing(struct pythia_live *l, const json_t *head, struct pythia_error *e)
{
    struct pythia_layers *layers = NULL;
    if (l->search)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "the search of the group began anew, and that of this member "
                                "cannot go on");
    int status = read_layers(l, head, &layers, e);
    if (status != PYTHIA_OK) {
        pythia_layers_destroy(layers);
        return status;
    }
    replace_layers(l, layers);
    pythia__live_share_clear(&l->share);
    pythia__live_share_clear_offers(&l->share);
    take_numbers(l, head);
    l->last = (struct pythia_cycle){.number = whole_number(head, "cycle"), .leading = SIZE_MAX};
    pythia_live_shared_forget(l);
    return PYTHIA_OK;
}

/* The types of the saved space, and which segments of their paths are variables. Where the engine
 * began without a space, requests would otherwise get types of their own until that is learnt. */
static int adopt_saved_types(struct pythia_live *l, const json_t *head, size_t *moved,
                             struct pythia_error *e)
{
    const char *space = json_string_value(json_object_get(head, "space"));
    int status = pythia__live_adopt_types(l, "snapshot", space, moved, e);
    return status == PYTHIA_OK ? pythia_space_teach_paths(l->space, l->templates) : status;
}

/* Can its search be read? It is loaded once in a space of its own. A member whose search has not
 * begun must not take over types before that is known: its search begins when members offer types
 * that it does not have, and would never begin. */
static int check_search(const struct pythia_live *l, const json_t *head, struct pythia_text saved,
                        struct pythia_layers *layers, struct pythia_error *e)
{
    const char *text = json_string_value(json_object_get(head, "space"));
    struct pythia_space *space = NULL;
    struct pythia_search *search = NULL;
    int status = pythia_space_create(l->vocabulary, &space);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_space_file_parse("snapshot", pythia_text_of(text), space, e);
    if (status == PYTHIA_OK)
        status = load_search(l, space, saved, layers, &search, e);
    pythia_search_destroy(search);
    pythia_space_destroy(space);
    return status;
}

/* A search of a group. Types that were added for a snapshot which is refused afterwards do no harm:
 * the search that there is takes them in. */
static int restore_shared(struct pythia_live *l, const json_t *head, struct pythia_text rest,
                          struct pythia_error *e)
{
    struct pythia__live_share waiting = {0};
    struct pythia_layers *layers = NULL;
    struct pythia_search *search = NULL;
    struct pythia_text saved;
    size_t moved = 0;
    if (whole_number(head, "search") == 0)
        return restore_nothing(l, head, e);
    if (!cut_off(&rest, whole_number(head, "search"), &saved))
        return refuse_snapshot(e, NULL);
    int status = read_parts(l, json_object_get(head, "parts"), rest, &waiting, e);
    if (status != PYTHIA_OK)
        goto out;
    status = read_layers(l, head, &layers, e);
    if (status != PYTHIA_OK)
        goto out;
    if (!l->search && (status = check_search(l, head, saved, layers, e)) != PYTHIA_OK)
        goto out;
    status = adopt_saved_types(l, head, &moved, e);
    if (status == PYTHIA_OK)
        status = load_search(l, l->space, saved, layers, &search, e);
    if (status != PYTHIA_OK) {
        /* The space has more types now, which the search that goes on has to know. */
        int grown = l->search && moved > 0 ? pythia_search_grow(l->search) : PYTHIA_OK;
        status = grown != PYTHIA_OK ? grown : status;
        goto out;
    }
    /* From here on nothing is refused: what this member had gathered of the round is in the
     * snapshot, or comes behind it. */
    pythia__live_share_clear(&l->share);
    pythia__live_share_clear_offers(&l->share);
    pythia_free(l->share.parts);
    l->share.parts = waiting.parts;
    l->share.part_count = waiting.part_count;
    l->share.part_capacity = waiting.part_capacity;
    waiting = (struct pythia__live_share){0};
    take_numbers(l, head);
    status = replace_search(l, search);
    replace_layers(l, layers);
    layers = NULL;
out:
    pythia_layers_destroy(layers);
    pythia__live_share_clear(&waiting);
    pythia_free(waiting.parts);
    return status;
}

/* ---- an engine alone ---- */

/* The first setting of which the two lists ("NAME=VALUE, …") say something else: its text in each
 * list, for a person. False: there is none. */
static bool find_other_setting(const char *saved, const char *now, struct pythia_text *was,
                               struct pythia_text *is)
{
    while (*saved || *now) {
        *was = (struct pythia_text){saved, strcspn(saved, ",")};
        *is = (struct pythia_text){now, strcspn(now, ",")};
        if (!pythia_text_equal(*was, *is)) {
            *was = was->size ? *was : PYTHIA_TEXT("no more settings");
            *is = is->size ? *is : PYTHIA_TEXT("no more settings");
            return true;
        }
        saved += was->size;
        now += is->size;
        saved += strspn(saved, ", ");
        now += strspn(now, ", ");
    }
    return false;
}

static int compare_settings(const struct pythia_live *l, const char *saved, struct pythia_error *e)
{
    struct pythia_text was, is;
    if (!find_other_setting(saved, l->share.settings, &was, &is))
        return PYTHIA_OK;
    return pythia_error_set(e, PYTHIA_EUSAGE, "it was made with %.*s, and now it is %.*s",
                            (int)was.size, was.bytes, (int)is.size, is.bytes);
}

/* All that is read is of this engine's own file, but that may have been cut or changed. */
static int restore_alone(struct pythia_live *l, const json_t *head, struct pythia_text rest,
                         struct pythia_error *e)
{
    struct pythia_search *search = NULL;
    struct pythia_text saved;
    size_t moved = 0;
    int status = compare_settings(l, json_string_value(json_object_get(head, "settings")), e);
    if (status != PYTHIA_OK)
        return status;
    if (!cut_off(&rest, whole_number(head, "search"), &saved) || saved.size == 0 || rest.size > 0)
        return refuse_snapshot(e, NULL);
    if ((status = adopt_saved_types(l, head, &moved, e)) != PYTHIA_OK ||
        (status = load_search(l, l->space, saved, NULL, &search, e)) != PYTHIA_OK ||
        (status = replace_search(l, search)) != PYTHIA_OK)
        return status;
    if (json_is_true(json_object_get(head, "sought")))
        l->late.sought = pythia_vocabulary_tracepoints(l->vocabulary);
    return PYTHIA_OK;
}

int pythia_live_snapshot_restore(struct pythia_live *l, struct pythia_text saved,
                                 struct pythia_error *e)
{
    struct pythia__live_share *share = &l->share;
    json_t *head = NULL;
    int status = read_snapshot_head(&saved, &head, e);
    if (status != PYTHIA_OK)
        goto out;
    const char *settings = json_string_value(json_object_get(head, "settings"));
    if (strcmp(json_string_value(json_object_get(head, "group")), group_name(share)) != 0) {
        status = pythia_error_set(e, PYTHIA_EFORMAT, "it is of another group");
        goto out;
    }
    if (!share->on) {
        status = restore_alone(l, head, saved, e);
        goto out;
    }
    /* A search with other settings is not ours, but says so. */
    if (strcmp(settings, share->settings) == 0)
        status = restore_shared(l, head, saved, e);
    if (status != PYTHIA_OK)
        goto out;
    char *copy = pythia_strndup(settings, strlen(settings));
    if (!copy) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    pythia_free(share->log_settings);
    share->log_settings = copy;
    share->differs = strcmp(settings, share->settings) != 0;
out:
    share->numbers.broken += status == PYTHIA_EFORMAT;
    json_decref(head);
    return status;
}
