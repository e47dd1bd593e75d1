/* Names are renumbered in the order of their texts, and only used ones are written, so that the
 * bytes do not depend on the order in which names were first seen. */
#include "pythia/evidence_write.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#include "evidence_columns.h"
#include "evidence_counts.h"
#include "evidence_wire.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/protobuf_writer.h"
#include "pythia/sort.h"
#include "pythia/status.h"

#define LEVEL 3 /* of compression; the next ones take twice the time for some percent */

struct writing {
    const struct pythia_evidence_source *s;
    struct pythia_buf header, body, message, part, column; /* each is built inside the one before */
    uint32_t *point_places, *key_places; /* by number: the place in the file; PYTHIA_NONE: none */
    uint32_t *points, *keys;             /* by place: the number */
    size_t point_count, key_count;
    uint32_t *scratch;
    uint64_t paths;
    int64_t *numbers; /* a column of the rows at hand */
    size_t number_capacity;
};

/* ---- small parts ---- */

static void put_message(struct pythia_buf *to, uint32_t field, struct pythia_buf *message)
{
    pythia_protobuf_put_bytes(to, field, pythia_buf_text(message));
    to->failed = to->failed || message->failed;
    pythia_buf_clear(message);
}

static void put_moments(struct pythia_buf *to, uint32_t field, const struct pythia_exact_moments *m)
{
    const uint64_t words[] = {m->n,         m->weight, m->weight_squares[0], m->weight_squares[1],
                              m->sum[0],    m->sum[1], m->squares[0],        m->squares[1],
                              m->squares[2]};
    struct pythia_buf packed = {0};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        pythia__column_put_varint(&packed, words[i]);
    put_message(to, field, &packed);
    pythia_buf_free(&packed);
}

/* Durations are whole numbers of ns, and so are the lowest and the highest one. */
static void put_sketch(struct pythia_buf *to, uint32_t field, const struct pythia_sketch *sketch)
{
    struct pythia_buf message = {0}, bins = {0};
    struct pythia_sketch_bin bin;
    int64_t before = 0;
    for (size_t at = 0; pythia_sketch_next(sketch, &at, &bin) == PYTHIA_OK; before = bin.index) {
        pythia__column_put_varint(&bins, pythia__zigzag(bin.index - before));
        pythia__column_put_varint(&bins, bin.count);
    }
    if (bins.size > 0) {
        pythia_protobuf_put_number(&message, SKETCH_MIN, (uint64_t)pythia_sketch_min(sketch));
        pythia_protobuf_put_number(&message, SKETCH_MAX, (uint64_t)pythia_sketch_max(sketch));
    }
    put_message(&message, SKETCH_BINS, &bins);
    put_message(to, field, &message);
    pythia_buf_free(&message);
    pythia_buf_free(&bins);
}

static int reserve_numbers(struct writing *w, size_t count)
{
    return count == 0
               ? PYTHIA_OK
               : pythia_reach(&w->numbers, &w->number_capacity, count - 1, sizeof(*w->numbers));
}

/* ---- names ---- */

static bool point_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_vocabulary *v = context;
    return pythia_text_compare(pythia_vocabulary_tracepoint_id(v, a),
                               pythia_vocabulary_tracepoint_id(v, b)) < 0;
}

static bool key_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_keys *k = context;
    int order = pythia_text_compare(pythia_keys_attribute(k, a), pythia_keys_attribute(k, b));
    if (order)
        return order < 0;
    bool service_a = pythia_keys_tracepoint(k, a) == PYTHIA_NONE,
         service_b = pythia_keys_tracepoint(k, b) == PYTHIA_NONE;
    if (service_a != service_b)
        return service_b;
    return pythia_text_compare(pythia_keys_origin(k, a), pythia_keys_origin(k, b)) < 0;
}

static int order_points(struct writing *w)
{
    w->point_count = pythia_vocabulary_tracepoints(w->s->vocabulary);
    w->points = pythia_calloc(2 * w->point_count, sizeof(*w->points));
    w->point_places = pythia_calloc(w->point_count, sizeof(*w->point_places));
    if (!w->points || !w->point_places)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < w->point_count; i++)
        w->points[i] = (uint32_t)i;
    pythia_sort_indexes(w->points, w->point_count, w->points + w->point_count, point_precedes,
                        w->s->vocabulary);
    for (size_t i = 0; i < w->point_count; i++)
        w->point_places[w->points[i]] = (uint32_t)i;
    return PYTHIA_OK;
}

