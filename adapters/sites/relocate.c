/* Instructions are decoded by Zydis. Those of which nothing is relative are copied. */
#include "pythia/relocate.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <string.h>

struct moving {
    struct pythia__site_code *out;
    ZydisDecoder decoder;
    uint64_t address; /* of the instruction, and of the next one */
    uint64_t next;
    const uint8_t *code;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    bool full; /* the moved code would be too long */
};

static void add_code(struct moving *m, const void *bytes, size_t size)
{
    if (m->out->size + size > sizeof(m->out->bytes)) {
        m->full = true;
        return;
    }
    memcpy(m->out->bytes + m->out->size, bytes, size);
    m->out->size = (uint8_t)(m->out->size + size);
}

/* The 4 bytes at `at` of what was added are to be filled in; the instruction ends at `end`. */
static void add_fixup(struct moving *m, enum pythia__fixup_kind kind, size_t at, size_t end,
                      uint64_t target)
{
    if (m->full || m->out->fixup_count == PYTHIA__SITE_FIXUPS_MAX) {
        m->full = true;
        return;
    }
    m->out->fixups[m->out->fixup_count++] = (struct pythia__site_fixup){
        .kind = (uint8_t)kind, .at = (uint8_t)at, .end = (uint8_t)end, .target = target};
}

/* Add an opcode and a displacement of 32 bits after it, to a target. */
static void add_branch(struct moving *m, const void *opcode, size_t size, uint64_t target)
{
    static const uint8_t none[4] = {0};
    add_code(m, opcode, size);
    add_code(m, none, sizeof(none));
    add_fixup(m, PYTHIA__FIXUP_RELATIVE, (size_t)m->out->size - 4, m->out->size, target);
}

/* Push the address of the next instruction, and leave flags and registers as they are. */
static void add_push(struct moving *m)
{
    static const uint8_t push[] = {
        0x48, 0x8d, 0x64, 0x24, 0xf8,          /* lea -8(%rsp), %rsp */
        0xc7, 0x04, 0x24, 0,    0,    0, 0,    /* movl $low, (%rsp) */
        0xc7, 0x44, 0x24, 0x04, 0,    0, 0, 0, /* movl $high, 4(%rsp) */
    };
    size_t begin = m->out->size;
    add_code(m, push, sizeof(push));
    add_fixup(m, PYTHIA__FIXUP_LOW, begin + 8, begin + 12, m->next);
    add_fixup(m, PYTHIA__FIXUP_HIGH, begin + 16, begin + 20, m->next);
}

/* The target of a direct branch. */
static uint64_t find_target(const struct moving *m)
{
    return m->next + (uint64_t)m->instruction.raw.imm[0].value.s;
}

/* loop and jrcxz have no form of 32 bits: they go over the jump that leads on. */
static void move_short_branch(struct moving *m)
{
    static const uint8_t jump = 0xe9, rest[] = {0x02, 0xeb, 0x05};
    add_code(m, m->code, (size_t)m->instruction.length - 1); /* with its prefixes */
    add_code(m, rest, sizeof(rest));
    add_branch(m, &jump, 1, find_target(m));
}

static const char *move_conditional(struct moving *m)
{
    uint8_t opcode = m->instruction.opcode;
    uint8_t near[2] = {0x0f, 0};
    switch (m->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
        move_short_branch(m);
        return NULL;
    default:
        near[1] = (uint8_t)(0x80 | (opcode & 0x0f));
        if ((opcode & 0xf0) != 0x70 && (opcode & 0xf0) != 0x80)
            return "a branch of an unknown kind would have to be moved";
        add_branch(m, near, sizeof(near), find_target(m));
        return NULL;
    }
}

/* A call by a register or by memory becomes a jump by the same: /2 of opcode 0xff becomes /4. Its
 * operand is read after the push, so that it must not depend on the stack pointer; and a return
 * into the middle of the jump would meet int3 each time. */
static const char *move_indirect_call(struct moving *m)
{
    const ZydisDecodedInstruction *i = &m->instruction;
    const ZydisDecodedOperand *o = &m->operands[0];
    uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
    bool by_stack = o->type == ZYDIS_OPERAND_TYPE_MEMORY
                        ? o->mem.base == ZYDIS_REGISTER_RSP || o->mem.base == ZYDIS_REGISTER_ESP
                        : o->reg.value == ZYDIS_REGISTER_RSP;
    if (i->opcode != 0xff || by_stack || i->raw.modrm.reg != 2)
        return "a call by the stack pointer, or a far one, would have to be moved";
    if (m->out->original + i->length < PYTHIA__SITE_JUMP)
        return "a call returns into the bytes of the jump";
    add_push(m);
    memcpy(copy, m->code, i->length);
    copy[i->raw.modrm.offset] = (uint8_t)((copy[i->raw.modrm.offset] & ~0x38) | 4 << 3);
    size_t begin = m->out->size;
    add_code(m, copy, i->length);
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.base == ZYDIS_REGISTER_RIP)
        add_fixup(m, PYTHIA__FIXUP_RELATIVE, begin + i->raw.disp.offset, m->out->size,
                  m->next + (uint64_t)i->raw.disp.value);
    return NULL;
}

