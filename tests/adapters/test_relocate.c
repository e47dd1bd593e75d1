/* Instructions that make room for a jump. Expected bytes are by the GNU assembler, and addresses by
 * hand. What the moved code does is compared with what the original did in tracepoints/probed. */
#include <string.h>

#include "check.h"
#include "pythia/relocate.h"

#define AT        0x401000u /* of the nop */
#define CODE(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static const char *move(const uint8_t *code, size_t size, struct pythia__site_code *out)
{
    return pythia_relocate(code, size, AT, out);
}

static void assert_moved(const struct pythia__site_code *out, const uint8_t *bytes, size_t size)
{
    assert_int_equal(out->size, size);
    assert_memory_equal(out->bytes, bytes, size);
}

static void assert_fixup(const struct pythia__site_code *out, size_t index,
                         enum pythia__fixup_kind kind, size_t at, size_t end, uint64_t target)
{
    assert_true(index < out->fixup_count);
    assert_int_equal(out->fixups[index].kind, kind);
    assert_int_equal(out->fixups[index].at, at);
    assert_int_equal(out->fixups[index].end, end);
    assert_int_equal(out->fixups[index].target, target);
}

static void plain_instructions_are_copied(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; push %rbp; mov %rsp, %rbp: 5 bytes, in three instructions */
    assert_null(move(CODE(0x90, 0x55, 0x48, 0x89, 0xe5, 0xc3), &out));
    assert_moved(&out, CODE(0x55, 0x48, 0x89, 0xe5));
    assert_int_equal(out.original, 5);
    assert_int_equal(out.fixup_count, 0);
    assert_memory_equal(out.begins, ((const uint8_t[]){1, 1, 2, 0, 0}), sizeof(out.begins));
}

static void the_last_one_is_moved_whole(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; movabs $0x1122334455667788, %rax */
    assert_null(move(CODE(0x90, 0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11), &out));
    assert_moved(&out, CODE(0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11));
    assert_int_equal(out.original, 11);
}

static void memory_by_the_instruction_pointer_is_reached(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; mov 0x20(%rip), %rax; it is 7 bytes long: 0x401008 + 0x20 */
    assert_null(move(CODE(0x90, 0x48, 0x8b, 0x05, 0x20, 0x00, 0x00, 0x00), &out));
    assert_int_equal(out.size, 7);
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 3, 7, AT + 8 + 0x20);
    /* nop; cmpl $5, -0x10(%rip): an immediate is after the displacement */
    assert_null(move(CODE(0x90, 0x83, 0x3d, 0xf0, 0xff, 0xff, 0xff, 0x05), &out));
    assert_int_equal(out.size, 7);
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 2, 7, AT + 8 - 0x10);
}

static void branches_become_long(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; je .+2+6; mov %eax, %ecx */
    assert_null(move(CODE(0x90, 0x74, 0x06, 0x89, 0xc1), &out));
    assert_moved(&out, CODE(0x0f, 0x84, 0, 0, 0, 0, 0x89, 0xc1));
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 2, 6, AT + 3 + 6);
    /* nop; jmp .-3; two bytes and two more, which another branch may lead to */
    assert_null(move(CODE(0x90, 0xeb, 0xfb, 0x31, 0xc0), &out));
    assert_moved(&out, CODE(0xe9, 0, 0, 0, 0, 0x31, 0xc0));
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 1, 5, AT + 3 - 5);
    assert_int_equal(out.begins[3], 6);
    /* nop; jge with 32 bits: it keeps its condition */
    assert_null(move(CODE(0x90, 0x0f, 0x8d, 0x00, 0x01, 0x00, 0x00), &out));
    assert_moved(&out, CODE(0x0f, 0x8d, 0, 0, 0, 0));
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 2, 6, AT + 7 + 0x100);
}

static void loops_go_over_a_jump(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; loop .-6; inc %eax: loop +2, jmp +5, jmp target */
    assert_null(move(CODE(0x90, 0xe2, 0xf8, 0xff, 0xc0), &out));
    assert_moved(&out, CODE(0xe2, 0x02, 0xeb, 0x05, 0xe9, 0, 0, 0, 0, 0xff, 0xc0));
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 5, 9, AT + 3 - 8);
    /* nop; jecxz, with its prefix */
    assert_null(move(CODE(0x90, 0x67, 0xe3, 0x10, 0x90), &out));
    assert_moved(&out, CODE(0x67, 0xe3, 0x02, 0xeb, 0x05, 0xe9, 0, 0, 0, 0));
    assert_fixup(&out, 0, PYTHIA__FIXUP_RELATIVE, 6, 10, AT + 4 + 0x10);
}

