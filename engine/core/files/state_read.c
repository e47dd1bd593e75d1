/* Reads from the state: everything that survives a restart, and decisions for the control API. */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/history_file.h"
#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/state.h"
#include "pythia/status.h"
#include "state_parts.h"

enum query {
    QUERY_VERSION,
    QUERY_SPACE,
    QUERY_SEARCH,
    QUERY_VERDICTS,
    QUERY_INSTANCES,
    QUERY_SEARCH_TIME,
    QUERY_OFF,
    QUERY_PIN_TYPE,
    QUERY_PIN_PLACE,
    QUERY_HISTORY,
    QUERY_DESIRED,
    QUERY_INVENTORY,
    QUERY_PIN,
    QUERY_DECISIONS,
    QUERY_COUNT,
};

/* All that is read; a newer schema is readable if it has what each of them asks for. */
static const char *const queries[QUERY_COUNT] = {
    [QUERY_VERSION] = ("SELECT CAST(value AS INTEGER) FROM note WHERE name = 'version'"),
    [QUERY_SPACE] = ("SELECT value FROM note WHERE name = 'space'"),
    [QUERY_SEARCH] = ("SELECT value FROM note WHERE name = 'search'"),
    [QUERY_VERDICTS] = ("SELECT value FROM note WHERE name = 'verdicts'"),
    [QUERY_INSTANCES] = ("SELECT value FROM note WHERE name = 'instances'"),
    [QUERY_SEARCH_TIME] = ("SELECT CAST(value AS INTEGER) FROM note WHERE name = 'search_ns'"),
    [QUERY_OFF] = ("SELECT CAST(value AS INTEGER) FROM note WHERE name = 'off'"),
    [QUERY_PIN_TYPE] = ("SELECT trace_point, request_type FROM pin_type ORDER BY 1, 2"),
    [QUERY_PIN_PLACE] = ("SELECT trace_point, pin, place FROM pin_place JOIN pin USING(trace_point)"
                         " ORDER BY 1, 3"),
    [QUERY_HISTORY] = ("SELECT value FROM note WHERE name = 'history'"),
    [QUERY_DESIRED] = ("SELECT trace_point, request_type FROM desired"
                       " LEFT JOIN desired_type USING(trace_point) ORDER BY 1, 2"),
    [QUERY_INVENTORY] = ("SELECT plane, target, trace_point, coalesce(hits, 0) FROM inventory"
                         " ORDER BY 1, 2, 3"),
    [QUERY_PIN] = ("SELECT trace_point, pin FROM pin WHERE trace_point NOT IN"
                   " (SELECT trace_point FROM pin_type UNION SELECT trace_point FROM pin_place)"
                   " ORDER BY 1"),
    [QUERY_DECISIONS] =
        ("SELECT decided, unix_ns, trace_point, open, request_type, inside, cost_ns, reason,"
         " price_ns, price_known, hits, switch.spans, switch.requests, start_ns"
         " FROM switch JOIN cycle ON cycle = number ORDER BY number DESC, switch.rowid"),
};

static struct pythia_text column_text(sqlite3_stmt *statement, int number)
{
    const char *bytes = (const char *)sqlite3_column_text(statement, number);
    return (struct pythia_text){bytes ? bytes : "",
                                (size_t)sqlite3_column_bytes(statement, number)};
}

/* Give each row to `each`. PYTHIA_OK, PYTHIA_EIO, or what it returned. */
static int each_row(struct pythia_state *s, const char *query,
                    int (*each)(void *context, sqlite3_stmt *row), void *context)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL) != SQLITE_OK)
        return PYTHIA_EIO;
    int status = PYTHIA_OK, result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        if ((status = each(context, statement)) != PYTHIA_OK)
            break;
    sqlite3_finalize(statement);
    return status != PYTHIA_OK ? status : result == SQLITE_DONE ? PYTHIA_OK : PYTHIA_EIO;
}

struct desired_taker {
    int (*each)(void *context, struct pythia_text id, const struct pythia_text *type);
    void *context;
};

static int take_desired(void *context, sqlite3_stmt *row)
{
    const struct desired_taker *t = context;
    struct pythia_text type = column_text(row, 1);
    bool for_all = sqlite3_column_type(row, 1) == SQLITE_NULL;
    return t->each(t->context, column_text(row, 0), for_all ? NULL : &type);
}

