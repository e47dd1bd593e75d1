/* What an engine keeps for a shared search, and the settings that its search can be restored with:
 * made, freed, and copied from options. */
#include <inttypes.h>
#include <string.h>

#include "live_parts.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

static char *copy_text(const char *text)
{
    return pythia_strndup(text, strlen(text));
}

/* Engines with different spaces cannot make one search: the space is one of the settings. */
static int add_space(const struct pythia_live *l, struct pythia_buf *settings)
{
    struct pythia_buf space = {0};
    int status = pythia_space_file_write(l->space, &space);
    if (status == PYTHIA_OK)
        pythia_buf_printf(settings, ", space=%016" PRIx64,
                          pythia_hash_bytes(space.bytes, space.size));
    pythia_buf_free(&space);
    return status;
}

int pythia__live_share_init(struct pythia_live *l)
{
    const struct pythia_live_shared_options *o = &l->o.shared;
    struct pythia__live_share *share = &l->share;
    struct pythia_buf settings = {0};
    int status = PYTHIA_OK;
    if (!o->group) { /* alone: a space that the owner has may grow, and is no setting */
        share->settings = copy_text(o->settings ? o->settings : "");
        return share->settings ? PYTHIA_OK : PYTHIA_ENOMEM;
    }
    share->on = true;
    share->own = share->all = 1;
    share->set = l->space != NULL; /* its search begins at once */
    share->always = o->always;
    share->never = o->never;
    pythia_buf_puts(&settings, o->settings);
    if (l->space)
        status = add_space(l, &settings);
    if (status == PYTHIA_OK)
        status = pythia_buf_status(&settings);
    if (status == PYTHIA_OK)
        status = pythia_layers_create(l->vocabulary, &share->layers);
    share->group = copy_text(o->group);
    share->settings = status == PYTHIA_OK ? copy_text(settings.bytes ? settings.bytes : "") : NULL;
    pythia_buf_free(&settings);
    return share->group && share->settings ? status : PYTHIA_ENOMEM;
}

void pythia__live_part_free(struct pythia__live_part *part)
{
    pythia_free(part->member);
    json_decref(part->head);
    pythia_buf_free(&part->file);
}

void pythia__live_share_clear(struct pythia__live_share *share)
{
    for (size_t i = 0; i < share->part_count; i++)
        pythia__live_part_free(&share->parts[i]);
    share->part_count = 0;
}

void pythia__live_share_clear_offers(struct pythia__live_share *share)
{
    for (size_t i = 0; i < share->offer_count; i++)
        pythia__live_part_free(&share->offers[i]);
    share->offer_count = 0;
}

void pythia__live_share_free(struct pythia__live_share *share)
{
    pythia__live_share_clear(share);
    pythia__live_share_clear_offers(share);
    pythia_layers_destroy(share->layers);
    pythia_free(share->parts);
    pythia_free(share->offers);
    pythia_free(share->group);
    pythia_free(share->settings);
    pythia_free(share->log_settings);
    pythia__evidence_free(&share->round.evidence);
}

struct pythia_search_options pythia__live_share_search(const struct pythia_live *l)
{
    struct pythia_search_options how = l->o.search;
    how.always = l->share.always;
    how.never = l->share.never;
    how.fixed = NULL;
    how.prices = NULL;
    how.layers = l->share.layers;
    how.history = NULL;
    how.prefer = NULL;
    how.instances = NULL; /* members know different ones */
    return how;
}

/* A point is looked up by its id: its number, if the vocabulary has none yet, comes with it. */
json_t *pythia__live_pack_layers(const struct pythia_live *l, bool of_log)
{
    struct pythia_layers *from = of_log ? l->share.layers : l->o.search.layers;
    uint32_t points = pythia_vocabulary_tracepoints(l->vocabulary);
    json_t *out = json_object();
    bool any = pythia_layers_lowest(from) != PYTHIA_LAYER_APPLICATION;
    for (uint32_t point = 0; out && any && point < points; point++) {
        enum pythia_layer layer = pythia_layers_of(from, point);
        struct pythia_text id = pythia_vocabulary_tracepoint_id(l->vocabulary, point);
        bool known = !of_log && pythia_layers_of(l->share.layers, point);
        if (layer != PYTHIA_LAYER_APPLICATION && !known &&
            json_object_setn_new_nocheck(out, id.bytes, id.size,
                                         json_string(pythia_layer_name(layer))) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

int pythia__live_take_layers(const struct pythia_live *l, json_t *packed, struct pythia_layers *to,
                             struct pythia_error *e)
{
    const char *id;
    json_t *name;
    json_object_foreach (packed, id, name) {
        struct pythia_text text = {json_string_value(name), json_string_length(name)};
        enum pythia_layer layer = PYTHIA_LAYER_APPLICATION;
        uint32_t point =
            pythia_vocabulary_tracepoint_of_id(l->vocabulary, pythia_text_of(id), 0, 0);
        if (point == PYTHIA_NONE)
            return PYTHIA_ENOMEM;
        if (!text.bytes || !pythia_layer_find(text, &layer))
            return pythia_error_set(e, PYTHIA_EFORMAT, "it has a layer that is none");
        if (pythia_layers_of(to, point) != PYTHIA_LAYER_APPLICATION)
            continue;
        int status = pythia_layers_set(to, pythia_text_of(id), layer);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}
