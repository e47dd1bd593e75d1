/* Runs are read one at a time, each with what belongs to it, so that a walk over 100 000 of them
 * holds one in memory. What belongs to a run is copied into an arena that the next run reuses. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "pythia/arena.h"
#include "pythia/buf.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "store_parts.h"

struct walk {
    const struct pythia_run_store *s;
    struct pythia_error *e;
    unsigned with;
    sqlite3_stmt *runs, *meta, *output, *artifacts, *callpaths, *processes, *findings;
    struct pythia_arena arena;
    struct pythia_run_pair *pairs; /* owned, and so are the next four */
    struct pythia_run_callpath *paths;
    struct pythia_run_process *processes_read;
    struct pythia_run_finding *found;
    struct pythia_run_artifact *files;
    size_t pair_capacity, path_capacity, process_capacity, found_capacity, file_capacity;
};

/* ---- the query ---- */

static void add_filter_condition(struct pythia_buf *query, const char *condition, bool wanted)
{
    if (wanted)
        pythia_buf_printf(query, " AND %s", condition);
}

/* Conditions name their values by number, so that one that is left out moves no other. */
static void write_query(const struct pythia_run_filter *f, struct pythia_buf *query)
{
    pythia_buf_puts(query, "SELECT run.id, started_ns, command, command_key, tag, suite, benchmark,"
                           " description, exit_status, signal, git_commit, git_dirty, run.version,"
                           " host.name, host.uname, host.cpu_model, host.governor, host.cpus,"
                           " host.memory_bytes, host.swap_bytes");
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        if (pythia_run_metrics[m].column)
            pythia_buf_printf(query, ", %s", pythia_run_metrics[m].column);
    pythia_buf_puts(query, " FROM run JOIN host ON host.id = host_id WHERE 1");
    add_filter_condition(query, "run.id = ?1", f->id != 0);
    add_filter_condition(query, "(instr(command, ?2) > 0 OR command_key = ?2)", f->command);
    add_filter_condition(query, "tag = ?3", f->tag);
    add_filter_condition(query, "suite = ?4", f->suite);
    add_filter_condition(query, "benchmark = ?5", f->benchmark);
    add_filter_condition(query, "host.name = ?6", f->host);
    add_filter_condition(query, "started_ns >= ?7", f->since_ns != 0);
    add_filter_condition(query, "started_ns < ?8", f->until_ns != 0);
    for (size_t k = 0; k < f->meta_count; k++)
        pythia_buf_printf(query,
                          " AND EXISTS(SELECT 1 FROM meta WHERE run_id = run.id AND key = ?%zu"
                          " AND value = ?%zu)",
                          10 + 2 * k, 11 + 2 * k);
    /* The last N in the order of their start: the last N backwards, turned round. */
    if (f->last) {
        pythia_buf_puts(query, " ORDER BY started_ns DESC, run.id DESC LIMIT ?9");
    } else {
        pythia_buf_puts(query, " ORDER BY started_ns, run.id");
    }
}

static void bind_filter(sqlite3_stmt *q, const struct pythia_run_filter *f)
{
    sqlite3_bind_int64(q, 1, f->id);
    sqlite3_bind_text(q, 2, f->command, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 3, f->tag, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 4, f->suite, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 5, f->benchmark, -1, SQLITE_STATIC);
    sqlite3_bind_text(q, 6, f->host, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q, 7, (int64_t)f->since_ns);
    sqlite3_bind_int64(q, 8, (int64_t)f->until_ns);
    sqlite3_bind_int64(q, 9, (int64_t)f->last);
    for (size_t k = 0; k < f->meta_count; k++) {
        sqlite3_bind_text(q, (int)(10 + 2 * k), f->meta[k].key, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, (int)(11 + 2 * k), f->meta[k].value, -1, SQLITE_STATIC);
    }
}

/* ---- one run ---- */

/* A column of text, which lives until the statement is stepped again; NULL stays NULL. */
static const char *text_column(sqlite3_stmt *q, int column)
{
    return (const char *)sqlite3_column_text(q, column);
}