/* Rows that have left their sample have had keys, too: only those of the rows that are there. */
static void mark_keys(struct writing *w, const struct pythia_type *t)
{
    for (size_t i = 0; i < pythia_sample_count(t->rows); i++) {
        const struct pythia_row *row = pythia_sample_row(t->rows, i);
        for (uint32_t k = 0; k < row->value_count; k++)
            w->key_places[row->values[k].key] = 0;
    }
}

static int order_keys(struct writing *w)
{
    const struct pythia_keys *keys = pythia_groups_keys(w->s->groups);
    size_t all = pythia_keys_count(keys), types;
    const struct pythia_type *type = pythia_groups_types(w->s->groups, &types);
    w->keys = pythia_calloc(2 * all, sizeof(*w->keys));
    w->key_places = pythia_calloc(all, sizeof(*w->key_places));
    if (!w->keys || !w->key_places)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < all; i++)
        w->key_places[i] = PYTHIA_NONE;
    for (size_t i = 0; i < types; i++)
        mark_keys(w, &type[i]);
    for (uint32_t i = 0; i < all; i++)
        if (w->key_places[i] != PYTHIA_NONE)
            w->keys[w->key_count++] = i;
    pythia_sort_indexes(w->keys, w->key_count, w->keys + all, key_precedes, keys);
    for (size_t i = 0; i < w->key_count; i++)
        w->key_places[w->keys[i]] = (uint32_t)i;
    return PYTHIA_OK;
}

static struct pythia_text evidence_text(const struct writing *w, uint32_t string)
{
    return pythia_vocabulary_text(w->s->vocabulary, string);
}

/* The service and the name of a point are mostly in its id, which compression sees. */
static void put_points(struct writing *w)
{
    const struct pythia_vocabulary *v = w->s->vocabulary;
    for (size_t i = 0; i < w->point_count; i++) {
        const struct pythia_tracepoint *point = pythia_vocabulary_tracepoint_at(v, w->points[i]);
        pythia_protobuf_put_bytes(&w->message, POINT_ID, evidence_text(w, point->id));
        pythia_protobuf_put_bytes(&w->message, POINT_SERVICE, evidence_text(w, point->service));
        pythia_protobuf_put_bytes(&w->message, POINT_NAME, evidence_text(w, point->name));
        if (pythia_vocabulary_cost_is_expected(v, w->points[i])) {
            struct pythia_cost cost = pythia_vocabulary_cost(v, w->points[i]);
            pythia_protobuf_put_number(&w->message, POINT_PASSES, cost.passes);
            pythia_protobuf_put_number(&w->message, POINT_NS, cost.ns);
        }
        put_message(&w->body, EVIDENCE_POINT, &w->message);
    }
}

static void put_keys(struct writing *w)
{
    const struct pythia_keys *keys = pythia_groups_keys(w->s->groups);
    for (size_t i = 0; i < w->key_count; i++) {
        uint32_t key = w->keys[i], point = pythia_keys_tracepoint(keys, key);
        pythia_protobuf_put_bytes(&w->message, KEY_ATTRIBUTE, pythia_keys_attribute(keys, key));
        if (point != PYTHIA_NONE)
            pythia_protobuf_put_number(&w->message, KEY_POINT,
                                       (uint64_t)w->point_places[point] + 1);
        else
            pythia_protobuf_put_bytes(&w->message, KEY_SERVICE, pythia_keys_origin(keys, key));
        put_message(&w->body, EVIDENCE_KEY, &w->message);
    }
}

/* ---- types ---- */

static bool is_equal(const struct pythia_exact_moments *a, const struct pythia_exact_moments *b)
{
    return memcmp(a, b, sizeof(*a)) == 0; /* nine words, without padding */
}

/* A structure that all requests of its type have needs no numbers of its own: most types have one
 * path, and that many such structures, one inside the other. */