static int take_unsigned(void *context, sqlite3_stmt *row)
{
    *(uint64_t *)context = (uint64_t)sqlite3_column_int64(row, 0);
    return PYTHIA_OK;
}

int pythia_state_each_desired(struct pythia_state *s,
                              int (*each)(void *context, struct pythia_text id,
                                          const struct pythia_text *type),
                              void *context, uint64_t *version)
{
    struct desired_taker t = {each, context};
    *version = 0;
    int status = each_row(s, queries[QUERY_VERSION], take_unsigned, version);
    if (status != PYTHIA_OK)
        return status;
    return each_row(s, queries[QUERY_DESIRED], take_desired, &t);
}

static int take_text(void *context, sqlite3_stmt *row)
{
    pythia_buf_text_add(context, column_text(row, 0));
    return pythia_buf_status(context);
}

int pythia_state_get_space(struct pythia_state *s, struct pythia_buf *out)
{
    return each_row(s, queries[QUERY_SPACE], take_text, out);
}

/* The texts lie one after the other, and move while more are added. */
int pythia_state_get_search(struct pythia_state *s, struct pythia_buf *texts,
                            struct pythia_state_search *out)
{
    static const enum query of[] = {QUERY_SEARCH, QUERY_VERDICTS, QUERY_INSTANCES};
    struct pythia_text *const to[] = {&out->snapshot, &out->verdicts, &out->instances};
    size_t ends[3], begin = 0;
    pythia_buf_clear(texts);
    *out = (struct pythia_state_search){.unix_ns = 0};
    for (size_t i = 0; i < 3; i++) {
        int status = each_row(s, queries[of[i]], take_text, texts);
        if (status != PYTHIA_OK)
            return status;
        ends[i] = texts->size;
    }
    for (size_t i = 0; i < 3 && texts->bytes; i++) {
        *to[i] = (struct pythia_text){texts->bytes + begin, ends[i] - begin};
        begin = ends[i];
    }
    return each_row(s, queries[QUERY_SEARCH_TIME], take_unsigned, &out->unix_ns);
}

static int take_off(void *context, sqlite3_stmt *row)
{
    *(bool *)context = sqlite3_column_int(row, 0) != 0;
    return PYTHIA_OK;
}

int pythia_state_get_off(struct pythia_state *s, bool *off)
{
    *off = false;
    return each_row(s, queries[QUERY_OFF], take_off, off);
}

struct inventory_taker {
    int (*each)(void *context, const struct pythia_state_point *point);
    void *context;
};

static int take_inventory(void *context, sqlite3_stmt *row)
{
    const struct inventory_taker *t = context;
    const struct pythia_state_point point = {
        .plane = column_text(row, 0).bytes,
        .target = column_text(row, 1),
        .id = column_text(row, 2),
        .of = {.price_ns = NAN, .hits = (uint64_t)sqlite3_column_int64(row, 3)}};
    return t->each(t->context, &point);
}

int pythia_state_each_inventory(struct pythia_state *s,
                                int (*each)(void *context, const struct pythia_state_point *point),
                                void *context)
{
    struct inventory_taker t = {each, context};
    return each_row(s, queries[QUERY_INVENTORY], take_inventory, &t);
}

struct pin_taker {
    int (*each)(void *context, struct pythia_text id, int pin);
    void *context;
};

static int take_pin_row(void *context, sqlite3_stmt *row)
{
    const struct pin_taker *t = context;
    return t->each(t->context, column_text(row, 0), sqlite3_column_int(row, 1));
}

int pythia_state_each_pin(struct pythia_state *s,
                          int (*each)(void *context, struct pythia_text id, int pin), void *context)
{
    struct pin_taker t = {each, context};
    return each_row(s, queries[QUERY_PIN], take_pin_row, &t);
}

struct pin_type_taker {
    int (*each)(void *context, struct pythia_text id, struct pythia_text type);
    void *context;
};

static int take_pin_type_row(void *context, sqlite3_stmt *row)
{
    const struct pin_type_taker *t = context;
    return t->each(t->context, column_text(row, 0), column_text(row, 1));
}

