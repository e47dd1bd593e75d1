/* `pythia runs export` and `pythia runs import`: runs as files of JSON. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/run_json.h"
#include "pythia/space_file.h"
#include "pythia/status.h"
#include "runs_filter.h"
#include "shared/command.h"

/* ---- export ---- */

struct export_settings {
    struct pythia__runs_settings runs;
};

static const struct pythia_option export_options[] = {
    PYTHIA__RUNS_OPTIONS(offsetof(struct export_settings, runs)),
    PYTHIA__RUNS_TAG(offsetof(struct export_settings, runs)),
    {0},
};

struct exporting {
    const char *folder;
    size_t count;
};

static int make_export_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return PYTHIA_OK;
    pythia_log(PYTHIA_LOG_ERROR, "%s: cannot be created: %s", path, strerror(errno));
    return PYTHIA_EIO;
}

static int write_named(const char *folder, const char *name, struct pythia_text text)
{
    struct pythia_buf path = {0};
    pythia_buf_printf(&path, "%s/%s", folder, name);
    int status = pythia_buf_status(&path);
    if (status != PYTHIA_OK)
        goto out;
    status = pythia__write_output(path.bytes, text);
out:
    pythia_buf_free(&path);
    return status;
}

/* The folder of the command, with the command in it, and the record. */
static int write_record(const struct exporting *x, const struct pythia_run *run, char *name,
                        struct pythia_text record)
{
    struct pythia_buf path = {0}, command = {0};
    char *slash = strchr(name, '/');
    *slash = '\0';
    pythia_buf_printf(&path, "%s/%s", x->folder, name);
    pythia_run_command_show(run->command, &command);
    int status = pythia_buf_status(&path);
    if (status != PYTHIA_OK || (status = pythia_buf_status(&command)) != PYTHIA_OK ||
        (status = make_export_folder(path.bytes)) != PYTHIA_OK)
        goto out;
    status = write_named(path.bytes, "command.txt", pythia_buf_text(&command));
    if (status != PYTHIA_OK)
        goto out;
    status = write_named(path.bytes, slash + 1, record);
out:
    pythia_buf_free(&path);
    pythia_buf_free(&command);
    return status;
}

static int export_run(void *context, const struct pythia_run *run)
{
    struct exporting *x = context;
    struct pythia_buf name = {0}, record = {0};
    int status = pythia_run_json_name(run, &name);
    if (status != PYTHIA_OK || (status = pythia_run_json_record(run, &record)) != PYTHIA_OK ||
        (status = write_record(x, run, name.bytes, pythia_buf_text(&record))) != PYTHIA_OK)
        goto out;
    x->count++;
out:
    pythia_buf_free(&name);
    pythia_buf_free(&record);
    return status;
}

static int run_runs_export(const void *settings, char *const *operands, int count)
{
    const struct export_settings *s = settings;
    struct pythia__runs_filter f;
    struct exporting x = {.folder = operands[0]};
    (void)count;
    int code = pythia__runs_begin(&f, &s->runs);
    if (code == PYTHIA__EXIT_DONE) {
        int status = make_export_folder(x.folder);
        if (status != PYTHIA_OK || pythia__runs_each(&f, ~0u, export_run, &x) != PYTHIA_OK)
            code = PYTHIA__EXIT_FAILED;
        else
            code = x.count == 0 ? PYTHIA__EXIT_TOO_FEW : PYTHIA__EXIT_DONE;
        pythia_log(code == PYTHIA__EXIT_DONE ? PYTHIA_LOG_INFO : PYTHIA_LOG_WARNING,
                   "Exported %zu runs", x.count);
    }
    pythia__runs_end(&f);
    return code;
}

/* ---- import ---- */

struct import_settings {
    const char *db, *tag;
};

static const struct pythia_option import_options[] = {
    PYTHIA_TEXT_OPTION("db", 0, "FILE", offsetof(struct import_settings, db),
                       "File of runs to add to (default $PYTHIA_RUNS, else "
                       "~/.local/state/pythia/runs.db)"),
    PYTHIA_TEXT_OPTION("tag", 't', "TAG", offsetof(struct import_settings, tag),
                       "Tag for runs that have none"),
    {0},
};

struct importing {
    const struct import_settings *s;
    struct pythia_run_store *store; /* NULL: nothing has been added yet */
    bool unusable;                  /* the file of runs cannot be opened, as logged */
    size_t count, refused;
};

static void refuse_run_file(struct importing *m, const char *path, struct pythia_error *why)
{
    pythia_error_place(why, path, 0, 0);
    if (!why->source[0])
        snprintf(why->source, sizeof(why->source), "%.250s", path);
    pythia_log_error(PYTHIA_LOG_ERROR, why);
    m->refused++;
}

/* The file of runs is made only for a run to put into it: a path that was mistyped must not leave
 * an empty file behind. */