/* Copy an instruction, one operand of which may be memory relative to the instruction pointer. */
static const char *move_plain(struct moving *m)
{
    const ZydisDecodedInstruction *i = &m->instruction;
    size_t begin = m->out->size;
    add_code(m, m->code, i->length);
    if (!(i->attributes & ZYDIS_ATTRIB_IS_RELATIVE))
        return NULL;
    for (int k = 0; k < i->operand_count; k++)
        if (m->operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            m->operands[k].mem.base == ZYDIS_REGISTER_RIP && i->raw.disp.size == 32) {
            add_fixup(m, PYTHIA__FIXUP_RELATIVE, begin + i->raw.disp.offset, m->out->size,
                      m->next + (uint64_t)i->raw.disp.value);
            return NULL;
        }
    return "an instruction is relative in a way that cannot be moved";
}

static const char *move_instruction(struct moving *m)
{
    static const uint8_t jump = 0xe9;
    const ZydisDecodedInstruction *i = &m->instruction;
    bool direct = i->raw.imm[0].is_relative;
    if (i->meta.category == ZYDIS_CATEGORY_COND_BR)
        return direct ? move_conditional(m) : "a branch of an unknown kind would have to be moved";
    if (i->meta.category == ZYDIS_CATEGORY_CALL && !direct)
        return move_indirect_call(m);
    if (i->meta.category == ZYDIS_CATEGORY_CALL) {
        add_push(m);
        add_branch(m, &jump, 1, find_target(m));
        return NULL;
    }
    if (i->meta.category == ZYDIS_CATEGORY_UNCOND_BR && direct) {
        if (i->mnemonic != ZYDIS_MNEMONIC_JMP)
            return "a branch of an unknown kind would have to be moved";
        add_branch(m, &jump, 1, find_target(m));
        return NULL;
    }
    if (i->meta.category == ZYDIS_CATEGORY_INTERRUPT || i->meta.category == ZYDIS_CATEGORY_SYSCALL)
        return "a system call or an interrupt would have to be moved";
    return move_plain(m);
}

static bool decode_next(struct moving *m, size_t size)
{
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeFull(&m->decoder, m->code, size, &m->instruction, m->operands));
}

size_t pythia_relocate_nop(const uint8_t *code, size_t size)
{
    struct moving m = {.code = code};
    ZydisDecoderInit(&m.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return decode_next(&m, size) && m.instruction.mnemonic == ZYDIS_MNEMONIC_NOP
               ? m.instruction.length
               : 0;
}

const char *pythia_relocate(const uint8_t *code, size_t size, uint64_t address,
                            struct pythia__site_code *out)
{
    struct moving m = {.out = out};
    const char *why = NULL;
    *out = (struct pythia__site_code){0};
    ZydisDecoderInit(&m.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (pythia_relocate_nop(code, size) == 0)
        why = "there is no nop";
    while (!why && out->original < PYTHIA__SITE_JUMP) {
        m.code = code + out->original;
        if (!decode_next(&m, size - out->original)) {
            why = "there are bytes that are no instruction";
            break;
        }
        m.address = address + out->original;
        m.next = m.address + m.instruction.length;
        if (out->original < PYTHIA__SITE_JUMP)
            out->begins[out->original] = (uint8_t)(out->size + 1);
        if (m.instruction.mnemonic != ZYDIS_MNEMONIC_NOP)
            why = move_instruction(&m);
        out->original = (uint8_t)(out->original + m.instruction.length);
    }
    why = why ? why : m.full ? "the moved code would be too long" : NULL;
    if (why)
        *out = (struct pythia__site_code){0};
    return why;
}

/* The first of the addresses that is not below this one. */
static size_t find_address(const uint64_t *addresses, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (addresses[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pythia_relocate_targets(const uint8_t *code, size_t size, uint64_t address,
                             const uint64_t *addresses, size_t count, uint8_t *targeted)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    for (size_t at = 0; at < size;) {
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at, &i))) {
            at++;
            continue;
        }
        at += i.length;
        if (!i.raw.imm[0].is_relative)
            continue;
        uint64_t target = address + at + (uint64_t)i.raw.imm[0].value.s;
        size_t found = find_address(addresses, count, target);
        if (found < count && addresses[found] == target)
            targeted[found] = 1;
    }
}
