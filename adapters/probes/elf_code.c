#include "pythia/elf_code.h"

#include "elf_file.h"
#include "pythia/mem.h"
#include "pythia/status.h"

int pythia_elf_code(int file,
                    void (*each)(void *context, const uint8_t *code, size_t size, uint64_t address),
                    void *context, struct pythia_error *e)
{
    struct pythia__elf f = {.file = file, .e = e};
    int status = pythia__elf_open(&f);
    for (size_t i = 0; status == PYTHIA_OK && i < f.head.e_shnum; i++) {
        const Elf64_Shdr *s = &f.sections[i];
        if (s->sh_type != SHT_PROGBITS || !(s->sh_flags & SHF_EXECINSTR) || s->sh_size == 0)
            continue;
        if (s->sh_size > PYTHIA_ELF_CODE_MAX) {
            status = pythia_error_set(e, PYTHIA_ELIMIT, "a section has more than 1 GiB of code");
            break;
        }
        uint8_t *code = pythia__elf_part(&f, s->sh_offset, s->sh_size);
        if (code)
            each(context, code, (size_t)s->sh_size, s->sh_addr);
        else
            status = e->status;
        pythia_free(code);
    }
    pythia__elf_close(&f);
    return status;
}
