/* A message of rows is columns, and groups take rows: the times of all rows stand in one array, row
 * by row, and so do the values, once it is known how many each row has. Columns are read in the
 * order of the keys' numbers here, so that the values of each row are in that order, too. */
#include "evidence_read.h"

#include <math.h>
#include <string.h>

#include "evidence_columns.h"
#include "evidence_wire.h"
#include "pythia/groups_merge.h"
#include "pythia/mem.h"
#include "pythia/protobuf.h"
#include "pythia/sort.h"
#include "pythia/status.h"

/* Values of one key. */
struct key_column {
    uint32_t key;
    struct pythia_text present, codes, whole, message;
    bool all; /* rows have it */
    size_t texts, reals;
    size_t count; /* rows with the key */
};

struct reading {
    const struct pythia__evidence_names *names;
    struct pythia_error *e;
    struct pythia_critical_path path;
    size_t event_capacity, rows, edges, value_count;
    struct pythia_row *row;          /* [rows] */
    int64_t *times, *numbers;        /* [rows * edges], [rows] */
    struct pythia_row_value *values; /* [value_count], row by row */
    struct key_column *columns;
    size_t column_count, column_capacity;
    uint32_t *order;
    struct pythia_text *texts; /* of the column at hand */
    size_t text_capacity;
};

static int refuse_rows(struct reading *r, const char *what)
{
    return pythia_error_set(r->e, PYTHIA_EFORMAT, "broken evidence: %s", what);
}

/* ---- the path ---- */

/* Is the path well nested, and with `one_root` all of it inside of its first span? */
static bool is_nested(const struct pythia_critical_path *path, bool one_root, uint32_t *open)
{
    size_t depth = 0;
    for (size_t i = 0; i < path->count; i++) {
        const struct pythia_path_event *e = &path->events[i];
        if (one_root && depth == 0 && i > 0)
            return false;
        if (e->kind == PYTHIA_EVENT_START)
            open[depth++] = e->tracepoint;
        else if (e->kind == PYTHIA_EVENT_END && (depth == 0 || open[--depth] != e->tracepoint))
            return false;
    }
    return true;
}

static int read_row_events(struct reading *r, struct pythia_text events, bool one_root)
{
    struct pythia_critical_path *p = &r->path;
    uint64_t event;
    while (events.size > 0) {
        if (!pythia__column_varint(&events, &event) || event >> 2 >= r->names->point_count ||
            (event & 3) > PYTHIA_EVENT_ANNOTATION)
            return refuse_rows(r, "an event of no trace point");
        if (pythia_grow(&p->events, &p->capacity, p->count, sizeof(*p->events)) != PYTHIA_OK)
            return PYTHIA_ENOMEM;
        p->events[p->count++] = (struct pythia_path_event){
            .tracepoint = r->names->points[event >> 2], .kind = (uint8_t)(event & 3)};
    }
    uint32_t *open = pythia_calloc(p->count, sizeof(*open));
    bool nested = open && p->count > 0 && is_nested(p, one_root, open);
    pythia_free(open);
    return !open ? PYTHIA_ENOMEM : nested ? PYTHIA_OK : refuse_rows(r, "a path that is not nested");
}

/* ---- what stands before the values ---- */

static bool read_place(struct pythia_protobuf_field f, uint64_t *to)
{
    *to = f.value;
    return f.type == PYTHIA_PROTOBUF_VARINT;
}

