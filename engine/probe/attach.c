/* A site is a uprobe with a BPF program. It is opened by perf_event_open of the uprobe unit, so
 * that the kernel removes it when the descriptor is closed, however this process ends; in tracefs
 * it would stay. The unit also counts up the semaphore of the program that is probed. One event
 * sees the hits of all processors, because the program runs before the kernel looks whose event it
 * is. */
#define _GNU_SOURCE
#include "attach.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pythia/elf_functions.h"
#include "pythia/kernel_points.h"
#include "pythia/mem.h"
#include "pythia/probe_program.h"
#include "pythia/status.h"
#include "trusted.h"

#define REFERENCE_SHIFT 32 /* of the semaphore's offset in `config` of the uprobe unit */

static int call_bpf(int command, union bpf_attr *attributes)
{
    return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static int create_map(uint32_t type, uint32_t key_bytes, uint32_t value_bytes, uint32_t entries)
{
    union bpf_attr map = {
        .map_type = type, .key_size = key_bytes, .value_size = value_bytes, .max_entries = entries};
    return call_bpf(BPF_MAP_CREATE, &map);
}

/* Open the event of a process, or, without one, of a processor. */
static int open_event(struct perf_event_attr *attributes, uint32_t pid, int processor)
{
    attributes->size = sizeof(*attributes);
    return (int)syscall(SYS_perf_event_open, attributes, pid ? (pid_t)pid : -1,
                        pid ? -1 : processor, -1, PERF_FLAG_FD_CLOEXEC);
}

static int fail_open(struct pythia_error *e, const char *what)
{
    const char *hint = errno == EACCES || errno == EPERM
                           ? " (pythia-probe needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN)"
                           : "";
    return pythia_error_set(e, PYTHIA_EIO, "%s: %s%s", what, strerror(errno), hint);
}

/* One ring a processor. A reader is woken only when a ring is half full: it looks by itself. */
static int open_rings(struct pythia__rings *out, long processors, struct pythia_error *e)
{
    for (int processor = 0; processor < processors; processor++) {
        struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                             .config = PERF_COUNT_SW_BPF_OUTPUT,
                                             .sample_type = PERF_SAMPLE_RAW,
                                             .sample_period = 1,
                                             .watermark = 1,
                                             .wakeup_watermark = 128 * 1024};
        int ring = open_event(&attributes, 0, processor);
        if (ring < 0 && errno == ENODEV)
            continue; /* it is offline */
        if (ring < 0)
            return fail_open(e, "a ring for probes");
        out->rings[out->count++] = ring;
        union bpf_attr entry = {
            .map_fd = (uint32_t)out->map, .key = (uintptr_t)&processor, .value = (uintptr_t)&ring};
        if (call_bpf(BPF_MAP_UPDATE_ELEM, &entry) != 0)
            return fail_open(e, "the table of rings");
    }
    return PYTHIA_OK;
}

int pythia__rings_open(struct pythia__rings *out, struct pythia_error *e)
{
    static const char unit[] = "/sys/bus/event_source/devices/uprobe/type";
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    FILE *file = fopen(unit, "re");
    char line[16] = "";
    bool known = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    if (!known)
        return pythia_error_set(e, PYTHIA_EIO, "this kernel has no uprobes (%s)", unit);
    out->type = (int)strtol(line, NULL, 10);
    if (processors > PYTHIA__RINGS_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "more than %d processors", PYTHIA__RINGS_MAX);
    out->count = 0;
    out->map = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, (uint32_t)processors);
    out->threads = create_map(BPF_MAP_TYPE_LRU_HASH, 4, sizeof(struct pythia_probe_mark),
                              PYTHIA_PROBE_MARKS_MAX);
    out->senders = create_map(BPF_MAP_TYPE_LRU_HASH, 8, sizeof(struct pythia_probe_sender),
                              PYTHIA_PROBE_SENDERS_MAX);
    int status = out->map < 0 || out->threads < 0 || out->senders < 0
                     ? fail_open(e, "bpf")
                     : open_rings(out, processors, e);
    if (status != PYTHIA_OK)
        pythia__rings_close(out);
    return status;
}

