/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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
    int number;
    size_t bytes;
};

/* `count` things of `size` bytes at `offset`, to be freed; NULL if they are not all in the file, or
 * there are none. They are read, and not mapped: a file that another program cuts short meanwhile
 * would end the traced program by SIGBUS. */
static void *read_part(const struct file *f, uint64_t offset, uint64_t count, size_t size)
{
    if (count == 0 || offset > f->bytes || count > (f->bytes - offset) / size)
        return NULL;
    size_t bytes = (size_t)count * size, at = 0;
    char *to = malloc(bytes);
    while (to && at < bytes) {
        ssize_t got = pread(f->number, to + at, bytes - at, (off_t)(offset + at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(to);
            return NULL;
        }
        at += (size_t)got;
    }
    return to;
}

static int find_file_kind(const struct file *f, const Elf64_Ehdr *head)
{
    int kind = PYTHIA__FILE_STATIC;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
        return PYTHIA__FILE_OTHER;
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_machine != MACHINE)
        return PYTHIA__FILE_FOREIGN;
    Elf64_Phdr *segments = read_part(f, head->e_phoff, head->e_phnum, sizeof(*segments));
    for (unsigned i = 0; segments && i < head->e_phnum; i++)
        if (segments[i].p_type == PT_INTERP)
            kind = PYTHIA__FILE_DYNAMIC;
    free(segments);
    return kind;
}

static void read_symbol_table(const struct file *f, const Elf64_Shdr *table,
                              const Elf64_Shdr *strings,
                              const struct pythia__symbol_handler *handler)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    Elf64_Sym *symbols = read_part(f, table->sh_offset, count, sizeof(*symbols));
    char *texts = symbols ? read_part(f, strings->sh_offset, strings->sh_size, 1) : NULL;
    if (!texts || texts[strings->sh_size - 1] != '\0')
        count = 0;
    for (uint64_t i = 1; i < count; i++) {
        unsigned kind = ELF64_ST_TYPE(symbols[i].st_info);
        if (symbols[i].st_name < strings->sh_size && (kind == STT_FUNC || kind == STT_GNU_IFUNC))
            handler->function(handler->context, texts + symbols[i].st_name,
                              symbols[i].st_shndx == SHN_UNDEF ? 0 : symbols[i].st_value);
    }
    free(symbols);
    free(texts);
}

static void read_sections(const struct file *f, const Elf64_Ehdr *head,
                          const struct pythia__symbol_handler *handler)
{
    Elf64_Shdr *sections = read_part(f, head->e_shoff, head->e_shnum, sizeof(*sections));
    for (unsigned i = 0; sections && i < head->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < head->e_shnum)
            read_symbol_table(f, &sections[i], &sections[sections[i].sh_link], handler);
    free(sections);
}

/* Of a large program its tables are read, which are a small part of it. */
int pythia__symbols_read(const char *path, const struct pythia__symbol_handler *handler)
{
    struct stat about;
    int status = PYTHIA__FILE_OTHER;
    struct file f = {open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), 0};
    if (f.number < 0)
        return -errno;
    if (fstat(f.number, &about) != 0) {
        status = -errno;
        goto out;
    }
    if (!S_ISREG(about.st_mode) || about.st_size <= 0)
        goto out;
    f.bytes = (size_t)about.st_size;
    Elf64_Ehdr *head = read_part(&f, 0, 1, sizeof(*head));
    if (head)
        status = find_file_kind(&f, head);
    if (handler && (status == PYTHIA__FILE_DYNAMIC || status == PYTHIA__FILE_STATIC))
        read_sections(&f, head, handler);
    free(head);
out:
    close(f.number);
    return status;
}
