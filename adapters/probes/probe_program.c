/* The program of a site is put together by hand, so that neither a compiler nor a library has to be
 * in the process that has the privilege to load it. It only branches forward, and its record is on
 * its stack, since a per-CPU map could be written by two threads that take turns. A hit outside of
 * a request branches to the end, where one of some is reported.
 *
 * r6: the registers of the thread (struct pt_regs), or the fields of a trace point.
 * r7: process id << 32 | thread id.
 * r8: when that thread has sent on the socket that a trace point is about.
 * On the stack, from its upper end: the key of a map, its value, the record. */
#define _GNU_SOURCE
#include "pythia/probe_program.h"

#include <linux/bpf.h>
#include <netinet/tcp.h>
#include <stdbool.h>

#define KEY_AT   (-8)
#define VALUE_AT (KEY_AT - (int)sizeof(struct pythia_probe_mark))

_Static_assert(sizeof(struct pythia_probe_sender) == sizeof(struct pythia_probe_mark),
               "both have the same place on the stack");

#define OUTSIDE_BRANCHES_MAX 4

struct program {
    struct bpf_insn *out;
    size_t count;
    int16_t record;                       /* where it begins, from r10 */
    size_t outside[OUTSIDE_BRANCHES_MAX]; /* branches of hits outside of requests */
    size_t outside_count;
};

static void add_instruction(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
                            int32_t imm)
{
    p->out[p->count++] = (struct bpf_insn){
        .code = code, .dst_reg = dst & 15u, .src_reg = src & 15u, .off = off, .imm = imm};
}

static void call_helper(struct program *p, int32_t helper)
{
    add_instruction(p, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* Load a constant of 64 bits; `src` BPF_PSEUDO_MAP_FD: a map by its descriptor. */
static void load_constant(struct program *p, uint8_t dst, uint8_t src, uint64_t value)
{
    /* BPF_LD and BPF_IMM are 0 */
    add_instruction(p, BPF_DW, dst, src, 0, (int32_t)(uint32_t)value);
    add_instruction(p, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

/* Store a register into the record, or load one from it. */
static void store_register(struct program *p, uint8_t src, size_t at)
{
    add_instruction(p, BPF_STX | BPF_MEM | BPF_DW, 10, src, (int16_t)(p->record + (int16_t)at), 0);
}

static void load_register(struct program *p, uint8_t dst, size_t at)
{
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, dst, 10, (int16_t)(p->record + (int16_t)at), 0);
}

static void add_immediate(struct program *p, uint8_t operation, uint8_t dst, int32_t imm)
{
    add_instruction(p, BPF_ALU64 | BPF_K | operation, dst, 0, 0, imm);
}

/* Let a register be the address of a place in the record. */
static void load_address(struct program *p, uint8_t dst, size_t at)
{
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_MOV, dst, 10, 0, 0);
    add_immediate(p, BPF_ADD, dst, p->record + (int32_t)at);
}

/* Begin a branch that is taken if r0 compares so; end_branch says where it leads. */
static size_t begin_branch(struct program *p, uint8_t comparison, int32_t imm)
{
    add_instruction(p, BPF_JMP | BPF_K | comparison, 0, 0, 0, imm);
    return p->count - 1;
}

static void end_branch(struct program *p, size_t branch)
{
    p->out[branch].off = (int16_t)(p->count - branch - 1);
}

static void exit_program(struct program *p)
{
    add_immediate(p, BPF_MOV, 0, 0);
    add_instruction(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* Call a helper with a map and the key on the stack. */
static void call_with_key(struct program *p, int map, int32_t helper)
{
    load_constant(p, 1, BPF_PSEUDO_MAP_FD, (uint32_t)map);
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_MOV, 2, 10, 0, 0);
    add_immediate(p, BPF_ADD, 2, KEY_AT);
    call_helper(p, helper);
}

/* Put the key and the value on the stack into a map. */
static void put_value(struct program *p, int map)
{
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_MOV, 3, 10, 0, 0);
    add_immediate(p, BPF_ADD, 3, VALUE_AT);
    add_immediate(p, BPF_MOV, 4, BPF_ANY);
    call_with_key(p, map, BPF_FUNC_map_update_elem);
}

/* The hit is outside of a request if r0 compares so. */
static void leave_request(struct program *p, uint8_t comparison, int32_t imm)
{
    p->outside[p->outside_count++] = begin_branch(p, comparison, imm);
}

/* Find the thread of r7 in the map of those that are in a request: r0 is its mark, or 0. */
static void find_mark(struct program *p, int threads)
{
    add_instruction(p, BPF_STX | BPF_MEM | BPF_W, 10, 7, KEY_AT, 0);
    call_with_key(p, threads, BPF_FUNC_map_lookup_elem);
}

/* Mark the thread. A mark that it has already stays: its request is the outer one. One of a thread
 * that has died in its request, whose id this one got, is replaced. */
static void mark_thread(struct program *p, const struct pythia_probe_site_program *site)
{
    find_mark(p, site->threads);
    size_t absent = begin_branch(p, BPF_JEQ, 0);
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 0, 0, offsetof(struct pythia_probe_mark, thread),
                    0);
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_SUB, 0, 7, 0, 0);
    size_t present = begin_branch(p, BPF_JEQ, 0);
    end_branch(p, absent);
    add_instruction(p, BPF_STX | BPF_MEM | BPF_DW, 10, 7, VALUE_AT, 0);
    add_instruction(p, BPF_ST | BPF_MEM | BPF_DW, 10, 0, VALUE_AT + 8, (int32_t)site->mark);
    put_value(p, site->threads);
    end_branch(p, present);
}

