/* ELF files of strangers, which a privileged program reads: whatever is in them, each site has
 * names that can be shown, is found again under them, and lies within the file. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/elf_functions.h"
#include "pythia/site_plan_make.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"
#include "site_plan.h"

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

/* Moved code is no longer than its place, and what is in it is within it. */
static void check_plan_site(const struct pythia__site *s)
{
    const struct pythia__site_code *c = &s->code;
    MUST(s->nop > 0 && s->operand_count <= PYTHIA__SITE_OPERANDS);
    MUST(c->original == 0 ||
         (c->original >= PYTHIA__SITE_JUMP && c->original <= PYTHIA__SITE_ORIGINAL_MAX));
    MUST(c->size <= PYTHIA__SITE_MOVED_MAX && c->fixup_count <= PYTHIA__SITE_FIXUPS_MAX);
    for (size_t i = 0; i < PYTHIA__SITE_JUMP; i++)
        MUST(c->begins[i] <= c->size + 1);
    for (size_t i = 0; i < c->fixup_count; i++)
        MUST(c->fixups[i].at + 4 <= c->fixups[i].end && c->fixups[i].end <= c->size);
}

/* The same file as the program itself has it traced, without a privileged program. */
static void check_plan(int file)
{
    struct pythia_site_plan *plan = NULL;
    struct pythia_error e = {0};
    struct pythia_buf bytes = {0};
    struct pythia__sites_head head;
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    MUST(pythia_site_plan_create(NULL, true, &plan) == PYTHIA_OK);
    int status = pythia_site_plan_add(plan, path, &e);
    MUST(status == PYTHIA_OK ? !e.status : e.status == status && e.sentence[0]);
    MUST(pythia_site_plan_write(plan, 0, &bytes) == PYTHIA_OK && bytes.size >= sizeof(head));
    memcpy(&head, bytes.bytes, sizeof(head));
    MUST(pythia_site_plan_numbers(plan).sites == head.sites);
    const char *at = bytes.bytes + bytes.size - head.sites * sizeof(struct pythia__site);
    for (uint32_t i = 0; i < head.sites; i++) {
        struct pythia__site site;
        memcpy(&site, at + i * sizeof(site), sizeof(site));
        MUST(site.object < head.objects && site.point < head.points);
        check_plan_site(&site);
    }
    pythia_buf_free(&bytes);
    pythia_site_plan_destroy(plan);
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
    check_plan(file);
    close(file);
    return 0;
}
