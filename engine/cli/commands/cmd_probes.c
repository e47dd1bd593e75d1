#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "pythia/elf_functions.h"
#include "pythia/function_arguments.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/process_files.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "pythia/strtab.h"
#include "pythia/usdt_notes.h"
#include "shared/command.h"

struct settings {
    const char *functions, *output;
    int64_t pid;
};

static const struct pythia_option options[] = {
    PYTHIA_INTEGER("pid", 'p', "PID", NULL, 1, INT32_MAX, offsetof(struct settings, pid),
                   "List the probes of this process: of its program and of its libraries"),
    PYTHIA_TEXT_OPTION("functions", 'f', "PATTERN", offsetof(struct settings, functions),
                       "List functions whose names match, such as 'ha_*', instead of probes"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", offsetof(struct settings, output),
                       "File to write to (default standard output)"),
    {0},
};

struct listing {
    const char *functions; /* a pattern of names; NULL: list probes */
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

static bool matches_function_pattern(const void *pattern, const char *name)
{
    return fnmatch(pattern, name, 0) == 0;
}

/* The functions of a program, and of the file with its debug symbols, if it is installed. */
static int list_functions(const struct listing *l, int file, struct pythia_usdt_notes *out,
                          struct pythia_error *why)
{
    char path[PYTHIA_DEBUG_PATH_BYTES];
    int status = pythia_elf_debug_path(file, path, why), debug = -1;
    if (status != PYTHIA_OK)
        return status;
    if (path[0])
        debug = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    status =
        pythia_elf_functions_read(file, debug, matches_function_pattern, l->functions, out, why);
    if (debug >= 0)
        close(debug);
    return status;
}

/* The arguments of functions, as the debug information has them: by number of a name, a list. */
struct signatures {
    struct pythia_strtab *names;
    struct pythia_buf *texts; /* owned */
    size_t capacity;
};

static int add_signature(void *to, const char *name,
                         const struct pythia_function_argument *arguments, size_t count)
{
    struct signatures *s = to;
    uint32_t number = pythia_strtab_intern(s->names, pythia_text_of(name));
    if (number == PYTHIA_STRTAB_NONE ||
        pythia_reach(&s->texts, &s->capacity, number, sizeof(*s->texts)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct pythia_buf *text = &s->texts[number];
    for (size_t i = 0; i < count && text->size == 0; i++)
        for (size_t k = 0; k < count; k++)
            pythia_buf_printf(text, "%s%d %s%s%s", k ? ", " : "", arguments[k].number + 1,
                              arguments[k].name, arguments[k].is_int ? " int" : "",
                              arguments[k].text ? " text" : "");
    return pythia_buf_status(text);
}

static void free_signatures(struct signatures *s)
{
    for (size_t i = 0; i < s->capacity; i++)
        pythia_buf_free(&s->texts[i]);
    pythia_free(s->texts);
    pythia_strtab_destroy(s->names);
}

static void add_listed_signature(struct pythia_buf *to, const struct signatures *s,
                                 const char *name)
{
    uint32_t number = pythia_strtab_find(s->names, pythia_text_of(name));
    if (number == PYTHIA_STRTAB_NONE || number >= s->capacity || s->texts[number].size == 0)
        return;
    to->size--; /* the end of the line */
    pythia_buf_puts(to, "  (");
    pythia_buf_text_add(to, pythia_buf_text(&s->texts[number]));
    pythia_buf_puts(to, ")\n");
}

/* Functions are listed where they begin: their other site is their return. */
static int list_sites(const struct listing *l, const char *path,
                      const struct pythia_usdt_notes *notes, struct pythia_buf *to, size_t *shown)
{
    struct signatures signatures = {0};
    struct pythia_error why = {0};
    int status = pythia_strtab_create(&signatures.names);
    *shown = 0;
    /* Without debug information functions are listed by their names alone. */
    if (status == PYTHIA_OK && l->functions)
        status = pythia_function_arguments_read(path, matches_function_pattern, l->functions,
                                                add_signature, &signatures, &why);
    status = status == PYTHIA_EIO ? PYTHIA_OK : status;
    for (size_t i = 0; status == PYTHIA_OK && i < notes->count; i++)
        if (notes->sites[i].instruction != PYTHIA_USDT_RETURN) {
            add_listed_site(to, &notes->sites[i]);
            add_listed_signature(to, &signatures, notes->sites[i].name);
            ++*shown;
        }
    free_signatures(&signatures);
    return status == PYTHIA_OK ? pythia_buf_status(to) : status;
}

/* Most libraries of a process have no probes and are left out; a file that was named is not. */
static void list_file(struct listing *l, const char *path, int file, bool named)
{
    struct pythia_usdt_notes notes;
    struct pythia_error why = {0};
    struct pythia_buf sites = {0};
    if ((l->functions ? list_functions(l, file, &notes, &why)
                      : pythia_usdt_notes_read(file, &notes, &why)) != PYTHIA_OK) {
        log_unlisted(l, path, why.sentence);
        return;
    }
    size_t shown = 0;
    if (list_sites(l, path, &notes, &sites, &shown) != PYTHIA_OK)
        log_unlisted(l, path, "out of memory");
    else if (named || shown > 0) {
        pythia_shown_add(&l->text, pythia_text_of(path), SIZE_MAX);
        pythia_buf_printf(&l->text, ": %zu %s%s\n", shown, l->functions ? "function" : "probe site",
                          shown == 1 ? "" : "s");
        pythia_buf_text_add(&l->text, pythia_buf_text(&sites));
    }
    pythia_buf_free(&sites);
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
    struct listing l = {.functions = s->functions};
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
    .summary = "List the USDT probes, or functions, of programs and libraries",
    .description =
        "Lists the statically defined trace points (USDT) that programs and libraries for x86-64 "
        "were built with: for each place in its code the offset in the file, the instruction "
        "there, provider and name, and where its arguments are. Nothing is opened, and no "
        "privilege is needed but to read the files.\n\n"
        "The instruction decides what a probe costs while it is open: *nop5*, *nop*, *push* and "
        "*branch* are emulated by the kernel; *step* stands for all others, which are executed "
        "in a single step, and cost tens of times as much in a virtual machine. \"(semaphore)\": "
        "the program computes the arguments only while somebody looks.\n\n"
        "*--functions* lists functions instead, which can be probed where they begin and where "
        "they "
        "return: by the symbols of the file, and by those of its debug package, if it is installed "
        "(/usr/lib/debug/.build-id). A program that was stripped has the functions that it "
        "exports. Names are those of the linker, as rules for *pythiad --probes* take them: "
        "those of C++ are mangled. Behind a function stand the arguments that its debug "
        "information (DWARF) has, with the numbers that rules take: (1 order_id int, 2 title "
        "text).",
    .examples = "# What PostgreSQL offers\n"
                "pythia probes /usr/lib/postgresql/15/bin/postgres\n"
                "# What a running program and its libraries offer\n"
                "pythia probes --pid 4711\n"
                "# Functions of MariaDB that commit\n"
                "pythia probes --functions '*commit*' /usr/sbin/mariadbd\n",
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
