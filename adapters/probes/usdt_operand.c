/* Operands as the GNU assembler writes them into the notes of USDT probes: a size in bytes (below
 * zero: signed; with "f": a floating-point number), "@", and a constant, a register or memory.
 *
 *     -4@$17   8@%rdi   1@%dil   4@-20(%rbp)   8@(%rax,%rbx,8)   8@symbol(%rip)   8f@%xmm0
 *
 * Registers are named by where the kernel saves them in struct pt_regs of x86-64. */
#include "pythia/usdt_operand.h"

static const struct {
    uint8_t at;
    char names[4][4]; /* 8, 4, 2 and 1 bytes of it */
} registers[] = {
    {32, {"rbp", "ebp", "bp", "bpl"}},  {40, {"rbx", "ebx", "bx", "bl"}},
    {80, {"rax", "eax", "ax", "al"}},   {88, {"rcx", "ecx", "cx", "cl"}},
    {96, {"rdx", "edx", "dx", "dl"}},   {104, {"rsi", "esi", "si", "sil"}},
    {112, {"rdi", "edi", "di", "dil"}}, {152, {"rsp", "esp", "sp", "spl"}},
};

/* Registers r8 to r15. */
static const uint8_t numbered[] = {72, 64, 56, 48, 24, 16, 8, 0};

/* Read "r8" to "r15", with d, w or b after it. */
static uint8_t find_numbered_register(struct pythia_text name)
{
    if (name.size > 2 && (name.bytes[name.size - 1] == 'd' || name.bytes[name.size - 1] == 'w' ||
                          name.bytes[name.size - 1] == 'b'))
        name.size--;
    if (name.size == 2 && name.bytes[0] == 'r' && (name.bytes[1] == '8' || name.bytes[1] == '9'))
        return numbered[name.bytes[1] - '8'];
    if (name.size == 3 && name.bytes[0] == 'r' && name.bytes[1] == '1' && name.bytes[2] >= '0' &&
        name.bytes[2] <= '5')
        return numbered[name.bytes[2] - '0' + 2];
    return PYTHIA_USDT_NO_REGISTER;
}

/* Where a register is saved; `name` is without its "%". */
static uint8_t find_register(struct pythia_text name, bool *high)
{
    *high = name.size == 2 && name.bytes[1] == 'h' && name.bytes[0] >= 'a' && name.bytes[0] <= 'd';
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
        for (size_t width = 0; width < 4; width++)
            if (pythia_text_equal(name, pythia_text_of(registers[i].names[width])))
                return registers[i].at;
        if (*high && registers[i].names[3][0] == name.bytes[0] && registers[i].names[3][1] == 'l')
            return registers[i].at;
    }
    return find_numbered_register(name);
}

/* Take a number off the front: decimal or hexadecimal, with a sign. False if there is none, or it
 * does not fit. */
static bool take_number(struct pythia_text *text, int64_t *out)
{
    size_t at = 0;
    uint64_t value = 0;
    bool minus = text->size > 0 && text->bytes[0] == '-';
    at += minus;
    bool hex = text->size > at + 2 && text->bytes[at] == '0' && text->bytes[at + 1] == 'x';
    at += hex ? 2 : 0;
    size_t first = at;
    for (; at < text->size; at++) {
        char c = text->bytes[at];
        unsigned digit = c >= '0' && c <= '9'          ? (unsigned)(c - '0')
                         : hex && c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                       : 16;
        if (digit == 16)
            break;
        if (value > UINT64_MAX / 16 - 1)
            return false;
        value = value * (hex ? 16 : 10) + digit;
    }
    if (at == first)
        return false;
    *out = (int64_t)(minus ? 0 - value : value);
    *text = (struct pythia_text){text->bytes + at, text->size - at};
    return true;
}

/* Take "%name" off the front. */
static uint8_t take_register(struct pythia_text *text, bool *high)
{
    size_t end = 1;
    if (text->size < 2 || text->bytes[0] != '%')
        return PYTHIA_USDT_NO_REGISTER;
    while (end < text->size && text->bytes[end] != ',' && text->bytes[end] != ')')
        end++;
    uint8_t at = find_register((struct pythia_text){text->bytes + 1, end - 1}, high);
    *text = (struct pythia_text){text->bytes + end, text->size - end};
    return at;
}

static bool take_char(struct pythia_text *text, char c)
{
    if (text->size == 0 || text->bytes[0] != c)
        return false;
    *text = (struct pythia_text){text->bytes + 1, text->size - 1};
    return true;
}

/* Read "displacement(base,index,scale)", of which everything but the base may be missing. A symbol
 * in it, or a segment, makes it unknown: what they stand for is not in the note. */
static bool read_memory(struct pythia_text text, struct pythia_usdt_operand *o)
{
    bool high;
    int64_t scale = 1;
    (void)take_number(&text, &o->value);
    if (!take_char(&text, '('))
        return false;
    o->base = take_register(&text, &high);
    if (o->base == PYTHIA_USDT_NO_REGISTER || high)
        return false;
    if (take_char(&text, ',')) {
        o->index = take_register(&text, &high);
        if (o->index == PYTHIA_USDT_NO_REGISTER || high)
            return false;
        if (take_char(&text, ',') &&
            (!take_number(&text, &scale) || scale < 1 || scale > 8 || (scale & (scale - 1)) != 0))
            return false;
    }
    o->scale = (uint8_t)scale;
    return take_char(&text, ')') && text.size == 0;
}

/* Read the size: "-4@". */
static bool take_size(struct pythia_text *text, struct pythia_usdt_operand *o)
{
    int64_t bytes;
    if (!take_number(text, &bytes) || !take_char(text, '@'))
        return false;
    o->is_signed = bytes < 0;
    uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    o->bytes = (uint8_t)size;
    return true;
}

static struct pythia_usdt_operand read_operand(struct pythia_text text)
{
    const struct pythia_usdt_operand unknown = {
        .base = PYTHIA_USDT_NO_REGISTER, .index = PYTHIA_USDT_NO_REGISTER, .scale = 1, .bytes = 8};
    struct pythia_usdt_operand o = unknown;
    if (!take_size(&text, &o))
        return unknown;
    if (take_char(&text, '$')) {
        o.kind = PYTHIA_USDT_CONSTANT;
        return take_number(&text, &o.value) && text.size == 0 ? o : unknown;
    }
    if (text.size > 0 && text.bytes[0] == '%') {
        o.kind = PYTHIA_USDT_REGISTER;
        o.base = take_register(&text, &o.high);
        return o.base != PYTHIA_USDT_NO_REGISTER && text.size == 0 ? o : unknown;
    }
    o.kind = PYTHIA_USDT_MEMORY;
    return read_memory(text, &o) ? o : unknown;
}

size_t pythia_usdt_operands_read(struct pythia_text text, struct pythia_usdt_operand *out)
{
    size_t count = 0, at = 0;
    while (at < text.size && count < PYTHIA_USDT_OPERANDS_MAX) {
        size_t end = at;
        while (end < text.size && text.bytes[end] != ' ')
            end++;
        if (end > at)
            out[count++] = read_operand((struct pythia_text){text.bytes + at, end - at});
        at = end + 1;
    }
    return count;
}
