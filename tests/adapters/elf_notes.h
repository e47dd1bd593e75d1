/* A program in memory whose notes of USDT probes a test writes: one page of code, one of data.
 *
 *     0      ELF header, 2 segments, 4 sections and their names
 *     0x1000 code at 0x401000, all of it "nop" unless the test says otherwise
 *     0x2000 data at 0x402000
 *     0x3000 .note.stapsdt
 */
#ifndef TEST_ELF_NOTES_H
#define TEST_ELF_NOTES_H

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE = 0x1000, DATA = 0x2000, NOTES = 0x3000 };

struct elf_notes {
    unsigned char *bytes;
    size_t size, capacity;
    uint64_t base; /* that notes are written with; that of the file is 0x402f00 */
};

static const char section_names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0.note.gnu.build-id";

static inline Elf64_Ehdr *elf_head(struct elf_notes *n)
{
    return (Elf64_Ehdr *)(void *)n->bytes;
}

static inline Elf64_Phdr *elf_segments(struct elf_notes *n)
{
    return (Elf64_Phdr *)(void *)(n->bytes + 64);
}

static inline Elf64_Shdr *elf_sections(struct elf_notes *n)
{
    return (Elf64_Shdr *)(void *)(n->bytes + 512);
}

/* More room is for 10 000 notes, and more than may be. */
static inline void elf_notes_begin(struct elf_notes *n)
{
    *n = (struct elf_notes){.size = NOTES, .capacity = 32u << 20, .base = 0x402f00};
    n->bytes = calloc(n->capacity, 1);
    *elf_head(n) = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                .e_type = ET_EXEC,
                                .e_machine = EM_X86_64,
                                .e_phoff = 64,
                                .e_shoff = 512,
                                .e_phentsize = sizeof(Elf64_Phdr),
                                .e_phnum = 2,
                                .e_shentsize = sizeof(Elf64_Shdr),
                                .e_shnum = 4,
                                .e_shstrndx = 3};
    elf_segments(n)[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_X,
                                      .p_offset = CODE,
                                      .p_vaddr = 0x401000,
                                      .p_filesz = 0x1000,
                                      .p_memsz = 0x1000};
    elf_segments(n)[1] = (Elf64_Phdr){.p_type = PT_LOAD,
                                      .p_flags = PF_R | PF_W,
                                      .p_offset = DATA,
                                      .p_vaddr = 0x402000,
                                      .p_filesz = 0x1000,
                                      .p_memsz = 0x2000};
    elf_sections(n)[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = NOTES};
    elf_sections(n)[2] = (Elf64_Shdr){.sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = 0x402f00};
    elf_sections(n)[3] = (Elf64_Shdr){
        .sh_name = 29, .sh_type = SHT_STRTAB, .sh_offset = 1024, .sh_size = sizeof(section_names)};
    memcpy(n->bytes + 1024, section_names, sizeof(section_names));
    memset(n->bytes + CODE, 0x90, 0x1000);
}

static inline void elf_notes_bytes(struct elf_notes *n, const void *bytes, size_t size)
{
    if (size > n->capacity - n->size)
        abort();
    memcpy(n->bytes + n->size, bytes, size);
    n->size += size;
    elf_sections(n)[1].sh_size = n->size - NOTES;
}

/* Texts are with the NULs that are in them; a semaphore of 0 is none. */
static inline void elf_notes_add(struct elf_notes *n, uint64_t address, uint64_t semaphore,
                                 const char *texts, size_t size)
{
    const uint64_t addresses[3] = {address, n->base, semaphore};
    const Elf64_Nhdr head = {8, (uint32_t)(sizeof(addresses) + size), 3};
    elf_notes_bytes(n, &head, sizeof(head));
    elf_notes_bytes(n, "stapsdt", 8);
    elf_notes_bytes(n, addresses, sizeof(addresses));
    elf_notes_bytes(n, texts, size);
    elf_notes_bytes(n, "\0\0\0", (4 - size % 4) % 4);
}

#define ELF_NOTE(n, address, semaphore, texts)                                                     \
    elf_notes_add(n, address, semaphore, texts, sizeof(texts))

/* The first `size` bytes of it as a file, which the caller closes. */
static inline int elf_notes_file(const struct elf_notes *n, size_t size)
{
    int file = memfd_create("notes", MFD_CLOEXEC);
    if (file < 0 || write(file, n->bytes, size) != (ssize_t)size)
        abort();
    return file;
}

static inline void elf_notes_free(struct elf_notes *n)
{
    free(n->bytes);
}

#endif
