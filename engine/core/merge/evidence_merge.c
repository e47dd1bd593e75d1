#include "pythia/evidence_merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence_columns.h"
#include "evidence_counts.h"
#include "evidence_read.h"
#include "evidence_wire.h"
#include "pythia/groups_merge.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/protobuf_stream.h"
#include "pythia/source.h"
#include "pythia/status.h"
#include "pythia/unpack.h"

#define EXPANSION_MAX 250 /* as of compressed traces */

/* Evidence of a replay that was looked at. */
struct input {
    uint64_t id;
    char **sources; /* owned */
    size_t source_count, source_capacity;
    char *file; /* that it was in; owned */
};

/* The path of a type, as a file has it. */
struct path {
    char *prefix, *template; /* owned */
};

struct pythia_evidence_merge {
    struct pythia_vocabulary *vocabulary;
    bool again, settled; /* settled: the settings are known */
    struct pythia_path_templates *templates;
    struct pythia_groups *groups; /* NULL until the first file is added */
    struct pythia_pipeline_result result;
    bool fold;
    uint64_t rows;
    char *asked, *first; /* settings, and the file that had them first */
    struct input *inputs;
    size_t input_count, input_capacity;
    struct pythia_evidence_input *listed; /* of _finish */
    /* State of the file that is being read: */
    struct pythia__evidence_names names;
    struct path *paths;
    size_t path_count, path_capacity;
    uint32_t type; /* the last one; PYTHIA_NONE before the first */
    bool one_root; /* its requests have one */
    struct pythia_error *e;
    struct pythia_buf name;
};

static int refuse_evidence(struct pythia_evidence_merge *m, const char *what)
{
    return pythia_error_set(m->e, PYTHIA_EFORMAT, "broken evidence: %s", what);
}

int pythia_evidence_merge_create(struct pythia_vocabulary *vocabulary, bool again,
                                 struct pythia_evidence_merge **out)
{
    struct pythia_evidence_merge *m = pythia_calloc(1, sizeof(*m));
    if (!m)
        return PYTHIA_ENOMEM;
    *m = (struct pythia_evidence_merge){.vocabulary = vocabulary, .again = again};
    if (pythia_path_templates_create(&m->templates) != PYTHIA_OK) {
        pythia_free(m);
        return PYTHIA_ENOMEM;
    }
    *out = m;
    return PYTHIA_OK;
}

/* Forget the names of a file: another one has others. */
static void clear_file(struct pythia_evidence_merge *m)
{
    for (size_t i = 0; i < m->path_count; i++) {
        pythia_free(m->paths[i].prefix);
        pythia_free(m->paths[i].template);
    }
    m->path_count = m->names.point_count = m->names.key_count = 0;
    m->type = PYTHIA_NONE;
}

void pythia_evidence_merge_destroy(struct pythia_evidence_merge *m)
{
    if (!m)
        return;
    clear_file(m);
    for (size_t i = 0; i < m->input_count; i++) {
        for (size_t k = 0; k < m->inputs[i].source_count; k++)
            pythia_free(m->inputs[i].sources[k]);
        pythia_free(m->inputs[i].sources);
        pythia_free(m->inputs[i].file);
    }
    pythia_groups_destroy(m->groups);
    pythia_path_templates_destroy(m->templates);
    pythia_buf_free(&m->name);
    pythia_free(m->inputs);
    pythia_free(m->listed);
    pythia_free(m->paths);
    pythia_free(m->names.points);
    pythia_free(m->names.keys);
    pythia_free(m->asked);
    pythia_free(m->first);
    pythia_free(m);
}

/* ---- parts ---- */

/* The next field of a message: 1 at its end. */
static int next_field(struct pythia_evidence_merge *m, struct pythia_protobuf *message,
                      struct pythia_protobuf_field *f)
{
    int status = pythia_protobuf_next(message, f);
    return status < 0 ? refuse_evidence(m, "a message that is not valid") : status;
}

static bool is_bytes(const struct pythia_protobuf_field *f, uint32_t number)
{
    return f->number == number && f->type == PYTHIA_PROTOBUF_BYTES;
}

