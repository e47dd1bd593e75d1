#define _GNU_SOURCE
#include "pythia/kernel_points.h"

#include <string.h>

#include "pythia/status.h"

#define EVENTS(group, event) PYTHIA_KERNEL_PATH "/events/" group "/" event "/format"
#define BIT(number)          (UINT32_C(1) << (number))

static const struct {
    const char *name, *format;
    const char *thread, *value, *socket, *state; /* fields of the trace point; NULL: none */
    bool sends;
} events[PYTHIA_KERNEL_EVENTS] = {
    {"switch_out", EVENTS("sched", "sched_switch"), .value = "prev_state"},
    {"switch_in", EVENTS("sched", "sched_switch"), .thread = "next_pid"},
    {"waking", EVENTS("sched", "sched_waking"), .thread = "pid"},
    {"system_call", EVENTS("raw_syscalls", "sys_enter"), .value = "id"},
    {"system_return", EVENTS("raw_syscalls", "sys_exit"), .value = NULL},
    {"page_fault", EVENTS("exceptions", "page_fault_user"), .value = NULL},
    {"block_issue", EVENTS("block", "block_rq_issue"), .value = "bytes"},
    {"connect", EVENTS("sock", "inet_sock_set_state"), .socket = "skaddr", .state = "newstate",
     .sends = true},
    {"send", EVENTS("sock", "sock_send_length"), .socket = "sk", .sends = true},
    {"retransmit", EVENTS("tcp", "tcp_retransmit_skb"), .socket = "skaddr"},
};

static const char *const keys[PYTHIA_KERNEL_SUMS] = {
    "kernel.run_queue_ns", "kernel.block_io_ns", "kernel.futex_ns",      "kernel.network_ns",
    "kernel.poll_ns",      "kernel.sleep_ns",    "kernel.other_wait_ns", "kernel.block_requests",
    "kernel.block_bytes",  "kernel.page_faults", "kernel.system_calls",  "kernel.system_call_ns",
    "kernel.retransmits"};

#define SYSTEM_CALLS (BIT(PYTHIA_KERNEL_SYSTEM_CALL) | BIT(PYTHIA_KERNEL_SYSTEM_RETURN))

#define WAIT_EVENTS                                                                                \
    (BIT(PYTHIA_KERNEL_SWITCH_OUT) | BIT(PYTHIA_KERNEL_SWITCH_IN) | BIT(PYTHIA_KERNEL_WAKING) |    \
     SYSTEM_CALLS)

static const char *const waits[PYTHIA_KERNEL_WAITS] = {"run_queue", "block_io", "futex", "network",
                                                       "poll",      "sleep",    "other"};

const struct pythia_kernel_topic pythia_kernel_topics[PYTHIA_KERNEL_TOPICS + 1] = {
    {"waits", WAIT_EVENTS, BIT(PYTHIA_KERNEL_WAITS) - 1},
    {"block_io", BIT(PYTHIA_KERNEL_BLOCK_ISSUE),
     BIT(PYTHIA_KERNEL_BLOCK_REQUESTS) | BIT(PYTHIA_KERNEL_BLOCK_BYTES)},
    {"page_faults", BIT(PYTHIA_KERNEL_PAGE_FAULT), BIT(PYTHIA_KERNEL_PAGE_FAULTS)},
    {"system_calls", SYSTEM_CALLS,
     BIT(PYTHIA_KERNEL_SYSTEM_CALLS) | BIT(PYTHIA_KERNEL_SYSTEM_CALL_NS)},
    {"retransmits",
     BIT(PYTHIA_KERNEL_CONNECT) | BIT(PYTHIA_KERNEL_SEND) | BIT(PYTHIA_KERNEL_RETRANSMIT),
     BIT(PYTHIA_KERNEL_RETRANSMITS)},
    {0},
};

const char *pythia_kernel_event_name(enum pythia_kernel_event event)
{
    return events[event].name;
}

const char *pythia_kernel_sum_key(enum pythia_kernel_sum sum)
{
    return keys[sum];
}

