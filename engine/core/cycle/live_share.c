/* The state that a shared search keeps of its engine: made, freed, and copied from options. */
#include <inttypes.h>
#include <string.h>

#include "live_parts.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/space_file.h"
#include "pythia/status.h"

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
    if (!o->group)
        return PYTHIA_OK;
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
    share->group = pythia_strndup(o->group, strlen(o->group));
    share->settings = status == PYTHIA_OK
                          ? pythia_strndup(settings.bytes ? settings.bytes : "", settings.size)
                          : NULL;
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
    how.layers = NULL;
    how.history = NULL;
    how.prefer = NULL;
    how.instances = NULL; /* members know different ones */
    return how;
}
