/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row *row_of(const struct option_row *rows, const char *name,
                                       size_t bytes)
{
    for (; rows->name; rows++)
        if (strlen(rows->name) == bytes && memcmp(rows->name, name, bytes) == 0)
            return rows;
    return NULL;
}

static int read_number(const struct option_row *row, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || number < row->least || number > row->most) {
        fprintf(stderr, "rpc_testbed: --%s wants a number from %u to %u, not %s\n", row->name,
                row->least, row->most, text);
        return 2;
    }
    *(unsigned *)row->to = (unsigned)number;
    return 0;
}

static int take_value(const struct option_row *row, const char *text)
{
    if (row->type == OPTION_NUMBER)
        return read_number(row, text);
    if (row->type == OPTION_TEXT) {
        *(const char **)row->to = text;
        return 0;
    }
    const struct option_list *list = row->to;
    if (*list->count == list->most) {
        fprintf(stderr, "rpc_testbed: --%s is given more than %u times\n", row->name, list->most);
        return 2;
    }
    list->texts[(*list->count)++] = text;
    return 0;
}

int options_read(int argc, char **argv, const struct option_row *rows)
{
    for (int i = 0; i < argc; i++) {
        const char *name = strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : "";
        size_t bytes = strcspn(name, "=");
        const struct option_row *row = row_of(rows, name, bytes);
        const char *value = name[bytes] ? name + bytes + 1 : NULL;
        if (!row || (row->type == OPTION_FLAG && value)) {
            fprintf(stderr, "rpc_testbed: There is no option %s here\n", argv[i]);
            return 2;
        }
        if (row->type == OPTION_FLAG) {
            *(int *)row->to = 1;
            continue;
        }
        if (!value && ++i < argc)
            value = argv[i];
        if (!value) {
            fprintf(stderr, "rpc_testbed: --%s wants a value\n", row->name);
            return 2;
        }
        int code = take_value(row, value);
        if (code != 0)
            return code;
    }
    return 0;
}