static bool is_number(const struct pythia_protobuf_field *f, uint32_t number)
{
    return f->number == number && f->type == PYTHIA_PROTOBUF_VARINT;
}

static int copy_evidence_text(struct pythia_text text, char **out)
{
    char *copy = pythia_strndup(text.bytes, text.size);
    if (!copy)
        return PYTHIA_ENOMEM;
    pythia_free(*out);
    *out = copy;
    return PYTHIA_OK;
}

static int find_evidence_string(struct pythia_evidence_merge *m, struct pythia_text text,
                                uint32_t *out)
{
    *out = pythia_vocabulary_string(m->vocabulary, text);
    return *out == PYTHIA_NONE ? PYTHIA_ENOMEM : PYTHIA_OK;
}

/* ---- the header ---- */

static int read_path(struct pythia_evidence_merge *m, struct pythia_text message)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    int status;
    if (pythia_grow(&m->paths, &m->path_capacity, m->path_count, sizeof(*m->paths)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct path *path = &m->paths[m->path_count++];
    *path = (struct path){NULL, NULL};
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_bytes(&f, PATH_PREFIX))
            status = copy_evidence_text(f.bytes, &path->prefix);
        else if (is_bytes(&f, PATH_TEMPLATE))
            status = copy_evidence_text(f.bytes, &path->template);
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0)
        return status;
    return path->prefix && path->template && path->template[0] == '/'
               ? PYTHIA_OK
               : refuse_evidence(m, "a path that is not valid");
}

/* The name of a path as it is known by now. */
static int name_evidence_path(struct pythia_evidence_merge *m, const struct path *path,
                              uint32_t *path_at)
{
    pythia_buf_clear(&m->name);
    m->name.failed = 0;
    pythia_buf_puts(&m->name, path->prefix);
    if (m->again)
        pythia_buf_putc(&m->name, '\n');
    *path_at = m->again ? (uint32_t)m->name.size : 0;
    int status = pythia_path_templates_add(m->templates, pythia_text_of(path->prefix),
                                           pythia_text_of(path->template), &m->name);
    if (status != PYTHIA_OK)
        return status;
    return pythia_buf_status(&m->name);
}

/* Has an input been looked at before? An input without traces adds nothing, and has no id. */
static const struct input *find_twin(const struct pythia_evidence_merge *m, uint64_t id)
{
    for (size_t i = 0; i + 1 < m->input_count; i++)
        if (id != 0 && m->inputs[i].id == id)
            return &m->inputs[i];
    return NULL;
}

static int read_input(struct pythia_evidence_merge *m, struct pythia_text message, const char *file)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    if (pythia_grow(&m->inputs, &m->input_capacity, m->input_count, sizeof(*m->inputs)) !=
        PYTHIA_OK)
        return PYTHIA_ENOMEM;
    struct input *input = &m->inputs[m->input_count++];
    *input = (struct input){0};
    int status = copy_evidence_text(pythia_text_of(file), &input->file);
    if (status != PYTHIA_OK)
        return status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (f.number == INPUT_ID && f.type == PYTHIA_PROTOBUF_FIXED64)
            input->id = f.value;
        if (!is_bytes(&f, INPUT_SOURCE))
            continue;
        status = pythia_grow(&input->sources, &input->source_capacity, input->source_count,
                             sizeof(char *));
        if (status != PYTHIA_OK)
            return status;
        input->sources[input->source_count] = NULL;
        status = copy_evidence_text(f.bytes, &input->sources[input->source_count++]);
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0)
        return status;
    const struct input *twin = find_twin(m, input->id);
    if (!twin)
        return PYTHIA_OK;
    return pythia_error_set(m->e, PYTHIA_EUSAGE,
                            "contains the evidence of %s, and so does %s; give each part once",
                            input->source_count > 0 ? input->sources[0] : "an input", twin->file);
}

