/* `pythia run`: a program, unchanged, with trace points that a file declares. What is done in the
 * program is the shim's (tracepoints/preload); here it is prepared, started, waited for as a shell
 * would, and what has become of each declaration is told. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <pythia/switchboard.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "declarations.h"
#include "environment.h"
#include "probes.h"
#include "processes.h"
#include "program.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "recording.h"
#include "shared/command.h"
#include "shared/output.h"

#define RECORDS "pythia.records"
#define SHIM    "libpythia-preload.so"

#define RING_BYTES "16777216"

struct settings {
    struct pythia_option_texts points;
    const char *records, *service, *probes;
    bool usdt, live, leave_open, quiet;
    struct pythia__recording_settings recording;
};

static const struct pythia_option options[] = {
    {"points", 'p', PYTHIA_OPTION_TEXTS, "FILE", NULL, NULL, 0, 0,
     offsetof(struct settings, points),
     "Declarations of functions to trace: JSON, or CSV if the name ends in .csv; may be given "
     "several times"},
    PYTHIA_FLAG("usdt", 0, offsetof(struct settings, usdt),
                "Trace the static probes (USDT) of the program and its libraries (pythia-usdt(7))"),
    PYTHIA_TEXT_OPTION("probes", 0, "FILE", offsetof(struct settings, probes),
                       "Rules by which static probes become spans (pythia-control-probe(7)); "
                       "implies --usdt"),
    PYTHIA_TEXT_OPTION("records", 'o', "FILE", offsetof(struct settings, records),
                       "File for the trace records, which is replaced; %p stands for the process "
                       "id (default pythia.records)"),
    PYTHIA_FLAG("live", 0, offsetof(struct settings, live),
                "Write no file; leave the trace records to pythiad"),
    PYTHIA_TEXT_OPTION(
        "service", 0, "NAME", offsetof(struct settings, service),
        "Name of the program in the ids of its trace points (default: its file name)"),
    PYTHIA_FLAG("leave-open", 0, offsetof(struct settings, leave_open),
                "Leave trace points open at the end, for other runs that have not ended yet"),
    PYTHIA__RECORDING_OPTIONS(offsetof(struct settings, recording)),
    PYTHIA_FLAG("quiet", 'q', offsetof(struct settings, quiet), "Log only warnings and errors"),
    {0},
};

struct running {
    const struct settings *s;
    struct pythia__declarations points;
    struct pythia__probes probes;
    struct pythia__environment environment; /* of the program */
    char program[4096], folder[4096], plan[4200], report[4300];
    char shim[PATH_MAX];
    char records[PATH_MAX + 16]; /* as the library will expand it */
    struct report *found;        /* for each declaration */
};

/* The shim's reports about a declaration, from all processes. */
struct report {
    uint64_t places, symbols, unrecorded;
};

/* ---- before ---- */

/* A file beside this program, in one of `places` relative to its folder. */
static bool find_beside(const char *const *places, size_t count, const char *file, char *out,
                        size_t size)
{
    char self[PATH_MAX];
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (bytes <= 0)
        return false;
    self[bytes] = '\0';
    const char *folder = dirname(self);
    for (size_t i = 0; i < count; i++)
        if ((size_t)snprintf(out, size, "%s/%s/%s", folder, places[i], file) < size &&
            access(out, R_OK) == 0)
            return true;
    return false;
}

/* The shim: where it was built, or installed. */
static bool find_shim(char *out, size_t size)
{
    static const char *const places[] = {"../tracepoints", PYTHIA_SHIM_FOLDER, "."};
    const char *wanted = getenv("PYTHIA_PRELOAD");
    if (wanted && *wanted)
        return (size_t)snprintf(out, size, "%s", wanted) < size && access(out, R_OK) == 0;
    return find_beside(places, sizeof(places) / sizeof(places[0]), SHIM, out, size);
}

/* Let each Python that is started find the hooks of functions of Python. */
static void set_python_path(struct pythia__environment *e)
{
    static const char *const places[] = {"../tracepoints", PYTHIA_FUNCTIONS_FOLDER};
    char folder[PATH_MAX], path[2 * PATH_MAX];
    const char *earlier = getenv("PYTHONPATH");
    if (!find_beside(places, sizeof(places) / sizeof(places[0]), "python", folder,
                     sizeof(folder)) ||
        strchr(folder, ':'))
        return;
    int size = snprintf(path, sizeof(path), "%s%s%s", folder, earlier && *earlier ? ":" : "",
                        earlier ? earlier : "");
    if ((size_t)size < sizeof(path))
        pythia__environment_set(e, "PYTHONPATH", path);
}

