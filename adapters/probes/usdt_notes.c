/* A note of a USDT probe in the section .note.stapsdt, as <sys/sdt.h> writes it:
 *
 *     | name size 8 | descriptor size | type 3 | "stapsdt\0" | descriptor, zeros up to 4 bytes |
 *     descriptor: | address | base | semaphore | provider \0 | name \0 | arguments \0 |
 *
 * The addresses were true when the note was linked, and `base` was then the address of the section
 * .stapsdt.base; where that is now elsewhere (prelink), all three have moved as far. A segment says
 * which byte of the file an address is. The file is read by pread and never mapped: another process
 * may cut it short meanwhile, and a mapping would then kill the reader. */
#include "pythia/usdt_notes.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define SEGMENTS_MAX 1024       /* each is looked at for each note */
#define NAMES_MAX    (4u << 20) /* bytes of the names of sections */
#define NOTE_TYPE    3
#define CODE_BYTES   8 /* that tell what an instruction is */

static const char owner[8] = "stapsdt"; /* with its NUL */

struct elf {
    int file;
    struct pythia_error *e;
    Elf64_Ehdr head;
    Elf64_Phdr *segments; /* owned */
    Elf64_Shdr *sections; /* owned */
    char *names;          /* owned: of sections; names_bytes of them and a NUL */
    uint64_t names_bytes;
};

static int refuse_file(const struct elf *f, const char *why)
{
    return pythia_error_set(f->e, PYTHIA_EFORMAT, "%s", why);
}