/* The settings of the first file are those of all. */
static int check_settings(struct pythia_evidence_merge *m, struct pythia_text asked, uint64_t rows,
                          bool fold, const char *file)
{
    if (rows == 0 || rows > 1000000)
        return refuse_evidence(m, "no number of rows");
    if (!m->settled) {
        m->settled = true;
        m->rows = rows;
        m->fold = fold;
        int status = copy_evidence_text(asked, &m->asked);
        if (status != PYTHIA_OK)
            return status;
        return copy_evidence_text(pythia_text_of(file), &m->first);
    }
    if (pythia_text_equal(asked, pythia_text_of(m->asked)) && rows == m->rows && fold == m->fold)
        return PYTHIA_OK;
    return pythia_error_set(m->e, PYTHIA_EUSAGE,
                            "was gathered with different options than %s: --rows %" PRIu64
                            "%s%.*s instead of --rows %" PRIu64 "%s%s",
                            m->first, rows, asked.size > 0 ? " " : "",
                            (int)(asked.size < 100 ? asked.size : 100), asked.bytes, m->rows,
                            *m->asked ? " " : "", m->asked);
}

static int add_count(struct pythia_evidence_merge *m, struct pythia_text message)
{
    struct pythia__evidence_count_row rows[PYTHIA__EVIDENCE_COUNTS];
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text name = {NULL, 0};
    uint64_t number = 0;
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_bytes(&f, COUNT_NAME))
            name = f.bytes;
        if (is_number(&f, COUNT_NUMBER))
            number = f.value;
    }
    if (status < 0)
        return status;
    pythia__evidence_counts(&m->result, rows);
    for (size_t i = 0; i < PYTHIA__EVIDENCE_COUNTS; i++) {
        if (!pythia_text_equal(name, pythia_text_of(rows[i].name)))
            continue;
        if (rows[i].number)
            *rows[i].number += number;
        else
            *rows[i].size += number;
    }
    return PYTHIA_OK;
}

