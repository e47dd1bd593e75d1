/* The file is read by pread and never mapped: another process may cut it short meanwhile, and a
 * mapping would then kill the reader. */
#include "elf_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define SEGMENTS_MAX 1024       /* each is searched for each address */
#define NAMES_MAX    (4u << 20) /* bytes of the names of sections */

static int refuse_file(const struct pythia__elf *f, const char *why)
{
    return pythia_error_set(f->e, PYTHIA_EFORMAT, "%s", why);
}

int pythia__elf_read(const struct pythia__elf *f, uint64_t offset, void *to, size_t size)
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

void *pythia__elf_part(const struct pythia__elf *f, uint64_t offset, uint64_t size)
{
    char *part = pythia_calloc((size_t)size + 1, 1);
    if (!part)
        pythia_error_set(f->e, PYTHIA_ENOMEM, "out of memory");
    else if (pythia__elf_read(f, offset, part, (size_t)size) == PYTHIA_OK)
        return part;
    pythia_free(part);
    return NULL;
}

int pythia__elf_open(struct pythia__elf *f)
{
    int status = pythia__elf_read(f, 0, &f->head, sizeof(f->head));
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
    f->segments = pythia__elf_part(f, f->head.e_phoff, f->head.e_phnum * sizeof(Elf64_Phdr));
    f->sections = f->segments
                      ? pythia__elf_part(f, f->head.e_shoff, f->head.e_shnum * sizeof(Elf64_Shdr))
                      : NULL;
    if (!f->sections || f->head.e_shstrndx >= f->head.e_shnum)
        return f->e->status;
    const Elf64_Shdr *names = &f->sections[f->head.e_shstrndx];
    if (names->sh_size > NAMES_MAX)
        return pythia_error_set(f->e, PYTHIA_ELIMIT, "the names of sections are too long");
    f->names_bytes = names->sh_size;
    f->names = pythia__elf_part(f, names->sh_offset, names->sh_size);
    return f->e->status;
}

void pythia__elf_close(struct pythia__elf *f)
{
    pythia_free(f->segments);
    pythia_free(f->sections);
    pythia_free(f->names);
}

const Elf64_Shdr *pythia__elf_section(const struct pythia__elf *f, const char *name)
{
    for (size_t i = 0; f->names && i < f->head.e_shnum; i++)
        if (f->sections[i].sh_name < f->names_bytes &&
            strcmp(f->names + f->sections[i].sh_name, name) == 0)
            return &f->sections[i];
    return NULL;
}

uint64_t pythia__elf_offset(const struct pythia__elf *f, uint64_t address, uint32_t flags,
                            uint64_t bytes)
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

enum pythia_usdt_instruction
pythia__elf_instruction(const unsigned char code[PYTHIA__ELF_CODE_BYTES])
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
    static const char *const names[PYTHIA_USDT_INSTRUCTIONS] = {"nop5",   "nop",  "push",
                                                                "branch", "step", "return"};
    return names[instruction];
}