static bool traces_probes(const struct settings *s)
{
    return s->usdt || s->probes;
}

/* The service of the program that is started, of which `program` gets a copy. */
static const char *find_service(const struct running *r, char program[4096])
{
    const char *service = r->s->service ? r->s->service : getenv("PYTHIA_SERVICE");
    service = service && *service ? service : getenv("OTEL_SERVICE_NAME");
    snprintf(program, 4096, "%s", r->program);
    return service && *service ? service : basename(program);
}

static int read_points(struct running *r)
{
    struct pythia_error why = {0};
    struct utsname machine;
    char program[4096];
    for (size_t i = 0; i < r->s->points.count; i++) {
        int status = pythia__declarations_read(&r->points, r->s->points.texts[i], &why);
        if (status == PYTHIA_ENOMEM)
            return pythia__fail(status);
        if (status != PYTHIA_OK) {
            pythia_log_error(PYTHIA_LOG_ERROR, &why);
            return PYTHIA__EXIT_USAGE;
        }
    }
    if (r->points.faults)
        return PYTHIA__EXIT_USAGE;
    pythia__declarations_place(&r->points, uname(&machine) == 0 ? machine.nodename : "",
                               find_service(r, program));
    pythia__declarations_warn(&r->points);
    if (r->points.count > 0 || traces_probes(r->s))
        return PYTHIA__EXIT_DONE;
    pythia_log(PYTHIA_LOG_ERROR, "There is nothing to trace: --points has no declaration");
    return PYTHIA__EXIT_USAGE;
}

static int look_at_program(struct running *r, const char *command)
{
    const char *why = pythia__program_refused(r->program);
    if (why) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", command, why);
        return PYTHIA__EXIT_USAGE;
    }
    if (traces_probes(r->s)) {
        int code = pythia__probes_read(&r->probes, r->s->probes, r->program, !r->s->live);
        if (code != PYTHIA__EXIT_DONE || r->points.count == 0)
            return code;
    }
    if (pythia__program_look(r->program, &r->points) > 0)
        return PYTHIA__EXIT_DONE;
    pythia_log(
        PYTHIA_LOG_ERROR,
        "%s was not started: none of the functions exists. For a function of a library that is "
        "loaded later, or of a program that this one starts, give its \"module\"",
        command);
    return PYTHIA__EXIT_USAGE;
}

static int write_file(const char *path, struct pythia_text text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    int number = pythia__write_bytes(file, text);
    return close(file) == 0 && number == 0 ? 0 : -1;
}

static int write_probes(const struct running *r)
{
    struct pythia_buf plan = {0};
    char path[sizeof(r->plan) + 8];
    if (!traces_probes(r->s))
        return PYTHIA_OK;
    snprintf(path, sizeof(path), "%s.probes", r->plan);
    int status = pythia__probes_write(&r->probes, &plan);
    if (status == PYTHIA_OK && write_file(path, pythia_buf_text(&plan)) != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: the plan of probes cannot be written there: %s", path,
                   strerror(errno));
        status = PYTHIA_EIO;
    }
    pythia_buf_free(&plan);
    return status;
}

/* Is it a folder in which only this user can make, rename and remove files? */
static bool is_own_folder(const char *path)
{
    struct stat about;
    return path && access(path, W_OK) == 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode) &&
           about.st_uid == geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH));
}

/* A folder of its own, with the plan and what the shim tells. */
static int write_plan(struct running *r)
{
    const char *place = getenv("XDG_RUNTIME_DIR");
    struct pythia_buf plan = {0};
    if (!is_own_folder(place))
        place = getenv("TMPDIR");
    snprintf(r->folder, sizeof(r->folder), "%.3900s/pythia-run-XXXXXX",
             place && *place ? place : "/tmp");
    bool made = mkdtemp(r->folder) != NULL;
    snprintf(r->plan, sizeof(r->plan), "%s/plan", r->folder);
    snprintf(r->report, sizeof(r->report), "%s/plan.report", r->folder);
    pythia__declarations_plan(&r->points, &plan);
    int status = pythia_buf_status(&plan);
    if (status != PYTHIA_OK)
        goto out;
    if ((!made || write_file(r->plan, pythia_buf_text(&plan)) != 0 ||
         write_file(r->report, PYTHIA_TEXT("")) != 0)) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: the plan cannot be written there: %s", r->folder,
                   strerror(errno));
        if ((status = PYTHIA_EIO) != PYTHIA_OK)
            goto out;
    }
    status = write_probes(r);
