#include "own_input.h"

#include <string.h>
#include <sys/stat.h>

#include "pythia/input.h"
#include "pythia/log.h"
#include "pythia/status.h"

static const char *get_option_text(const struct pythia_option *o, const void *settings)
{
    const char *text;
    memcpy(&text, (const char *)settings + o->offset, sizeof(text));
    return text;
}

static void ignore_problem(void *context, const struct pythia_error *why)
{
    (void)context, (void)why; /* it is told when it is read */
}

/* Is one of the files, or of those in the folders, the output? */
static bool is_among(const char *const *paths, size_t count, const struct stat *output)
{
    struct pythia_input *input = NULL;
    size_t files = 0;
    bool found = false;
    if (pythia_input_create(paths, count, true, ignore_problem, NULL, &input) != PYTHIA_OK)
        return false; /* whatever needs memory next fails */
    const struct pythia_input_file *each = pythia_input_files(input, &files);
    for (size_t i = 0; i < files && !found; i++) {
        struct stat about;
        found = stat(each[i].path, &about) == 0 && about.st_dev == output->st_dev &&
                about.st_ino == output->st_ino;
    }
    pythia_input_destroy(input);
    return found;
}

/* The files of one option. */
static bool is_of_option(const struct pythia_option *o, const void *settings,
                         const struct stat *output)
{
    if (o->type == PYTHIA_OPTION_TEXTS) {
        const struct pythia_option_texts *texts =
            (const void *)((const char *)settings + o->offset);
        return is_among(texts->texts, texts->count, output);
    }
    const char *text = get_option_text(o, settings);
    return text && is_among(&text, 1, output);
}

/* Options whose value is a file or a folder are written so in the help. */
static bool names_files(const struct pythia_option *o)
{
    return (o->type == PYTHIA_OPTION_TEXT || o->type == PYTHIA_OPTION_TEXTS) && o->value &&
           (strstr(o->value, "FILE") || strstr(o->value, "FOLDER") || strstr(o->value, "DIR")) &&
           strcmp(o->name, "output") != 0;
}

bool pythia__output_is_input(const struct pythia_option *options, const void *settings,
                             char *const *operands, int count)
{
    const struct pythia_option *o = options;
    struct stat output;
    while (o->name && strcmp(o->name, "output") != 0)
        o++;
    const char *path = o->name ? get_option_text(o, settings) : NULL;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return false;
    bool found = is_among((const char *const *)operands, (size_t)count, &output);
    for (o = options; o->name && !found; o++)
        found = names_files(o) && is_of_option(o, settings, &output);
    if (found)
        pythia_log(PYTHIA_LOG_ERROR, "%s: is also an input file; choose another with --output",
                   path);
    return found;
}
