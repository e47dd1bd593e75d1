#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "pythia/log.h"
#include "pythia/process_files.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/usdt_notes.h"
#include "shared/command.h"

struct settings {
    const char *output;
    int64_t pid;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("pid", 'p', "PID", NULL, 1, INT32_MAX, offsetof(struct settings, pid),
                   "List the probes of this process: of its program and of its libraries"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "File to write to (default standard output)"),
    {0},
};

struct listing {
    struct pythia_buf text;
    size_t problems;
};

static void add_listed_site(struct pythia_buf *to, const struct pythia_usdt_site *s)
{
    pythia_buf_printf(to, "    0x%-8" PRIx64 " %-6s  %s:%s", s->offset,
                      pythia_usdt_instruction_name(s->instruction), s->provider, s->name);
    pythia_buf_printf(to, "%s%s%s\n", *s->arguments ? "  " : "", s->arguments,
                      s->semaphore ? "  (semaphore)" : "");
}

static void log_unlisted(struct listing *l, const char *path, const char *why)
{
    l->problems++;
    pythia_log(PYTHIA_LOG_ERROR, "The probes of a file cannot be listed: file=%s, reason=%s", path,
               why);
}

/* Most libraries of a process have no probes and are left out; a file that was named is not. */
static void list_file(struct listing *l, const char *path, int file, bool named)
{
    struct pythia_usdt_notes notes;
    struct pythia_error why = {0};
    if (pythia_usdt_notes_read(file, &notes, &why) != PYTHIA_OK) {
        log_unlisted(l, path, why.sentence);
        return;
    }
    if (named || notes.count > 0) {
        pythia_shown_add(&l->text, pythia_text_of(path), SIZE_MAX);
        pythia_buf_printf(&l->text, ": %zu probe site%s\n", notes.count,
                          notes.count == 1 ? "" : "s");
    }
    for (size_t i = 0; i < notes.count; i++)
        add_listed_site(&l->text, &notes.sites[i]);
    if (notes.refused > 0)
        pythia_log(PYTHIA_LOG_WARNING, "Notes of probes are malformed: file=%s, notes=%zu", path,
                   notes.refused);
    pythia_usdt_notes_free(&notes);
}

static int list_mapped_file(void *context, const char *path, int file, const char *why)
{
    struct listing *l = context;
    if (file < 0)
        log_unlisted(l, path, why);
    else
        list_file(l, path, file, false);
    return pythia_buf_status(&l->text);
}

static void list_named_file(struct listing *l, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        log_unlisted(l, path, strerror(errno));
        return;
    }
    list_file(l, path, file, true);
    close(file);
}

static int run_probes(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct listing l = {0};
    struct pythia_error why = {0};
    int status = PYTHIA_OK;
    if (!s->pid == !count) {
        pythia_log(PYTHIA_LOG_ERROR, "probes takes either files or --pid PID");
        return PYTHIA__EXIT_USAGE;
    }
    if (s->pid)
        status = pythia_process_files((uint64_t)s->pid, list_mapped_file, &l, &why);
    if (why.status) {
        pythia_log(PYTHIA_LOG_ERROR, "No probes can be listed: %s", why.sentence);
        l.problems++;
        status = PYTHIA_OK;
    }
    for (int i = 0; i < count; i++)
        list_named_file(&l, operands[i]);
    if (status == PYTHIA_OK)
        status = pythia_buf_status(&l.text);
    status = pythia__write_text(s->output, status, &l.text);
    return status == PYTHIA_OK && l.problems > 0 ? PYTHIA__EXIT_FAILED : pythia__exit_of(status);
}

const struct pythia__command pythia__cmd_probes = {
    .name = "probes",
    .operands = "[FILE...]",
    .summary = "List the USDT probes of programs and libraries",
    .description =
        "Lists the statically defined trace points (USDT) that programs and libraries for x86-64 "
        "were built with: for each place in its code the offset in the file, the instruction "
        "there, provider and name, and where its arguments are. Nothing is opened, and no "
        "privilege is needed but to read the files.\n\n"
        "The instruction decides what a probe costs while it is open: *nop5*, *nop*, *push* and "
        "*branch* are emulated by the kernel; *step* stands for all others, which are executed "
        "in a single step, and cost tens of times as much in a virtual machine. \"(semaphore)\": "
        "the program computes the arguments only while somebody looks.",
    .examples = "# What PostgreSQL offers\n"
                "pythia probes /usr/lib/postgresql/15/bin/postgres\n"
                "# What a running program and its libraries offer\n"
                "pythia probes --pid 4711\n",
    .exits = "0 done, 1 failed (also: some file could not be read, or is no program), 2 wrong "
             "usage.",
    .see_also = "pythia-run(1)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = -1,
    .run = run_probes,
};
