#include "profile_folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/run_callpaths.h"
#include "pythia/sort.h"
#include "pythia/status.h"
#include "pythia/strtab.h"
#include "shared/command.h"

struct folding {
    const struct pythia_profile *profile;
    const struct pythia_profile_part *parts;
    uint32_t *order; /* of parts: by process, then by row */
    size_t count;
    struct pythia_strtab *names; /* of files, and how many processes have each */
    size_t *uses, use_capacity;
};

static bool is_earlier_part(const void *folding, uint32_t a, uint32_t b)
{
    const struct folding *f = folding;
    const struct pythia_profile_part *x = &f->parts[a], *y = &f->parts[b];
    int order = pythia_profile_compare_processes(f->profile, x->process, y->process);
    return (order ? order : pythia_profile_compare_rows(f->profile, x->row, y->row)) < 0;
}

/* Names come from traces: what is neither a letter nor a digit nor one of "._-" becomes "_". */
static void add_file_word(struct pythia_buf *name, struct pythia_text word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (size_t i = 0; i < word.size && i < 64; i++) {
        bool is_plain = word.bytes[i] && strchr(plain, word.bytes[i]);
        pythia_buf_putc(name, (char)(is_plain ? word.bytes[i] : '_'));
    }
}

/* "profiler.<process id>.folded"; without an id, the service's name stands for it. A process whose
 * name is taken already, by one of another host, gets the first number that is free. */
static void name_folded_file(const struct folding *f, const struct pythia_profile_process *process,
                             const char *folder, size_t number, struct pythia_buf *name)
{
    const struct pythia_vocabulary *v = pythia_profile_vocabulary(f->profile);
    pythia_buf_clear(name);
    pythia_buf_printf(name, "%s/profiler.", folder);
    add_file_word(
        name, pythia_vocabulary_text(v, process->instance ? process->instance : process->service));
    if (number > 1)
        pythia_buf_printf(name, "-%zu", number);
    pythia_buf_puts(name, ".folded");
}

/* The name of the file of a process, which no other has. */
static int choose_folded_file(struct folding *f, const struct pythia_profile_process *process,
                              const char *folder, struct pythia_buf *name)
{
    name_folded_file(f, process, folder, 1, name);
    uint32_t number = pythia_strtab_intern(f->names, pythia_buf_text(name));
    if (pythia_buf_status(name) != PYTHIA_OK || number == PYTHIA_STRTAB_NONE ||
        pythia_reach(&f->uses, &f->use_capacity, number, sizeof(*f->uses)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    if (++f->uses[number] > 1)
        name_folded_file(f, process, folder, f->uses[number], name);
    return pythia_buf_status(name);
}

/* All parts of one process, from `at` on; *next is where the following one begins. */
static int write_process_stacks(struct folding *f, const char *folder, size_t at, size_t *next)
{
    size_t row_count;
    const struct pythia_profile_row *rows = pythia_profile_rows(f->profile, &row_count);
    const struct pythia_cct *cct = pythia_profile_cct(f->profile);
    uint32_t process = f->parts[f->order[at]].process;
    struct pythia_buf name = {0}, text = {0};
    int status = choose_folded_file(f, pythia_profile_process(f->profile, process), folder, &name);
    for (; at < f->count && f->parts[f->order[at]].process == process; at++) {
        const struct pythia_profile_part *part = &f->parts[f->order[at]];
        if (part->exclusive_ns == 0)
            continue;
        pythia_run_callpath_add(cct, rows[part->row].node, &text);
        pythia_buf_printf(&text, " %" PRIu64 "\n", part->exclusive_ns);
    }
    *next = at;
    if (status == PYTHIA_OK)
        status = pythia__write_text(name.bytes, pythia_buf_status(&text), &text);
    pythia_buf_free(&name);
    return status;
}

int pythia__profile_folded(const struct pythia_profile *profile, const char *folder)
{
    struct folding f = {.profile = profile};
    f.parts = pythia_profile_parts(profile, &f.count);
    f.order = pythia_calloc(2 * f.count + 1, sizeof(*f.order));
    int status = f.order ? pythia_strtab_create(&f.names) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    for (uint32_t i = 0; i < f.count; i++)
        f.order[i] = i;
    pythia_sort_indexes(f.order, f.count, f.order + f.count, is_earlier_part, &f);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: the folder cannot be made: %s", folder, strerror(errno));
        status = PYTHIA_EIO;
    }
    for (size_t at = 0; at < f.count && status == PYTHIA_OK;)
        status = write_process_stacks(&f, folder, at, &at);
out:
    pythia_strtab_destroy(f.names);
    pythia_free(f.uses);
    pythia_free(f.order);
    return status;
}