static int read_at(const struct elf *f, uint64_t offset, void *to, size_t size)
{
    size_t done = 0;
    if (offset > INT64_MAX - size)
        return refuse_file(f, "the ELF file says that it has parts beyond its end");
    while (done < size) {
        ssize_t got = pread(f->file, (char *)to + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pythia_error_set(f->e, PYTHIA_EIO, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return refuse_file(f, "the ELF file ends within its headers or notes");
        done += (size_t)got;
    }
    return PYTHIA_OK;
}

/* Read a part of the file into memory of its own, with a NUL after it; NULL with the reason in the
 * file's error. */
static void *read_part(const struct elf *f, uint64_t offset, uint64_t size)
{
    char *part = pythia_calloc((size_t)size + 1, 1);
    if (!part)
        pythia_error_set(f->e, PYTHIA_ENOMEM, "out of memory");
    else if (read_at(f, offset, part, (size_t)size) == PYTHIA_OK)
        return part;
    pythia_free(part);
    return NULL;
}

static int read_headers(struct elf *f)
{
    int status = read_at(f, 0, &f->head, sizeof(f->head));
    if (status == PYTHIA_EFORMAT ||
        (status == PYTHIA_OK && memcmp(f->head.e_ident, ELFMAG, SELFMAG) != 0)) {
        pythia_error_clear(f->e);
        return refuse_file(f, "not an ELF file");
    }
    if (status != PYTHIA_OK)
        return status;
    if (f->head.e_ident[EI_CLASS] != ELFCLASS64 || f->head.e_ident[EI_DATA] != ELFDATA2LSB ||
        f->head.e_machine != EM_X86_64)
        return refuse_file(f, "an ELF file for another processor than x86-64");
    if (f->head.e_phnum > SEGMENTS_MAX)
        return pythia_error_set(f->e, PYTHIA_ELIMIT, "more than %d segments", SEGMENTS_MAX);
    if ((f->head.e_phnum && f->head.e_phentsize != sizeof(Elf64_Phdr)) ||
        (f->head.e_shnum && f->head.e_shentsize != sizeof(Elf64_Shdr)))
        return refuse_file(f, "headers of another size than an ELF file has");
    f->segments = read_part(f, f->head.e_phoff, f->head.e_phnum * sizeof(Elf64_Phdr));
    f->sections =
        f->segments ? read_part(f, f->head.e_shoff, f->head.e_shnum * sizeof(Elf64_Shdr)) : NULL;
    if (!f->sections || f->head.e_shstrndx >= f->head.e_shnum)
        return f->e->status;
    const Elf64_Shdr *names = &f->sections[f->head.e_shstrndx];
    if (names->sh_size > NAMES_MAX)
        return pythia_error_set(f->e, PYTHIA_ELIMIT, "the names of sections are too long");
    f->names_bytes = names->sh_size;
    f->names = read_part(f, names->sh_offset, names->sh_size);
    return f->e->status;
}

static const Elf64_Shdr *find_section(const struct elf *f, const char *name)
{
    for (size_t i = 0; f->names && i < f->head.e_shnum; i++)
        if (f->sections[i].sh_name < f->names_bytes &&
            strcmp(f->names + f->sections[i].sh_name, name) == 0)
            return &f->sections[i];
    return NULL;
}

/* Which byte of the file is at an address, of a segment that has these flags; 0: none. */
static uint64_t find_offset(const struct elf *f, uint64_t address, uint32_t flags, uint64_t bytes)
{
    for (size_t i = 0; i < f->head.e_phnum; i++) {
        const Elf64_Phdr *s = &f->segments[i];
        if (s->p_type == PT_LOAD && (s->p_flags & flags) == flags && address >= s->p_vaddr &&
            s->p_filesz >= bytes && address - s->p_vaddr <= s->p_filesz - bytes &&
            s->p_offset <= INT64_MAX - s->p_filesz)
            return s->p_offset + (address - s->p_vaddr);
    }
    return 0;
}

static enum pythia_usdt_instruction classify_code(const unsigned char code[CODE_BYTES])
{
    static const unsigned char nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    if (memcmp(code, nop5, sizeof(nop5)) == 0)
        return PYTHIA_USDT_NOP5;
    if (code[0] == 0x90 || (code[0] == 0x66 && code[1] == 0x90) ||
        (code[0] == 0x0f && code[1] == 0x1f))
        return PYTHIA_USDT_NOP;
    if ((code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50))
        return PYTHIA_USDT_PUSH;
    if (code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb || (code[0] & 0xf0) == 0x70 ||
        (code[0] == 0x0f && (code[1] & 0xf0) == 0x80))
        return PYTHIA_USDT_BRANCH;
    return PYTHIA_USDT_STEP;
}

const char *pythia_usdt_instruction_name(enum pythia_usdt_instruction instruction)
{
    static const char *const names[PYTHIA_USDT_INSTRUCTIONS] = {"nop5", "nop", "push", "branch",
                                                                "step"};
    return names[instruction];
}

/* ---- notes ---- */

struct notes {
    struct elf *elf;
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
        .offset = find_offset(n->elf, addresses[0] + moved, PF_X, CODE_BYTES),
        .semaphore = addresses[2] ? find_offset(n->elf, addresses[2] + moved, PF_W, 2) : 0};
    unsigned char code[CODE_BYTES] = {0};
    if (!site.offset || (addresses[2] && !site.semaphore) ||
        read_at(n->elf, site.offset, code, sizeof(code)) != PYTHIA_OK) {
        pythia_error_clear(n->elf->e);
        n->out.refused++;
        return PYTHIA_OK;
    }
    if (n->out.count == PYTHIA_USDT_SITES_MAX)
        return pythia_error_set(n->elf->e, PYTHIA_ELIMIT, "more than %d probes",
                                PYTHIA_USDT_SITES_MAX);
    if (pythia_grow(&n->out.sites, &n->capacity, n->out.count, sizeof(site)) != PYTHIA_OK)
        return pythia_error_set(n->elf->e, PYTHIA_ENOMEM, "out of memory");
    site.instruction = classify_code(code);
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
    struct elf f = {.file = file, .e = e};
    struct notes n = {.elf = &f};
    int status = read_headers(&f);
    if (status != PYTHIA_OK)
        goto out;
    const Elf64_Shdr *base = find_section(&f, ".stapsdt.base"),
                     *section = find_section(&f, ".note.stapsdt");
    n.base = base ? base->sh_addr : 0;
    if (section && section->sh_size > PYTHIA_USDT_BYTES_MAX)
        pythia_error_set(f.e, PYTHIA_ELIMIT, "more notes of probes than 16 MiB");
    else if (section)
        n.out.texts = read_part(&f, section->sh_offset, section->sh_size);
    if (!n.out.texts) {
        status = f.e->status;
        goto out;
    }
    status = read_notes(&n, n.out.texts, section->sh_size);
    if (n.out.count > 0)
        qsort(n.out.sites, n.out.count, sizeof(*n.out.sites), compare_sites);
out:
    pythia_free(f.segments);
    pythia_free(f.sections);
    pythia_free(f.names);
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
