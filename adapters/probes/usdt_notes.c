/* A note of a USDT probe in the section .note.stapsdt, as <sys/sdt.h> writes it:
 *
 *     | name size 8 | descriptor size | type 3 | "stapsdt\0" | descriptor, zeros up to 4 bytes |
 *     descriptor: | address | base | semaphore | provider \0 | name \0 | arguments \0 |
 *
 * The addresses were true when the note was linked, and `base` was then the address of the section
 * .stapsdt.base; where that is now elsewhere (prelink), all three have moved as far. A segment says
 * which byte of the file an address is. */
#include "pythia/usdt_notes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define NOTE_TYPE 3

static const char owner[8] = "stapsdt"; /* with its NUL */

/* ---- notes ---- */

struct notes {
    struct pythia__elf *elf;
    uint64_t base; /* address of .stapsdt.base; 0: it has none */
    struct pythia_usdt_notes out;
    size_t capacity;
};

static bool is_printable(const char *text, char first)
{
    for (; *text; text++)
        if (*text < first || *text > '~')
            return false;
    return true;
}

static bool is_name(const char *text)
{
    size_t size = strlen(text);
    return size > 0 && size <= PYTHIA_USDT_NAME_MAX && is_printable(text, '!') &&
           !strchr(text, ':');
}

/* The text after this one, which ends before `end`; NULL if there is none. */
static const char *skip_text(const char *text, const char *end)
{
    const char *nul = text ? memchr(text, 0, (size_t)(end - text)) : NULL;
    return nul ? nul + 1 : NULL;
}

/* Take in a descriptor of a probe. A note that leads outside of the program's code is refused: a
 * probe there could never be attached. */
static int add_site(struct notes *n, const char *descriptor, size_t size)
{
    uint64_t addresses[3]; /* of the instruction, of the base, of the semaphore */
    const char *end = descriptor + size, *provider = descriptor + sizeof(addresses);
    if (size < sizeof(addresses)) {
        n->out.refused++;
        return PYTHIA_OK;
    }
    memcpy(addresses, descriptor, sizeof(addresses));
    const char *name = skip_text(provider, end), *arguments = skip_text(name, end);
    if (!skip_text(arguments, end) || !is_name(provider) || !is_name(name) ||
        !is_printable(arguments, ' ')) {
        n->out.refused++;
        return PYTHIA_OK;
    }
    uint64_t moved = n->base ? n->base - addresses[1] : 0;
    struct pythia_usdt_site site = {
        .provider = provider,
        .name = name,
        .arguments = arguments,
        .offset = pythia__elf_offset(n->elf, addresses[0] + moved, PF_X, PYTHIA__ELF_CODE_BYTES),
        .semaphore = addresses[2] ? pythia__elf_offset(n->elf, addresses[2] + moved, PF_W, 2) : 0,
        .address = addresses[0] + moved,
        .semaphore_address = addresses[2] ? addresses[2] + moved : 0};
    unsigned char code[PYTHIA__ELF_CODE_BYTES] = {0};
    if (!site.offset || (addresses[2] && !site.semaphore) ||
        pythia__elf_read(n->elf, site.offset, code, sizeof(code)) != PYTHIA_OK) {
        pythia_error_clear(n->elf->e);
        n->out.refused++;
        return PYTHIA_OK;
    }
    if (n->out.count == PYTHIA_USDT_SITES_MAX)
        return pythia_error_set(n->elf->e, PYTHIA_ELIMIT, "more than %d probes",
                                PYTHIA_USDT_SITES_MAX);
    if (pythia_grow(&n->out.sites, &n->capacity, n->out.count, sizeof(site)) != PYTHIA_OK)
        return pythia_error_set(n->elf->e, PYTHIA_ENOMEM, "out of memory");
    site.instruction = site.trap = pythia__elf_instruction(code);
    site.operand_count = pythia_usdt_operands_read(pythia_text_of(arguments), site.operands);
    n->out.sites[n->out.count++] = site;
    return PYTHIA_OK;
}

/* Read all notes of the section. Each has its sizes before it, so that the first one whose sizes
 * cannot be true ends the list: where the next begins is then not known. */
static int read_notes(struct notes *n, const char *bytes, uint64_t size)
{
    Elf64_Nhdr note;
    int status = PYTHIA_OK;
    for (uint64_t at = 0; status == PYTHIA_OK && size - at >= sizeof(note);) {
        memcpy(&note, bytes + at, sizeof(note));
        at += sizeof(note);
        uint64_t name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3),
                 descriptor = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name > size - at || note.n_descsz > size - at - name) {
            n->out.refused++;
            break;
        }
        if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof(owner) &&
            memcmp(bytes + at, owner, sizeof(owner)) == 0)
            status = add_site(n, bytes + at + name, note.n_descsz);
        at += name + descriptor < size - at ? name + descriptor : size - at;
    }
    return status;
}

static int compare_sites(const void *a, const void *b)
{
    const struct pythia_usdt_site *x = a, *y = b;
    int order = strcmp(x->provider, y->provider);
    order = order ? order : strcmp(x->name, y->name);
    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

int pythia_usdt_notes_read(int file, struct pythia_usdt_notes *out, struct pythia_error *e)
{
    struct pythia__elf f = {.file = file, .e = e};
    struct notes n = {.elf = &f};
    int status = pythia__elf_open(&f);
    if (status != PYTHIA_OK)
        goto out;
    const Elf64_Shdr *base = pythia__elf_section(&f, ".stapsdt.base"),
                     *section = pythia__elf_section(&f, ".note.stapsdt");
    n.base = base ? base->sh_addr : 0;
    if (section && section->sh_size > PYTHIA_USDT_BYTES_MAX)
        pythia_error_set(f.e, PYTHIA_ELIMIT, "more notes of probes than 16 MiB");
    else if (section)
        n.out.texts = pythia__elf_part(&f, section->sh_offset, section->sh_size);
    if (!n.out.texts) {
        status = f.e->status;
        goto out;
    }
    status = read_notes(&n, n.out.texts, section->sh_size);
    if (n.out.count > 0)
        qsort(n.out.sites, n.out.count, sizeof(*n.out.sites), compare_sites);
out:
    pythia__elf_close(&f);
    if (status == PYTHIA_OK)
        *out = n.out;
    else
        pythia_usdt_notes_free(&n.out);
    return status;
}

void pythia_usdt_notes_free(struct pythia_usdt_notes *notes)
{
    pythia_free(notes->sites);
    pythia_free(notes->texts);
    *notes = (struct pythia_usdt_notes){0};
}
/* How a probe stands to the one that is looked for. */
static int compare_probe(const struct pythia_usdt_site *site, struct pythia_text provider,
                         struct pythia_text name)
{
    int order = pythia_text_compare(pythia_text_of(site->provider), provider);
    return order ? order : pythia_text_compare(pythia_text_of(site->name), name);
}

const struct pythia_usdt_site *pythia_usdt_notes_find(const struct pythia_usdt_notes *notes,
                                                      struct pythia_text provider,
                                                      struct pythia_text name, size_t *count)
{
    size_t low = 0, high = notes->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_probe(&notes->sites[middle], provider, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < notes->count; high++)
        if (compare_probe(&notes->sites[high], provider, name) != 0)
            break;
    *count = high - low;
    return *count ? &notes->sites[low] : NULL;
}
