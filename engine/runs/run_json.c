#include "pythia/run_json.h"

#include <inttypes.h>
#include <math.h>
#include <nettle/md5.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "pythia/json_text.h"
#include "pythia/mem.h"
#include "pythia/status.h"

/* ---- keys and commands ---- */

static void write_hex(const unsigned char *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

void pythia_run_key(const char *text, char key[65])
{
    unsigned char digest[32] = {0};
    struct sha256_ctx sha256;
    sha256_init(&sha256);
    sha256_update(&sha256, strlen(text), (const uint8_t *)text);
    sha256_digest(&sha256, sizeof(digest), digest);
    write_hex(digest, sizeof(digest), key);
}

/* A JSON string of bytes that may be anything; NULL without memory. */
static json_t *json_of_bytes(struct pythia_text bytes)
{
    char *sound = pythia_malloc(3 * bytes.size + 1);
    if (!sound)
        return NULL;
    size_t size = pythia_text_repair(bytes, sound);
    json_t *string = json_stringn(sound, size);
    pythia_free(sound);
    return string;
}

char *pythia_run_command(char *const *arguments)
{
    json_t *list = json_array();
    for (size_t i = 0; list && arguments[i]; i++)
        if (json_array_append_new(list, json_of_bytes(pythia_text_of(arguments[i]))) != 0) {
            json_decref(list);
            list = NULL;
        }
    char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
    json_decref(list);
    return text;
}

static void show_word(const char *word, struct pythia_buf *to)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=:,+@%^";
    if (*word && word[strspn(word, plain)] == '\0') {
        pythia_buf_puts(to, word);
        return;
    }
    pythia_buf_putc(to, '\'');
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            pythia_buf_puts(to, "'\\''");
        else
            pythia_buf_putc(to, *c);
    pythia_buf_putc(to, '\'');
}

void pythia_run_command_show(const char *command, struct pythia_buf *to)
{
    json_t *list = command ? json_loads(command, 0, NULL) : NULL, *word;
    size_t i;
    if (!json_is_array(list))
        pythia_buf_puts(to, command ? command : "(command withheld)");
    json_array_foreach (list, i, word) {
        if (i > 0)
            pythia_buf_putc(to, ' ');
        show_word(json_is_string(word) ? json_string_value(word) : "?", to);
    }
    json_decref(list);
}

/* ---- writing ---- */

/* Set a member unless its value could not be made; *failed says so. */
static void set_member(json_t *object, const char *key, json_t *value, bool *failed)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        *failed = true;
}

static void set_text(json_t *object, const char *key, const char *text, bool *failed)
{
    if (text)
        set_member(object, key, json_of_bytes(pythia_text_of(text)), failed);
}

static void set_number(json_t *object, const char *key, int64_t number, bool *failed)
{
    if (number >= 0)
        set_member(object, key, json_integer(number), failed);
}

static json_t *json_of_host(const struct pythia_run_host *host, bool *failed)
{
    json_t *o = json_object();
    set_text(o, "name", host->name, failed);
    set_text(o, "uname", host->uname, failed);
    set_text(o, "cpu_model", host->cpu_model, failed);
    set_text(o, "governor", host->governor, failed);
    set_number(o, "cpus", host->cpus, failed);
    set_number(o, "memory_bytes", host->memory_bytes, failed);
    set_number(o, "swap_bytes", host->swap_bytes, failed);
    return o;
}

static json_t *json_of_callpath(const struct pythia_run_callpath *c, bool *failed)
{
    json_t *o = json_object();
    set_text(o, "path", c->path, failed);
    set_number(o, "calls", c->calls, failed);
    set_number(o, "sum_ns", c->sum_ns, failed);
    set_member(o, "sum_squares", json_real(c->sum_squares), failed);
    set_number(o, "min_ns", c->min_ns, failed);
    set_number(o, "max_ns", c->max_ns, failed);
    set_number(o, "p50_ns", c->p50_ns, failed);
    set_number(o, "p99_ns", c->p99_ns, failed);
    set_number(o, "exclusive_ns", c->exclusive_ns, failed);
    return o;
}