void pythia__rings_close(struct pythia__rings *r)
{
    for (size_t i = 0; i < r->count; i++)
        close(r->rings[i]);
    close(r->map);
    close(r->threads);
    close(r->senders);
    r->count = 0;
    r->map = r->threads = r->senders = -1;
}

/* Load a program, and open an event that runs it: enabled. The program is ours to license; the
 * kernel lends what reads the memory of programs to those of the GPL only. */
static int open_with_program(struct perf_event_attr *attributes, uint32_t pid,
                             const struct pythia_probe_site_program *site, struct pythia_error *e)
{
    bool kernel = attributes->type == PERF_TYPE_TRACEPOINT;
    struct bpf_insn instructions[PYTHIA_PROBE_PROGRAM_MAX];
    size_t count = pythia_probe_program(site, instructions);
    union bpf_attr load = {.prog_type = kernel ? BPF_PROG_TYPE_TRACEPOINT : BPF_PROG_TYPE_KPROBE,
                           .insns = (uintptr_t)instructions,
                           .insn_cnt = (uint32_t)count,
                           .license = (uintptr_t) "GPL"};
    int event = -1, program = call_bpf(BPF_PROG_LOAD, &load);
    if (program < 0) {
        fail_open(e, "the program of a probe");
        return -1;
    }
    event = open_event(attributes, pid, 0);
    if (event < 0 && errno == ESRCH)
        pythia_error_set(e, PYTHIA_ENOTFOUND, "there is no process %u", pid);
    else if (event < 0)
        fail_open(e, kernel ? "a trace point" : "a uprobe");
    if (event >= 0 && (ioctl(event, PERF_EVENT_IOC_SET_BPF, program) != 0 ||
                       ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0)) {
        fail_open(e, kernel ? "a trace point" : "a uprobe");
        close(event);
        event = -1;
    }
    close(program); /* the event has it */
    return event;
}

/* An event of a process has its breakpoint in the memory of that process alone: others that run the
 * program cost nothing. A filter in the program would come after their trap. */
int pythia__site_open(const struct pythia__rings *r, const struct pythia_probe_message *m,
                      const struct pythia_usdt_site *site, uint16_t texts, uint32_t number,
                      struct pythia_error *e)
{
    uint64_t is_return = site->instruction == PYTHIA_USDT_RETURN;
    struct perf_event_attr attributes = {.type = (uint32_t)r->type,
                                         .config = site->semaphore << REFERENCE_SHIFT | is_return,
                                         .config1 = (uintptr_t)m->id.path,
                                         .config2 = site->offset,
                                         .sample_period = 1,
                                         .disabled = 1};
    const struct pythia_probe_site_program code = {
        .operands = site->operands,
        .count = site->operand_count,
        .texts = (uint16_t)(texts & ((1u << site->operand_count) - 1)),
        .number = number,
        .role = m->role,
        .mark = m->mark,
        .rings = r->map,
        .threads = r->threads};
    if (site->semaphore <= UINT32_MAX)
        return open_with_program(&attributes, m->id.pid, &code, e);
    pythia_error_set(e, PYTHIA_ELIMIT, "its semaphore is beyond 4 GiB of the file");
    return -1;
}

/* Open a trace point of the kernel, for threads that are in a request alone. */
static int open_kernel(const struct pythia__rings *r, const struct pythia_probe_message *m,
                       uint32_t number, struct pythia__sites *out, struct pythia_error *e)
{
    char text[PYTHIA_KERNEL_FORMAT_BYTES];
    struct pythia_kernel_point point;
    enum pythia_kernel_event event = pythia_kernel_event_find(m->id.name);
    if (event == PYTHIA_KERNEL_EVENTS || m->role != PYTHIA_PROBE_WITHIN || m->id.pid ||
        strcmp(m->id.path, PYTHIA_KERNEL_PATH) != 0)
        return pythia_error_set(e, PYTHIA_ENOTFOUND, "there is no such probe of the kernel");
    ssize_t size = pythia__trusted_read(pythia_kernel_format_path(event), text, sizeof(text), e);
    if (size < 0 || stat(m->id.path, &out->file) != 0)
        return size < 0 ? (int)size : fail_open(e, m->id.path);
    int status =
        pythia_kernel_point_read(event, (struct pythia_text){text, (size_t)size}, &point, e);
    if (status != PYTHIA_OK)
        return status;
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT, .config = point.id, .sample_period = 1, .disabled = 1};
    const struct pythia_probe_site_program code = {.operands = point.site.operands,
                                                   .count = point.site.operand_count,
                                                   .number = number,
                                                   .role = PYTHIA_PROBE_WITHIN,
                                                   .rings = r->map,
                                                   .threads = r->threads,
                                                   .senders = r->senders,
                                                   .subject = point.subject};
    if (!(out->events = pythia_calloc(1, sizeof(*out->events))))
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    out->count = 1;
    if ((out->events[0] = open_with_program(&attributes, 0, &code, e)) >= 0)
        return PYTHIA_OK;
    pythia_free(out->events);
    return PYTHIA_EIO;
}