static void put_structure(struct writing *w, const struct pythia_type *t,
                          const struct pythia_structure *s)
{
    pythia_protobuf_put_number(&w->part, STRUCTURE_LEVEL, s->level);
    pythia_protobuf_put_fixed64(&w->part, STRUCTURE_NAME, s->name);
    if (s->whole)
        pythia_protobuf_put_number(&w->part, STRUCTURE_WHOLE, 1);
    if (!is_equal(&s->moments, &t->moments)) {
        put_moments(&w->part, STRUCTURE_MOMENTS, &s->moments);
        put_sketch(&w->part, STRUCTURE_SKETCH, s->sketch);
    }
    put_message(&w->message, TYPE_STRUCTURE, &w->part);
}

/* Its path goes to the header, where it is found before any type is. */
static void put_path(struct writing *w, struct pythia_text name, uint32_t path_at)
{
    pythia_protobuf_put_bytes(&w->part, PATH_PREFIX,
                              (struct pythia_text){name.bytes, path_at - 1}); /* without the mark */
    pythia_protobuf_put_bytes(&w->part, PATH_TEMPLATE,
                              (struct pythia_text){name.bytes + path_at, name.size - path_at});
    put_message(&w->header, HEADER_PATH, &w->part);
    pythia_protobuf_put_number(&w->message, TYPE_PATH, ++w->paths);
}

static void put_type(struct writing *w, const struct pythia_type *t)
{
    if (t->path_at)
        put_path(w, evidence_text(w, t->name), t->path_at);
    else
        pythia_protobuf_put_bytes(&w->message, TYPE_NAME, evidence_text(w, t->name));
    put_moments(&w->message, TYPE_MOMENTS, &t->moments);
    put_moments(&w->message, TYPE_CLIENT, &t->client);
    put_sketch(&w->message, TYPE_SKETCH, t->sketch);
    pythia_protobuf_put_double(&w->message, TYPE_HEAVIEST, t->heaviest);
    if (t->too_varied)
        pythia_protobuf_put_number(&w->message, TYPE_LEVELS, t->levels);
    for (size_t i = 0; i < t->structure_count; i++)
        put_structure(w, t, &t->structures[i]);
    put_message(&w->body, EVIDENCE_TYPE, &w->message);
}

/* ---- rows ---- */

static void put_numbers(struct writing *w, struct pythia_buf *to, uint32_t field, size_t count)
{
    pythia__column_put(&w->column, w->numbers, count);
    put_message(to, field, &w->column);
}

/* The path of a shape, from its edges: each leads from one event to the next. */
static void put_events(struct writing *w, const struct pythia_shape *shape)
{
    const struct pythia_cct *cct = pythia_groups_cct(w->s->groups);
    for (uint32_t i = 0; i <= shape->gap_count; i++) {
        uint32_t point = shape->points[0];
        uint8_t kind = PYTHIA_EVENT_START;
        if (shape->gap_count > 0) {
            const struct pythia_edge *edge =
                pythia_cct_edge_at(cct, shape->edges[shape->slots[i > 0 ? i - 1 : 0]]);
            point = i > 0 ? edge->to_tracepoint : edge->from_tracepoint;
            kind = i > 0 ? edge->to_event : edge->from_event;
        }
        pythia__column_put_varint(&w->column, (uint64_t)w->point_places[point] << 2 | kind);
    }
    put_message(&w->message, ROWS_EVENTS, &w->column);
}

static void put_ids(struct writing *w, const struct pythia_row *const *rows, size_t count)
{
    bool weighted = false;
    pythia_protobuf_put_size(&w->message, ROWS_IDS, 16 * (uint64_t)count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t words[] = {rows[i]->trace.high, rows[i]->trace.low};
        char bytes[16];
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (char)(words[k / 8] >> (56 - 8 * (k % 8)));
        pythia_buf_add(&w->message, bytes, sizeof(bytes));
        weighted = weighted || rows[i]->weight != 1;
    }
    for (size_t i = 0; weighted && i < count; i++)
        pythia_protobuf_put_double(&w->message, ROWS_WEIGHTS, rows[i]->weight);
}

