#include "group_parts.h"

#include "pythia/groups_merge.h"
#include "pythia/mem.h"
#include "pythia/status.h"

void pythia__group_parts_free(struct pythia__group_parts *p)
{
    for (size_t i = 0; i < p->count; i++)
        pythia_groups_destroy(p->list[i]);
    pythia_free(p->list);
    *p = (struct pythia__group_parts){0};
}

int pythia__group_parts_make(struct pythia__group_parts *p, struct pythia_groups *whole,
                             size_t count)
{
    p->list = pythia_calloc(count, sizeof(struct pythia_groups *));
    if (!p->list)
        return PYTHIA_ENOMEM;
    for (; p->count < count; p->count++) {
        int status = pythia_groups_create_part(whole, count, &p->list[p->count]);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

int pythia__group_parts_join(struct pythia__group_parts *p, struct pythia_groups *whole)
{
    int status = PYTHIA_OK;
    for (size_t i = 0; i < p->count && status == PYTHIA_OK; i++) {
        struct pythia_groups *part = p->list[i];
        p->list[i] = NULL;
        status = pythia_groups_join(whole, part);
    }
    return status != PYTHIA_OK ? status : pythia_groups_are_whole(whole) ? PYTHIA_OK : 1;
}