static void unmark_thread(struct program *p, const struct pythia_probe_site_program *site)
{
    find_mark(p, site->threads);
    size_t absent = begin_branch(p, BPF_JEQ, 0);
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 0, 0, offsetof(struct pythia_probe_mark, mark),
                    0);
    size_t other = begin_branch(p, BPF_JNE, (int32_t)site->mark);
    call_with_key(p, site->threads, BPF_FUNC_map_delete_elem);
    end_branch(p, other);
    end_branch(p, absent);
}

/* Whatever the role asks for before anything is reported. */
static void play_role(struct program *p, const struct pythia_probe_site_program *site)
{
    if (site->role == PYTHIA_PROBE_ENTER) {
        mark_thread(p, site);
    } else if (site->role == PYTHIA_PROBE_LEAVE) {
        unmark_thread(p, site);
    } else if (site->role == PYTHIA_PROBE_WITHIN) {
        find_mark(p, site->threads);
        leave_request(p, BPF_JEQ, 0);
        if (site->subject.thread)
            add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 7, 0,
                            offsetof(struct pythia_probe_mark, thread), 0);
    }
}

/* Let the key be the socket that the hit is about. */
static void set_socket_key(struct program *p, const struct pythia_probe_site_program *site)
{
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 1, 6, site->subject.socket, 0);
    add_instruction(p, BPF_STX | BPF_MEM | BPF_DW, 10, 1, KEY_AT, 0);
}

/* Go on only if the socket begins to connect: a thread that connects makes this change itself, all
 * others are made by interrupts, too. A socket that is closed is forgotten: its address will be
 * that of another one. */
static void follow_state(struct program *p, const struct pythia_probe_site_program *site)
{
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_W, 0, 6, site->subject.state, 0);
    size_t open = begin_branch(p, BPF_JNE, TCP_CLOSE);
    set_socket_key(p, site);
    call_with_key(p, site->senders, BPF_FUNC_map_delete_elem);
    add_immediate(p, BPF_MOV, 0, TCP_CLOSE);
    end_branch(p, open);
    leave_request(p, BPF_JNE, TCP_SYN_SENT);
}

