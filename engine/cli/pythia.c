/* `pythia`: finds the command and hands over to it. Help, manual and completion are made of the
 * same tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "help.h"
#include "pythia/log.h"
#include "pythia/lttng_reader.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/own_input.h"

/* The number of words in argv, from index 1 on, that name this command; 0: none. */
static int words_matched(const struct pythia__command *c, int argc, char **argv)
{
    const char *name = c->name;
    int words = 0;
    while (*name) {
        size_t size = strcspn(name, " ");
        if (words + 1 >= argc || strlen(argv[words + 1]) != size ||
            memcmp(argv[words + 1], name, size) != 0)
            return 0;
        words++;
        name += size;
        name += strspn(name, " ");
    }
    return words;
}

static bool asks_for_help(int argc, char **argv, int from)
{
    for (int i = from; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run_command(const struct pythia__command *c, int argc, char **argv)
{
    void *settings = pythia_calloc(1, c->settings_size);
    if (!settings)
        return pythia__fail(PYTHIA_ENOMEM);
    struct pythia_error why = {0};
    int first = argc, code = PYTHIA__EXIT_USAGE;
    struct pythia_option options[PYTHIA__OPTIONS_MAX];
    pythia__options_of(c, options);
    pythia_options_default(options, settings);
    if (pythia_options_parse(options, settings, argc, argv, &first, &why) != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "%s (pythia %s --help lists the options)", why.sentence,
                   c->name);
    else if (argc - first < c->operands_min ||
             (c->operands_max >= 0 && argc - first > c->operands_max))
        pythia_log(PYTHIA_LOG_ERROR, "usage: pythia %s [OPTION...]%s%s", c->name,
                   *c->operands ? " " : "", c->operands);
    else if (!pythia__output_is_input(options, settings, argv + first, argc - first))
        code = c->run(settings, argv + first, argc - first);
    pythia_free(settings);
    return code;
}

/* pythia_free with the type that jansson wants. */
static void free_command_json(void *memory)
{
    pythia_free(memory);
}

int main(int argc, char **argv)
{
    pythia_log_setup("pythia", PYTHIA_LOG_INFO);
    pythia_lttng_reader_main(argc, argv);
    json_set_alloc_funcs(pythia_malloc, free_command_json); /* its failures are counted, too */
    gsl_set_error_handler_off(); /* its default ends the process; return codes are read instead */
    if (argc < 2)
        return pythia__help_unknown("", NULL);
    int code;
    if (pythia__help_asked(argc, argv, &code))
        return code;
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++) {
        int words = words_matched(commands[i], argc, argv);
        if (words == 0)
            continue;
        if (asks_for_help(argc, argv, words + 1))
            return pythia__help_command(commands[i]);
        return run_command(commands[i], argc - words, argv + words);
    }
    if (asks_for_help(argc, argv, 2))
        return pythia__help_family(argv[1]);
    return pythia__help_unknown(argv[1], argc > 2 ? argv[2] : NULL);
}
