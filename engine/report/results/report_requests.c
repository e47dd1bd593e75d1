/* The requests of a group one by one, for somebody who picks some of them in a picture and wants to
 * know what these have in common. */
#include "pythia/report_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/json_text.h"
#include "pythia/key_value.h"
#include "pythia/mem.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "write/json_writer.h"

struct table {
    const struct pythia_vocabulary *vocabulary;
    const struct pythia_group *group;
    const struct pythia_row **rows; /* owned: the slowest first */
    size_t row_count;
    struct pythia_key_name columns[PYTHIA_REPORT_COLUMNS];
    size_t column_count;
    struct pythia_key_reader *reader;
};

static int compare_durations(const void *a, const void *b)
{
    const struct pythia_row *x = *(const struct pythia_row *const *)a;
    const struct pythia_row *y = *(const struct pythia_row *const *)b;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns < y->duration_ns ? 1 : -1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* The first rows by hash are a fair sample, and those that the keys were tested on. */
static int choose_rows(struct table *t)
{
    size_t count = t->group->sampled;
    t->row_count = count < PYTHIA_REPORT_REQUESTS ? count : PYTHIA_REPORT_REQUESTS;
    /* NOLINTBEGIN(bugprone-sizeof-expression): they are pointers */
    t->rows = pythia_calloc(t->row_count, sizeof(*t->rows));
    if (!t->rows)
        return PYTHIA_ENOMEM;
    if (t->row_count > 0) {
        memcpy(t->rows, t->group->rows, t->row_count * sizeof(*t->rows));
        qsort(t->rows, t->row_count, sizeof(*t->rows), compare_durations);
    }
    /* NOLINTEND(bugprone-sizeof-expression) */
    return PYTHIA_OK;
}

static void add_column(struct table *t, struct pythia_key_name name)
{
    for (size_t i = 0; i < t->column_count; i++)
        if (t->columns[i].source == name.source && pythia_text_equal(t->columns[i].text, name.text))
            return;
    if (t->column_count < PYTHIA_REPORT_COLUMNS)
        t->columns[t->column_count++] = name;
}

/* Keys that explain something come first, so that they are there whatever the requests have. */
static void choose_columns(struct table *t, const struct pythia_keys *keys)
{
    const struct pythia_explanations *all = &t->group->explanations;
    for (size_t i = 0; i < all->found_count; i++)
        if (all->found[i].kind != PYTHIA_KEY_MEMBER && all->found[i].kind != PYTHIA_KEY_VALUES)
            add_column(t, pythia_explained_key_name(&all->found[i], t->vocabulary));
    for (size_t i = 0; i < t->row_count; i++)
        for (uint32_t v = 0; v < t->rows[i]->value_count; v++) {
            struct pythia_text name = pythia_keys_attribute(keys, t->rows[i]->values[v].key);
            if (!pythia_looks_like_id(name))
                add_column(t, (struct pythia_key_name){PYTHIA_KEY_OF_SPANS, name});
        }
}

static json_t *make_column_names(struct table *t, struct pythia__json *w)
{
    static const char *const prefixes[] = {
        [PYTHIA_KEY_OF_SPANS] = "", [PYTHIA_KEY_VISITS] = "count:", [PYTHIA_KEY_VISITED] = "has:"};
    json_t *out = json_array();
    for (size_t i = 0; i < t->column_count; i++) {
        struct pythia_buf name = {0};
        pythia_buf_puts(&name, prefixes[t->columns[i].source]);
        pythia_buf_text_add(&name, t->columns[i].text);
        w->failed = pythia_buf_status(&name) != PYTHIA_OK || w->failed;
        pythia__json_append(w, out, pythia__json_text(pythia_buf_text(&name)));
        pythia_buf_free(&name);
    }
    return out;
}

static json_t *make_request_values(struct table *t, struct pythia__json *w,
                                   const struct pythia_row *row)
{
    json_t *out = json_array();
    for (size_t i = 0; i < t->column_count; i++) {
        struct pythia_key_value value = {0};
        struct pythia_text text = {"", 0};
        if (pythia_key_reader_row(t->reader, i, row, &value) != PYTHIA_OK ||
            (value.present && !value.numeric &&
             pythia_key_reader_text(t->reader, &text) != PYTHIA_OK))
            w->failed = true;
        pythia__json_append(w, out,
                            !value.present  ? json_null()
                            : value.numeric ? pythia__json_real(value.number)
                                            : pythia__json_text(text));
    }
    return out;
}

static json_t *make_request_json(struct table *t, struct pythia__json *w,
                                 const struct pythia_row *row)
{
    char id[40];
    json_t *out = json_object();
    snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, row->trace.high, row->trace.low);
    pythia__json_set(w, out, "trace_id", json_string(id));
    pythia__json_set(w, out, "start_unix_ns", pythia__json_count(row->start_ns));
    pythia__json_set(w, out, "duration_ns", json_integer(row->duration_ns));
    pythia__json_set(w, out, "values", make_request_values(t, w, row));
    return out;
}

static int write_requests(struct table *t, struct pythia_buf *to)
{
    struct pythia__json w = {.vocabulary = t->vocabulary};
    json_t *out = json_object(), *list = json_array();
    pythia__json_set(&w, out, "keys", make_column_names(t, &w));
    for (size_t i = 0; i < t->row_count; i++)
        pythia__json_append(&w, list, make_request_json(t, &w, t->rows[i]));
    pythia__json_set(&w, out, "requests", list);
    int status = pythia_json_put_shown(to, w.failed ? NULL : out, JSON_COMPACT, "");
    json_decref(out);
    return status;
}

int pythia_report_requests(const struct pythia_groups *groups, const struct pythia_group *group,
                           struct pythia_buf *out)
{
    struct table t = {.vocabulary = pythia_cct_vocabulary(pythia_groups_cct(groups)),
                      .group = group};
    int status = choose_rows(&t);
    if (status != PYTHIA_OK)
        goto out;
    choose_columns(&t, pythia_groups_keys(groups));
    status = pythia_key_reader_create(t.vocabulary, pythia_groups_keys(groups), t.columns,
                                      t.column_count, &t.reader);
    if (status != PYTHIA_OK)
        goto out;
    status = write_requests(&t, out);
out:
    pythia_key_reader_destroy(t.reader);
    pythia_free(t.rows);
    return status;
}