static void a_call_returns_to_where_it_was(void **state)
{
    struct pythia__site_code out;
    (void)state;
    /* nop; call .+5+0x100: push the address of the next instruction, and jump */
    assert_null(move(CODE(0x90, 0xe8, 0x00, 0x01, 0x00, 0x00), &out));
    assert_moved(&out, CODE(0x48, 0x8d, 0x64, 0x24, 0xf8, 0xc7, 0x04, 0x24, 0, 0, 0, 0, 0xc7, 0x44,
                            0x24, 0x04, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0));
    assert_fixup(&out, 0, PYTHIA__FIXUP_LOW, 8, 12, AT + 6);
    assert_fixup(&out, 1, PYTHIA__FIXUP_HIGH, 16, 20, AT + 6);
    assert_fixup(&out, 2, PYTHIA__FIXUP_RELATIVE, 21, 25, AT + 6 + 0x100);
    /* nop; call *0x10(%rip): the jump by the same memory, /4 instead of /2 */
    assert_null(move(CODE(0x90, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00), &out));
    assert_int_equal(out.size, 26);
    assert_memory_equal(out.bytes + 20, ((const uint8_t[]){0xff, 0x25}), 2);
    assert_fixup(&out, 2, PYTHIA__FIXUP_RELATIVE, 22, 26, AT + 7 + 0x10);
}

static void what_cannot_be_moved_is_refused(void **state)
{
    static const struct {
        uint8_t code[8];
        size_t size;
        const char *why;
    } refused[] = {
        {{0x48, 0x89, 0xe5, 0x90, 0x90}, 5, "there is no nop"},
        {{0x90, 0xff, 0xd0, 0x89, 0xc1}, 5, "a call returns into the bytes of the jump"},
        {{0x90, 0xff, 0x54, 0x24, 0x08},
         5,
         "a call by the stack pointer, or a far one, would have to be moved"},
        {{0x90, 0x0f, 0x05, 0x89, 0xc1}, 5, "a system call or an interrupt would have to be moved"},
        {{0x90, 0xcc, 0x90, 0x90, 0x90}, 5, "a system call or an interrupt would have to be moved"},
        {{0x90, 0xc7, 0xf8, 0, 0, 0, 0}, 7, "a branch of an unknown kind would have to be moved"},
        {{0x90, 0x06, 0x90, 0x90, 0x90}, 5, "there are bytes that are no instruction"},
        {{0x90, 0x55}, 2, "there are bytes that are no instruction"},
        /* mov 0x10(%eip), %eax: of 32 bits */
        {{0x67, 0x90, 0x67, 0x8b, 0x05, 0x10, 0, 0}, 8, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct pythia__site_code out;
        const char *why = move(refused[i].code, refused[i].size, &out);
        assert_non_null(why);
        if (refused[i].why)
            assert_string_equal(why, refused[i].why);
        assert_int_equal(out.original, 0);
    }
}

static void a_nop_of_five_bytes_needs_nothing_else(void **state)
{
    struct pythia__site_code out;
    (void)state;
    assert_int_equal(pythia_relocate_nop(CODE(0x0f, 0x1f, 0x44, 0x00, 0x00)), 5);
    assert_int_equal(pythia_relocate_nop(CODE(0x55, 0x90)), 0);
    assert_null(move(CODE(0x0f, 0x1f, 0x44, 0x00, 0x00), &out));
    assert_int_equal(out.original, 5);
    assert_memory_equal(out.begins, ((const uint8_t[]){1, 0, 0, 0, 0}), sizeof(out.begins));
}

static void targets_of_branches_are_found(void **state)
{
    /* 0: jmp 4; 2: nop; 3: nop; 4: je 2; 6: call 3; 11: int3 */
    static const uint8_t code[] = {0xeb, 0x02, 0x90, 0x90, 0x74, 0xfc,
                                   0xe8, 0xf8, 0xff, 0xff, 0xff, 0xcc};
    const uint64_t addresses[] = {AT + 1, AT + 2, AT + 3, AT + 4, AT + 6};
    uint8_t targeted[5] = {0};
    (void)state;
    pythia_relocate_targets(code, sizeof(code), AT, addresses, 5, targeted);
    assert_memory_equal(targeted, ((const uint8_t[]){0, 1, 1, 1, 0}), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_instructions_are_copied),
        cmocka_unit_test(the_last_one_is_moved_whole),
        cmocka_unit_test(memory_by_the_instruction_pointer_is_reached),
        cmocka_unit_test(branches_become_long),
        cmocka_unit_test(loops_go_over_a_jump),
        cmocka_unit_test(a_call_returns_to_where_it_was),
        cmocka_unit_test(what_cannot_be_moved_is_refused),
        cmocka_unit_test(a_nop_of_five_bytes_needs_nothing_else),
        cmocka_unit_test(targets_of_branches_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