/* Note that the thread of r7 sends on the socket. */
static void note_sender(struct program *p, const struct pythia_probe_site_program *site)
{
    call_helper(p, BPF_FUNC_ktime_get_ns);
    add_instruction(p, BPF_STX | BPF_MEM | BPF_DW, 10, 7,
                    VALUE_AT + (int)offsetof(struct pythia_probe_sender, thread), 0);
    add_instruction(p, BPF_STX | BPF_MEM | BPF_DW, 10, 0,
                    VALUE_AT + (int)offsetof(struct pythia_probe_sender, sent_ns), 0);
    set_socket_key(p, site);
    put_value(p, site->senders);
    exit_program(p);
}

/* Let r7 be the thread that the hit is of. If it is that of a field, its id alone is known. */
static void find_thread(struct program *p, const struct pythia_probe_site_program *site)
{
    if (site->subject.thread) {
        add_instruction(p, BPF_LDX | BPF_MEM | BPF_W, 7, 6, site->subject.thread, 0);
        return;
    }
    if (site->subject.socket && !site->subject.sends) {
        set_socket_key(p, site);
        call_with_key(p, site->senders, BPF_FUNC_map_lookup_elem);
        leave_request(p, BPF_JEQ, 0);
        add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 7, 0,
                        offsetof(struct pythia_probe_sender, thread), 0);
        add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, 8, 0,
                        offsetof(struct pythia_probe_sender, sent_ns), 0);
        return;
    }
    call_helper(p, BPF_FUNC_get_current_pid_tgid);
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_MOV, 7, 0, 0, 0);
}

/* Load a register of the thread. */
static void load_saved(struct program *p, uint8_t dst, uint8_t at)
{
    add_instruction(p, BPF_LDX | BPF_MEM | BPF_DW, dst, 6, at, 0);
}

/* Extend r1 from the size of the argument to 64 bits. */
static void extend_argument(struct program *p, const struct pythia_usdt_operand *o)
{
    if (o->bytes == 8)
        return;
    add_immediate(p, BPF_LSH, 1, 64 - 8 * o->bytes);
    add_immediate(p, o->is_signed ? BPF_ARSH : BPF_RSH, 1, 64 - 8 * o->bytes);
}

/* Let r3 be the address of an argument that is in memory. */
static void compute_address(struct program *p, const struct pythia_usdt_operand *o)
{
    int32_t shift = o->scale == 8 ? 3 : o->scale == 4 ? 2 : o->scale == 2 ? 1 : 0;
    load_saved(p, 3, o->base);
    if (o->index != PYTHIA_USDT_NO_REGISTER) {
        load_saved(p, 4, o->index);
        add_immediate(p, BPF_LSH, 4, shift);
        add_instruction(p, BPF_ALU64 | BPF_X | BPF_ADD, 3, 4, 0, 0);
    }
    load_constant(p, 4, 0, (uint64_t)o->value);
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_ADD, 3, 4, 0, 0);
}

/* Put an argument into its place; one that is unknown stays 0. */
static void fetch_argument(struct program *p, const struct pythia_usdt_operand *o, size_t at)
{
    switch (o->kind) {
    case PYTHIA_USDT_CONSTANT:
        load_constant(p, 1, 0, (uint64_t)o->value);
        break;
    case PYTHIA_USDT_REGISTER:
        load_saved(p, 1, o->base);
        if (o->high)
            add_immediate(p, BPF_RSH, 1, 8);
        break;
    case PYTHIA_USDT_MEMORY:
        compute_address(p, o);
        load_address(p, 1, at);
        add_immediate(p, BPF_MOV, 2, o->bytes);
        call_helper(p, BPF_FUNC_probe_read_user);
        load_register(p, 1, at);
        break;
    case PYTHIA_USDT_FIELD:
        add_instruction(p, BPF_LDX | BPF_MEM | (o->bytes == 8 ? BPF_DW : BPF_W), 1, 6, o->base, 0);
        break;
    default:
        return;
    }
    extend_argument(p, o);
    store_register(p, 1, at);
}

/* Replace the address of a text by the number of bytes that were read of it. */
static void fetch_text(struct program *p, size_t at, size_t text, size_t bytes)
{
    load_register(p, 3, at);
    load_address(p, 1, text);
    add_immediate(p, BPF_MOV, 2, (int32_t)bytes);
    call_helper(p, BPF_FUNC_probe_read_user_str);
    store_register(p, 0, at);
}