static bool open_import_store(struct importing *m)
{
    char path[4096];
    struct pythia_error why = {0};
    int status = PYTHIA_OK;
    if (m->store || m->unusable)
        return m->store;
    if (!m->s->db)
        status = pythia_run_store_default(true, path, sizeof(path), &why);
    if (status == PYTHIA_OK)
        status = pythia_run_store_open(m->s->db ? m->s->db : path, true, &m->store, &why);
    if (status != PYTHIA_OK)
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
    m->unusable = status != PYTHIA_OK;
    return status == PYTHIA_OK;
}

static void import_file(struct importing *m, const char *path)
{
    struct pythia_buf text = {0};
    struct pythia_error why = {0};
    struct pythia_run_parsed *parsed = NULL;
    int64_t id;
    if (m->unusable)
        return;
    if (pythia_file_read(path, &text, &why) != PYTHIA_OK ||
        pythia_run_json_parse(pythia_buf_text(&text), &parsed, &why) != PYTHIA_OK) {
        refuse_run_file(m, path, &why);
        goto out;
    }
    if (!open_import_store(m))
        goto out;
    struct pythia_run run = *pythia_run_parsed_run(parsed);
    run.tag = run.tag ? run.tag : m->s->tag;
    if (pythia_run_store_add(m->store, &run, &id, &why) == PYTHIA_OK)
        m->count++;
    else
        refuse_run_file(m, path, &why);
out:
    pythia_run_parsed_destroy(parsed);
    pythia_buf_free(&text);
}

static int is_importable(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A folder of the layout of TileDB-SOMA's profiler has folders, and those have the records; links
 * are followed only where they are named. */
static void import_path(struct importing *m, const char *path, int depth)
{
    struct stat about;
    struct dirent **entries = NULL;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        import_file(m, path);
        return;
    }
    int count = scandir(path, &entries, is_importable, alphasort);
    for (int i = 0; i < count; i++) {
        struct pythia_buf inner = {0};
        size_t size = strlen(entries[i]->d_name);
        bool record = size > 5 && strcmp(entries[i]->d_name + size - 5, ".json") == 0;
        pythia_buf_printf(&inner, "%s/%s", path, entries[i]->d_name);
        if (pythia_buf_status(&inner) == PYTHIA_OK && lstat(inner.bytes, &about) == 0 &&
            ((S_ISDIR(about.st_mode) && depth > 0) || (S_ISREG(about.st_mode) && record)))
            import_path(m, inner.bytes, depth - 1);
        pythia_buf_free(&inner);
        free(entries[i]);
    }
    free(entries);
}

static int run_import(const void *settings, char *const *operands, int count)
{
    struct importing m = {.s = settings};
    for (int i = 0; i < count; i++)
        import_path(&m, operands[i], 4);
    pythia_log(m.refused ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO, "Imported %zu runs, refused %zu",
               m.count, m.refused);
    pythia_run_store_close(m.store);
    return m.refused || m.unusable ? PYTHIA__EXIT_FAILED
           : m.count == 0          ? PYTHIA__EXIT_TOO_FEW
                                   : PYTHIA__EXIT_DONE;
}

const struct pythia__command pythia__cmd_runs_export = {
    .name = "runs export",
    .operands = "FOLDER",
    .summary = "Write recorded runs as files of JSON",
    .description =
        "Writes each run to a file, in the layout of the profiler of TileDB-SOMA: a folder for "
        "each command, named by its MD5, and a file for each run, named by its time. The members "
        "are that profiler's; an additional member, \"pythia\", has everything known about the "
        "run, so that pythia runs import can restore it completely.",
    .examples = "# Export runs, to keep them in a repository\n"
                "pythia runs export --db runs.db exported\n",
    .exits = "0 done, 1 failed, 2 wrong usage, 4 no run matches.",
    .see_also = "pythia-runs-import(1), pythia-runs-list(1), pythia-runs(7)",
    .options = export_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct export_settings),
    .operands_min = 1,
    .operands_max = 1,
    .run = run_runs_export,
};

const struct pythia__command pythia__cmd_runs_import = {
    .name = "runs import",
    .operands = "PATH...",
    .summary = "Add runs from files of JSON",
    .description =
        "Adds the runs that pythia runs export, or the profiler of TileDB-SOMA, has written: "
        "files, or folders with files whose names end in .json. Numbers may be texts, as that "
        "profiler writes them. A file that is not a record of a run is refused; the others are "
        "added. Importing a file twice adds the run twice.",
    .examples = "# Into another file\n"
                "pythia runs import --db copy.db exported\n",
    .exits = "0 done, 1 failed (also: a file was refused), 2 wrong usage, 4 no file.",
    .see_also = "pythia-runs-export(1), pythia-runs-list(1), pythia-runs(7)",
    .options = import_options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct import_settings),
    .operands_min = 1,
    .operands_max = -1,
    .run = run_import,
};