static json_t *json_of_process(const struct pythia_run_process *p, bool *failed)
{
    json_t *o = json_object();
    set_number(o, "pid", p->pid, failed);
    set_text(o, "name", p->name, failed);
    set_number(o, "user_ns", p->user_ns, failed);
    set_number(o, "sys_ns", p->sys_ns, failed);
    set_number(o, "max_rss_bytes", p->max_rss_bytes, failed);
    set_number(o, "major_faults", p->major_faults, failed);
    set_number(o, "minor_faults", p->minor_faults, failed);
    set_number(o, "spans", p->spans, failed);
    set_number(o, "exclusive_ns", p->exclusive_ns, failed);
    return o;
}

static json_t *json_of_finding(const struct pythia_run_finding *f, bool *failed)
{
    json_t *o = json_object();
    set_number(o, "rank", f->rank, failed);
    set_text(o, "type", f->type, failed);
    set_text(o, "place", f->place, failed);
    if (isfinite(f->share))
        set_member(o, "share", json_real(f->share), failed);
    set_text(o, "key", f->key, failed);
    set_text(o, "sentence", f->sentence, failed);
    return o;
}

static json_t *json_of_artifact(const struct pythia_run_artifact *a, bool *failed)
{
    json_t *o = json_object();
    set_text(o, "name", a->name, failed);
    set_text(o, "kind", a->kind, failed);
    set_member(o, "body", json_of_bytes(a->body), failed);
    return o;
}

static void set_lists(json_t *o, const struct pythia_run *run, bool *failed)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < run->callpath_count; i++)
        json_array_append_new(list, json_of_callpath(&run->callpaths[i], failed));
    set_member(o, "callpaths", list, failed);
    list = json_array();
    for (size_t i = 0; list && i < run->process_count; i++)
        json_array_append_new(list, json_of_process(&run->processes[i], failed));
    set_member(o, "processes", list, failed);
    list = json_array();
    for (size_t i = 0; list && i < run->finding_count; i++)
        json_array_append_new(list, json_of_finding(&run->findings[i], failed));
    set_member(o, "findings", list, failed);
    list = json_array();
    for (size_t i = 0; list && i < run->artifact_count; i++)
        json_array_append_new(list, json_of_artifact(&run->artifacts[i], failed));
    set_member(o, "artifacts", list, failed);
}

