/* Rows of CSV, as RFC 4180 has them. A row that is broken is left out and told; reading goes on at
 * the next line, so that a quote that is never closed costs one row and not the rest. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/series.h"
#include "pythia/status.h"
#include "series_real.h"

#define FIELDS      4
#define FIELD_BYTES 4096 /* of a label; no quoted one is followed further */
#define STEP_NS     UINT64_C(1000000000)

struct reading {
    struct pythia_series_csv *csv;
    const char *name, *begin, *at, *end;
    uint64_t line;
    char label[3 * FIELD_BYTES]; /* without its quotes, and sound */
    char raw[FIELD_BYTES];
    /* The label and process of the last row, and the latest time of theirs in this file. */
    struct latest {
        uint64_t hash, time_ns;
    } * latest;
    size_t slot_count, used;
};

struct row {
    struct pythia_text fields[FIELDS];
};

static void report_csv_line(const struct reading *r, const char *at, const char *sentence)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(&why, r->name, r->line, (uint64_t)(at - r->begin));
    r->csv->broken(r->csv->context, &why);
}

/* ---- fields ---- */

/* A quoted field into `raw`; r->at is after its opening quote. NULL, or what is wrong. */
static const char *take_quoted(struct reading *r, const char **at, struct pythia_text *field)
{
    size_t used = 0;
    for (const char *from = *at; from < r->end; from++) {
        if (*from == '"') {
            if (from + 1 == r->end || from[1] != '"') {
                *at = from + 1;
                *field = (struct pythia_text){r->raw, used};
                return NULL;
            }
            from++;
        }
        if (used == sizeof(r->raw))
            return "a quoted field has more than 4096 bytes: is its quote closed?";
        r->raw[used++] = *from;
    }
    return "the end of the file comes before the end of a quoted field";
}

/* One row's fields, of which at most one, the label, is quoted. NULL, or what is wrong; r->at is
 * then where the next line begins. */
static const char *take_row(struct reading *r, struct row *row)
{
    const char *at = r->at, *line_end = memchr(at, '\n', (size_t)(r->end - at)), *wrong = NULL;
    const char *next = line_end ? line_end + 1 : r->end;
    size_t count = 0;
    for (bool more = true; more && !wrong; count++) {
        struct pythia_text field;
        const char *quote = at;
        while (quote < r->end && *quote == ' ')
            quote++;
        if (quote < r->end && *quote == '"') {
            if (count != 2) {
                wrong = "a number is quoted";
                break;
            }
            at = quote + 1;
            wrong = take_quoted(r, &at, &field);
            if (wrong)
                break;
            while (at < r->end && *at == ' ')
                at++;
        } else {
            const char *begin = at;
            while (at < r->end && *at != ',' && *at != '\n')
                at++;
            field = (struct pythia_text){begin, (size_t)(at - begin)};
        }
        more = at < r->end && *at == ',';
        if (!more && field.size && field.bytes + field.size == at && at[-1] == '\r')
            field.size--;
        if (!more && at < r->end && *at == '\r')
            at++;
        if (!more && at < r->end && *at != '\n')
            wrong = "there is something behind the closing quote of a field";
        if (count < FIELDS)
            row->fields[count] = field;
        at += at < r->end;
    }
    if (!wrong && count != FIELDS)
        wrong = count < FIELDS ? "has fewer fields than 4" : "has more fields than 4";
    r->at = wrong ? next : at;
    return wrong;
}

/* ---- rows ---- */

static int reach_latest(struct reading *r)
{
    if (2 * (r->used + 1) < r->slot_count)
        return PYTHIA_OK;
    size_t wanted = r->slot_count ? 2 * r->slot_count : 64;
    struct latest *latest = pythia_calloc(wanted, sizeof(*latest));
    if (!latest)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; i < r->slot_count; i++) {
        if (!r->latest[i].hash)
            continue;
        size_t at = (size_t)r->latest[i].hash & (wanted - 1);
        while (latest[at].hash)
            at = (at + 1) & (wanted - 1);
        latest[at] = r->latest[i];
    }
    pythia_free(r->latest);
    r->latest = latest;
    r->slot_count = wanted;
    return PYTHIA_OK;
}