out:
    if (!made)
        r->folder[0] = '\0';
    pythia_buf_free(&plan);
    return status;
}

/* The file of records by its whole path, since the program may change its folder; with % doubled
 * where it is not the user's. */
static int choose_records(struct running *r)
{
    char here[PATH_MAX];
    const char *wanted = r->s->records ? r->s->records : RECORDS;
    struct stat about;
    size_t used = 0;
    if (r->s->live)
        return PYTHIA_OK;
    if (*wanted != '/' && !getcwd(here, sizeof(here)))
        return PYTHIA_EIO;
    for (const char *c = *wanted == '/' ? "" : here; *c && used < PATH_MAX - 2; c++) {
        if (*c == '%')
            r->records[used++] = '%';
        r->records[used++] = *c;
    }
    if (*wanted != '/')
        r->records[used++] = '/';
    int size = snprintf(r->records + used, PATH_MAX - used, "%s", wanted);
    if ((size_t)size >= PATH_MAX - used || used + (size_t)size >= 900) {
        pythia_log(PYTHIA_LOG_ERROR, "--records: the path of the file is too long");
        return PYTHIA_EUSAGE;
    }
    if (!strchr(wanted, '%') && stat(wanted, &about) == 0 && S_ISREG(about.st_mode) &&
        unlink(wanted) != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be replaced: %s", wanted, strerror(errno));
        return PYTHIA_EIO;
    }
    return PYTHIA_OK;
}

/* ---- points of the program's own ---- */

/* Open the points that are declared without a function, because the program has them. The shim
 * opens the rest once it has found them. */
static int open_own(const struct running *r, struct pythia_buf *opened)
{
    struct pythia_switchboard *board = NULL;
    char why[256] = "", program[4096];
    const char *service = find_service(r, program);
    int status = PYTHIA_OK;
    for (size_t i = 0; i < r->points.count; i++) {
        const struct pythia__declaration *p = &r->points.all[i];
        char id[4608];
        if (*p->function || !p->enabled)
            continue;
        if (!board && pythia_switchboard_open(NULL, 1, &board, why) != 0) {
            pythia_log(PYTHIA_LOG_ERROR, "%s", why);
            status = PYTHIA_EIO;
            break;
        }
        uint64_t bits = 0;
        for (const char *type = p->types; *type;) {
            size_t bytes = strcspn(type, "\x1f");
            bits |= UINT64_C(1) << pythia_switchboard_type(board, type, bytes);
            type += bytes + (type[bytes] != '\0');
        }
        bits = bits ? bits : PYTHIA_SWITCHES_ALL;
        int size = snprintf(id, sizeof(id), "%.4000s:%s", service, p->name);
        pythia_switchboard_throw(board, id, (size_t)size, bits, bits);
        pythia_buf_printf(opened, "opened\t%zu\t%016" PRIx64 "\t%s\n", i, bits, id);
    }
    pythia_switchboard_close(board);
    if (status != PYTHIA_OK)
        return status;
    return pythia_buf_status(opened);
}

static int set_environment(struct running *r)
{
    struct pythia__environment *e = &r->environment;
    const char *earlier = getenv("LD_PRELOAD");
    char preload[2 * PATH_MAX];
    snprintf(preload, sizeof(preload), "%s%s%s", r->shim, earlier && *earlier ? ":" : "",
             earlier ? earlier : "");
    pythia__environment_set(e, "LD_PRELOAD", preload);
    pythia__environment_set(e, "PYTHIA_HOOKS", r->plan);
    set_python_path(e);
    const char *service = r->s->service ? r->s->service : pythia__probes_service(&r->probes);
    if (service)
        pythia__environment_set(e, "PYTHIA_SERVICE", service);
    pythia__environment_set(e, "PYTHIA_RECORDS", r->s->live ? NULL : r->records);
    /* Functions may be called more often than trace points are that somebody has put there. */
    if (!getenv("PYTHIA_RING_BYTES"))
        pythia__environment_set(e, "PYTHIA_RING_BYTES", RING_BYTES);
    return e->status;
}

/* ---- after ---- */