/* Look: the settings, the inputs and the paths. Add: the counts, and the paths again. */
static int read_evidence_header(struct pythia_evidence_merge *m, struct pythia_text message,
                                const char *file, bool looking)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text asked = {"", 0};
    struct pythia_cost loop = {0};
    uint64_t rows = 0, fold = 0;
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_bytes(&f, HEADER_SETTINGS))
            asked = f.bytes;
        else if (is_number(&f, HEADER_ROWS))
            rows = f.value;
        else if (is_number(&f, HEADER_FOLD))
            fold = f.value;
        else if (is_number(&f, HEADER_LOOP_PASSES))
            loop.passes = f.value;
        else if (is_number(&f, HEADER_LOOP_NS))
            loop.ns = f.value;
        else if (is_bytes(&f, HEADER_PATH))
            status = read_path(m, f.bytes);
        else if (is_bytes(&f, HEADER_COUNT) && !looking)
            status = add_count(m, f.bytes);
        else if (is_bytes(&f, HEADER_INPUT) && looking)
            status = read_input(m, f.bytes, file);
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0 || !looking)
        return status < 0 ? status : pythia_vocabulary_cost_merge(m->vocabulary, PYTHIA_NONE, loop);
    status = check_settings(m, asked, rows, fold != 0, file);
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < m->path_count; i++) {
        uint32_t unused;
        if ((status = name_evidence_path(m, &m->paths[i], &unused)) != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

/* ---- names ---- */

/* Add: the trace point itself, and what it costs. */
static int add_evidence_point(struct pythia_evidence_merge *m, uint32_t point,
                              const struct pythia_cost *cost)
{
    struct pythia__evidence_names *names = &m->names;
    if (pythia_grow(&names->points, &names->point_capacity, names->point_count,
                    sizeof(*names->points)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    names->points[names->point_count++] = point;
    return cost ? pythia_vocabulary_cost_merge(m->vocabulary, point, *cost) : PYTHIA_OK;
}

static int read_point(struct pythia_evidence_merge *m, struct pythia_text message, bool looking)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text texts[3] = {{"", 0}, {"", 0}, {"", 0}};
    struct pythia_cost cost = {0};
    bool measured = false;
    uint32_t strings[3]; /* id, service, name */
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (f.number >= POINT_ID && f.number <= POINT_NAME && is_bytes(&f, f.number))
            texts[f.number - POINT_ID] = f.bytes;
        else if (is_number(&f, POINT_NS))
            cost.ns = f.value;
        else if (is_number(&f, POINT_PASSES)) {
            cost.passes = f.value;
            measured = true;
        }
    }
    for (size_t i = 0; i < 3 && status == 1; i++)
        status = find_evidence_string(m, texts[i], &strings[i]) == PYTHIA_OK ? 1 : PYTHIA_ENOMEM;
    if (status != 1)
        return status;
    uint32_t point = pythia_vocabulary_tracepoint_of_id(
        m->vocabulary, pythia_vocabulary_text(m->vocabulary, strings[0]), strings[1], strings[2]);
    if (point == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    return looking ? PYTHIA_OK : add_evidence_point(m, point, measured ? &cost : NULL);
}

static int read_evidence_key(struct pythia_evidence_merge *m, struct pythia_text message)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text attribute = {"", 0}, service = {"", 0};
    struct pythia_keys *keys = pythia_groups_merge_keys(m->groups);
    struct pythia__evidence_names *names = &m->names;
    uint64_t place = 0;
    uint32_t strings[2];
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_bytes(&f, KEY_ATTRIBUTE))
            attribute = f.bytes;
        else if (is_bytes(&f, KEY_SERVICE))
            service = f.bytes;
        else if (is_number(&f, KEY_POINT))
            place = f.value;
    }
    if (status < 0 || place > names->point_count)
        return status < 0 ? status : refuse_evidence(m, "a key of no trace point");
    if (find_evidence_string(m, attribute, &strings[0]) != PYTHIA_OK ||
        find_evidence_string(m, service, &strings[1]) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t key = place > 0 ? pythia_keys_at_point(keys, names->points[place - 1], strings[0])
                             : pythia_keys_of_service(keys, strings[1], strings[0]);
    if (key == PYTHIA_NONE || pythia_grow(&names->keys, &names->key_capacity, names->key_count,
                                          sizeof(*names->keys)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    names->keys[names->key_count++] = key;
    return PYTHIA_OK;
}

/* ---- types ---- */

static int read_moments(struct pythia_evidence_merge *m, struct pythia_text packed,
                        struct pythia_exact_moments *out)
{
    uint64_t *const words[] = {
        &out->n,         &out->weight, &out->weight_squares[0], &out->weight_squares[1],
        &out->sum[0],    &out->sum[1], &out->squares[0],        &out->squares[1],
        &out->squares[2]};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!pythia__column_varint(&packed, words[i]))
            return refuse_evidence(m, "moments that are not nine numbers");
    return PYTHIA_OK;
}

/* Bins are pairs of a step from the bin before and a count; there are as many as fit. */
static int read_bins(struct pythia_evidence_merge *m, struct pythia_text packed, uint64_t min,
                     uint64_t max, struct pythia_sketch **out)
{
    struct pythia_sketch_bin *bins =
        pythia_calloc(packed.size / 2 + 1, sizeof(*bins)); /* one may be broken */
    size_t count = 0;
    int64_t index = 0;
    uint64_t step;
    bool good = max <= INT64_MAX; /* a duration: so few bins are between */
    if (!bins)
        return PYTHIA_ENOMEM;
    while (good && packed.size > 0) {
        good = pythia__column_varint(&packed, &step) &&
               pythia__column_varint(&packed, &bins[count].count);
        index = (int64_t)((uint64_t)index + (uint64_t)pythia__unzigzag(step));
        good = good && index >= INT32_MIN && index <= INT32_MAX;
        bins[count++].index = good ? (int32_t)index : 0;
    }
    int status = good ? pythia_sketch_restore(PYTHIA_SKETCH_ALPHA, (double)min, (double)max, bins,
                                              count, out)
                      : PYTHIA_EINVAL;
    pythia_free(bins);
    return status == PYTHIA_EINVAL ? refuse_evidence(m, "a sketch that cannot be") : status;
}

static int read_sketch(struct pythia_evidence_merge *m, struct pythia_text message,
                       struct pythia_sketch **out)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text bins = {"", 0};
    uint64_t min = 0, max = 0;
    int status;
    if (*out)
        return refuse_evidence(m, "a sketch twice");
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_number(&f, SKETCH_MIN))
            min = f.value;
        else if (is_number(&f, SKETCH_MAX))
            max = f.value;
        else if (is_bytes(&f, SKETCH_BINS))
            bins = f.bytes;
    }
    return status < 0 ? status : read_bins(m, bins, min, max, out);
}