/* Rows of several threads are not quite in order; a second is more than that. */
static int note_time_step(struct reading *r, struct pythia_text label, uint64_t process,
                          uint64_t time_ns)
{
    if (reach_latest(r) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint64_t hash = pythia_hash_mix(pythia_hash_bytes(label.bytes, label.size), process) | 1;
    size_t at = (size_t)hash & (r->slot_count - 1);
    while (r->latest[at].hash && r->latest[at].hash != hash)
        at = (at + 1) & (r->slot_count - 1);
    struct latest *latest = &r->latest[at];
    r->used += latest->hash == 0;
    latest->hash = hash;
    if (time_ns + STEP_NS < latest->time_ns) {
        r->csv->counts.back++;
        latest->time_ns = time_ns;
    }
    latest->time_ns = latest->time_ns > time_ns ? latest->time_ns : time_ns;
    return PYTHIA_OK;
}

/* A row's values: PYTHIA_OK, PYTHIA_ENOMEM, or PYTHIA_EFORMAT and *wrong. */
static int add_csv_row(struct reading *r, const struct row *row, const char **wrong)
{
    uint64_t time_ns, process;
    double value;
    if (!pythia_text_unsigned(pythia_text_trim(row->fields[0]), INT64_MAX, &time_ns))
        *wrong = "the time point is not a number of nanoseconds";
    else if (!(*wrong = pythia__series_real(pythia_text_trim(row->fields[1]), &value)) &&
             !pythia_text_unsigned(pythia_text_trim(row->fields[3]), UINT32_MAX, &process))
        *wrong = "the PID is not a number";
    struct pythia_text label = row->fields[2];
    if (!*wrong && label.size > FIELD_BYTES)
        *wrong = "the label has more than 4096 bytes";
    if (*wrong)
        return PYTHIA_EFORMAT;
    if (label.bytes != r->raw)
        label = pythia_text_trim(label);
    if (!pythia_text_is_sound(label))
        label = (struct pythia_text){r->label, pythia_text_repair(label, r->label)};
    int status = note_time_step(r, label, process, time_ns);
    if (status != PYTHIA_OK)
        return status;
    return pythia_series_set_add(r->csv->to, label, (uint32_t)process, time_ns, value);
}

static uint64_t count_line_breaks(const char *from, const char *to)
{
    uint64_t lines = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
        lines++;
        from++;
    }
    return lines;
}

/* A last line without a newline is being written at this moment, and counts as cut; any other row
 * that cannot be read is broken, is reported, and costs only itself. */
static int read_csv_rows(struct reading *r, bool unfinished)
{
    while (r->at < r->end) {
        struct row row = {0};
        const char *begin = r->at, *wrong = take_row(r, &row);
        bool cut = unfinished && r->at == r->end && r->end[-1] != '\n', empty = false;
        if (wrong && r->at - begin <= 2)
            empty = begin[0] == '\n' || (begin[0] == '\r' && r->at - begin == 2);
        int status = wrong || cut ? PYTHIA_EFORMAT : add_csv_row(r, &row, &wrong);
        if (status == PYTHIA_ENOMEM)
            return status;
        if (status == PYTHIA_OK) {
            r->csv->counts.rows++;
        } else if (cut) {
            r->csv->counts.cut++;
        } else if (!empty) {
            r->csv->counts.broken++;
            report_csv_line(r, begin, wrong);
        }
        r->line += count_line_breaks(begin, r->at);
    }
    return PYTHIA_OK;
}

static bool take_heading(struct reading *r)
{
    static const char *const names[FIELDS] = {"Timepoint", "Measurement", "Label", "PID"};
    struct row row = {0};
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at += 3;
    if (r->at == r->end || take_row(r, &row))
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        if (!pythia_text_equal(pythia_text_trim(row.fields[i]), pythia_text_of(names[i])))
            return false;
    r->line = 2;
    return true;
}

int pythia_series_csv_read(struct pythia_series_csv *csv, const char *name,
                           struct pythia_text content, bool unfinished)
{
    struct reading *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return PYTHIA_ENOMEM;
    r->csv = csv;
    r->name = name;
    r->begin = r->at = content.bytes;
    r->line = 1;
    r->end = content.bytes + content.size;
    int status = PYTHIA_EFORMAT;
    if (take_heading(r))
        status = read_csv_rows(r, unfinished);
    else
        report_csv_line(r, r->begin, "does not begin with Timepoint,Measurement,Label,PID");
    pythia_free(r->latest);
    pythia_free(r);
    return status;
}
