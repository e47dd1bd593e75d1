/* Programs are made by hand (elf_notes.h), with symbols behind their notes, so that each expected
 * offset can be read off them. */
#define _GNU_SOURCE
#include <stdio.h>

#include "check.h"
#include "elf_notes.h"
#include "pythia/elf_functions.h"
#include "pythia/mem.h"
#include "pythia/status.h"

enum { SYMBOLS = 0x4000, NAMES = 0x5000, BUILD_ID = 0x6000, END = 0x6100 };

static struct elf_notes n;
static size_t symbol_count, name_bytes;

/* A program with an empty table of symbols, and the build id ab 01 02 `last`. */
static void begin_program(uint32_t table, unsigned char last)
{
    const Elf64_Nhdr head = {4, 4, NT_GNU_BUILD_ID};
    const unsigned char id[] = {0xab, 1, 2, last};
    elf_notes_begin(&n);
    n.size = END;
    elf_head(&n)->e_shnum = 7;
    elf_sections(&n)[4] = (Elf64_Shdr){
        .sh_type = table, .sh_offset = SYMBOLS, .sh_link = 5, .sh_entsize = sizeof(Elf64_Sym)};
    elf_sections(&n)[5] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = NAMES};
    elf_sections(&n)[6] =
        (Elf64_Shdr){.sh_name = 39, .sh_type = SHT_NOTE, .sh_offset = BUILD_ID, .sh_size = 20};
    memcpy(n.bytes + BUILD_ID, &head, sizeof(head));
    memcpy(n.bytes + BUILD_ID + 12, "GNU", 4);
    memcpy(n.bytes + BUILD_ID + 16, id, sizeof(id));
    symbol_count = 0;
    name_bytes = 1;
}

static void add_symbol(const char *name, unsigned char type, uint16_t section, uint64_t address)
{
    const Elf64_Sym symbol = {.st_name = (uint32_t)name_bytes,
                              .st_info = (unsigned char)(STB_GLOBAL << 4 | type),
                              .st_shndx = section,
                              .st_value = address};
    memcpy(n.bytes + SYMBOLS + symbol_count++ * sizeof(symbol), &symbol, sizeof(symbol));
    memcpy(n.bytes + NAMES + name_bytes, name, strlen(name) + 1);
    name_bytes += strlen(name) + 1;
    elf_sections(&n)[4].sh_size = symbol_count * sizeof(symbol);
    elf_sections(&n)[5].sh_size = name_bytes;
}

static int read_with(int debug, const char *wanted, struct pythia_usdt_notes *out,
                     struct pythia_error *e)
{
    struct pythia_text text = pythia_text_of(wanted ? wanted : "");
    int file = elf_notes_file(&n, n.size);
    *e = (struct pythia_error){0};
    int status = pythia_elf_functions_read(file, debug, wanted ? pythia_elf_function_is : NULL,
                                           &text, out, e);
    close(file);
    return status;
}

static void functions_are_found_where_they_begin_and_return(void **state)
{
    struct pythia_usdt_notes out;
    struct pythia_error e;
    size_t count;
    begin_program(SHT_SYMTAB, 3);
    n.bytes[CODE + 0x10] = 0x55; /* push %rbp */
    add_symbol("sell", STT_FUNC, 1, 0x401010);
    add_symbol("buy", STT_FUNC, 1, 0x401020);
    add_symbol("sell", STT_FUNC, 1, 0x401030); /* a static one in another file */
    add_symbol("sell", STT_FUNC, 1, 0x401030); /* the same once more */
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_OK);
    assert_int_equal(out.count, 6);
    const struct pythia_usdt_site *sell =
        pythia_usdt_notes_find(&out, PYTHIA_TEXT("function"), PYTHIA_TEXT("sell"), &count);
    assert_int_equal(count, 2);
    assert_int_equal(sell[0].offset, 0x1010);
    assert_int_equal(sell[1].offset, 0x1030);
    assert_int_equal(sell[0].instruction, PYTHIA_USDT_PUSH);
    assert_int_equal(sell[1].instruction, PYTHIA_USDT_NOP);
    assert_int_equal(sell[0].operand_count, 6);
    /* struct pt_regs of x86-64: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi */
    static const uint8_t places[] = {14 * 8, 13 * 8, 12 * 8, 11 * 8, 9 * 8, 8 * 8};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(sell[0].operands[i].kind, PYTHIA_USDT_REGISTER);
        assert_int_equal(sell[0].operands[i].base, places[i]);
    }
    const struct pythia_usdt_site *end =
        pythia_usdt_notes_find(&out, PYTHIA_TEXT("function"), PYTHIA_TEXT("buy%return"), &count);
    assert_int_equal(count, 1);
    assert_int_equal(end->offset, 0x1020);
    assert_int_equal(end->instruction, PYTHIA_USDT_RETURN);
    assert_int_equal(end->operand_count, 1);
    assert_int_equal(end->operands[0].base, 10 * 8);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