/* The name of a structure mixes that of its type, which is another one now if it has a path: both
 * by their hash, which are the same for other types. */
struct renaming {
    uint64_t old_type, new_type;
};

static int read_structure(struct pythia_evidence_merge *m, struct pythia_text message,
                          const struct pythia_type *type, struct renaming named)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_structure s = {.moments = type->moments, .level = PYTHIA_SHAPE_LEVELS};
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_number(&f, STRUCTURE_LEVEL) && f.value < PYTHIA_SHAPE_LEVELS)
            s.level = (uint32_t)f.value;
        else if (f.number == STRUCTURE_NAME && f.type == PYTHIA_PROTOBUF_FIXED64)
            s.name = f.value;
        else if (is_number(&f, STRUCTURE_WHOLE))
            s.whole = f.value != 0;
        else if (is_bytes(&f, STRUCTURE_MOMENTS))
            status = read_moments(m, f.bytes, &s.moments);
        else if (is_bytes(&f, STRUCTURE_SKETCH))
            status = read_sketch(m, f.bytes, &s.sketch);
        if (status != PYTHIA_OK)
            break;
    }
    struct pythia_sketch *own = s.sketch;
    s.sketch = own ? own : type->sketch;
    if (named.old_type != named.new_type)
        s.name = s.level > 0 ? pythia_structure_renamed(s.name, named.old_type, named.new_type)
                             : named.new_type;
    if (status == 1)
        status = s.level < PYTHIA_SHAPE_LEVELS
                     ? pythia_groups_merge_structure(m->groups, m->type, &s)
                     : refuse_evidence(m, "a structure without a level");
    pythia_sketch_destroy(own);
    return status;
}

/* The name of a type: its own, or that of a path, which may be known better now. */
static int read_name(struct pythia_evidence_merge *m, const struct pythia_protobuf_field *f,
                     struct pythia_type *type, struct renaming *named)
{
    struct pythia_text text = f->bytes;
    m->one_root = f->number == TYPE_PATH;
    type->path_at = 0;
    if (m->one_root) {
        if (f->value == 0 || f->value > m->path_count)
            return refuse_evidence(m, "a type of no path");
        const struct path *path = &m->paths[f->value - 1];
        int status = name_evidence_path(m, path, &type->path_at);
        if (status != PYTHIA_OK)
            return status;
        text = pythia_buf_text(&m->name);
        struct pythia_buf old = {0};
        pythia_buf_printf(&old, "%s\n%s", path->prefix, path->template);
        named->old_type = pythia_hash_bytes(old.bytes, old.size);
        pythia_buf_free(&old);
        if (old.failed)
            return PYTHIA_ENOMEM;
    }
    named->new_type = pythia_hash_bytes(text.bytes, text.size);
    if (!m->one_root)
        named->old_type = named->new_type;
    return find_evidence_string(m, text, &type->name);
}

static int read_type_fields(struct pythia_evidence_merge *m, struct pythia_text message,
                            struct pythia_type *type, struct renaming *named)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    int status;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK) {
        if (is_bytes(&f, TYPE_NAME) || is_number(&f, TYPE_PATH))
            status = read_name(m, &f, type, named);
        else if (is_bytes(&f, TYPE_MOMENTS))
            status = read_moments(m, f.bytes, &type->moments);
        else if (is_bytes(&f, TYPE_CLIENT))
            status = read_moments(m, f.bytes, &type->client);
        else if (is_bytes(&f, TYPE_SKETCH))
            status = read_sketch(m, f.bytes, &type->sketch);
        else if (f.number == TYPE_HEAVIEST && f.type == PYTHIA_PROTOBUF_FIXED64)
            memcpy(&type->heaviest, &f.value, sizeof(type->heaviest));
        else if (is_number(&f, TYPE_LEVELS) && f.value > 0 && f.value < PYTHIA_SHAPE_LEVELS) {
            type->levels = (uint32_t)f.value;
            type->too_varied = true;
        }
        if (status != PYTHIA_OK)
            return status;
    }
    if (status < 0)
        return status;
    return type->name != PYTHIA_NONE && type->sketch && isfinite(type->heaviest)
               ? PYTHIA_OK
               : refuse_evidence(m, "a type without a name or a sketch");
}