static void put_times(struct writing *w, const struct pythia_row *const *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        w->numbers[i] = (int64_t)rows[i]->start_ns;
    put_numbers(w, &w->message, ROWS_STARTS, count);
    for (size_t i = 0; i < count; i++)
        w->numbers[i] = (int64_t)((uint64_t)rows[i]->client_ns - (uint64_t)rows[i]->duration_ns);
    put_numbers(w, &w->message, ROWS_CLIENT, count);
    for (uint32_t edge = 0; edge < rows[0]->shape->edge_count; edge++) {
        for (size_t i = 0; i < count; i++)
            w->numbers[i] = rows[i]->times_ns[edge];
        put_numbers(w, &w->message, ROWS_TIMES, count);
    }
}

/* The values of one key in the rows at hand, those without it left out. */
struct values {
    const struct pythia_row_value **list; /* [count] */
    uint32_t *order;                      /* [2 rows]: of texts, by text */
    size_t count, rows;
};

static bool text_precedes(const void *context, uint32_t a, uint32_t b)
{
    const struct pythia_row_value *const *list = context;
    return pythia_text_compare((struct pythia_text){list[a]->text, list[a]->size},
                               (struct pythia_text){list[b]->text, list[b]->size}) < 0;
}

/* Each text once, in order, and which one each value is. */
static void put_texts(struct writing *w, const struct values *v)
{
    size_t texts = 0;
    int64_t code = 0;
    for (size_t i = 0; i < v->count; i++) {
        w->numbers[i] = 0;
        if (v->list[i]->size != PYTHIA_ROW_NUMBER)
            v->order[texts++] = (uint32_t)i;
    }
    if (texts == 0)
        return;
    pythia_sort_indexes(v->order, texts, v->order + v->rows, text_precedes, v->list);
    for (size_t i = 0; i < texts; i++) {
        const struct pythia_row_value *value = v->list[v->order[i]];
        if (i == 0 || text_precedes(v->list, v->order[i - 1], v->order[i])) {
            pythia_protobuf_put_bytes(&w->part, VALUES_TEXT,
                                      (struct pythia_text){value->text, value->size});
            code++;
        }
        w->numbers[v->order[i]] = code;
    }
    put_numbers(w, &w->part, VALUES_CODES, v->count);
}

static bool is_whole_number(double number)
{
    return fabs(number) <= 0x1p53 && number == trunc(number) && !(number == 0 && signbit(number));
}

static void put_value_numbers(struct writing *w, const struct values *v)
{
    size_t numbers = 0;
    bool whole = true;
    for (size_t i = 0; i < v->count; i++)
        whole =
            whole && (v->list[i]->size != PYTHIA_ROW_NUMBER || is_whole_number(v->list[i]->number));
    for (size_t i = 0; i < v->count; i++) {
        if (v->list[i]->size != PYTHIA_ROW_NUMBER)
            continue;
        if (whole)
            w->numbers[numbers++] = (int64_t)v->list[i]->number;
        else
            pythia_protobuf_put_double(&w->part, VALUES_REAL, v->list[i]->number);
    }
    if (numbers > 0)
        put_numbers(w, &w->part, VALUES_WHOLE, numbers);
}

/* One key of the rows at hand, some of which have it. */
static void put_key_values(struct writing *w, const struct pythia_row *const *rows, size_t place,
                           struct values *v)
{
    v->count = 0;
    for (size_t i = 0; i < v->rows; i += 8) {
        unsigned present = 0;
        for (unsigned bit = 0; bit < 8 && i + bit < v->rows; bit++) {
            const struct pythia_row *row = rows[i + bit];
            const struct pythia_row_value *value =
                pythia_row_find(row->values, row->value_count, w->keys[place]);
            if (!value)
                continue;
            present |= 1u << bit;
            v->list[v->count++] = value;
        }
        pythia_buf_putc(&w->column, (char)present);
    }
    pythia_protobuf_put_number(&w->part, VALUES_KEY, place);
    if (v->count < v->rows)
        put_message(&w->part, VALUES_PRESENT, &w->column);
    pythia_buf_clear(&w->column);
    put_texts(w, v);
    put_value_numbers(w, v);
    put_message(&w->message, ROWS_VALUES, &w->part);
}

