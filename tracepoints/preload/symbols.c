/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

struct file {
    const unsigned char *at;
    size_t bytes;
};

/* `count` things of `size` bytes at `offset`; NULL if they are not all in the file. */
static const void *find_part(const struct file *f, uint64_t offset, uint64_t count, size_t size)
{
    return offset <= f->bytes && count <= (f->bytes - offset) / size && offset % 4 == 0
               ? f->at + offset
               : NULL;
}

static int find_file_kind(const struct file *f)
{
    const Elf64_Ehdr *head = find_part(f, 0, 1, sizeof(*head));
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return PYTHIA__FILE_OTHER;
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_machine != MACHINE)
        return PYTHIA__FILE_FOREIGN;
    const Elf64_Phdr *segments = find_part(f, head->e_phoff, head->e_phnum, sizeof(*segments));
    for (unsigned i = 0; segments && i < head->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            return PYTHIA__FILE_DYNAMIC;
    return PYTHIA__FILE_STATIC;
}

static void read_symbol_table(const struct file *f, const Elf64_Shdr *table,
                              const Elf64_Shdr *strings,
                              const struct pythia__symbol_handler *handler)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = find_part(f, table->sh_offset, count, sizeof(*symbols));
    const char *texts = strings->sh_offset <= f->bytes &&
                                strings->sh_size <= f->bytes - strings->sh_offset &&
                                strings->sh_size > 0
                            ? (const char *)f->at + strings->sh_offset
                            : NULL;
    if (!symbols || !texts || texts[strings->sh_size - 1] != '\0')
        return;
    for (uint64_t i = 1; i < count; i++) {
        unsigned kind = ELF64_ST_TYPE(symbols[i].st_info);
        if (symbols[i].st_name < strings->sh_size && (kind == STT_FUNC || kind == STT_GNU_IFUNC))
            handler->function(handler->context, texts + symbols[i].st_name,
                              symbols[i].st_shndx == SHN_UNDEF ? 0 : symbols[i].st_value);
    }
}

static void read_sections(const struct file *f, const struct pythia__symbol_handler *handler)
{
    const Elf64_Ehdr *head = find_part(f, 0, 1, sizeof(*head));
    const Elf64_Shdr *sections = find_part(f, head->e_shoff, head->e_shnum, sizeof(*sections));
    for (unsigned i = 0; sections && i < head->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < head->e_shnum)
            read_symbol_table(f, &sections[i], &sections[sections[i].sh_link], handler);
}

/* The file is mapped and not read: symbols of a large program are a small part of it. */
int pythia__symbols_read(const char *path, const struct pythia__symbol_handler *handler)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0) {
        int status = -errno;
        if (file >= 0)
            close(file);
        return status;
    }
    struct file f = {NULL, (size_t)about.st_size};
    void *at = S_ISREG(about.st_mode) && f.bytes > 0
                   ? mmap(NULL, f.bytes, PROT_READ, MAP_PRIVATE, file, 0)
                   : MAP_FAILED;
    close(file);
    if (at == MAP_FAILED)
        return PYTHIA__FILE_OTHER;
    f.at = at;
    int kind = find_file_kind(&f);
    if (handler && (kind == PYTHIA__FILE_DYNAMIC || kind == PYTHIA__FILE_STATIC))
        read_sections(&f, handler);
    munmap(at, f.bytes);
    return kind;
}
