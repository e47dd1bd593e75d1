/* ELF files of strangers, which a privileged program reads: whatever is in them, each site has
 * names that can be shown, is found again under them, and lies within the file. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_usdt_notes notes;
    struct pythia_error e = {0};
    int file = memfd_create("notes", MFD_CLOEXEC);
    MUST(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    int status = pythia_usdt_notes_read(file, &notes, &e);
    close(file);
    MUST(status == PYTHIA_OK ? !e.status : e.status == status && e.sentence[0]);
    if (status != PYTHIA_OK)
        return 0;
    for (size_t i = 0; i < notes.count; i++)
        check_site(&notes, &notes.sites[i], size);
    pythia_usdt_notes_free(&notes);
    return 0;
}
