/* Fork when no other thread holds a lock of AddressSanitizer's allocator: a child inherits those of
 * LLVM 14, and waits for ever. Threads of libpythia-tracepoints take them as they begin. */
#ifndef AT_REST_H
#define AT_REST_H

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* This thread alone does not sleep. */
static inline int others_sleep(void)
{
    int awake = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[300], about[256] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file)
            continue;
        const char *name_end = fgets(about, sizeof(about), file) ? strrchr(about, ')') : NULL;
        awake += name_end && name_end[2] != 'S';
        fclose(file);
    }
    if (folder)
        closedir(folder);
    return awake <= 1;
}

/* A thread that is awake at each of so many looks is at work, and does not begin. */
#define LOOKS 10000

static inline pid_t fork_at_rest(void)
{
    for (int i = 0; i < LOOKS && !others_sleep(); i++)
        sched_yield();
    return fork();
}

#endif