/* Close what was opened for this run. */
static void close_again(struct pythia_switchboard **board, const char *rest)
{
    char *end;
    const char *tab = strchr(rest, '\t');
    uint64_t bits = tab ? strtoull(tab + 1, &end, 16) : 0;
    if (!tab || *end != '\t')
        return;
    const char *id = end + 1;
    if (!*board && pythia_switchboard_open(NULL, 0, board, NULL) != 0)
        return;
    pythia_switchboard_throw(*board, id, strlen(id), bits, 0);
}

/* "<declaration> TAB <number> TAB <number>", the last of which may be missing. */
static struct report *numbers_of(const struct running *r, const char *text, uint64_t *a,
                                 uint64_t *b)
{
    char *end;
    uint64_t index = strtoull(text, &end, 10);
    *a = strtoull(end, &end, 10);
    *b = strtoull(end, NULL, 10);
    return index < r->points.count ? &r->found[index] : NULL;
}

/* Several processes report on the same declaration: the one that found most places counts. */
static void take_report(struct running *r, char *line, struct pythia_switchboard **board,
                        uint64_t *processes)
{
    uint64_t a, b;
    struct report *found;
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "began\t", 6) == 0) {
        ++*processes;
    } else if (pythia__probes_take(&r->probes, line)) {
        return;
    } else if (strncmp(line, "problem\t", 8) == 0 || strncmp(line, "refused\t", 8) == 0) {
        pythia_log(PYTHIA_LOG_WARNING, "%s%s", *line == 'r' ? "Nothing was hooked: " : "",
                   line + 8);
    } else if (strncmp(line, "opened\t", 7) == 0) {
        if (!r->s->leave_open)
            close_again(board, line + 7);
    } else if (strncmp(line, "hooked\t", 7) == 0) {
        found = numbers_of(r, line + 7, &a, &b);
        if (found && a + b > found->places + found->symbols) {
            found->places = a;
            found->symbols = b;
        }
    } else if (strncmp(line, "unrecorded\t", 11) == 0) {
        found = numbers_of(r, line + 11, &a, &b);
        if (found)
            found->unrecorded += a;
    }
}

/* `own`: what this process has opened itself. */
static uint64_t read_report(struct running *r, char *own)
{
    FILE *file = pythia__report_open(r->report);
    struct pythia_switchboard *board = NULL;
    char *line = NULL;
    size_t capacity = 0;
    uint64_t processes = 0;
    while (file && getline(&line, &capacity, file) > 0)
        take_report(r, line, &board, &processes);
    if (file)
        fclose(file);
    free(line);
    for (char *rest = NULL, *one = own ? strtok_r(own, "\n", &rest) : NULL; one;
         one = strtok_r(NULL, "\n", &rest))
        take_report(r, one, &board, &processes);
    pythia_switchboard_close(board);
    return processes;
}

/* Report the result of each declaration. */
static void tell_points(const struct running *r, uint64_t processes)
{
    uint64_t hooked = 0, functions = 0;
    if (processes == 0)
        pythia_log(PYTHIA_LOG_WARNING,
                   "Nothing was hooked: the shim was not loaded into the program (does it, or what "
                   "starts it, clear its environment, or is it linked statically?)");
    for (size_t i = 0; i < r->points.count; i++) {
        const struct pythia__declaration *p = &r->points.all[i];
        const struct report *found = &r->found[i];
        functions += *p->function != '\0';
        hooked += found->places + found->symbols > 0;
        if (found->unrecorded)
            pythia_log(PYTHIA_LOG_WARNING,
                       "%s:%llu: %" PRIu64
                       " calls of %s were not recorded: too many were in progress",
                       p->source, (unsigned long long)p->line, found->unrecorded, p->function);
        if (*p->function && p->known && processes > 0 && found->places + found->symbols == 0)
            pythia_log(PYTHIA_LOG_WARNING,
                       "%s:%llu: no call of %s%s%s was found that can be hooked: nobody calls it, "
                       "or it is static, inlined, or called within its own object (pythia-run(1))",
                       p->source, (unsigned long long)p->line, p->class_name,
                       *p->class_name ? "::" : "", p->function);
    }
    if (!r->s->quiet && r->points.count > 0)
        pythia_log(PYTHIA_LOG_INFO,
                   "Hooked %" PRIu64 " of %" PRIu64 " functions: processes=%" PRIu64 "%s%s", hooked,
                   functions, processes, r->s->live ? "" : ", records=",
                   r->s->live      ? ""
                   : r->s->records ? r->s->records
                                   : RECORDS);
}