static double real_of(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

/* Find the sizes of what is to come. */
static int measure_message(struct reading *r, struct pythia_text message, bool one_root)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    int status;
    while ((status = pythia_protobuf_next(&m, &f)) == PYTHIA_OK) {
        bool bytes = f.type == PYTHIA_PROTOBUF_BYTES;
        if (f.number == ROWS_IDS && bytes)
            r->rows = f.bytes.size / 16;
        r->edges += f.number == ROWS_TIMES && bytes;
        r->column_capacity += f.number == ROWS_VALUES && bytes;
        if (f.number == ROWS_EVENTS && bytes && r->path.count == 0) {
            status = read_row_events(r, f.bytes, one_root);
            if (status != PYTHIA_OK)
                return status;
        }
    }
    if (status < 0 || r->rows == 0 || r->path.count == 0)
        return refuse_rows(r, "rows without ids or a path");
    if (r->rows > 1 && r->edges > PYTHIA__EVIDENCE_ROWS_MAX / r->rows)
        return refuse_rows(r, "more rows than a message may have");
    r->row = pythia_calloc(r->rows, sizeof(*r->row));
    r->times = pythia_calloc(r->rows * r->edges, sizeof(*r->times));
    r->numbers = pythia_calloc(r->rows, sizeof(*r->numbers));
    r->columns = pythia_calloc(r->column_capacity, sizeof(*r->columns));
    r->order = pythia_calloc(2 * r->column_capacity, sizeof(*r->order));
    return r->row && r->times && r->numbers && r->columns && r->order ? PYTHIA_OK : PYTHIA_ENOMEM;
}

static void read_row_ids(struct reading *r, struct pythia_text ids)
{
    for (size_t i = 0; i < r->rows; i++) {
        uint64_t words[2] = {0};
        for (size_t k = 0; k < 16; k++)
            words[k / 8] = words[k / 8] << 8 | (unsigned char)ids.bytes[16 * i + k];
        r->row[i] = (struct pythia_row){.trace = {words[0], words[1]},
                                        .hash = pythia_hash_mix(words[0], words[1]),
                                        .weight = 1,
                                        .times_ns = r->times + i * r->edges};
    }
}

/* Everything but the values; those are noted for later. */
static int read_columns(struct reading *r, struct pythia_text message)
{
    struct pythia_protobuf m = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    size_t edge = 0, weights = 0;
    bool ids = false, good = true;
    while (good && pythia_protobuf_next(&m, &f) == PYTHIA_OK) {
        bool bytes = f.type == PYTHIA_PROTOBUF_BYTES;
        if (f.number == ROWS_IDS && bytes) {
            good = !ids && f.bytes.size == 16 * r->rows;
            if (good)
                read_row_ids(r, f.bytes);
            ids = true;
        } else if (f.number == ROWS_WEIGHTS) {
            double weight = real_of(f.value);
            good = ids && f.type == PYTHIA_PROTOBUF_FIXED64 && weights < r->rows && weight >= 1 &&
                   isfinite(weight);
            if (good)
                r->row[weights++].weight = weight;
        } else if (f.number == ROWS_STARTS || f.number == ROWS_CLIENT) {
            good = ids && bytes && pythia__column_read(f.bytes, r->numbers, r->rows, 1);
            for (size_t i = 0; good && i < r->rows; i++)
                if (f.number == ROWS_STARTS)
                    r->row[i].start_ns = (uint64_t)r->numbers[i];
                else
                    r->row[i].client_ns = r->numbers[i];
        } else if (f.number == ROWS_TIMES && bytes) {
            good = ids && pythia__column_read(f.bytes, r->times + edge++, r->rows, r->edges);
        } else if (f.number == ROWS_VALUES && bytes) {
            r->columns[r->column_count++].message = f.bytes;
        }
    }
    return good && ids && (weights == 0 || weights == r->rows)
               ? PYTHIA_OK
               : refuse_rows(r, "a column of rows that does not fit");
}

/* The times of a request's edges add up to its duration, modulo 2^64 as they were subtracted; what
 * its client waited is written less that, because mostly it is the same. */
static void add_durations(struct reading *r)
{
    for (size_t i = 0; i < r->rows; i++) {
        uint64_t sum = 0;
        for (size_t edge = 0; edge < r->edges; edge++)
            sum += (uint64_t)r->row[i].times_ns[edge];
        r->row[i].duration_ns = (int64_t)sum;
        r->row[i].client_ns = (int64_t)((uint64_t)r->row[i].client_ns + sum);
    }
}

/* ---- values ---- */