static int64_t known_column(sqlite3_stmt *q, int column)
{
    return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, column);
}

/* As above, as a copy in the arena, for statements that go on to the next row. NULL also without
 * memory: the caller tests that by *failed. */
static const char *copy_column(struct walk *w, sqlite3_stmt *q, int column, bool *failed)
{
    const void *bytes = sqlite3_column_blob(q, column);
    if (sqlite3_column_type(q, column) == SQLITE_NULL)
        return NULL;
    size_t size = (size_t)sqlite3_column_bytes(q, column);
    char *copy = pythia_arena_alloc(&w->arena, size + 1);
    if (!copy) {
        *failed = true;
        return NULL;
    }
    memcpy(copy, bytes ? bytes : "", size);
    copy[size] = '\0';
    return copy;
}

/* Start a statement of what belongs to run `id`. */
static void begin_part(sqlite3_stmt *q, int64_t id)
{
    sqlite3_reset(q);
    sqlite3_bind_int64(q, 1, id);
}

/* 1: there is a row; 0: there is none; negative: a status. */
static int next_part(struct walk *w, sqlite3_stmt *q)
{
    int result = sqlite3_step(q);
    if (result == SQLITE_ROW)
        return 1;
    return result == SQLITE_DONE ? 0 : pythia__run_store_fail(w->s, w->e);
}