static int read_type(struct pythia_evidence_merge *m, struct pythia_text message)
{
    struct pythia_protobuf p = pythia_protobuf_of(message);
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_type type = {.name = PYTHIA_NONE};
    struct renaming named = {0};
    m->type = PYTHIA_NONE;
    int status = read_type_fields(m, message, &type, &named);
    if (status != PYTHIA_OK || (status = pythia_groups_merge_type(m->groups, &type)) != PYTHIA_OK)
        goto out;
    m->type = type.name;
    while ((status = next_field(m, &p, &f)) == PYTHIA_OK)
        if (is_bytes(&f, TYPE_STRUCTURE) &&
            (status = read_structure(m, f.bytes, &type, named)) != PYTHIA_OK)
            goto out;
out:
    pythia_sketch_destroy(type.sketch);
    return status == 1 ? PYTHIA_OK : status;
}

/* ---- files ---- */

static int read_evidence_message(struct pythia_evidence_merge *m, uint32_t number,
                                 struct pythia_text message, const char *file, bool looking)
{
    switch (number) {
    case EVIDENCE_HEADER:
        return read_evidence_header(m, message, file, looking);
    case EVIDENCE_POINT:
        return read_point(m, message, looking);
    case EVIDENCE_KEY:
        return looking ? 1 : read_evidence_key(m, message);
    case EVIDENCE_TYPE:
        return looking ? 1 : read_type(m, message);
    case EVIDENCE_ROWS:
        if (looking)
            return 1;
        return m->type == PYTHIA_NONE ? refuse_evidence(m, "rows of no type")
                                      : pythia__evidence_read_rows(message, &m->names, m->groups,
                                                                   m->type, m->one_root, m->e);
    default:
        return PYTHIA_OK; /* of a later version that adds to this one */
    }
}

/* The header comes first, and then the trace points; a look ends behind them. */
static int read_content(struct pythia_evidence_merge *m, struct pythia_source *from,
                        const char *file, bool looking)
{
    struct pythia_protobuf_stream s = {0};
    struct pythia_protobuf_field f = {.number = 0};
    struct pythia_text message;
    bool begun = false;
    int status;
    pythia_protobuf_stream_begin(&s, from, PYTHIA_PROTOBUF_LIMIT);
    while ((status = pythia_protobuf_stream_field(&s, PYTHIA_PROTOBUF_OPEN, &f)) == PYTHIA_OK) {
        if (f.type != PYTHIA_PROTOBUF_BYTES)
            continue;
        status = pythia_protobuf_stream_take(&s, &f, &message);
        if (status != PYTHIA_OK)
            goto out;
        if (begun == (f.number == EVIDENCE_HEADER)) {
            status = refuse_evidence(m, "a header that is missing, or there twice");
            goto out;
        }
        begun = true;
        status = read_evidence_message(m, f.number, message, file, looking);
        if (status != PYTHIA_OK)
            goto out;
    }
out:
    if (s.error.status != PYTHIA_OK)
        status = pythia_error_set(m->e, s.error.status, "broken evidence: %s", s.error.sentence);
    else if (status == 1)
        status = begun ? PYTHIA_OK : refuse_evidence(m, "it is empty");
    pythia_protobuf_stream_free(&s);
    return status;
}

/* The first line: what it is, and of which version. */
static int check_version(struct pythia_evidence_merge *m, struct pythia_text *file)
{
    const struct pythia_text magic = PYTHIA_TEXT(PYTHIA__EVIDENCE_MAGIC);
    uint64_t version = 0;
    size_t at = magic.size;
    if (!pythia_text_starts(*file, magic))
        return pythia_error_set(m->e, PYTHIA_EFORMAT,
                                "is not evidence; make it with pythia replay --evidence");
    for (;
         at < file->size && at < magic.size + 9 && file->bytes[at] >= '0' && file->bytes[at] <= '9';
         at++)
        version = version * 10 + (uint64_t)(file->bytes[at] - '0');
    if (at == file->size || file->bytes[at] != '\n' || version == 0)
        return refuse_evidence(m, "a first line without a version");
    if (version != PYTHIA__EVIDENCE_VERSION)
        return pythia_error_set(m->e, PYTHIA_EUSAGE,
                                "is evidence of version %" PRIu64
                                ", but this pythia merges version %d; make all parts and merge "
                                "them with the same pythia",
                                version, PYTHIA__EVIDENCE_VERSION);
    *file = (struct pythia_text){file->bytes + at + 1, file->size - at - 1};
    return PYTHIA_OK;
}