/* The folder, and what this run has put there. */
static void remove_folder(const struct running *r)
{
    DIR *folder = r->folder[0] ? opendir(r->folder) : NULL;
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, "plan", 4) == 0 &&
            unlinkat(dirfd(folder), entry->d_name, 0) != 0)
            unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR); /* the program has made it */
    if (folder)
        closedir(folder);
    if (r->folder[0])
        rmdir(r->folder);
}

/* ---- all of it ---- */

/* Everything up to the start of the program: DONE, or the status to end with. */
static int prepare_run(struct running *r, const char *command, struct pythia_buf *opened)
{
    if (!find_shim(r->shim, sizeof(r->shim)) || strpbrk(r->shim, " :")) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "There is no " SHIM " beside this program, or its path has a blank or a colon "
                   "(PYTHIA_PRELOAD names another; only x86-64 has one)");
        return PYTHIA__EXIT_FAILED;
    }
    int code = read_points(r);
    if (code == PYTHIA__EXIT_DONE)
        code = look_at_program(r, command);
    if (code != PYTHIA__EXIT_DONE)
        return code;
    r->found = pythia_calloc(r->points.count + 1, sizeof(*r->found));
    int status = r->found ? choose_records(r) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK || (status = write_plan(r)) != PYTHIA_OK ||
        (status = set_environment(r)) != PYTHIA_OK || (status = open_own(r, opened)) != PYTHIA_OK)
        return status == PYTHIA_ENOMEM ? pythia__fail(status) : PYTHIA__EXIT_FAILED;
    return PYTHIA__EXIT_DONE;
}

/* Run a program whose functions are hooked. Returns an exit status if it was not started, with
 * *started unset. */
static int run_hooked(struct running *r, const struct pythia__benchmark *b,
                      struct pythia__recording *recording, struct pythia__child_result *result,
                      bool *started)
{
    struct pythia_buf opened = {0};
    int code = prepare_run(r, b->arguments[0], &opened);
    *started = code == PYTHIA__EXIT_DONE;
    if (*started) {
        struct pythia__child child = {
            .program = r->program, .arguments = b->arguments, .environment = r->environment.words};
        bool known = !r->s->live && !strchr(r->s->records ? r->s->records : RECORDS, '%');
        const char *records = r->s->records ? r->s->records : RECORDS;
        if (!recording) {
            pythia__child_run(&child, result);
            if (known && pythia__processes_drain(r->report, records) != PYTHIA_OK)
                code = PYTHIA__EXIT_FAILED;
        } else if (pythia__recording_run(recording, b, &child, known ? records : NULL, r->report,
                                         r->s->quiet, result) != PYTHIA_OK) {
            code = PYTHIA__EXIT_FAILED;
        }
        tell_points(r, read_report(r, opened.bytes));
        if (traces_probes(r->s))
            pythia__probes_tell(&r->probes, r->s->quiet);
    }
    remove_folder(r);
    pythia_free(r->found);
    pythia_buf_free(&opened);
    pythia__declarations_free(&r->points);
    pythia__probes_free(&r->probes);
    pythia__environment_free(&r->environment);
    return code;
}

/* Run a benchmark once. Returns an exit status as run_hooked does; that of the program is in
 * *result. */
static int run_once(const struct settings *s, const struct pythia__benchmark *b,
                    struct pythia__recording *recording, struct pythia__child_result *result,
                    bool *started)
{
    struct running r = {.s = s};
    *started = false;
    int code = pythia__program_find(b->arguments[0], r.program);
    if (code != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "%s: %s", b->arguments[0],
                   code == 127 ? "there is no such program" : "it cannot be executed");
        return code;
    }
    if (s->points.count > 0 || traces_probes(s))
        return run_hooked(&r, b, recording, result, started);
    struct pythia__child child = {.program = r.program, .arguments = b->arguments};
    *started = true;
    if (!recording)
        pythia__child_run(&child, result);
    else if (pythia__recording_run(recording, b, &child, NULL, NULL, s->quiet, result) != PYTHIA_OK)
        return PYTHIA__EXIT_FAILED;
    return PYTHIA__EXIT_DONE;
}

/* All benchmarks once, then all again: what drifts on the machine meets all of them alike. Ends
 * early where one cannot be started or the user interrupts it. The exit status is the first that
 * was not 0. `signalled`: the status of wait(2) of the last one if a signal ended it, else 0. */