static int note_key_column(struct reading *r, struct key_column *c)
{
    struct pythia_protobuf m = pythia_protobuf_of(c->message);
    struct pythia_protobuf_field f = {.number = 0};
    uint64_t place = UINT64_MAX;
    c->all = true;
    int status;
    while ((status = pythia_protobuf_next(&m, &f)) == PYTHIA_OK) {
        bool bytes = f.type == PYTHIA_PROTOBUF_BYTES;
        if (f.number == VALUES_KEY && !read_place(f, &place))
            return refuse_rows(r, "values of no key");
        if (f.number == VALUES_PRESENT && bytes) {
            c->present = f.bytes;
            c->all = false;
        }
        if (f.number == VALUES_CODES && bytes)
            c->codes = f.bytes;
        if (f.number == VALUES_WHOLE && bytes)
            c->whole = f.bytes;
        c->texts += f.number == VALUES_TEXT && bytes;
        c->reals += f.number == VALUES_REAL && f.type == PYTHIA_PROTOBUF_FIXED64;
    }
    if (status < 0 || place >= r->names->key_count)
        return refuse_rows(r, "values of no key");
    c->key = r->names->keys[place];
    return PYTHIA_OK;
}

static bool key_column_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct key_column *c = context;
    return c[a].key < c[b].key;
}

static int order_key_columns(struct reading *r)
{
    for (size_t i = 0; i < r->column_count; i++) {
        int status = note_key_column(r, &r->columns[i]);
        if (status != PYTHIA_OK)
            return status;
        r->order[i] = (uint32_t)i;
    }
    pythia_sort_indexes(r->order, r->column_count, r->order + r->column_capacity,
                        key_column_precedes, r->columns);
    for (size_t i = 1; i < r->column_count; i++)
        if (r->columns[r->order[i]].key == r->columns[r->order[i - 1]].key)
            return refuse_rows(r, "a key twice");
    return PYTHIA_OK;
}

/* The rows that have the key of a column, in rising order, into r->numbers. */
static int read_present(struct reading *r, struct key_column *c)
{
    if (!c->all && c->present.size != (r->rows + 7) / 8)
        return refuse_rows(r, "values of rows that are not there");
    c->count = 0;
    for (size_t i = 0; i < 8 * c->present.size; i++)
        if ((unsigned char)c->present.bytes[i / 8] >> i % 8 & 1) {
            if (i >= r->rows)
                return refuse_rows(r, "values of rows that are not there");
            r->numbers[c->count++] = (int64_t)i;
        }
    for (; c->all && c->count < r->rows; c->count++)
        r->numbers[c->count] = (int64_t)c->count;
    return c->count > 0 ? PYTHIA_OK : refuse_rows(r, "values of no row");
}

/* The number of values of each row, and where they are. */
static int place_values(struct reading *r)
{
    for (size_t i = 0; i < r->column_count; i++) {
        int status = read_present(r, &r->columns[i]);
        if (status != PYTHIA_OK)
            return status;
        for (size_t k = 0; k < r->columns[i].count; k++)
            r->row[r->numbers[k]].value_count++;
        r->value_count += r->columns[i].count;
        if (r->rows > 1 && r->value_count > PYTHIA__EVIDENCE_ROWS_MAX)
            return refuse_rows(r, "more values than a message may have");
    }
    r->values = pythia_calloc(r->value_count, sizeof(*r->values));
    if (!r->values)
        return PYTHIA_ENOMEM;
    struct pythia_row_value *at = r->values;
    for (size_t i = 0; i < r->rows; i++) {
        r->row[i].values = at;
        at += r->row[i].value_count;
        r->row[i].value_count = 0; /* counted again as they come */
    }
    return PYTHIA_OK;
}

