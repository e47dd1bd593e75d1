#include "probe/probe_arguments.h"

#include <string.h>

#include "pythia/elf_functions.h"
#include "pythia/function_arguments.h"
#include "pythia/log.h"
#include "pythia/status.h"

static bool is_function(const struct pythia_probe_point *point, const char *name)
{
    return !point->is_wait && strcmp(point->provider, PYTHIA_FUNCTION_PROVIDER) == 0 &&
           strcmp(point->probes[0], name) == 0;
}

static bool has_named_arguments(const void *context, const char *name)
{
    const struct pythia_probe_rules *rules = context;
    for (size_t i = 0; i < rules->point_count; i++)
        if (rules->points[i].has_names && is_function(&rules->points[i], name))
            return true;
    return false;
}

static void fill_key(struct pythia_probe_key *key, const struct pythia_function_argument *arguments,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (key->argument_name && key->argument == PYTHIA_PROBE_ARGUMENT_NAMED &&
            strcmp(key->argument_name, arguments[i].name) == 0) {
            key->argument = arguments[i].number;
            key->is_int = arguments[i].is_int;
        }
}

static int take_function(void *to, const char *name,
                         const struct pythia_function_argument *arguments, size_t count)
{
    struct pythia_probe_rules *rules = to;
    for (size_t i = 0; i < rules->point_count; i++)
        for (size_t k = 0; k < rules->points[i].key_count; k++)
            if (is_function(&rules->points[i], name))
                fill_key(&rules->points[i].keys[k], arguments, count);
    return PYTHIA_OK;
}

static void log_unknown(const struct pythia_probe_point *point)
{
    for (size_t k = 0; k < point->key_count; k++)
        if (point->keys[k].argument_name && point->keys[k].argument == PYTHIA_PROBE_ARGUMENT_NAMED)
            pythia_log(PYTHIA_LOG_WARNING,
                       "An argument is not known, and its key is left out: function=%s, "
                       "argument=%s, reason=no program has it in its debug information (install "
                       "its debug package, or write the number of the argument)",
                       point->probes[0], point->keys[k].argument_name);
}

void pythia__probe_arguments_find(struct pythia_probe_rules *rules)
{
    bool named = false;
    for (size_t i = 0; i < rules->point_count; i++)
        named |= rules->points[i].has_names;
    for (size_t i = 0; i < rules->program_count && named; i++) {
        struct pythia_error why = {0};
        /* A program that is not there is reported where its probes are looked for. */
        (void)pythia_function_arguments_read(rules->programs[i], has_named_arguments, rules,
                                             take_function, rules, &why);
    }
    for (size_t i = 0; i < rules->point_count; i++)
        log_unknown(&rules->points[i]);
}