static void only_functions_with_code_in_the_file_are_read(void **state)
{
    struct pythia_usdt_notes out;
    struct pythia_error e;
    begin_program(SHT_DYNSYM, 3);
    add_symbol("imported", STT_FUNC, SHN_UNDEF, 0);
    add_symbol("data", STT_OBJECT, 1, 0x402000);
    add_symbol("resolved", STT_GNU_IFUNC, 1, 0x401010);
    add_symbol("in_data", STT_FUNC, 1, 0x402000);
    add_symbol("nowhere", STT_FUNC, 1, 0x40100000);
    add_symbol("with space", STT_FUNC, 1, 0x401010);
    add_symbol("a:b", STT_FUNC, 1, 0x401010);
    add_symbol("a%return", STT_FUNC, 1, 0x401010);
    add_symbol("", STT_FUNC, 1, 0x401010);
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_OK);
    assert_int_equal(out.count, 0);
    assert_int_equal(out.refused, 2); /* in_data and nowhere */
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

static void only_wanted_functions_are_read(void **state)
{
    struct pythia_usdt_notes out;
    struct pythia_error e;
    begin_program(SHT_SYMTAB, 3);
    add_symbol("sell", STT_FUNC, 1, 0x401010);
    add_symbol("sel", STT_FUNC, 1, 0x401020);
    add_symbol("seller", STT_FUNC, 1, 0x401030);
    const char *const wanted[] = {"sell", "sell%return", "sell%retur", "none"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(read_with(-1, wanted[i], &out, &e), PYTHIA_OK);
        assert_int_equal(out.count, i < 2 ? 2 : 0);
        pythia_usdt_notes_free(&out);
    }
    elf_notes_free(&n);
}

static void debug_symbols_are_read_of_the_same_build_alone(void **state)
{
    struct pythia_usdt_notes out = {.count = 77};
    struct pythia_error e = {0};
    char path[PYTHIA_DEBUG_PATH_BYTES];
    begin_program(SHT_SYMTAB, 3);
    add_symbol("hidden", STT_FUNC, 1, 0x401010);
    elf_head(&n)->e_phnum = 0; /* as files with debug symbols may be: addresses are the program's */
    int debug = elf_notes_file(&n, n.size);
    elf_notes_free(&n);
    begin_program(SHT_DYNSYM, 3);
    int file = elf_notes_file(&n, n.size);
    assert_int_equal(pythia_elf_debug_path(file, path, &e), PYTHIA_OK);
    assert_string_equal(path, "/usr/lib/debug/.build-id/ab/010203.debug");
    close(file);
    assert_int_equal(read_with(debug, NULL, &out, &e), PYTHIA_OK);
    assert_int_equal(out.count, 2);
    assert_int_equal(out.sites[0].offset, 0x1010);
    pythia_usdt_notes_free(&out);
    n.bytes[BUILD_ID + 19] = 4;
    out.count = 77;
    assert_int_equal(read_with(debug, NULL, &out, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "the file with its debug symbols belongs to another build");
    assert_int_equal(out.count, 77);
    elf_sections(&n)[6].sh_size = 0; /* no build id: it cannot be told whose symbols they are */
    assert_int_equal(read_with(debug, NULL, &out, &e), PYTHIA_EFORMAT);
    file = elf_notes_file(&n, n.size);
    pythia_error_clear(&e);
    assert_int_equal(pythia_elf_debug_path(file, path, &e), PYTHIA_OK);
    assert_string_equal(path, "");
    close(file);
    close(debug);
    elf_notes_free(&n);
}

static void hostile_tables_are_refused(void **state)
{
    struct pythia_usdt_notes out = {.count = 77};
    struct pythia_error e;
    begin_program(SHT_SYMTAB, 3);
    add_symbol("sell", STT_FUNC, 1, 0x401010);
    Elf64_Shdr table = elf_sections(&n)[4], *t = &elf_sections(&n)[4];
    t->sh_entsize = 1;
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_EFORMAT);
    *t = table;
    t->sh_link = 7;
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_EFORMAT);
    *t = table;
    t->sh_size = UINT64_MAX;
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_ELIMIT);
    *t = table;
    t->sh_offset = UINT64_MAX - 8;
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_EFORMAT);
    *t = table;
    t->sh_flags = SHF_COMPRESSED;
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_EFORMAT);
    *t = table;
    t->sh_offset = END - 8; /* the file ends within it */
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_EFORMAT);
    *t = table;
    elf_sections(&n)[5].sh_size = 3; /* the name is cut, and ends there */
    assert_int_equal(read_with(-1, NULL, &out, &e), PYTHIA_OK);
    assert_string_equal(out.sites[0].name, "se");
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

static void each_failed_allocation_is_reported(void **state)
{
    struct pythia_usdt_notes out;
    struct pythia_error e;
    int status = PYTHIA_ENOMEM;
    begin_program(SHT_SYMTAB, 3);
    add_symbol("sell", STT_FUNC, 1, 0x401010);
    for (long let = 0; status == PYTHIA_ENOMEM; let++) {
        pythia_mem_fail_after(let);
        status = read_with(-1, NULL, &out, &e);
        pythia_mem_fail_after(-1);
        assert_true(let < 20);
    }
    assert_int_equal(status, PYTHIA_OK);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found_where_they_begin_and_return),
        cmocka_unit_test(only_functions_with_code_in_the_file_are_read),
        cmocka_unit_test(only_wanted_functions_are_read),
        cmocka_unit_test(debug_symbols_are_read_of_the_same_build_alone),
        cmocka_unit_test(hostile_tables_are_refused),
        cmocka_unit_test(each_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