/* The run as an object, or NULL without memory. */
static json_t *json_of_run(const struct pythia_run *run)
{
    static const char *const streams[] = {"stdout", "stderr"};
    bool failed = false;
    json_t *o = json_object(), *metrics = json_object(), *meta = json_object();
    json_t *command = run->command ? json_loads(run->command, 0, NULL) : NULL;
    set_number(o, "id", run->id, &failed);
    set_number(o, "started_ns", (int64_t)run->started_ns, &failed);
    if (command)
        set_member(o, "command", command, &failed);
    else
        set_text(o, "command", run->command, &failed);
    set_text(o, "command_key", run->command_key, &failed);
    set_text(o, "tag", run->tag, &failed);
    set_text(o, "suite", run->suite, &failed);
    set_text(o, "benchmark", run->benchmark, &failed);
    set_text(o, "description", run->description, &failed);
    set_number(o, "exit_status", run->exit_status, &failed);
    set_number(o, "signal", run->signal, &failed);
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        set_number(metrics, pythia_run_metrics[m].name, run->metrics[m], &failed);
    set_member(o, "metrics", metrics, &failed);
    set_text(o, "git_commit", run->git_commit, &failed);
    set_number(o, "git_dirty", run->git_dirty, &failed);
    set_text(o, "version", run->version, &failed);
    set_member(o, "host", json_of_host(&run->host, &failed), &failed);
    for (size_t i = 0; i < run->meta_count; i++)
        set_text(meta, run->meta[i].key, run->meta[i].value, &failed);
    set_member(o, "meta", meta, &failed);
    for (int s = 0; s < 2; s++) {
        char name[32];
        if (run->output_bytes[s] <= 0)
            continue;
        set_member(o, streams[s], json_of_bytes(run->output[s]), &failed);
        snprintf(name, sizeof(name), "%s_bytes", streams[s]);
        set_number(o, name, run->output_bytes[s], &failed);
    }
    set_lists(o, run, &failed);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

static int write_run_json(json_t *o, struct pythia_buf *to)
{
    int status = pythia_json_put(to, o, JSON_COMPACT, "\n");
    json_decref(o);
    return status;
}

int pythia_run_json(const struct pythia_run *run, struct pythia_buf *to)
{
    return write_run_json(json_of_run(run), to);
}

/* ---- the record of the other profiler ---- */

/* Its members that are numbers, and what they are here: value = metric / divisor. */
static const struct {
    const char *name;
    enum pythia_run_metric metric;
    double divisor;
} record_numbers[] = {
    {"user_time_sec", PYTHIA_RUN_USER_NS, 1e9},
    {"system_time_sec", PYTHIA_RUN_SYS_NS, 1e9},
    {"elapsed_time_sec", PYTHIA_RUN_WALL_NS, 1e9},
    {"max_res_set_sz_kb", PYTHIA_RUN_MAX_RSS, 1024},
    {"major_page_faults", PYTHIA_RUN_MAJOR_FAULTS, 1},
    {"minor_page_faults", PYTHIA_RUN_MINOR_FAULTS, 1},
    {"voluntary_context_switches", PYTHIA_RUN_VOLUNTARY_SWITCHES, 1},
    {"involuntary_context_switches", PYTHIA_RUN_INVOLUNTARY_SWITCHES, 1},
    {"file_system_inputs", PYTHIA_RUN_IN_BLOCKS, 1},
    {"file_system_outputs", PYTHIA_RUN_OUT_BLOCKS, 1},
};
#define RECORD_NUMBERS (sizeof(record_numbers) / sizeof(record_numbers[0]))

/* The members of other tools' records come first, so that these can read ours; what they have no
 * member for is in "pythia". */
int pythia_run_json_record(const struct pythia_run *run, struct pythia_buf *to)
{
    bool failed = false;
    json_t *o = json_object(), *host = json_object(), *whole = json_of_run(run);
    struct pythia_buf command = {0};
    pythia_run_command_show(run->command, &command);
    set_member(o, "command", json_of_bytes(pythia_buf_text(&command)), &failed);
    set_member(o, "timestamp", json_real((double)run->started_ns / 1e9), &failed);
    set_member(o, "stdout", json_of_bytes(run->output[0]), &failed);
    set_member(o, "stderr", json_of_bytes(run->output[1]), &failed);
    set_text(host, "uname", run->host.uname, &failed);
    set_number(host, "total_physical_mem_bytes", run->host.memory_bytes, &failed);
    set_number(host, "cpu_count", run->host.cpus, &failed);
    set_text(host, "get_git_revision_hash", run->git_commit, &failed);
    set_member(o, "host_context", host, &failed);
    for (size_t i = 0; i < RECORD_NUMBERS; i++) {
        int64_t value = run->metrics[record_numbers[i].metric];
        if (value >= 0 && record_numbers[i].divisor == 1)
            set_member(o, record_numbers[i].name, json_integer(value), &failed);
        else if (value >= 0)
            set_member(o, record_numbers[i].name,
                       json_real((double)value / record_numbers[i].divisor), &failed);
    }
    set_number(o, "exit_status", run->exit_status, &failed);
    set_member(o, "pythia", whole, &failed);
    if (pythia_buf_status(&command) != PYTHIA_OK)
        failed = true;
    pythia_buf_free(&command);
    if (failed) {
        json_decref(o);
        o = NULL;
    }
    return write_run_json(o, to);
}

int pythia_run_json_name(const struct pythia_run *run, struct pythia_buf *to)
{
    struct pythia_buf command = {0};
    unsigned char digest[16] = {0};
    char hex[33];
    pythia_run_command_show(run->command, &command);
    int status = pythia_buf_status(&command);
    struct pythia_text text = pythia_buf_text(&command);
    struct md5_ctx md5;
    md5_init(&md5);
    md5_update(&md5, text.size, (const uint8_t *)text.bytes);
    md5_digest(&md5, sizeof(digest), digest);
    pythia_buf_free(&command);
    write_hex(digest, sizeof(digest), hex);
    pythia_buf_printf(to, "%s/%" PRIu64 ".%09" PRIu64 ".json", hex, run->started_ns / 1000000000,
                      run->started_ns % 1000000000);
    return status == PYTHIA_OK ? pythia_buf_status(to) : status;
}

/* ---- reading ---- */

struct pythia_run_parsed {
    json_t *document; /* texts of the run are borrowed from it */
    char *command;
    char key[65];
    struct pythia_run run;
    struct pythia_run_pair *meta; /* owned, as are the next four */
    struct pythia_run_callpath *callpaths;
    struct pythia_run_process *processes;
    struct pythia_run_finding *findings;
    struct pythia_run_artifact *artifacts;
};

static const char *get_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

/* A number, or a text that is one: "0.20", "33 %", "1:02.5" (minutes and seconds). NaN: neither. */
static double get_real(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    if (json_is_number(value))
        return json_number_value(value);
    const char *text = json_string_value(value);
    if (!text)
        return NAN;
    double sum = 0;
    for (;;) {
        char *end;
        double part = strtod(text, &end);
        if (end == text || part < 0)
            return NAN;
        sum = sum * 60 + part;
        if (*end != ':')
            return sum;
        text = end + 1;
    }
}

/* A whole number; -1 if there is none that fits. */
static int64_t get_number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    if (json_is_integer(value))
        return json_integer_value(value) < 0 ? -1 : json_integer_value(value);
    double real = get_real(o, key);
    return real >= 0 && real < 9e18 ? (int64_t)real : -1;
}

