#include "machine.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number in a file; UINT64_MAX if there is none, which "max" is. */
static uint64_t read_limit(const char *path)
{
    char text[32], *end;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    bool is_there = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    if (!is_there)
        return UINT64_MAX;
    errno = 0;
    unsigned long long limit = strtoull(text, &end, 10);
    return end == text || errno != 0 || limit == 0 ? UINT64_MAX : limit;
}

/* The least limit of the cgroup `group` ("/a/b") and those above it. In a container only the last
 * of them, "/", may be visible. Changes `group`. */
static uint64_t find_cgroup_limit(const char *mount, char *group, const char *file)
{
    char path[PATH_MAX];
    uint64_t least = UINT64_MAX;
    for (;;) {
        int size = snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
        uint64_t limit = size < (int)sizeof(path) ? read_limit(path) : UINT64_MAX;
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Is "memory" in a list with commas? */
static bool has_memory(const char *controllers)
{
    static const char name[] = "memory";
    for (const char *at = controllers; (at = strstr(at, name)); at += sizeof(name) - 1)
        if ((at == controllers || at[-1] == ',') &&
            (at[sizeof(name) - 1] == ',' || at[sizeof(name) - 1] == '\0'))
            return true;
    return false;
}

/* `line` is "NUMBER:CONTROLLERS:/PATH", without controllers for version 2. */
static uint64_t read_cgroup_limit(const char *root, char *line)
{
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    bool second = *++controllers == '\0';
    if (!second && !has_memory(controllers))
        return UINT64_MAX;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s", root, second ? "" : "/memory");
    return find_cgroup_limit(mount, group, second ? "memory.max" : "memory.limit_in_bytes");
}

uint64_t pythia__machine_memory(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        uint64_t limit = read_cgroup_limit(root, line);
        least = limit < least ? limit : least;
    }
    if (file)
        fclose(file);
    return least;
}