static int read_evidence_file(struct pythia_evidence_merge *m, const char *name,
                              struct pythia_text file, bool looking, struct pythia_error *e)
{
    const struct pythia_unpack_limits limits = {.expansion_max = EXPANSION_MAX};
    struct pythia_memory_source packed;
    struct pythia_unpack *unpack = NULL;
    m->e = e;
    clear_file(m);
    int status = check_version(m, &file);
    if (status != PYTHIA_OK)
        goto out;
    pythia_memory_source_init(&packed, name, file.bytes, file.size);
    status = pythia_unpack_create(&packed.source, PYTHIA_PACKING_ZSTD, &limits, &unpack, e);
    if (status != PYTHIA_OK)
        goto out;
    status = read_content(m, pythia_unpack_source(unpack), name, looking);
out:
    pythia_unpack_destroy(unpack);
    pythia_error_place(e, name, 0, 0);
    return status;
}

int pythia_evidence_merge_look(struct pythia_evidence_merge *m, const char *name,
                               struct pythia_text file, struct pythia_error *e)
{
    return read_evidence_file(m, name, file, true, e);
}

/* Groups are as large as the settings say. */
static int make_merged_groups(struct pythia_evidence_merge *m)
{
    const struct pythia_groups_options options = {
        .fold = m->fold, .rows_per_type = (size_t)m->rows, .rows = (size_t)m->rows * 4};
    return m->groups ? PYTHIA_OK : pythia_groups_create(m->vocabulary, &options, &m->groups);
}

int pythia_evidence_merge_add(struct pythia_evidence_merge *m, const char *name,
                              struct pythia_text file, struct pythia_error *e)
{
    int status = make_merged_groups(m);
    if (status != PYTHIA_OK)
        return status;
    return read_evidence_file(m, name, file, false, e);
}

static int compare_inputs(const void *a, const void *b)
{
    const struct input *x = a, *y = b;
    for (size_t i = 0; i < x->source_count && i < y->source_count; i++) {
        int order = strcmp(x->sources[i], y->sources[i]);
        if (order)
            return order;
    }
    if (x->source_count != y->source_count)
        return x->source_count < y->source_count ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

int pythia_evidence_merge_finish(struct pythia_evidence_merge *m)
{
    int status = make_merged_groups(m);
    if (status != PYTHIA_OK)
        return status;
    m->listed = pythia_calloc(m->input_count, sizeof(*m->listed));
    if (!m->listed)
        return PYTHIA_ENOMEM;
    if (m->input_count > 0)
        qsort(m->inputs, m->input_count, sizeof(*m->inputs), compare_inputs);
    for (size_t i = 0; i < m->input_count; i++)
        m->listed[i] =
            (struct pythia_evidence_input){.id = m->inputs[i].id,
                                           .sources = (const char *const *)m->inputs[i].sources,
                                           .source_count = m->inputs[i].source_count};
    return pythia_groups_finish(m->groups);
}

struct pythia_groups *pythia_evidence_merge_take(struct pythia_evidence_merge *m)
{
    struct pythia_groups *groups = m->groups;
    m->groups = NULL;
    return groups;
}

struct pythia_evidence_source pythia_evidence_merge_source(const struct pythia_evidence_merge *m)
{
    return (struct pythia_evidence_source){
        .vocabulary = m->vocabulary,
        .groups = m->groups,
        .result = &m->result,
        .settings = {.fold = m->fold, .rows = (size_t)m->rows, .asked = m->asked},
        .inputs = m->listed,
        .input_count = m->input_count,
        .merged = true};
}