/* Open a probe wholly or not at all. Prices were measured for each kind of instruction: one that is
 * too expensive at any of its sites is refused before the first is open. */
static int open_sites(const struct pythia__rings *r, const struct pythia_probe_message *m,
                      const struct pythia_usdt_site *sites, size_t count, uint16_t texts,
                      uint32_t number, struct pythia__sites *out, struct pythia_error *e)
{
    if (count > PYTHIA__SITES_MAX)
        return pythia_error_set(e, PYTHIA_ELIMIT, "the probe has more than %d sites",
                                PYTHIA__SITES_MAX);
    if (pythia_hit_prices_check(r->prices, sites, count, e) != PYTHIA_OK)
        return e->status;
    if (!(out->events = pythia_calloc(count, sizeof(*out->events))))
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    for (out->count = 0; out->count < count; out->count++) {
        int event = pythia__site_open(r, m, &sites[out->count], texts, number, e);
        if (event < 0) {
            while (out->count > 0)
                close(out->events[--out->count]);
            pythia_free(out->events);
            return e->status;
        }
        out->events[out->count] = event;
    }
    return PYTHIA_OK;
}

/* Find a function by the symbols of the program, and those of its debug file, if there is one and
 * root alone can change it. */
static int read_functions(int file, const struct pythia_text *name, struct pythia_usdt_notes *out,
                          struct pythia_error *e)
{
    char path[PYTHIA_DEBUG_PATH_BYTES];
    int debug = -1, status = pythia_elf_debug_path(file, path, e);
    if (status == PYTHIA_OK && path[0] && access(path, F_OK) == 0) {
        debug = pythia__trusted_open(path, e);
        status = debug < 0 ? debug : PYTHIA_OK;
    }
    if (status == PYTHIA_OK)
        status = pythia_elf_functions_read(file, debug, pythia_elf_function_is, name, out, e);
    if (debug >= 0)
        close(debug);
    return status;
}

static int open_probe(struct pythia__opener *o, const struct pythia_probe_message *m,
                      uint16_t texts, uint32_t number, struct pythia__sites *out,
                      struct pythia_error *e)
{
    const struct pythia__rings *r = (const struct pythia__rings *)(const void *)o;
    bool function = PYTHIA_TEXT_IS(m->id.provider, PYTHIA_FUNCTION_PROVIDER);
    struct pythia_usdt_notes sites = {0};
    size_t count;
    if (PYTHIA_TEXT_IS(m->id.provider, PYTHIA_KERNEL_PROVIDER))
        return open_kernel(r, m, number, out, e);
    int file = pythia__trusted_open(m->id.path, e);
    if (file < 0)
        return file;
    int status = fstat(file, &out->file) != 0 ? fail_open(e, "the program")
                 : function                   ? read_functions(file, &m->id.name, &sites, e)
                                              : pythia_usdt_notes_read(file, &sites, e);
    close(file);
    if (status != PYTHIA_OK)
        return status;
    const struct pythia_usdt_site *found =
        pythia_usdt_notes_find(&sites, m->id.provider, m->id.name, &count);
    status = found ? open_sites(r, m, found, count, texts, number, out, e)
                   : pythia_error_set(e, PYTHIA_ENOTFOUND, "the program has no such %s",
                                      function ? "function" : "probe");
    pythia_usdt_notes_free(&sites);
    return status;
}

const struct pythia__opener pythia__rings_opener = {open_probe};
