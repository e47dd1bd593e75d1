/* ELF files of strangers, which a privileged program reads: whatever is in them, each site has
 * names that can be shown, is found again under them, and lies within the file. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/elf_functions.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"

static void check_operand(const struct pythia_usdt_operand *o)
{
    MUST(o->kind <= PYTHIA_USDT_MEMORY);
    MUST(o->bytes == 1 || o->bytes == 2 || o->bytes == 4 || o->bytes == 8);
    MUST(o->base <= 152 || o->base == PYTHIA_USDT_NO_REGISTER);
    MUST(o->index <= 152 || o->index == PYTHIA_USDT_NO_REGISTER);
    MUST(o->kind < PYTHIA_USDT_REGISTER || o->base != PYTHIA_USDT_NO_REGISTER);
}

static void check_site(const struct pythia_usdt_notes *notes, const struct pythia_usdt_site *s,
                       size_t size)
{
    size_t count;
    MUST(*s->provider && *s->name && strlen(s->name) <= PYTHIA_USDT_NAME_MAX);
    for (const char *at = s->arguments; *at; at++)
        MUST(*at >= ' ' && *at <= '~');
    MUST(s->offset > 0 && s->offset < size && s->semaphore < INT64_MAX);
    MUST(s->instruction < PYTHIA_USDT_INSTRUCTIONS);
    MUST(s->operand_count <= PYTHIA_USDT_OPERANDS_MAX);
    for (size_t i = 0; i < s->operand_count; i++)
        check_operand(&s->operands[i]);
    const struct pythia_usdt_site *found =
        pythia_usdt_notes_find(notes, pythia_text_of(s->provider), pythia_text_of(s->name), &count);
    MUST(found && s >= found && s < found + count);
}

static void check_list(int status, struct pythia_usdt_notes *notes, const struct pythia_error *e,
                       size_t size)
{
    MUST(status == PYTHIA_OK ? !e->status : e->status == status && e->sentence[0]);
    if (status != PYTHIA_OK)
        return;
    for (size_t i = 0; i < notes->count; i++)
        check_site(notes, &notes->sites[i], size);
    pythia_usdt_notes_free(notes);
}

/* The program is its own file of debug symbols, too. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_usdt_notes notes;
    struct pythia_error e = {0};
    char path[PYTHIA_DEBUG_PATH_BYTES];
    int file = memfd_create("notes", MFD_CLOEXEC);
    MUST(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    int status = pythia_usdt_notes_read(file, &notes, &e);
    check_list(status, &notes, &e, size);
    pythia_error_clear(&e);
    status = pythia_elf_functions_read(file, -1, NULL, NULL, &notes, &e);
    check_list(status, &notes, &e, size);
    pythia_error_clear(&e);
    status = pythia_elf_functions_read(file, file, NULL, NULL, &notes, &e);
    check_list(status, &notes, &e, size);
    pythia_error_clear(&e);
    status = pythia_elf_debug_path(file, path, &e);
    MUST(status == PYTHIA_OK ? strlen(path) < sizeof(path) : e.status == status);
    close(file);
    return 0;
}
