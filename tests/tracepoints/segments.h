/* What is left behind in a test's directory when programs with trace points were killed. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "check.h"

/* Segments stay when a program ends: none may be left behind. */
static inline void remove_segments(const char *directory)
{
    char command[256], line[256];
    snprintf(command, sizeof(command), "cat %s/area-* %s/switchboard-* 2>/dev/null", directory,
             directory);
    FILE *entries = popen(command, "r"); /* NOLINT(cert-env33-c) */
    while (entries && fgets(line, sizeof(line), entries)) {
        const char *number = strchr(line, ' ');
        number = number ? strchr(number + 1, ' ') : NULL;
        if (number)
            shmctl((int)strtol(number, NULL, 10), IPC_RMID, NULL);
    }
    if (entries)
        pclose(entries);
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

#endif