static int run_rounds(const struct settings *s, const struct pythia__benchmark *benchmarks,
                      size_t count, int64_t rounds, struct pythia__recording *recording,
                      int *signalled)
{
    int worst = PYTHIA__EXIT_DONE;
    *signalled = 0;
    for (int64_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            struct pythia__child_result result;
            bool started;
            int code = run_once(s, &benchmarks[i], recording, &result, &started);
            if (!started)
                return code;
            if (code == PYTHIA__EXIT_DONE)
                code = pythia__child_exit(result.status);
            worst = worst == PYTHIA__EXIT_DONE ? code : worst;
            bool last = round + 1 == rounds && i + 1 == count;
            if (code > 128 && (last || code == 128 + SIGINT || code == 128 + SIGQUIT)) {
                *signalled = WIFSIGNALED(result.status) ? result.status : 0;
                return code;
            }
        }
    return worst;
}

/* Only --points or --usdt, as before there were records: the traces are what is wanted. */
static bool wants_record(const struct settings *s)
{
    const struct pythia__recording_settings *r = &s->recording;
    return !r->no_record &&
           ((s->points.count == 0 && !traces_probes(s)) || r->db || r->tag || r->description ||
            r->suite || r->repeat > 0 || r->meta.count > 0 || r->profilers.count > 0);
}

static int run_benchmarks(const struct settings *s, const struct pythia__benchmark *benchmarks,
                          size_t count, int64_t rounds)
{
    struct pythia__recording *recording = NULL;
    if (wants_record(s)) {
        int status = pythia__recording_begin(&s->recording, &recording);
        if (status != PYTHIA_OK)
            return status == PYTHIA_EUSAGE ? PYTHIA__EXIT_USAGE : PYTHIA__EXIT_FAILED;
    }
    if (s->recording.repeat > 0)
        rounds = s->recording.repeat;
    int signalled;
    int code = run_rounds(s, benchmarks, count, rounds, recording, &signalled);
    pythia__recording_end(recording);
    return signalled ? pythia__child_end(signalled) : code;
}

static int run_program(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    if ((count > 0) == (s->recording.suite != NULL)) {
        pythia_log(PYTHIA_LOG_ERROR, "expected a command, or --suite FILE%s",
                   count > 0 ? ", and not both" : "");
        return PYTHIA__EXIT_USAGE;
    }
    if (!s->recording.suite) {
        struct pythia__benchmark command = {.arguments = operands}; /* ends with a NULL */
        return run_benchmarks(s, &command, 1, 1);
    }
    struct pythia__suite *suite = NULL;
    int status = pythia__suite_read(s->recording.suite, &suite);
    if (status != PYTHIA_OK)
        return status == PYTHIA_ENOMEM ? pythia__fail(status) : PYTHIA__EXIT_FAILED;
    size_t benchmarks;
    int64_t rounds;
    const struct pythia__benchmark *all = pythia__suite_benchmarks(suite, &benchmarks, &rounds);
    int code = run_benchmarks(s, all, benchmarks, rounds);
    pythia__suite_free(suite);
    return code;
}

