#include "pythia/expectation_file.h"

#include "pythia/config.h"
#include "pythia/status.h"

#define MEMBER(name)                                                                               \
    PYTHIA_TEXT_OPTION(#name, 0, "TEXT", offsetof(struct pythia_expectation_text, name), "")

/* The members of a map. */
static const struct pythia_option members[] = {
    MEMBER(type), MEMBER(where), MEMBER(p99), MEMBER(cov), MEMBER(same_path_as), {0},
};

struct reading {
    struct pythia_expectation_text text;
    struct pythia_expectations *all;
};

static int take_expectation(void *context, struct pythia_error *e)
{
    struct reading *r = context;
    return pythia_expectations_add(r->all, &r->text, e);
}

int pythia_expectation_file_read(const char *path, struct pythia_expectations *all,
                                 struct pythia_error *e)
{
    struct reading r = {.all = all};
    struct pythia_config *file = NULL;
    int status = pythia_config_create(members, &file);
    if (status != PYTHIA_OK)
        return status;
    status = pythia_config_read_list(file, path, &r.text,
                                     &(struct pythia_config_list){take_expectation, &r}, e);
    pythia_config_destroy(file);
    if (status == PYTHIA_OK && all->count == 0) {
        status = pythia_error_set(e, PYTHIA_EFORMAT, "it has no expectations");
        pythia_error_place(e, path, 0, 0);
    }
    return status;
}