static struct pythia_text get_bytes(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    struct pythia_text bytes = {json_string_value(value), json_string_length(value)};
    return bytes;
}

/* Memory for so many elements; none for none. */
static bool make_list(size_t elements, size_t size, void *out, size_t *count)
{
    void *made = NULL;
    *count = elements;
    if (*count > 0 && !(made = pythia_calloc(*count, size)))
        return false;
    memcpy(out, &made, sizeof(made));
    return true;
}

static void parse_process(const json_t *o, struct pythia_run_process *p)
{
    int64_t spans = get_number(o, "spans"), exclusive_ns = get_number(o, "exclusive_ns");
    *p = (struct pythia_run_process){.pid = get_number(o, "pid"),
                                     .name = get_text(o, "name"),
                                     .user_ns = get_number(o, "user_ns"),
                                     .sys_ns = get_number(o, "sys_ns"),
                                     .max_rss_bytes = get_number(o, "max_rss_bytes"),
                                     .major_faults = get_number(o, "major_faults"),
                                     .minor_faults = get_number(o, "minor_faults"),
                                     .spans = spans > 0 ? spans : 0,
                                     .exclusive_ns = exclusive_ns > 0 ? exclusive_ns : 0};
}

static int parse_lists(struct pythia_run_parsed *p, json_t *o)
{
    json_t *meta = json_object_get(o, "meta"), *paths = json_object_get(o, "callpaths");
    json_t *findings = json_object_get(o, "findings"), *files = json_object_get(o, "artifacts");
    json_t *processes = json_object_get(o, "processes");
    json_t *value;
    const char *key;
    size_t i, used = 0;
    struct pythia_run *run = &p->run;
    if (!make_list(json_object_size(meta), sizeof(*p->meta), &p->meta, &run->meta_count) ||
        !make_list(json_array_size(paths), sizeof(*p->callpaths), &p->callpaths,
                   &run->callpath_count) ||
        !make_list(json_array_size(processes), sizeof(*p->processes), &p->processes,
                   &run->process_count) ||
        !make_list(json_array_size(findings), sizeof(*p->findings), &p->findings,
                   &run->finding_count) ||
        !make_list(json_array_size(files), sizeof(*p->artifacts), &p->artifacts,
                   &run->artifact_count))
        return PYTHIA_ENOMEM;
    json_object_foreach (meta, key, value) {
        if (json_is_string(value))
            p->meta[used++] = (struct pythia_run_pair){key, json_string_value(value)};
    }
    run->meta_count = used;
    json_array_foreach (paths, i, value) {
        p->callpaths[i] = (struct pythia_run_callpath){
            .path = get_text(value, "path") ? get_text(value, "path") : "",
            .calls = get_number(value, "calls"),
            .sum_ns = get_number(value, "sum_ns"),
            .sum_squares = get_real(value, "sum_squares"),
            .min_ns = get_number(value, "min_ns"),
            .max_ns = get_number(value, "max_ns"),
            .p50_ns = get_number(value, "p50_ns"),
            .p99_ns = get_number(value, "p99_ns"),
            .exclusive_ns = get_number(value, "exclusive_ns")};
    }
    json_array_foreach (processes, i, value)
        parse_process(value, &p->processes[i]);
    json_array_foreach (findings, i, value) {
        p->findings[i] = (struct pythia_run_finding){
            get_number(value, "rank"), get_text(value, "type"), get_text(value, "place"),
            get_real(value, "share"),  get_text(value, "key"),  get_text(value, "sentence")};
    }
    json_array_foreach (files, i, value) {
        p->artifacts[i] = (struct pythia_run_artifact){
            get_text(value, "name") ? get_text(value, "name") : "",
            get_text(value, "kind") ? get_text(value, "kind") : "other", get_bytes(value, "body")};
        if (!p->artifacts[i].body.bytes)
            p->artifacts[i].body.bytes = "";
    }
    run->meta = p->meta;
    run->callpaths = p->callpaths;
    run->processes = p->processes;
    run->findings = p->findings;
    run->artifacts = p->artifacts;
    return PYTHIA_OK;
}

