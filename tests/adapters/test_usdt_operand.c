/* Expected values are read off the assembler's manual (GNU as, "AT&T Mnemonic" of i386) and the
 * layout of struct pt_regs in the kernel's uapi header <asm/ptrace.h>. */
#include <asm/ptrace.h>
#include <stdio.h>

#include "check.h"
#include "pythia/usdt_operand.h"

#define AT(member) offsetof(struct pt_regs, member)

static struct pythia_usdt_operand read_one(const char *text)
{
    struct pythia_usdt_operand out[PYTHIA_USDT_OPERANDS_MAX];
    assert_int_equal(pythia_usdt_operands_read(pythia_text_of(text), out), 1);
    return out[0];
}

static void constants_and_their_sizes_are_read(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t value;
        uint8_t bytes;
        bool is_signed;
    } rows[] = {
        {"-4@$17", 17, 4, true},   {"1@$0", 0, 1, false},       {"8@$-1", -1, 8, false},
        {"2@$0x1f", 31, 2, false}, {"-8@$-0x10", -16, 8, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_usdt_operand o = read_one(rows[i].text);
        assert_int_equal(o.kind, PYTHIA_USDT_CONSTANT);
        assert_int_equal(o.value, rows[i].value);
        assert_int_equal(o.bytes, rows[i].bytes);
        assert_int_equal(o.is_signed, rows[i].is_signed);
    }
}

/* Of all widths: what tracefs refuses of PostgreSQL's probes is %dil. */
static void registers_are_where_the_kernel_saves_them(void **state)
{
    (void)state;
    const struct {
        const char *names[4];
        size_t at;
    } rows[] = {
        {{"rax", "eax", "ax", "al"}, AT(rax)},      {{"rbx", "ebx", "bx", "bl"}, AT(rbx)},
        {{"rcx", "ecx", "cx", "cl"}, AT(rcx)},      {{"rdx", "edx", "dx", "dl"}, AT(rdx)},
        {{"rsi", "esi", "si", "sil"}, AT(rsi)},     {{"rdi", "edi", "di", "dil"}, AT(rdi)},
        {{"rbp", "ebp", "bp", "bpl"}, AT(rbp)},     {{"rsp", "esp", "sp", "spl"}, AT(rsp)},
        {{"r8", "r8d", "r8w", "r8b"}, AT(r8)},      {{"r9", "r9d", "r9w", "r9b"}, AT(r9)},
        {{"r10", "r10d", "r10w", "r10b"}, AT(r10)}, {{"r11", "r11d", "r11w", "r11b"}, AT(r11)},
        {{"r12", "r12d", "r12w", "r12b"}, AT(r12)}, {{"r13", "r13d", "r13w", "r13b"}, AT(r13)},
        {{"r14", "r14d", "r14w", "r14b"}, AT(r14)}, {{"r15", "r15d", "r15w", "r15b"}, AT(r15)},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t width = 0; width < 4; width++) {
            char text[16];
            snprintf(text, sizeof(text), "%d@%%%s", 8 >> width, rows[i].names[width]);
            struct pythia_usdt_operand o = read_one(text);
            assert_int_equal(o.kind, PYTHIA_USDT_REGISTER);
            assert_int_equal(o.base, rows[i].at);
            assert_int_equal(o.bytes, 8 >> width);
            assert_false(o.high);
        }
    struct pythia_usdt_operand o = read_one("1@%bh");
    assert_int_equal(o.kind, PYTHIA_USDT_REGISTER);
    assert_int_equal(o.base, AT(rbx));
    assert_true(o.high);
}

static void memory_has_displacement_base_index_and_scale(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t value;
        size_t base, index;
        uint8_t scale;
    } rows[] = {
        {"4@(%r12)", 0, AT(r12), PYTHIA_USDT_NO_REGISTER, 1},
        {"-4@-136(%rbp)", -136, AT(rbp), PYTHIA_USDT_NO_REGISTER, 1},
        {"8@16(%rax,%rbx,8)", 16, AT(rax), AT(rbx), 8},
        {"8@(%rsi,%rcx)", 0, AT(rsi), AT(rcx), 1},
        {"2@0x20(%r8)", 32, AT(r8), PYTHIA_USDT_NO_REGISTER, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pythia_usdt_operand o = read_one(rows[i].text);
        assert_int_equal(o.kind, PYTHIA_USDT_MEMORY);
        assert_int_equal(o.value, rows[i].value);
        assert_int_equal(o.base, rows[i].base);
        assert_int_equal(o.index, rows[i].index);
        assert_int_equal(o.scale, rows[i].scale);
    }
}

static void what_is_not_understood_keeps_its_place(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "-4@NBuffers(%rip)",
        "8@symbol",
        "8f@%xmm0",
        "3@%rax",
        "4@%fs:16",
        "4@%rip",
        "8@(%rax,%rbx,3)",
        "8@(%ah)",
        "@%rax",
        "8@",
        "8@$",
        "8@$5x",
        "8@%",
        "8@%r16",
        "8@%r7",
        "8@(%rax",
        "8@(%rax)1",
        "8@%rax,",
        "8@$99999999999999999999",
        "-9223372036854775808@%rax",
        "junk",
        "8@(%rax,%rbx,)",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (read_one(texts[i]).kind != PYTHIA_USDT_UNKNOWN)
            fail_msg("%s is understood", texts[i]);
    struct pythia_usdt_operand out[PYTHIA_USDT_OPERANDS_MAX];
    assert_int_equal(pythia_usdt_operands_read(PYTHIA_TEXT("-4@symbol(%rip)  4@$7 "), out), 2);
    assert_int_equal(out[0].kind, PYTHIA_USDT_UNKNOWN);
    assert_int_equal(out[1].value, 7);
}

static void no_more_are_read_than_there_is_room_for(void **state)
{
    (void)state;
    struct pythia_usdt_operand out[PYTHIA_USDT_OPERANDS_MAX + 1] = {
        [PYTHIA_USDT_OPERANDS_MAX] = {.value = 99}};
    assert_int_equal(pythia_usdt_operands_read(PYTHIA_TEXT(""), out), 0);
    assert_int_equal(
        pythia_usdt_operands_read(
            PYTHIA_TEXT("1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13"),
            out),
        PYTHIA_USDT_OPERANDS_MAX);
    assert_int_equal(out[11].value, 12);
    assert_int_equal(out[12].value, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_and_their_sizes_are_read),
        cmocka_unit_test(registers_are_where_the_kernel_saves_them),
        cmocka_unit_test(memory_has_displacement_base_index_and_scale),
        cmocka_unit_test(what_is_not_understood_keeps_its_place),
        cmocka_unit_test(no_more_are_read_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