/* The keys that the rows at hand have, by place, in order. */
static int list_keys(const struct writing *w, const struct pythia_row *const *rows, size_t count,
                     uint32_t **out, size_t *found)
{
    bool *seen = pythia_calloc(w->key_count, sizeof(*seen));
    uint32_t *list = pythia_calloc(w->key_count, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; seen && i < count; i++)
        for (uint32_t k = 0; k < rows[i]->value_count; k++)
            seen[w->key_places[rows[i]->values[k].key]] = true;
    for (uint32_t place = 0; seen && list && place < w->key_count; place++)
        if (seen[place])
            list[n++] = place;
    bool made = seen && list;
    pythia_free(seen);
    if (!made) {
        pythia_free(list);
        return PYTHIA_ENOMEM;
    }
    *out = list;
    *found = n;
    return PYTHIA_OK;
}

/* Rows of one shape. */
static int put_rows(struct writing *w, const struct pythia_row *const *rows, size_t count)
{
    uint32_t *places = NULL;
    size_t keys = 0;
    struct values v = {.list = pythia_calloc(count, sizeof(struct pythia_row_value *)),
                       .order = pythia_calloc(2 * count, sizeof(*v.order)),
                       .rows = count};
    int status = v.list && v.order ? reserve_numbers(w, count) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK || (status = list_keys(w, rows, count, &places, &keys)) != PYTHIA_OK)
        goto out;
    put_events(w, rows[0]->shape);
    put_ids(w, rows, count);
    put_times(w, rows, count);
    for (size_t i = 0; i < keys; i++)
        put_key_values(w, rows, places[i], &v);
    put_message(&w->body, EVIDENCE_ROWS, &w->message);
out:
    pythia_free(places);
    pythia_free(v.list);
    pythia_free(v.order);
    return status;
}

/* The size that a row adds to its message; 8 bytes of text count as much as a number. */
static size_t size_of_row(const struct pythia_row *row)
{
    size_t numbers = row->shape->edge_count + row->value_count;
    for (uint32_t i = 0; i < row->value_count; i++)
        if (row->values[i].size != PYTHIA_ROW_NUMBER)
            numbers += row->values[i].size / 8;
    return numbers;
}