static void parse_outputs(struct pythia_run *run, const json_t *o)
{
    static const char *const names[] = {"stdout", "stderr"};
    static const char *const sizes[] = {"stdout_bytes", "stderr_bytes"};
    for (int s = 0; s < 2; s++) {
        run->output[s] = get_bytes(o, names[s]);
        int64_t all = get_number(o, sizes[s]);
        run->output_bytes[s] = all >= 0 ? all : (int64_t)run->output[s].size;
        if (run->output[s].size > PYTHIA_RUN_OUTPUT_MAX)
            run->output[s].size = PYTHIA_RUN_OUTPUT_MAX;
    }
}

/* Our own object. */
static int parse_own(struct pythia_run_parsed *p, json_t *o)
{
    struct pythia_run *run = &p->run;
    const json_t *metrics = json_object_get(o, "metrics"), *host = json_object_get(o, "host");
    run->started_ns = (uint64_t)(get_number(o, "started_ns") < 0 ? 0 : get_number(o, "started_ns"));
    run->tag = get_text(o, "tag");
    run->suite = get_text(o, "suite");
    run->benchmark = get_text(o, "benchmark");
    run->description = get_text(o, "description");
    run->exit_status = (int)get_number(o, "exit_status");
    run->signal = get_number(o, "signal") > 0 ? (int)get_number(o, "signal") : 0;
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        run->metrics[m] = get_number(metrics, pythia_run_metrics[m].name);
    run->git_commit = get_text(o, "git_commit");
    run->git_dirty = (int)get_number(o, "git_dirty");
    run->version = get_text(o, "version");
    run->host = (struct pythia_run_host){
        get_text(host, "name"),        get_text(host, "uname"),  get_text(host, "cpu_model"),
        get_text(host, "governor"),    get_number(host, "cpus"), get_number(host, "memory_bytes"),
        get_number(host, "swap_bytes")};
    parse_outputs(run, o);
    return parse_lists(p, o);
}