enum pythia_kernel_sum pythia_kernel_wait_find(struct pythia_text name)
{
    for (unsigned i = 0; i < PYTHIA_KERNEL_WAITS; i++)
        if (pythia_text_equal(pythia_text_of(waits[i]), name))
            return (enum pythia_kernel_sum)i;
    return PYTHIA_KERNEL_SUMS;
}

uint32_t pythia_kernel_wait_events(void)
{
    return WAIT_EVENTS;
}

enum pythia_kernel_event pythia_kernel_event_find(struct pythia_text name)
{
    unsigned i = 0;
    while (i < PYTHIA_KERNEL_EVENTS && !pythia_text_equal(pythia_text_of(events[i].name), name))
        i++;
    return (enum pythia_kernel_event)i;
}

const char *pythia_kernel_format_path(enum pythia_kernel_event event)
{
    return events[event].format;
}

/* The number after a word that begins at or after `at`; UINT64_MAX if there is none. */
static uint64_t find_number(struct pythia_text text, const char *word)
{
    const char *at = memmem(text.bytes, text.size, word, strlen(word));
    size_t size = 0, left = at ? text.size - (size_t)(at - text.bytes) - strlen(word) : 0;
    uint64_t number = UINT64_MAX;
    while (size < left && at[strlen(word) + size] >= '0' && at[strlen(word) + size] <= '9')
        size++;
    if (at)
        (void)pythia_text_unsigned((struct pythia_text){at + strlen(word), size}, UINT32_MAX,
                                   &number);
    return number;
}

/* Find the line of a field: "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;". */
static bool find_field(struct pythia_text format, const char *name, struct pythia_usdt_operand *out)
{
    const char *end = format.bytes + format.size;
    size_t size = strlen(name);
    for (const char *at = format.bytes; (at = memmem(at, (size_t)(end - at), name, size)); at++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        struct pythia_text rest = {at + size, (size_t)((line_end ? line_end : end) - at) - size};
        uint64_t offset = find_number(rest, "offset:"), bytes = find_number(rest, "size:");
        if (at == format.bytes || at[-1] != ' ' || !pythia_text_starts(rest, PYTHIA_TEXT(";")) ||
            offset < 8 || offset > 240 || (bytes != 4 && bytes != 8) || offset % bytes != 0)
            continue;
        *out = (struct pythia_usdt_operand){.kind = PYTHIA_USDT_FIELD,
                                            .bytes = (uint8_t)bytes,
                                            .is_signed = find_number(rest, "signed:") == 1,
                                            .base = (uint8_t)offset,
                                            .index = PYTHIA_USDT_NO_REGISTER};
        return true;
    }
    return false;
}

/* Find a field of so many bytes, if a trace point has it (name NULL: it does not need to). False,
 * with its name in *missing, if it is not there. */
static bool find_sized(struct pythia_text format, const char *name, uint8_t bytes, uint8_t *offset,
                       const char **missing)
{
    struct pythia_usdt_operand field = {0};
    bool found = !name || (find_field(format, name, &field) && field.bytes == bytes);
    *offset = field.base;
    *missing = found ? *missing : name;
    return found;
}

int pythia_kernel_point_read(enum pythia_kernel_event event, struct pythia_text format,
                             struct pythia_kernel_point *out, struct pythia_error *e)
{
    struct pythia_kernel_point point = {.id = find_number(format, "\nID: ")};
    struct pythia_probe_subject *s = &point.subject;
    const char *missing = "ID";
    bool found = point.id != UINT64_MAX;
    found &= find_sized(format, events[event].thread, 4, &s->thread, &missing);
    found &= find_sized(format, events[event].socket, 8, &s->socket, &missing);
    found &= find_sized(format, events[event].state, 4, &s->state, &missing);
    s->sends = events[event].sends;
    point.site.operand_count = events[event].value || (s->socket && !s->sends);
    if (events[event].value && !find_field(format, events[event].value, &point.site.operands[0])) {
        found = false;
        missing = events[event].value;
    }
    if (!found)
        return pythia_error_set(e, PYTHIA_EFORMAT, "%s: no %s as it is known", events[event].format,
                                missing);
    *out = point;
    return PYTHIA_OK;
}