/* The rows of one shape as messages, none of which is too large to be read. */
static int put_shape_rows(struct writing *w, const struct pythia_row *const *rows, size_t count)
{
    for (size_t from = 0, to; from < count; from = to) {
        size_t numbers = 0;
        for (to = from; to < count; to++) {
            numbers += size_of_row(rows[to]);
            if (to > from && numbers > PYTHIA__EVIDENCE_ROWS_MAX)
                break;
        }
        int status = put_rows(w, rows + from, to - from);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* The first row of each path says where the path stands, and rows of one path keep their order. The
 * hash of a path is of numbers, and serves for telling equal ones. */
static int put_type_rows(struct writing *w, const struct pythia_type *t)
{
    size_t n = pythia_sample_count(t->rows);
    const struct pythia_row **alike = pythia_calloc(n, sizeof(struct pythia_row *));
    bool *done = pythia_calloc(n, sizeof(*done));
    int status = PYTHIA_OK;
    if (!alike || !done) {
        status = PYTHIA_ENOMEM;
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        if (done[i])
            continue;
        const struct pythia_row *first = pythia_sample_row(t->rows, i);
        for (size_t k = i; k < n; k++) {
            const struct pythia_row *row = pythia_sample_row(t->rows, k);
            if (done[k] || row->shape->hash != first->shape->hash)
                continue;
            done[k] = true;
            alike[count++] = row;
        }
        status = put_shape_rows(w, alike, count);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    pythia_free(alike);
    pythia_free(done);
    return status;
}

/* ---- the header ---- */

static void put_count(struct writing *w, const char *name, uint64_t number)
{
    if (number == 0)
        return;
    pythia_protobuf_put_bytes(&w->part, COUNT_NAME, pythia_text_of(name));
    pythia_protobuf_put_number(&w->part, COUNT_NUMBER, number);
    put_message(&w->header, HEADER_COUNT, &w->part);
}

static void put_counts(struct writing *w)
{
    struct pythia__evidence_count_row rows[PYTHIA__EVIDENCE_COUNTS];
    struct pythia_pipeline_result result = *w->s->result;
    pythia__evidence_counts(&result, rows);
    for (size_t i = 0; i < PYTHIA__EVIDENCE_COUNTS; i++)
        put_count(w, rows[i].name, rows[i].size ? *rows[i].size : *rows[i].number);
}

static void put_inputs(struct writing *w)
{
    for (size_t i = 0; i < w->s->input_count; i++) {
        const struct pythia_evidence_input *input = &w->s->inputs[i];
        uint64_t id = input->id;
        if (!w->s->merged && w->s->result->counts.traces > 0)
            id = pythia_hash_bytes(w->body.bytes, w->body.size) | 1;
        pythia_protobuf_put_fixed64(&w->part, INPUT_ID, id);
        for (size_t k = 0; k < input->source_count; k++)
            pythia_protobuf_put_bytes(&w->part, INPUT_SOURCE, pythia_text_of(input->sources[k]));
        put_message(&w->header, HEADER_INPUT, &w->part);
    }
}

static void put_header(struct writing *w)
{
    struct pythia_cost loop = pythia_vocabulary_cost(w->s->vocabulary, PYTHIA_NONE);
    pythia_protobuf_put_bytes(&w->header, HEADER_SETTINGS, pythia_text_of(w->s->settings.asked));
    pythia_protobuf_put_number(&w->header, HEADER_ROWS, w->s->settings.rows);
    pythia_protobuf_put_number(&w->header, HEADER_FOLD, w->s->settings.fold);
    if (loop.passes > 0) {
        pythia_protobuf_put_number(&w->header, HEADER_LOOP_PASSES, loop.passes);
        pythia_protobuf_put_number(&w->header, HEADER_LOOP_NS, loop.ns);
    }
    put_counts(w);
    put_inputs(w);
}

/* ---- all of it ---- */

static int put_body(struct writing *w)
{
    size_t types;
    const struct pythia_type *type = pythia_groups_types(w->s->groups, &types);
    int status = order_points(w);
    if (status != PYTHIA_OK || (status = order_keys(w)) != PYTHIA_OK)
        return status;
    put_points(w);
    put_keys(w);
    for (size_t i = 0; i < types; i++) {
        put_type(w, &type[i]);
        if ((status = put_type_rows(w, &type[i])) != PYTHIA_OK)
            return status;
    }
    return pythia_buf_status(&w->body);
}

/* One frame, which says its size and has a checksum: what is cut off or changed is noticed. */
static int pack_evidence(struct pythia_buf *content, struct pythia_buf *out)
{
    ZSTD_CCtx *packer = ZSTD_createCCtx();
    size_t bound = ZSTD_compressBound(content->size), size = 0;
    char *to = packer ? pythia_buf_reserve(out, bound) : NULL;
    if (to) {
        ZSTD_CCtx_setParameter(packer, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1);
        size = ZSTD_compress2(packer, to, bound, content->bytes, content->size);
    }
    ZSTD_freeCCtx(packer);
    if (!to || ZSTD_isError(size))
        return PYTHIA_ENOMEM; /* nothing else can be wrong */
    out->size += size;
    return PYTHIA_OK;
}

int pythia_evidence_write(const struct pythia_evidence_source *source, struct pythia_buf *out)
{
    struct writing w = {.s = source};
    struct pythia_buf content = {0};
    int status = put_body(&w);
    if (status != PYTHIA_OK)
        goto out;
    put_header(&w);
    put_message(&content, EVIDENCE_HEADER, &w.header);
    pythia_buf_text_add(&content, pythia_buf_text(&w.body));
    pythia_buf_printf(out, "%s%d\n", PYTHIA__EVIDENCE_MAGIC, PYTHIA__EVIDENCE_VERSION);
    status = pythia_buf_status(&content);
    if (status != PYTHIA_OK || (status = pack_evidence(&content, out)) != PYTHIA_OK)
        goto out;
    status = pythia_buf_status(out);
out:;
    struct pythia_buf *bufs[] = {&w.header, &w.body, &w.message, &w.part, &w.column, &content};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        pythia_buf_free(bufs[i]);
    const void *owned[] = {w.points, w.point_places, w.keys, w.key_places, w.numbers};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
    return status;
}
