/* Programs are made by hand (elf_notes.h), so that each expected offset can be read off them. */
#define _GNU_SOURCE
#include <stdio.h>

#include "check.h"
#include "elf_notes.h"
#include "pythia/mem.h"
#include "pythia/process_files.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"

static int read_first(const struct elf_notes *n, size_t size, struct pythia_usdt_notes *out,
                      struct pythia_error *e)
{
    int file = elf_notes_file(n, size);
    int status = pythia_usdt_notes_read(file, out, e);
    close(file);
    return status;
}

static void read_all(const struct elf_notes *n, struct pythia_usdt_notes *out)
{
    struct pythia_error e = {0};
    int status = read_first(n, n->size, out, &e);
    if (status != PYTHIA_OK)
        fail_msg("%s", e.sentence);
}

static void sites_are_given_in_order_with_their_offsets(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    size_t count;
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x401020, 0x402010, "shop\0sell\0-4@%edi 8@$3");
    ELF_NOTE(&n, 0x401010, 0x402010, "shop\0sell\0-4@%esi 8@$4");
    ELF_NOTE(&n, 0x401040, 0, "shop\0close\0");
    read_all(&n, &out);
    assert_int_equal(out.count, 3);
    assert_int_equal(out.refused, 0);
    assert_string_equal(out.sites[0].name, "close");
    assert_int_equal(out.sites[0].operand_count, 0);
    assert_int_equal(out.sites[0].semaphore, 0);
    const struct pythia_usdt_site *sell =
        pythia_usdt_notes_find(&out, PYTHIA_TEXT("shop"), PYTHIA_TEXT("sell"), &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(sell, &out.sites[1]);
    assert_int_equal(sell[0].offset, 0x1010);
    assert_int_equal(sell[1].offset, 0x1020);
    assert_int_equal(sell[0].semaphore, 0x2010);
    assert_string_equal(sell[1].arguments, "-4@%edi 8@$3");
    assert_int_equal(sell[1].operand_count, 2);
    assert_int_equal(sell[1].operands[1].value, 3);
    assert_null(pythia_usdt_notes_find(&out, PYTHIA_TEXT("shop"), PYTHIA_TEXT("sel"), &count));
    assert_null(pythia_usdt_notes_find(&out, PYTHIA_TEXT("z"), PYTHIA_TEXT("sell"), &count));
    assert_int_equal(count, 0);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

/* prelink, and linkers that lay a program out anew, leave the notes as they were. */
static void sites_move_with_their_base(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    elf_notes_begin(&n);
    n.base = 0x2f00; /* all was 0x400000 lower when the notes were written */
    ELF_NOTE(&n, 0x1020, 0x2010, "shop\0sell\0");
    read_all(&n, &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.sites[0].offset, 0x1020);
    assert_int_equal(out.sites[0].semaphore, 0x2010);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

/* Encodings by Intel's manual, volume 2. */
static void the_instruction_at_a_site_is_classified(void **state)
{
    (void)state;
    const struct {
        unsigned char code[8];
        const char *name;
    } rows[] = {
        {{0x90}, "nop"},
        {{0x66, 0x90}, "nop"},
        {{0x0f, 0x1f, 0x44, 0x00, 0x00}, "nop5"},
        {{0x0f, 0x1f, 0x40, 0x00}, "nop"},
        {{0x55}, "push"},
        {{0x41, 0x57}, "push"},
        {{0xe8, 1, 0, 0, 0}, "branch"},
        {{0xeb, 2}, "branch"},
        {{0x74, 2}, "branch"},
        {{0x0f, 0x84, 1, 0, 0, 0}, "branch"},
        {{0x48, 0x89, 0xe5}, "step"}, /* mov %rsp,%rbp */
        {{0xf3, 0x0f, 0x1e, 0xfa}, "step"},
        {{0x41, 0x89, 0xc0}, "step"}, /* mov %eax,%r8d */
        {{0x0f, 0x05}, "step"},       /* syscall */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct elf_notes n;
        struct pythia_usdt_notes out;
        elf_notes_begin(&n);
        memcpy(n.bytes + CODE + 0x20, rows[i].code, sizeof(rows[i].code));
        ELF_NOTE(&n, 0x401020, 0, "shop\0sell\0");
        read_all(&n, &out);
        assert_string_equal(pythia_usdt_instruction_name(out.sites[0].instruction), rows[i].name);
        pythia_usdt_notes_free(&out);
        elf_notes_free(&n);
    }
}

static void notes_that_lead_nowhere_are_refused_alone(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x400fff, 0, "shop\0before\0");       /* in front of the code */
    ELF_NOTE(&n, 0x401ff9, 0, "shop\0end\0");          /* 7 bytes to its end */
    ELF_NOTE(&n, 0x402010, 0, "shop\0data\0");         /* no code */
    ELF_NOTE(&n, 0x401020, 0x401020, "shop\0write\0"); /* a semaphore that is code */
    ELF_NOTE(&n, 0x401020, 0x402fff, "shop\0half\0");  /* half a semaphore */
    ELF_NOTE(&n, UINT64_MAX, UINT64_MAX, "shop\0far\0");
    ELF_NOTE(&n, 0x401020, 0, "shop\0\0"); /* no name */
    ELF_NOTE(&n, 0x401020, 0, "\0name\0"); /* no provider */
    ELF_NOTE(&n, 0x401020, 0, "shop\0a b\0");
    ELF_NOTE(&n, 0x401020, 0, "sh:op\0a\0");
    ELF_NOTE(&n, 0x401020, 0, "shop\0\x1b[2J\0"); /* would clear a terminal */
    ELF_NOTE(&n, 0x401020, 0, "shop\0a\0\n");
    elf_notes_add(&n, 0x401020, 0, "shop\0name", 9); /* no end */
    elf_notes_add(&n, 0x401020, 0, "", 0);
    ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
    read_all(&n, &out);
    assert_int_equal(out.count, 1);
    assert_string_equal(out.sites[0].name, "good");
    assert_int_equal(out.refused, 14);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

static void notes_of_others_are_passed_over(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    const Elf64_Nhdr gnu = {4, 3, 1}, other_type = {8, 4, 4};
    elf_notes_begin(&n);
    elf_notes_bytes(&n, &gnu, sizeof(gnu));
    elf_notes_bytes(&n, "GNU\0abc\0", 8);
    elf_notes_bytes(&n, &other_type, sizeof(other_type));
    elf_notes_bytes(&n, "stapsdt\0abcd", 12);
    ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
    read_all(&n, &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.refused, 0);
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

/* Where a note's sizes cannot be true, the next note cannot be found. */
static void a_note_beyond_the_end_of_the_section_ends_the_list(void **state)
{
    (void)state;
    const Elf64_Nhdr sizes[] = {
        {UINT32_MAX, 8, 3}, {8, UINT32_MAX, 3}, {UINT32_MAX, UINT32_MAX, 3}};
    for (size_t i = 0; i < 3; i++) {
        struct elf_notes n;
        struct pythia_usdt_notes out;
        elf_notes_begin(&n);
        ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
        elf_notes_bytes(&n, &sizes[i], sizeof(sizes[i]));
        elf_notes_bytes(&n, "stapsdt\0", 8);
        read_all(&n, &out);
        assert_int_equal(out.count, 1);
        assert_int_equal(out.refused, 1);
        pythia_usdt_notes_free(&out);
        elf_notes_free(&n);
    }
}

/* Cut at every byte: an error or fewer notes, and never more than there are. */
static void a_truncated_file_is_refused(void **state)
{
    (void)state;
    struct elf_notes n;
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
    for (size_t size = 0; size < n.size; size += size < 1200 ? 1 : 7) {
        struct pythia_usdt_notes out = {.count = 77};
        struct pythia_error e = {0};
        assert_int_equal(read_first(&n, size, &out, &e), PYTHIA_EFORMAT);
        assert_string_not_equal(e.sentence, "");
        assert_int_equal(out.count, 77);
    }
    elf_notes_free(&n);
}

static void other_files_are_named_as_such(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    struct pythia_error e = {0};
    elf_notes_begin(&n);
    n.bytes[EI_CLASS] = ELFCLASS32;
    assert_int_equal(read_first(&n, n.size, &out, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "an ELF file for another processor than x86-64");
    n.bytes[0] = '#';
    pythia_error_clear(&e);
    assert_int_equal(read_first(&n, n.size, &out, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "not an ELF file");
    pythia_error_clear(&e);
    assert_int_equal(read_first(&n, 0, &out, &e), PYTHIA_EFORMAT);
    assert_string_equal(e.sentence, "not an ELF file");
    int folder = open("/", O_RDONLY | O_CLOEXEC);
    pythia_error_clear(&e);
    assert_int_equal(pythia_usdt_notes_read(folder, &out, &e), PYTHIA_EIO);
    close(folder);
    elf_notes_free(&n);
}

static void headers_that_cannot_be_true_are_refused(void **state)
{
    (void)state;
    for (int fault = 0; fault < 8; fault++) {
        struct elf_notes n;
        struct pythia_usdt_notes out;
        struct pythia_error e = {0};
        elf_notes_begin(&n);
        ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
        Elf64_Ehdr *head = elf_head(&n);
        Elf64_Shdr *notes = &elf_sections(&n)[1], *names = &elf_sections(&n)[3];
        switch (fault) {
        case 0:
            head->e_phoff = UINT64_MAX;
            break;
        case 1:
            head->e_shoff = UINT64_MAX - 8;
            break;
        case 2:
            head->e_phentsize = 1;
            break;
        case 3:
            head->e_shentsize = 0;
            break;
        case 4:
            notes->sh_offset = INT64_MAX;
            break;
        case 5:
            notes->sh_size = UINT64_MAX;
            break;
        case 6:
            names->sh_size = UINT64_MAX;
            break;
        default:
            head->e_phnum = UINT16_MAX;
            break;
        }
        int status = read_first(&n, n.size, &out, &e);
        assert_true(status == PYTHIA_EFORMAT || status == PYTHIA_ELIMIT);
        elf_notes_free(&n);
    }
}

static void ten_thousand_notes_are_read(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    char texts[32];
    size_t count;
    elf_notes_begin(&n);
    for (int i = 0; i < 10000; i++) {
        int size = snprintf(texts, sizeof(texts), "big_p%04d_4@$%d", (i * 7919) % 10000, i);
        texts[3] = texts[9] = '\0';
        elf_notes_add(&n, 0x401000 + (uint64_t)i % 4000, 0, texts, (size_t)size + 1);
    }
    read_all(&n, &out);
    assert_int_equal(out.count, 10000);
    assert_int_equal(out.refused, 0);
    for (int i = 0; i < 10000; i++) {
        snprintf(texts, sizeof(texts), "p%04d", (i * 7919) % 10000);
        const struct pythia_usdt_site *site =
            pythia_usdt_notes_find(&out, PYTHIA_TEXT("big"), pythia_text_of(texts), &count);
        assert_int_equal(count, 1);
        assert_int_equal(site->operands[0].value, i);
    }
    pythia_usdt_notes_free(&out);
    elf_notes_free(&n);
}

static void more_sites_than_the_limit_are_refused(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out;
    struct pythia_error e = {0};
    elf_notes_begin(&n);
    for (int i = 0; i <= PYTHIA_USDT_SITES_MAX; i++)
        ELF_NOTE(&n, 0x401020, 0, "p\0n\0");
    assert_int_equal(read_first(&n, n.size, &out, &e), PYTHIA_ELIMIT);
    assert_string_equal(e.sentence, "more than 65536 probes");
    elf_notes_free(&n);
}

static void each_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct elf_notes n;
    struct pythia_usdt_notes out = {.count = 77};
    int status = PYTHIA_ENOMEM;
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x401020, 0, "shop\0good\0");
    int file = elf_notes_file(&n, n.size);
    for (long let = 0; status == PYTHIA_ENOMEM; let++) {
        assert_int_equal(out.count, 77);
        pythia_mem_fail_after(let);
        struct pythia_error e = {0};
        status = pythia_usdt_notes_read(file, &out, &e);
        pythia_mem_fail_after(-1);
        assert_true(let < 20);
    }
    assert_int_equal(status, PYTHIA_OK);
    assert_int_equal(out.count, 1);
    pythia_usdt_notes_free(&out);
    close(file);
    elf_notes_free(&n);
}

/* ---- files of a process ---- */

struct seen {
    const char *wanted;
    int times;
    bool readable;
    char why[128];
};

static int note_file(void *context, const char *path, int file, const char *why)
{
    struct seen *s = context;
    size_t size = strlen(path), wanted = strlen(s->wanted);
    if (size < wanted || strcmp(path + size - wanted, s->wanted) != 0)
        return PYTHIA_OK;
    s->times++;
    s->readable = file >= 0;
    snprintf(s->why, sizeof(s->why), "%s", why ? why : "");
    return PYTHIA_OK;
}

static void a_process_has_its_program_and_its_libraries_once(void **state)
{
    (void)state;
    struct seen program = {.wanted = "/test_usdt_notes"}, library = {.wanted = "/libc.so.6"};
    struct pythia_error e = {0};
    assert_int_equal(pythia_process_files((uint64_t)getpid(), note_file, &program, &e), PYTHIA_OK);
    assert_int_equal(pythia_process_files((uint64_t)getpid(), note_file, &library, &e), PYTHIA_OK);
    assert_int_equal(program.times, 1);
    assert_true(program.readable);
    assert_int_equal(library.times, 1);
    assert_int_equal(pythia_process_files(INT32_MAX, note_file, &program, &e), PYTHIA_ENOTFOUND);
}

/* The first process is root's. */
static void a_process_of_another_user_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct seen seen = {.wanted = ""};
    struct pythia_error e = {0};
    if (geteuid() != 0)
        skip(); /* only root can become another user */
    assert_int_equal(seteuid(65534), 0);
    int status = pythia_process_files(1, note_file, &seen, &e);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(status, PYTHIA_EIO);
    assert_string_equal(
        e.sentence, "the mappings of process 1: Permission denied (it belongs to another user)");
    assert_int_equal(seen.times, 0);
}

/* A deploy renames the new program over the old one, which runs on. */
static void a_file_that_was_replaced_is_not_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/usdt_notes.XXXXXX", path[64], next[64];
    struct pythia_error e = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/program", folder);
    snprintf(next, sizeof(next), "%s/next", folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700),
        other = open(next, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    assert_int_equal(ftruncate(file, 4096), 0);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    struct seen seen = {.wanted = "/program"};
    assert_int_equal(pythia_process_files((uint64_t)getpid(), note_file, &seen, &e), PYTHIA_OK);
    assert_true(seen.readable);
    assert_int_equal(rename(next, path), 0);
    seen = (struct seen){.wanted = "/program (deleted)"};
    assert_int_equal(pythia_process_files((uint64_t)getpid(), note_file, &seen, &e), PYTHIA_OK);
    assert_int_equal(seen.times, 1);
    assert_false(seen.readable);
    assert_string_equal(seen.why, "was replaced or removed since the process began");
    munmap(code, 4096);
    close(file);
    close(other);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_are_given_in_order_with_their_offsets),
        cmocka_unit_test(sites_move_with_their_base),
        cmocka_unit_test(the_instruction_at_a_site_is_classified),
        cmocka_unit_test(notes_that_lead_nowhere_are_refused_alone),
        cmocka_unit_test(notes_of_others_are_passed_over),
        cmocka_unit_test(a_note_beyond_the_end_of_the_section_ends_the_list),
        cmocka_unit_test(a_truncated_file_is_refused),
        cmocka_unit_test(other_files_are_named_as_such),
        cmocka_unit_test(headers_that_cannot_be_true_are_refused),
        cmocka_unit_test(ten_thousand_notes_are_read),
        cmocka_unit_test(more_sites_than_the_limit_are_refused),
        cmocka_unit_test(each_failed_allocation_is_reported),
        cmocka_unit_test(a_process_has_its_program_and_its_libraries_once),
        cmocka_unit_test(a_process_of_another_user_is_refused_with_the_reason),
        cmocka_unit_test(a_file_that_was_replaced_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