/* Put the record into the ring of the current processor. */
static void put_record(struct program *p, int rings, size_t size)
{
    add_instruction(p, BPF_ALU64 | BPF_X | BPF_MOV, 1, 6, 0, 0);
    load_constant(p, 2, BPF_PSEUDO_MAP_FD, (uint32_t)rings);
    load_constant(p, 3, 0, BPF_F_CURRENT_CPU);
    load_address(p, 4, 0);
    add_immediate(p, BPF_MOV, 5, (int32_t)size);
    call_helper(p, BPF_FUNC_perf_event_output);
    exit_program(p);
}

/* Report a hit with its arguments. */
static void report_hit(struct program *p, const struct pythia_probe_site_program *site, size_t size)
{
    const size_t values = sizeof(struct pythia_probe_hit), text = values + 8 * site->count;
    size_t slots = (size_t)__builtin_popcount(site->texts), slots_used = 0,
           slot = slots ? PYTHIA_PROBE_TEXT_BYTES / slots : 0;
    for (size_t at = 0; at < size; at += 8)
        add_instruction(p, BPF_ST | BPF_MEM | BPF_DW, 10, 0, (int16_t)(p->record + (int16_t)at), 0);
    call_helper(p, BPF_FUNC_ktime_get_ns);
    store_register(p, 0, offsetof(struct pythia_probe_hit, time_ns));
    store_register(p, 7, offsetof(struct pythia_probe_hit, thread));
    load_constant(p, 1, 0,
                  site->number | (uint64_t)site->texts << 32 | (uint64_t)site->count << 48);
    store_register(p, 1, offsetof(struct pythia_probe_hit, number));
    for (size_t i = 0; i < site->count; i++) {
        fetch_argument(p, &site->operands[i], values + 8 * i);
        if (site->texts >> i & 1)
            fetch_text(p, values + 8 * i, text + slots_used++ * slot, slot);
    }
    if (site->subject.socket)
        store_register(p, 8, values);
    put_record(p, site->rings, size);
}

/* Report a hit outside of a request by chance. It comes here before its thread is known, too. */
static void sample_outside(struct program *p, const struct pythia_probe_site_program *site)
{
    for (size_t i = 0; i < p->outside_count; i++)
        end_branch(p, p->outside[i]);
    call_helper(p, BPF_FUNC_get_prandom_u32);
    add_immediate(p, BPF_AND, 0, PYTHIA_PROBE_OUTSIDE_ONE_OF - 1);
    size_t chosen = begin_branch(p, BPF_JEQ, 0);
    exit_program(p);
    end_branch(p, chosen);
    call_helper(p, BPF_FUNC_ktime_get_ns);
    store_register(p, 0, offsetof(struct pythia_probe_hit, time_ns));
    load_constant(p, 1, 0, 0);
    store_register(p, 1, offsetof(struct pythia_probe_hit, thread));
    load_constant(p, 1, 0, site->number | PYTHIA_PROBE_OUTSIDE);
    store_register(p, 1, offsetof(struct pythia_probe_hit, number));
    put_record(p, site->rings, sizeof(struct pythia_probe_hit));
}

size_t pythia_probe_program(const struct pythia_probe_site_program *site, struct bpf_insn *out)
{
    const size_t size = sizeof(struct pythia_probe_hit) + 8 * site->count +
                        (site->texts ? PYTHIA_PROBE_TEXT_BYTES : 0);
    struct program p = {.out = out, .record = (int16_t)(VALUE_AT - (int)size)};
    add_instruction(&p, BPF_ALU64 | BPF_X | BPF_MOV, 6, 1, 0, 0);
    find_thread(&p, site);
    if (site->subject.state)
        follow_state(&p, site);
    play_role(&p, site);
    if (site->subject.sends)
        note_sender(&p, site);
    else
        report_hit(&p, site, size);
    if (p.outside_count > 0)
        sample_outside(&p, site);
    return p.count;
}