int pythia_state_each_pin_type(struct pythia_state *s,
                               int (*each)(void *context, struct pythia_text id,
                                           struct pythia_text type),
                               void *context)
{
    struct pin_type_taker t = {each, context};
    return each_row(s, queries[QUERY_PIN_TYPE], take_pin_type_row, &t);
}

struct pin_place_taker {
    int (*each)(void *context, struct pythia_text id, int pin, struct pythia_text place);
    void *context;
};

static int take_pin_place_row(void *context, sqlite3_stmt *row)
{
    const struct pin_place_taker *t = context;
    return t->each(t->context, column_text(row, 0), sqlite3_column_int(row, 1),
                   column_text(row, 2));
}

int pythia_state_each_pin_place(struct pythia_state *s,
                                int (*each)(void *context, struct pythia_text id, int pin,
                                            struct pythia_text place),
                                void *context)
{
    struct pin_place_taker t = {each, context};
    return each_row(s, queries[QUERY_PIN_PLACE], take_pin_place_row, &t);
}

struct history_taker {
    struct pythia_history **out;
    struct pythia_error *e;
};

static int take_history(void *context, sqlite3_stmt *row)
{
    const struct history_taker *t = context;
    return pythia_history_file_parse("history of the state", column_text(row, 0), t->out, t->e);
}

int pythia_state_get_history(struct pythia_state *s, struct pythia_history **out,
                             struct pythia_error *e)
{
    struct history_taker t = {out, e};
    *out = NULL;
    return each_row(s, queries[QUERY_HISTORY], take_history, &t);
}

static json_t *column_number(sqlite3_stmt *row, int number)
{
    int type = sqlite3_column_type(row, number);
    return type == SQLITE_NULL      ? json_null()
           : type == SQLITE_INTEGER ? json_integer(sqlite3_column_int64(row, number))
                                    : json_real(sqlite3_column_double(row, number));
}

static json_t *column_shown(sqlite3_stmt *row, int number)
{
    struct pythia_text text = column_text(row, number);
    return sqlite3_column_type(row, number) == SQLITE_NULL ? json_null()
                                                           : json_stringn(text.bytes, text.size);
}

static int take_decision(void *context, sqlite3_stmt *row)
{
    json_t *out = context;
    struct pythia_text point = column_text(row, 2), type = column_text(row, 4),
                       reason = column_text(row, 7);
    json_t *one = json_pack(
        "{s:o, s:I, s:s%, s:b, s:s%, s:o, s:f, s:s%, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "cycle",
        column_number(row, 0), "unix_ns", (json_int_t)sqlite3_column_int64(row, 1), "trace_point",
        point.bytes, point.size, "open", sqlite3_column_int(row, 3), "request_type", type.bytes,
        type.size, "inside", column_number(row, 5), "cost_ns", sqlite3_column_double(row, 6),
        "reason", reason.bytes, reason.size, "price_ns", column_number(row, 8), "price_known",
        column_shown(row, 9), "hits", column_number(row, 10), "spans", column_number(row, 11),
        "requests", column_number(row, 12), "start_unix_ns", column_number(row, 13),
        /* of a point that a control plane had the price is known, if only as supposed */
        "switchable", sqlite3_column_type(row, 9) != SQLITE_NULL);
    return json_array_append_new(out, one) == 0 ? PYTHIA_OK : PYTHIA_ENOMEM;
}

int pythia_state_decisions(struct pythia_state *s, size_t count, char **out)
{
    char query[480];
    json_t *list = json_array();
    struct pythia_buf shown = {0};
    snprintf(query, sizeof(query), "%s LIMIT %zu", queries[QUERY_DECISIONS], count);
    int status = list ? each_row(s, query, take_decision, list) : PYTHIA_ENOMEM;
    if (status == PYTHIA_OK)
        status = pythia_json_put_shown(&shown, list, JSON_INDENT(1), "");
    json_decref(list);
    if (status != PYTHIA_OK) {
        pythia_buf_free(&shown);
        return status;
    }
    *out = shown.bytes;
    return PYTHIA_OK;
}

bool pythia__state_is_readable(sqlite3 *db)
{
    bool good = true;
    for (size_t i = 0; i < QUERY_COUNT && good; i++) {
        sqlite3_stmt *statement = NULL;
        good = sqlite3_prepare_v2(db, queries[i], -1, &statement, NULL) == SQLITE_OK;
        sqlite3_finalize(statement);
    }
    return good;
}