const struct pythia__command pythia__cmd_run = {
    .name = "run",
    .operands = "-- COMMAND [ARGUMENT...]",
    .summary = "Run a program: record its resource usage, and trace functions that a file "
               "declares, or static probes",
    .description =
        "Runs an unchanged program and records the run: its wall-clock and CPU time, memory, page "
        "faults and I/O, its exit status and the first 64 KiB of its output, the machine, the "
        "commit of the source in the current folder, and the data given with --meta and "
        "--environment. The output of the program passes through unchanged. pythia-runs-list(1) "
        "and its neighbours show and compare runs; pythia-runs(7) describes the file. With "
        "--points alone nothing is recorded unless another option asks for it.\n\n"
        "With --points, the functions that a file names are traced: each call and return is "
        "recorded in a file that other commands read, and the record of the run has the time in "
        "each callpath.\n\n"
        "A declaration is an object of a JSON list. \"name\" names the trace point; its id is the "
        "name of the program, a colon, and that name. \"function\" is a symbol; \"\" stands for a "
        "trace point that the program already has by libpythia-tracepoints(3), and that is only "
        "to be opened. \"module\" is the program or library that defines the function: its name, "
        "with or without what follows .so, or a pattern of its path; without it, any. It is "
        "required for functions that do not exist when the program starts: a library that is "
        "loaded later, or a program that this one starts. \"class\" is a C++ class or namespace, "
        "ns::Class; all overloads of \"function\" in it are hooked.\n\n"
        "\"keys\" lists key-values of the span: arg0 to arg15 are integer and pointer arguments, "
        "farg0 to farg7 those that are float or double, each counted separately; ret is the "
        "return value; caller is the place of the call, which other commands show by file and line "
        "with --symbols. A type may follow after a colon: i8 to "
        "i64 (the default), u8 to u64, bool, f32, f64, str (a string, of which 64 bytes are kept) "
        "or strN (N bytes). A name and = may come first: \"bytes=arg2:u32\". A pointer that "
        "cannot be read does not harm the program. \"metrics\" lists what grows in a call, as "
        "key-values metric.rss and so on: rss, the memory of the process; read_bytes, write_bytes "
        "(storage), cpu_ns, page_faults, context_switches and, if the processor counts them, "
        "cycles, instructions, cache_misses, branch_misses of the thread. \"error\" says when a "
        "call has "
        "failed: its result is negative, zero, null or nonzero; a call that ends by an exception "
        "or longjmp always has. \"types\" lists the request types that the point is open for; "
        "without it, all. \"enabled\": false leaves the point closed, \"HOST/SERVICE\" (patterns) "
        "if they differ. "
        "\"callback\" names a "
        "function "
        "of yours that can add key-values when a call begins and ends: CALLBACKS in "
        "libpythia-tracepoints(3). \"request\": true begins a "
        "request with the function, of a type named as the point, or by an argument: "
        "\"arg0:str\".\n\n"
        "CSV has four columns: module, class, function and name; # begins a comment.\n\n"
        "The \"module\" of a Python function is a Python module such as shop.db, or __main__ for "
        "the script, and its \"class\" a class of it. arg0 is then its first argument (of a "
        "method, the object), farg0 the same as a real number, and ret what it returns, each a "
        "number or a text; of a value with more than 32 items its type and size. A call that an "
        "exception leaves has failed, with the key-values exception.type, exception.message and "
        "exception.stacktrace, whose innermost call comes first. The span of a coroutine lasts "
        "until it has returned. \"error\" and request types by argument do not apply to "
        "Python.\n\n"
        "While the program runs, its points can be opened and closed like any others; those that "
        "this command opened are closed at the end. Programs that it starts are traced too.\n\n"
        "Not hooked: functions that are static or inlined, and calls within one object that do "
        "not go through its procedure linkage table, unless the program is built with "
        "-finstrument-functions, and then with no keys but metrics and caller; virtual calls and "
        "calls through pointers in data; calls of the C library by itself; calls by constructors "
        "of libraries that start before the shim; functions that return twice or on another "
        "stack, such as setjmp. Programs that are linked statically, have more rights than you, or "
        "use a shadow stack cannot be traced. x86-64 only.",
    .examples = "# Record ten runs of a command, and list them\n"
                "pythia run --db runs.db --tag before --repeat 10 -- sort README.md > /dev/null\n"
                "pythia runs list --db runs.db\n"
                "# Trace the calls of read: how much does each return?\n"
                "printf '[{\"name\": \"read\", \"function\": \"read\", \"keys\": "
                "[\"fd=arg0:i32\", \"ret\"]}]' > points.json\n"
                "pythia run --points points.json --records wc.records -- wc README.md\n"
                "pythia tree --keys --slowest 3 wc.records\n"
                "# Trace a function of a Python program\n"
                "printf '[{\"name\": \"dumps\", \"module\": \"json\", \"function\": \"dumps\"}]' "
                "> points.json\n"
                "pythia run --points points.json --service app --records app.records -- python3 "
                "-c 'import json; json.dumps([])'\n",
    .exits = "the status of the program, or 128 plus the number of the signal that ended it; of "
             "several runs, the first that is not 0; 1 if a run could not be recorded. If nothing "
             "was started: 1 failed, 2 wrong usage (also: a declaration is wrong, or none of the "
             "functions exists), 126 the program cannot be executed, 127 there is no such "
             "program.",
    .see_also = "pythia-tree(1), pythia-replay(1), libpythia-tracepoints(3), pythia-records(5), "
                "pythia-usdt(7), pythiad(8)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = -1,
    .run = run_program,
};
