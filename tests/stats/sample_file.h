/* Published samples for the tests: tests/stats/data/, whose README names their origin. */
#ifndef SAMPLE_FILE_H
#define SAMPLE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Read at most `most` numbers of a file with numbers parted by commas and line ends, below a line
 * of column names if the name ends in .csv. Fails the test if it cannot. Returns how many there
 * are. */
static inline size_t read_sample(const char *name, double *numbers, size_t most)
{
    char path[512], line[512];
    (void)snprintf(path, sizeof(path), PYTHIA_TESTS "/stats/data/%s", name);
    FILE *file = fopen(path, "r");
    if (!file) {
        print_error("%s is not there\n", path);
        fail();
        return 0;
    }
    if (strstr(name, ".csv"))
        assert_non_null(fgets(line, sizeof(line), file));
    size_t count = 0;
    while (fgets(line, sizeof(line), file)) {
        char *at = line, *end;
        for (double x = strtod(at, &end); end != at; x = strtod(at, &end)) {
            assert_true(count < most);
            numbers[count++] = x;
            at = *end == ',' ? end + 1 : end;
        }
    }
    (void)fclose(file);
    return count;
}

#endif