static int read_meta(struct walk *w, struct pythia_run *run)
{
    int more;
    bool failed = false;
    begin_part(w->meta, run->id);
    while ((more = next_part(w, w->meta)) > 0) {
        if (pythia_grow(&w->pairs, &w->pair_capacity, run->meta_count, sizeof(*w->pairs)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        w->pairs[run->meta_count++] = (struct pythia_run_pair){copy_column(w, w->meta, 0, &failed),
                                                               copy_column(w, w->meta, 1, &failed)};
    }
    run->meta = w->pairs;
    return failed ? PYTHIA_ENOMEM : more;
}

static int read_callpaths(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->callpaths;
    int more;
    bool failed = false;
    begin_part(q, run->id);
    while ((more = next_part(w, q)) > 0) {
        if (pythia_grow(&w->paths, &w->path_capacity, run->callpath_count, sizeof(*w->paths)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        w->paths[run->callpath_count++] = (struct pythia_run_callpath){
            .path = copy_column(w, q, 0, &failed),
            .calls = sqlite3_column_int64(q, 1),
            .sum_ns = sqlite3_column_int64(q, 2),
            .sum_squares = sqlite3_column_double(q, 3),
            .min_ns = sqlite3_column_int64(q, 4),
            .max_ns = sqlite3_column_int64(q, 5),
            .p50_ns = sqlite3_column_int64(q, 6),
            .p99_ns = sqlite3_column_int64(q, 7),
            .exclusive_ns = sqlite3_column_int64(q, 8),
        };
    }
    run->callpaths = w->paths;
    return failed ? PYTHIA_ENOMEM : more;
}

static int read_run_processes(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->processes;
    int more;
    bool failed = false;
    begin_part(q, run->id);
    while ((more = next_part(w, q)) > 0) {
        if (pythia_grow(&w->processes_read, &w->process_capacity, run->process_count,
                        sizeof(*w->processes_read)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        w->processes_read[run->process_count++] = (struct pythia_run_process){
            .pid = sqlite3_column_int64(q, 0),
            .name = copy_column(w, q, 1, &failed),
            .user_ns = known_column(q, 2),
            .sys_ns = known_column(q, 3),
            .max_rss_bytes = known_column(q, 4),
            .major_faults = known_column(q, 5),
            .minor_faults = known_column(q, 6),
            .spans = sqlite3_column_int64(q, 7),
            .exclusive_ns = sqlite3_column_int64(q, 8),
        };
    }
    run->processes = w->processes_read;
    return failed ? PYTHIA_ENOMEM : more;
}

static int read_findings(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->findings;
    int more;
    bool failed = false;
    begin_part(q, run->id);
    while ((more = next_part(w, q)) > 0) {
        if (pythia_grow(&w->found, &w->found_capacity, run->finding_count, sizeof(*w->found)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        w->found[run->finding_count++] = (struct pythia_run_finding){
            .rank = sqlite3_column_int64(q, 0),
            .type = copy_column(w, q, 1, &failed),
            .place = copy_column(w, q, 2, &failed),
            .share = sqlite3_column_type(q, 3) == SQLITE_NULL ? NAN : sqlite3_column_double(q, 3),
            .key = copy_column(w, q, 4, &failed),
            .sentence = copy_column(w, q, 5, &failed),
        };
    }
    run->findings = w->found;
    return failed ? PYTHIA_ENOMEM : more;
}

static int read_artifacts(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->artifacts;
    int more;
    bool failed = false;
    begin_part(q, run->id);
    while ((more = next_part(w, q)) > 0) {
        if (pythia_grow(&w->files, &w->file_capacity, run->artifact_count, sizeof(*w->files)) !=
            PYTHIA_OK)
            return PYTHIA_ENOMEM;
        struct pythia_run_artifact *a = &w->files[run->artifact_count++];
        a->name = copy_column(w, q, 0, &failed);
        a->kind = copy_column(w, q, 1, &failed);
        a->body.bytes = copy_column(w, q, 2, &failed);
        a->body.size = (size_t)sqlite3_column_bytes(q, 2);
    }
    run->artifacts = w->files;
    return failed ? PYTHIA_ENOMEM : more;
}

static int read_output(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->output;
    bool failed = false;
    begin_part(q, run->id);
    int more = next_part(w, q);
    if (more <= 0)
        return more;
    for (int stream = 0; stream < 2; stream++) {
        run->output[stream].bytes = copy_column(w, q, stream, &failed);
        run->output[stream].size = (size_t)sqlite3_column_bytes(q, stream);
        run->output_bytes[stream] = sqlite3_column_int64(q, 2 + stream);
    }
    return failed ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* The numbers of columns are those of the query in prepare_walk. Lists are read only if the
 * caller asked for them: profiles are much larger than the run itself. */
static int read_run(struct walk *w, struct pythia_run *run)
{
    sqlite3_stmt *q = w->runs;
    int column = 20;
    *run = (struct pythia_run){
        .id = sqlite3_column_int64(q, 0),
        .started_ns = (uint64_t)sqlite3_column_int64(q, 1),
        .command = text_column(q, 2),
        .command_key = text_column(q, 3),
        .tag = text_column(q, 4),
        .suite = text_column(q, 5),
        .benchmark = text_column(q, 6),
        .description = text_column(q, 7),
        .exit_status = (int)known_column(q, 8),
        .signal = sqlite3_column_int(q, 9),
        .git_commit = text_column(q, 10),
        .git_dirty = (int)known_column(q, 11),
        .version = text_column(q, 12),
        .host = {text_column(q, 13), text_column(q, 14), text_column(q, 15), text_column(q, 16),
                 known_column(q, 17), known_column(q, 18), known_column(q, 19)},
    };
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        run->metrics[m] = pythia_run_metrics[m].column ? known_column(q, column++) : -1;
    if (run->metrics[PYTHIA_RUN_USER_NS] >= 0 && run->metrics[PYTHIA_RUN_SYS_NS] >= 0)
        run->metrics[PYTHIA_RUN_CPU_NS] =
            run->metrics[PYTHIA_RUN_USER_NS] + run->metrics[PYTHIA_RUN_SYS_NS];
    pythia_arena_clear(&w->arena);
    int status = read_meta(w, run);
    if (status != PYTHIA_OK)
        return status;
    if ((w->with & PYTHIA_RUN_WITH_CALLPATHS) && (status = read_callpaths(w, run)) != PYTHIA_OK)
        return status;
    if ((w->with & PYTHIA_RUN_WITH_PROCESSES) && (status = read_run_processes(w, run)) != PYTHIA_OK)
        return status;
    if ((w->with & PYTHIA_RUN_WITH_FINDINGS) && (status = read_findings(w, run)) != PYTHIA_OK)
        return status;
    if ((w->with & PYTHIA_RUN_WITH_ARTIFACTS) && (status = read_artifacts(w, run)) != PYTHIA_OK)
        return status;
    return w->with & PYTHIA_RUN_WITH_OUTPUT ? read_output(w, run) : PYTHIA_OK;
}

/* ---- all of them ---- */

static int prepare_walk(struct walk *w, const struct pythia_run_filter *filter)
{
    struct pythia_buf query = {0};
    if (filter->last)
        pythia_buf_puts(&query, "SELECT * FROM (");
    write_query(filter, &query);
    if (filter->last)
        pythia_buf_puts(&query, ") ORDER BY 2, 1");
    if (pythia_buf_status(&query) != PYTHIA_OK) {
        pythia_buf_free(&query);
        return pythia_error_set(w->e, PYTHIA_ENOMEM, "out of memory");
    }
    const struct {
        sqlite3_stmt **statement;
        const char *query;
    } parts[] = {
        {&w->runs, query.bytes},
        {&w->meta, "SELECT key, value FROM meta WHERE run_id = ?1 ORDER BY key"},
        {&w->output,
         "SELECT stdout, stderr, stdout_bytes, stderr_bytes FROM output WHERE run_id = ?1"},
        {&w->artifacts, "SELECT name, kind, body FROM artifact WHERE run_id = ?1 ORDER BY rowid"},
        {&w->callpaths, "SELECT path, calls, sum_ns, sum_squares, min_ns, max_ns, p50_ns, p99_ns,"
                        " exclusive_ns FROM callpath WHERE run_id = ?1 ORDER BY path"},
        {&w->processes, "SELECT pid, name, user_ns, sys_ns, max_rss_bytes, majflt, minflt, spans,"
                        " exclusive_ns FROM process WHERE run_id = ?1 ORDER BY rowid"},
        {&w->findings, "SELECT rank, type, place, share, key, sentence FROM finding"
                       " WHERE run_id = ?1 ORDER BY rank, rowid"},
    };
    int status = PYTHIA_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        *parts[i].statement = pythia__run_store_prepare(w->s, parts[i].query, w->e);
        if (!*parts[i].statement) {
            status = w->e->status;
            goto out;
        }
    }
    bind_filter(w->runs, filter);
out:
    pythia_buf_free(&query);
    return status;
}

static void free_walk(struct walk *w)
{
    sqlite3_stmt *const all[] = {w->runs,      w->meta,      w->output,  w->artifacts,
                                 w->callpaths, w->processes, w->findings};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        sqlite3_finalize(all[i]);
    pythia_arena_free(&w->arena);
    pythia_free(w->pairs);
    pythia_free(w->paths);
    pythia_free(w->processes_read);
    pythia_free(w->found);
    pythia_free(w->files);
}

/* Statements are prepared once and bound anew for each run: a walk over thousands of runs would
 * spend most of its time in preparing them. */
int pythia_run_store_each(struct pythia_run_store *s, const struct pythia_run_filter *filter,
                          unsigned with, pythia_run_visit *visit, void *context,
                          struct pythia_error *e)
{
    struct pythia_error own = {0};
    struct walk w = {.s = s, .e = e ? e : &own, .with = with};
    int status = prepare_walk(&w, filter), result = SQLITE_DONE;
    if (status != PYTHIA_OK)
        goto out;
    while ((result = sqlite3_step(w.runs)) == SQLITE_ROW) {
        struct pythia_run run;
        if ((status = read_run(&w, &run)) != PYTHIA_OK) {
            if (status == PYTHIA_ENOMEM)
                pythia_error_set(w.e, PYTHIA_ENOMEM, "out of memory");
            goto out;
        }
        if ((status = visit(context, &run)) != PYTHIA_OK)
            goto out;
    }
    if (result != SQLITE_DONE)
        status = pythia__run_store_fail(s, w.e);
out:
    free_walk(&w);
    return status;
}