/* The texts of a column, and its real numbers one after the other. */
static int read_row_texts(struct reading *r, const struct key_column *c, double *reals)
{
    struct pythia_protobuf m = pythia_protobuf_of(c->message);
    struct pythia_protobuf_field f = {.number = 0};
    size_t texts = 0, numbers = 0;
    if (c->texts > 0 &&
        pythia_reach(&r->texts, &r->text_capacity, c->texts - 1, sizeof(*r->texts)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    while (pythia_protobuf_next(&m, &f) == PYTHIA_OK) {
        if (f.number == VALUES_TEXT && f.type == PYTHIA_PROTOBUF_BYTES)
            r->texts[texts++] = f.bytes;
        if (f.number != VALUES_REAL || f.type != PYTHIA_PROTOBUF_FIXED64)
            continue;
        reals[numbers] = real_of(f.value);
        if (isnan(reals[numbers++]))
            return refuse_rows(r, "a value that is not a number");
    }
    return PYTHIA_OK;
}

/* Read the kind of each value from the codes, and the numbers. */
struct decoded {
    int64_t *codes, *whole; /* [rows] */
    double *reals;          /* [reals of the column] */
};

static int decode_column(struct reading *r, const struct key_column *c, struct decoded *d)
{
    size_t numbers = 0;
    if (c->codes.bytes && !pythia__column_read(c->codes, d->codes, c->count, 1))
        return refuse_rows(r, "values without codes");
    for (size_t i = 0; i < c->count; i++) {
        d->codes[i] = c->codes.bytes ? d->codes[i] : 0;
        if (d->codes[i] < 0 || (uint64_t)d->codes[i] > c->texts)
            return refuse_rows(r, "a value of no text");
        numbers += d->codes[i] == 0;
    }
    bool whole = numbers > 0 && c->whole.bytes;
    if (whole ? !pythia__column_read(c->whole, d->whole, numbers, 1) : numbers != c->reals)
        return refuse_rows(r, "values without numbers");
    return read_row_texts(r, c, d->reals);
}

static int read_key_column(struct reading *r, struct key_column *c, struct decoded *d)
{
    size_t number = 0;
    int status = read_present(r, c);
    if (status != PYTHIA_OK || (status = decode_column(r, c, d)) != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < c->count; i++) {
        struct pythia_row *row = &r->row[r->numbers[i]];
        struct pythia_row_value *value = &row->values[row->value_count++];
        value->key = c->key;
        if (d->codes[i] > 0) {
            struct pythia_text text = r->texts[d->codes[i] - 1];
            value->size = (uint32_t)text.size;
            value->text = text.bytes;
        } else {
            value->size = PYTHIA_ROW_NUMBER;
            value->number = c->whole.bytes ? (double)d->whole[number] : d->reals[number];
            number++;
        }
    }
    return status;
}

static int read_row_values(struct reading *r)
{
    size_t reals = 0;
    int status = order_key_columns(r);
    if (status != PYTHIA_OK || (status = place_values(r)) != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < r->column_count; i++)
        reals = r->columns[i].reals > reals ? r->columns[i].reals : reals;
    struct decoded d = {.codes = pythia_calloc(r->rows, sizeof(*d.codes)),
                        .whole = pythia_calloc(r->rows, sizeof(*d.whole)),
                        .reals = pythia_calloc(reals, sizeof(*d.reals))};
    if (!d.codes || !d.whole || !d.reals) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < r->column_count; i++) {
        status = read_key_column(r, &r->columns[r->order[i]], &d);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(d.codes);
    pythia_free(d.whole);
    pythia_free(d.reals);
    return status;
}

int pythia__evidence_read_rows(struct pythia_text message,
                               const struct pythia__evidence_names *names,
                               struct pythia_groups *groups, uint32_t type, bool one_root,
                               struct pythia_error *e)
{
    struct reading r = {.names = names, .e = e};
    int status = measure_message(&r, message, one_root);
    if (status != PYTHIA_OK || (status = read_columns(&r, message)) != PYTHIA_OK)
        goto out;
    add_durations(&r);
    if ((status = read_row_values(&r)) != PYTHIA_OK)
        goto out;
    status = pythia_groups_merge_rows(groups, type, &r.path, (uint32_t)r.edges, r.row, r.rows);
    if (status == PYTHIA_EINVAL)
        status = refuse_rows(&r, "times of edges that the path does not have");
out:
    pythia_critical_path_free(&r.path);
    void *const owned[] = {r.row, r.times, r.numbers, r.values, r.columns, r.order, r.texts};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    return status;
}