/* A record of the other profiler, whose command is one text. */
static int parse_record(struct pythia_run_parsed *p, const json_t *o)
{
    struct pythia_run *run = &p->run;
    const json_t *host = json_object_get(o, "host_context");
    double started = get_real(o, "timestamp");
    run->started_ns = started >= 0 && started < 9e9 ? (uint64_t)(started * 1e9) : 0;
    run->exit_status = (int)get_number(o, "exit_status");
    for (int m = 0; m < PYTHIA_RUN_METRICS; m++)
        run->metrics[m] = -1;
    for (size_t i = 0; i < RECORD_NUMBERS; i++) {
        double value = get_real(o, record_numbers[i].name) * record_numbers[i].divisor;
        if (value >= 0 && value < 9e18)
            run->metrics[record_numbers[i].metric] = llround(value);
    }
    run->git_dirty = -1;
    run->git_commit = get_text(host, "get_git_revision_hash");
    run->host = (struct pythia_run_host){
        NULL, get_text(host, "uname"),       NULL,
        NULL, get_number(host, "cpu_count"), get_number(host, "total_physical_mem_bytes"),
        -1};
    parse_outputs(run, o);
    return PYTHIA_OK;
}

/* The command of our object is a list of arguments, that of a record a text; the text is kept as a
 * list of one, which shows as what it was. */
static int parse_command(struct pythia_run_parsed *p, json_t *o)
{
    json_t *command = json_object_get(o, "command");
    const char *key = get_text(o, "command_key");
    if (json_is_array(command)) {
        p->command = json_dumps(command, JSON_COMPACT);
    } else if (json_is_string(command)) {
        json_t *list = json_pack("[O]", command);
        p->command = list ? json_dumps(list, JSON_COMPACT) : NULL;
        json_decref(list);
    }
    if ((json_is_array(command) || json_is_string(command)) && !p->command)
        return PYTHIA_ENOMEM;
    p->run.command = p->command;
    if (p->command)
        pythia_run_key(p->command, p->key);
    else
        snprintf(p->key, sizeof(p->key), "%.64s", key ? key : "");
    p->run.command_key = p->key;
    return PYTHIA_OK;
}

/* Records of this program have all numbers in "pythia"; those of other tools are read as far as
 * they go. */
int pythia_run_json_parse(struct pythia_text json, struct pythia_run_parsed **out,
                          struct pythia_error *e)
{
    json_error_t why;
    struct pythia_run_parsed *p = pythia_calloc(1, sizeof(*p));
    if (!p)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    p->document = json_loadb(json.bytes, json.size, JSON_REJECT_DUPLICATES, &why);
    json_t *own = json_object_get(p->document, "pythia");
    json_t *o = own ? own : p->document;
    bool is_own = json_is_object(json_object_get(o, "metrics"));
    int status = PYTHIA_OK;
    if (!p->document) {
        pythia_error_place(e, "", why.line > 0 ? (uint64_t)why.line : 0, 0);
        status = pythia_error_set(e, PYTHIA_EFORMAT, "is not JSON: %s", why.text);
    } else if (!json_is_object(o) || (!is_own && !json_object_get(o, "elapsed_time_sec"))) {
        status = pythia_error_set(e, PYTHIA_EFORMAT,
                                  "is no record of a run: it has neither \"metrics\" nor "
                                  "\"elapsed_time_sec\"");
    } else {
        status = is_own ? parse_own(p, o) : parse_record(p, o);
        if (status != PYTHIA_OK || (status = parse_command(p, o)) != PYTHIA_OK)
            pythia_error_set(e, status, "out of memory");
    }
    if (status != PYTHIA_OK) {
        pythia_run_parsed_destroy(p);
        return status;
    }
    *out = p;
    return PYTHIA_OK;
}

const struct pythia_run *pythia_run_parsed_run(const struct pythia_run_parsed *p)
{
    return &p->run;
}

void pythia_run_parsed_destroy(struct pythia_run_parsed *p)
{
    if (!p)
        return;
    json_decref(p->document);
    pythia_free(p->command);
    pythia_free(p->meta);
    pythia_free(p->callpaths);
    pythia_free(p->processes);
    pythia_free(p->findings);
    pythia_free(p->artifacts);
    pythia_free(p);
}
