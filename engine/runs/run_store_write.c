/* A run and all that belongs to it, in one transaction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/buf.h"
#include "pythia/status.h"
#include "store_parts.h"

/* A statement whose values are bound from the left. Binding fails only without memory, which the
 * step then reports. */
struct insertion {
    sqlite3_stmt *statement;
    int at;
};

static void bind_number(struct insertion *i, int64_t number)
{
    sqlite3_bind_int64(i->statement, ++i->at, number);
}

/* Negative is "not known". */
static void put_known(struct insertion *i, int64_t number)
{
    if (number < 0)
        sqlite3_bind_null(i->statement, ++i->at);
    else
        sqlite3_bind_int64(i->statement, ++i->at, number);
}

static void put_real(struct insertion *i, double number)
{
    sqlite3_bind_double(i->statement, ++i->at, number); /* NaN becomes NULL */
}

static void put_string(struct insertion *i, const char *string)
{
    sqlite3_bind_text(i->statement, ++i->at, string, -1, SQLITE_STATIC);
}

static void bind_bytes(struct insertion *i, struct pythia_text bytes)
{
    sqlite3_bind_blob64(i->statement, ++i->at, bytes.bytes ? bytes.bytes : "", bytes.size,
                        SQLITE_STATIC);
}

static int step_insertion(const struct pythia_run_store *s, struct insertion *i,
                          struct pythia_error *e)
{
    int result = sqlite3_step(i->statement);
    i->at = 0;
    if (result != SQLITE_DONE && result != SQLITE_ROW)
        return pythia__run_store_fail(s, e);
    sqlite3_reset(i->statement);
    return PYTHIA_OK;
}

/* NULL is equal to NULL here ("IS"), which a UNIQUE constraint denies: a host of which little is
 * known is one host all the same. */
