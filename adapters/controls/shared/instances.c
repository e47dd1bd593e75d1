#include "pythia/instances.h"

#include <fnmatch.h>
#include <string.h>

/* fnmatch needs texts that end with a NUL. */
static bool copy_part(struct pythia_text text, char out[PYTHIA_INSTANCES_BYTES + 1])
{
    if (text.size > PYTHIA_INSTANCES_BYTES)
        return false;
    if (text.size > 0)
        memcpy(out, text.bytes, text.size);
    out[text.size] = '\0';
    return true;
}

bool pythia_instances_fits(struct pythia_text pattern, struct pythia_text text)
{
    char pattern_part[PYTHIA_INSTANCES_BYTES + 1], part[PYTHIA_INSTANCES_BYTES + 1];
    return pattern.size == 0 || (copy_part(pattern, pattern_part) && copy_part(text, part) &&
                                 fnmatch(pattern_part, part, 0) == 0);
}

/* The text up to the first `separator`; *rest is what follows it, or empty. */
static struct pythia_text cut_part(struct pythia_text text, char separator,
                                   struct pythia_text *rest)
{
    const char *end = text.size ? memchr(text.bytes, separator, text.size) : NULL;
    size_t size = end ? (size_t)(end - text.bytes) : text.size;
    *rest = end ? (struct pythia_text){end + 1, text.size - size - 1} : (struct pythia_text){"", 0};
    return (struct pythia_text){text.bytes, size};
}

bool pythia_instances_has(struct pythia_text place, struct pythia_text instance)
{
    struct pythia_text process, rest, number;
    struct pythia_text host = cut_part(place, '/', &process);
    struct pythia_text of = cut_part(instance, ':', &rest);
    struct pythia_text pid = cut_part(rest, ':', &number);
    return pythia_instances_fits(host, of) &&
           (pythia_instances_fits(process, pid) || pythia_instances_fits(process, instance));
}
