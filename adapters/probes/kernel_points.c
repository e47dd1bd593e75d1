#define _GNU_SOURCE
#include "pythia/kernel_points.h"

#include <string.h>

#include "pythia/status.h"

#define EVENTS(group, event) PYTHIA_KERNEL_PATH "/events/" group "/" event "/format"
#define BIT(number)          (UINT32_C(1) << (number))

static const struct {
    const char *name, *format, *subject, *value; /* fields of the trace point; NULL: none */
} events[PYTHIA_KERNEL_EVENTS] = {
    {"switch_out", EVENTS("sched", "sched_switch"), NULL, "prev_state"},
    {"switch_in", EVENTS("sched", "sched_switch"), "next_pid", NULL},
    {"waking", EVENTS("sched", "sched_waking"), "pid", NULL},
    {"system_call", EVENTS("raw_syscalls", "sys_enter"), NULL, "id"},
    {"system_return", EVENTS("raw_syscalls", "sys_exit"), NULL, NULL},
    {"page_fault", EVENTS("exceptions", "page_fault_user"), NULL, NULL},
    {"block_issue", EVENTS("block", "block_rq_issue"), NULL, "bytes"},
};

static const char *const keys[PYTHIA_KERNEL_SUMS] = {
    "kernel.run_queue_ns", "kernel.block_io_ns", "kernel.futex_ns",      "kernel.network_ns",
    "kernel.poll_ns",      "kernel.sleep_ns",    "kernel.other_wait_ns", "kernel.block_requests",
    "kernel.block_bytes",  "kernel.page_faults", "kernel.system_calls",  "kernel.system_call_ns"};

#define SYSTEM_CALLS (BIT(PYTHIA_KERNEL_SYSTEM_CALL) | BIT(PYTHIA_KERNEL_SYSTEM_RETURN))

#define WAIT_EVENTS                                                                                \
    (BIT(PYTHIA_KERNEL_SWITCH_OUT) | BIT(PYTHIA_KERNEL_SWITCH_IN) | BIT(PYTHIA_KERNEL_WAKING) |    \
     SYSTEM_CALLS)

static const char *const waits[PYTHIA_KERNEL_WAITS] = {"run_queue", "block_io", "futex", "network",
                                                       "poll",      "sleep",    "other"};

const struct pythia_kernel_topic pythia_kernel_topics[] = {
    {"waits", WAIT_EVENTS, BIT(PYTHIA_KERNEL_WAITS) - 1},
    {"block_io", BIT(PYTHIA_KERNEL_BLOCK_ISSUE),
     BIT(PYTHIA_KERNEL_BLOCK_REQUESTS) | BIT(PYTHIA_KERNEL_BLOCK_BYTES)},
    {"page_faults", BIT(PYTHIA_KERNEL_PAGE_FAULT), BIT(PYTHIA_KERNEL_PAGE_FAULTS)},
    {"system_calls", SYSTEM_CALLS,
     BIT(PYTHIA_KERNEL_SYSTEM_CALLS) | BIT(PYTHIA_KERNEL_SYSTEM_CALL_NS)},
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

int pythia_kernel_point_read(enum pythia_kernel_event event, struct pythia_text format,
                             struct pythia_kernel_point *out, struct pythia_error *e)
{
    struct pythia_kernel_point point = {.id = find_number(format, "\nID: ")};
    struct pythia_usdt_operand subject = {0};
    const char *missing = NULL;
    if (events[event].subject &&
        (!find_field(format, events[event].subject, &subject) || subject.bytes != 4))
        missing = events[event].subject;
    if (events[event].value) {
        point.site.operand_count = 1;
        if (!find_field(format, events[event].value, &point.site.operands[0]))
            missing = events[event].value;
    }
    if (missing || point.id == UINT64_MAX)
        return pythia_error_set(e, PYTHIA_EFORMAT, "%s: no %s as it is known", events[event].format,
                                missing ? missing : "ID");
    point.subject = subject.base;
    *out = point;
    return PYTHIA_OK;
}