static int find_host(const struct pythia_run_store *s, const struct pythia_run_host *host,
                     int64_t *id, struct pythia_error *e)
{
    static const char *const queries[] = {
        "SELECT id FROM host WHERE name IS ?1 AND uname IS ?2 AND cpu_model IS ?3 AND governor IS"
        " ?4 AND cpus IS ?5 AND memory_bytes IS ?6 AND swap_bytes IS ?7",
        "INSERT INTO host(name, uname, cpu_model, governor, cpus, memory_bytes, swap_bytes)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    };
    for (int step = 0; step < 2; step++) {
        struct insertion i = {.statement = pythia__run_store_prepare(s, queries[step], e)};
        if (!i.statement)
            return e->status;
        put_string(&i, host->name);
        put_string(&i, host->uname);
        put_string(&i, host->cpu_model);
        put_string(&i, host->governor);
        put_known(&i, host->cpus);
        put_known(&i, host->memory_bytes);
        put_known(&i, host->swap_bytes);
        int result = sqlite3_step(i.statement);
        *id = step ? sqlite3_last_insert_rowid(s->db) : sqlite3_column_int64(i.statement, 0);
        int status = result == SQLITE_ROW || result == SQLITE_DONE ? PYTHIA_OK
                                                                   : pythia__run_store_fail(s, e);
        sqlite3_finalize(i.statement);
        if (status != PYTHIA_OK || result == SQLITE_ROW)
            return status;
    }
    return PYTHIA_OK;
}

static int insert_run(const struct pythia_run_store *s, const struct pythia_run *run, int64_t host,
                      int64_t *id, struct pythia_error *e)
{
    struct pythia_buf query = {0};
    int columns = 13;
    pythia_buf_puts(&query, "INSERT INTO run(started_ns, command, command_key, tag, suite,"
                            " benchmark, description, exit_status, signal, git_commit, git_dirty,"
                            " host_id, version");
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        if (pythia_run_metrics[m].column) {
            pythia_buf_printf(&query, ", %s", pythia_run_metrics[m].column);
            columns++;
        }
    pythia_buf_puts(&query, ") VALUES(?");
    while (--columns > 0)
        pythia_buf_puts(&query, ", ?");
    pythia_buf_putc(&query, ')');
    if (pythia_buf_status(&query) != PYTHIA_OK) {
        pythia_buf_free(&query);
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    }
    struct insertion i = {.statement = pythia__run_store_prepare(s, query.bytes, e)};
    pythia_buf_free(&query);
    if (!i.statement)
        return e->status;
    bind_number(&i, (int64_t)run->started_ns);
    put_string(&i, run->command);
    put_string(&i, run->command_key ? run->command_key : "");
    put_string(&i, run->tag);
    put_string(&i, run->suite);
    put_string(&i, run->benchmark);
    put_string(&i, run->description);
    put_known(&i, run->exit_status);
    bind_number(&i, run->signal);
    put_string(&i, run->git_commit);
    put_known(&i, run->git_dirty);
    bind_number(&i, host);
    put_string(&i, run->version);
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        if (pythia_run_metrics[m].column)
            put_known(&i, run->metrics[m]);
    int status = step_insertion(s, &i, e);
    *id = sqlite3_last_insert_rowid(s->db);
    sqlite3_finalize(i.statement);
    return status;
}

static int add_meta(const struct pythia_run_store *s, const struct pythia_run *run, int64_t id,
                    struct pythia_error *e)
{
    struct insertion i = {.statement = pythia__run_store_prepare(
                              s, "INSERT OR REPLACE INTO meta VALUES(?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->meta_count; k++) {
        bind_number(&i, id);
        put_string(&i, run->meta[k].key);
        put_string(&i, run->meta[k].value);
        if ((status = step_insertion(s, &i, e)) != PYTHIA_OK)
            goto out;
    }
out:
    sqlite3_finalize(i.statement);
    return status;
}

static int add_output(const struct pythia_run_store *s, const struct pythia_run *run, int64_t id,
                      struct pythia_error *e)
{
    struct insertion i = {
        .statement = pythia__run_store_prepare(s, "INSERT INTO output VALUES(?, ?, ?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    bind_number(&i, id);
    bind_bytes(&i, run->output[0]);
    bind_bytes(&i, run->output[1]);
    put_known(&i, run->output_bytes[0]);
    put_known(&i, run->output_bytes[1]);
    int status = step_insertion(s, &i, e);
    sqlite3_finalize(i.statement);
    return status;
}

static int add_artifacts(const struct pythia_run_store *s, const struct pythia_run *run, int64_t id,
                         struct pythia_error *e)
{
    struct insertion i = {
        .statement = pythia__run_store_prepare(s, "INSERT INTO artifact VALUES(?, ?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->artifact_count; k++) {
        bind_number(&i, id);
        put_string(&i, run->artifacts[k].name);
        put_string(&i, run->artifacts[k].kind);
        bind_bytes(&i, run->artifacts[k].body);
        if ((status = step_insertion(s, &i, e)) != PYTHIA_OK)
            goto out;
    }
out:
    sqlite3_finalize(i.statement);
    return status;
}

static int insert_callpaths(const struct pythia_run_store *s, const struct pythia_run *run,
                            int64_t id, struct pythia_error *e)
{
    struct insertion i = {.statement = pythia__run_store_prepare(
                              s, "INSERT INTO callpath VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->callpath_count; k++) {
        const struct pythia_run_callpath *c = &run->callpaths[k];
        bind_number(&i, id);
        put_string(&i, c->path);
        bind_number(&i, c->calls);
        bind_number(&i, c->sum_ns);
        put_real(&i, c->sum_squares);
        bind_number(&i, c->min_ns);
        bind_number(&i, c->max_ns);
        bind_number(&i, c->p50_ns);
        bind_number(&i, c->p99_ns);
        bind_number(&i, c->exclusive_ns);
        if ((status = step_insertion(s, &i, e)) != PYTHIA_OK)
            goto out;
    }
out:
    sqlite3_finalize(i.statement);
    return status;
}

static int add_processes(const struct pythia_run_store *s, const struct pythia_run *run, int64_t id,
                         struct pythia_error *e)
{
    struct insertion i = {.statement = pythia__run_store_prepare(
                              s, "INSERT INTO process VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < run->process_count; k++) {
        const struct pythia_run_process *p = &run->processes[k];
        bind_number(&i, id);
        bind_number(&i, p->pid);
        put_string(&i, p->name);
        put_known(&i, p->user_ns);
        put_known(&i, p->sys_ns);
        put_known(&i, p->max_rss_bytes);
        put_known(&i, p->major_faults);
        put_known(&i, p->minor_faults);
        bind_number(&i, p->spans);
        bind_number(&i, p->exclusive_ns);
        if ((status = step_insertion(s, &i, e)) != PYTHIA_OK)
            goto out;
    }
out:
    sqlite3_finalize(i.statement);
    return status;
}

static int add_findings(const struct pythia_run_store *s, int64_t run,
                        const struct pythia_run_finding *findings, size_t count,
                        struct pythia_error *e)
{
    struct insertion i = {.statement = pythia__run_store_prepare(
                              s, "INSERT INTO finding VALUES(?, ?, ?, ?, ?, ?, ?)", e)};
    if (!i.statement)
        return e->status;
    int status = PYTHIA_OK;
    for (size_t k = 0; k < count; k++) {
        bind_number(&i, run);
        bind_number(&i, findings[k].rank);
        put_string(&i, findings[k].type);
        put_string(&i, findings[k].place);
        put_real(&i, findings[k].share);
        put_string(&i, findings[k].key);
        put_string(&i, findings[k].sentence);
        if ((status = step_insertion(s, &i, e)) != PYTHIA_OK)
            goto out;
    }
out:
    sqlite3_finalize(i.statement);
    return status;
}

/* Of most runs most tables have nothing, and to prepare a statement takes time. */
static int insert_all(const struct pythia_run_store *s, const struct pythia_run *run, int64_t *id,
                      struct pythia_error *e)
{
    int64_t host = 0;
    int status = find_host(s, &run->host, &host, e);
    if (status != PYTHIA_OK || (status = insert_run(s, run, host, id, e)) != PYTHIA_OK)
        return status;
    if (run->meta_count > 0 && (status = add_meta(s, run, *id, e)) != PYTHIA_OK)
        return status;
    if (run->output_bytes[0] + run->output_bytes[1] > 0 &&
        (status = add_output(s, run, *id, e)) != PYTHIA_OK)
        return status;
    if (run->artifact_count > 0 && (status = add_artifacts(s, run, *id, e)) != PYTHIA_OK)
        return status;
    if (run->callpath_count > 0 && (status = insert_callpaths(s, run, *id, e)) != PYTHIA_OK)
        return status;
    if (run->process_count > 0 && (status = add_processes(s, run, *id, e)) != PYTHIA_OK)
        return status;
    return run->finding_count == 0 ? PYTHIA_OK
                                   : add_findings(s, *id, run->findings, run->finding_count, e);
}

/* IMMEDIATE takes the right to write at once, and so waits for other writers there: a transaction
 * that first reads and then wants to write fails instead if another wrote in between. */
static int begin_transaction(const struct pythia_run_store *s, struct pythia_error *e)
{
    return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK
               ? PYTHIA_OK
               : pythia__run_store_fail(s, e);
}

static int end_transaction(const struct pythia_run_store *s, int status, struct pythia_error *e)
{
    if (status == PYTHIA_OK && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = pythia__run_store_fail(s, e);
    if (status != PYTHIA_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int pythia_run_store_add(struct pythia_run_store *s, const struct pythia_run *run, int64_t *id,
                         struct pythia_error *e)
{
    int64_t number = 0;
    int status = begin_transaction(s, e);
    if (status != PYTHIA_OK)
        return status;
    if ((status = end_transaction(s, insert_all(s, run, &number, e), e)) != PYTHIA_OK)
        return status;
    *id = number;
    return PYTHIA_OK;
}

int pythia_run_store_add_findings(struct pythia_run_store *s, int64_t run,
                                  const struct pythia_run_finding *findings, size_t count,
                                  struct pythia_error *e)
{
    int status = begin_transaction(s, e);
    if (status != PYTHIA_OK)
        return status;
    return end_transaction(s, add_findings(s, run, findings, count, e), e);
}

int pythia_run_store_set_git(struct pythia_run_store *s, int64_t run, const char *commit, int dirty,
                             struct pythia_error *e)
{
    struct insertion i = {.statement = pythia__run_store_prepare(
                              s, "UPDATE run SET git_commit = ?, git_dirty = ? WHERE id = ?", e)};
    if (!i.statement)
        return e->status;
    put_string(&i, commit);
    bind_number(&i, dirty);
    bind_number(&i, run);
    int status = step_insertion(s, &i, e);
    sqlite3_finalize(i.statement);
    return status;
}
