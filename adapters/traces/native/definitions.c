/* Who writes records, and what their trace points and variables are called: stream 0 of a process.
 */
#include <inttypes.h>

#include "native.h"
#include "pythia/mem.h"
#include "shared/formats.h"

#define VARIABLES_MAX 128 /* of a process */

/* ---- telling ---- */

/* Something could not be read; decoding goes on. */
void pythia__native_tell_at(struct pythia__native *n, uint64_t frame, uint64_t offset,
                            const char *sentence)
{
    struct pythia_error why = {0};
    pythia_error_set(&why, PYTHIA_EFORMAT, "%s", sentence);
    pythia_error_place(&why, n->frames->from->name, frame, offset);
    n->d.to->counts->dropped[PYTHIA_DROP_BROKEN_RECORD]++;
    n->d.to->broken(n->d.to, &why);
}

int pythia__native_tell(struct pythia__native *n, const char *sentence)
{
    pythia__native_tell_at(n, n->frames->number, n->offset, sentence);
    return PYTHIA_OK;
}

/* A text as UTF-8: it may be the scratch, and is good until the next one. */
struct pythia_text pythia__native_clean(struct pythia__native *n, struct pythia_text text)
{
    if (pythia_text_is_sound(text))
        return text;
    n->d.to->counts->repaired[PYTHIA_REPAIR_ENCODING]++;
    pythia_buf_clear(&n->text);
    char *room = pythia_buf_reserve(&n->text, 3 * text.size);
    if (room)
        n->text.size += pythia_text_repair(text, room);
    return pythia_buf_text(&n->text);
}

/* ---- who and what ---- */

uint32_t pythia__native_intern(struct pythia_strtab *table, uint64_t a, uint64_t b)
{
    uint64_t key[2] = {a, b};
    return pythia_strtab_intern(table, (struct pythia_text){(const char *)key, sizeof(key)});
}

int pythia__native_enter_process(struct pythia__native *n)
{
    n->process =
        pythia__native_intern(n->process_ids, n->frame->process_high, n->frame->process_low);
    return n->process == PYTHIA_STRTAB_NONE ? PYTHIA_ENOMEM
                                            : pythia_reach(&n->processes, &n->process_capacity,
                                                           n->process, sizeof(*n->processes));
}

/* Sizes are checked before a name is read: the record comes from a program that may have crashed
 * while it wrote. */
int pythia__native_process(struct pythia__native *n, struct pythia_text record)
{
    const size_t head = sizeof(struct pythia_record_process);
    if (record.size < head)
        return pythia__native_tell(n, "a record about a process that is too short");
    size_t service = PYTHIA__MEMBER(record.bytes, pythia_record_process, service_bytes),
           host = PYTHIA__MEMBER(record.bytes, pythia_record_process, host_bytes);
    if (service + host > record.size - head)
        return pythia__native_tell(n, "a record about a process whose names are longer than it");
    struct pythia_vocabulary *v = n->d.vocabulary;
    struct pythia_resource resource = {0};
    struct pythia_buf *instance = &n->d.name;
    resource.service = pythia_vocabulary_string(
        v, pythia__native_clean(n, (struct pythia_text){record.bytes + head, service}));
    resource.host = pythia_vocabulary_string(
        v, pythia__native_clean(n, (struct pythia_text){record.bytes + head + service, host}));
    pythia_buf_clear(instance);
    pythia_buf_printf(instance, "%" PRIu64,
                      PYTHIA__MEMBER(record.bytes, pythia_record_process, pid));
    resource.instance = pythia_vocabulary_string(v, pythia_buf_text(instance));
    uint32_t number = pythia_vocabulary_resource(v, &resource);
    if (resource.service == PYTHIA_NONE || resource.host == PYTHIA_NONE ||
        resource.instance == PYTHIA_NONE || number == PYTHIA_NONE)
        return PYTHIA_ENOMEM;
    struct pythia__native_process *p = &n->processes[n->process];
    *p = (struct pythia__native_process){number, resource.service, true, p->variables};
    return PYTHIA_OK;
}

/* The trace point "<service>:<name>", which is its id on the switchboard too. */
static uint32_t make_tracepoint(struct pythia__native *n, struct pythia_text name)
{
    struct pythia_vocabulary *v = n->d.vocabulary;
    uint32_t service = n->processes[n->process].service, string = pythia_vocabulary_string(v, name);
    struct pythia_buf *id = &n->d.name;
    if (string == PYTHIA_NONE)
        return PYTHIA_NONE;
    pythia_buf_clear(id);
    pythia_buf_text_add(id, pythia_vocabulary_text(v, service));
    if (id->size)
        pythia_buf_putc(id, ':');
    pythia_buf_text_add(id, name);
    if (pythia_buf_status(id) != PYTHIA_OK)
        return PYTHIA_NONE;
    return pythia_vocabulary_tracepoint_of_id(v, pythia_buf_text(id), service, string);
}

/* Numbers of points are per process, and are looked up for every span: a small cache comes before
 * the table. */
int pythia__native_point(struct pythia__native *n, struct pythia_text record)
{
    const size_t head = sizeof(struct pythia_record_point);
    uint32_t number = (uint32_t)PYTHIA__MEMBER(record.bytes, pythia_record, number);
    if (record.size < head || number == 0)
        return pythia__native_tell(
            n, "a record about a trace point that is too short, or has no number");
    size_t size = PYTHIA__MEMBER(record.bytes, pythia_record_point, name_bytes);
    if (size > record.size - head)
        return pythia__native_tell(n, "a record about a trace point whose name is longer than it");
    if (!n->processes[n->process].known)
        return pythia__native_tell(n, "a trace point of a process that is not known");
    struct pythia_text name = {record.bytes + head, size};
    uint32_t tracepoint = make_tracepoint(n, pythia__native_clean(n, name)),
             index = pythia__native_intern(n->point_ids, n->process, number);
    if (tracepoint == PYTHIA_NONE || index == PYTHIA_STRTAB_NONE ||
        pythia__cost(&n->d, tracepoint, PYTHIA_COST_EXPECTED) != PYTHIA_OK ||
        pythia_reach(&n->tracepoints, &n->point_capacity, index, sizeof(*n->tracepoints)) !=
            PYTHIA_OK)
        return PYTHIA_ENOMEM;
    n->tracepoints[index] = tracepoint + 1;
    n->points[(n->process * 31 + number) % POINTS_CACHED] =
        (struct pythia__native_point){n->process, number, tracepoint};
    return PYTHIA_OK;
}

/* PYTHIA_NONE: it is not defined. */
uint32_t pythia__native_find_point(struct pythia__native *n, uint32_t number)
{
    struct pythia__native_point *cached = &n->points[(n->process * 31 + number) % POINTS_CACHED];
    if (number == 0)
        return PYTHIA_NONE;
    if (cached->number == number && cached->process == n->process)
        return cached->tracepoint;
    uint64_t key[2] = {n->process, number};
    uint32_t index =
        pythia_strtab_find(n->point_ids, (struct pythia_text){(const char *)key, sizeof(key)});
    if (index == PYTHIA_STRTAB_NONE || index >= n->point_capacity || !n->tracepoints[index])
        return PYTHIA_NONE;
    *cached = (struct pythia__native_point){n->process, number, n->tracepoints[index] - 1};
    return cached->tracepoint;
}

/* A variable, which is the key "variable.<name>". */
int pythia__native_variable(struct pythia__native *n, struct pythia_text record)
{
    const size_t head = sizeof(struct pythia_record_variable);
    uint64_t number = PYTHIA__MEMBER(record.bytes, pythia_record, number);
    if (record.size < head || number < 1 || number > VARIABLES_MAX)
        return pythia__native_tell(
            n, "a record about a variable that is too short, or whose number is not 1 to 128");
    size_t size = PYTHIA__MEMBER(record.bytes, pythia_record_variable, name_bytes);
    if (size > record.size - head)
        return pythia__native_tell(n, "a record about a variable whose name is longer than it");
    struct pythia_text name =
        pythia__native_clean(n, (struct pythia_text){record.bytes + head, size});
    struct pythia__native_process *p = &n->processes[n->process];
    struct pythia_buf *text = &n->d.name;
    pythia_buf_clear(text);
    pythia_buf_printf(text, "variable.");
    pythia_buf_text_add(text, name);
    if (pythia_buf_status(text) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    uint32_t key = pythia__key(&n->d, pythia_buf_text(text));
    if (!p->variables)
        p->variables = pythia_calloc(VARIABLES_MAX, sizeof(*p->variables));
    if (key == PYTHIA_NONE || !p->variables)
        return PYTHIA_ENOMEM;
    p->variables[number - 1] = key + 1;
    return PYTHIA_OK;
}

/* The key of a variable; PYTHIA_NONE: it is not defined. */
uint32_t pythia__native_find_variable(const struct pythia__native *n, uint64_t number)
{
    const uint32_t *variables = n->processes[n->process].variables;
    return variables && number >= 1 && number <= VARIABLES_MAX && variables[number - 1]
               ? variables[number - 1] - 1
               : PYTHIA_NONE;
}

/* ---- cost ---- */

#define COST_MAX_NS 1e9 /* of one pass */

int pythia__native_cost(struct pythia__native *n, struct pythia_text record)
{
    uint32_t number = (uint32_t)PYTHIA__MEMBER(record.bytes, pythia_record, number);
    if (record.size < sizeof(struct pythia_record_cost))
        return pythia__native_tell(n, "a record of what a trace point costs that is too short");
    double ns =
        (double)PYTHIA__MEMBER(record.bytes, pythia_record_cost, ticks) * n->frame->ns_per_tick;
    uint32_t tracepoint = number ? pythia__native_find_point(n, number) : PYTHIA_NONE;
    if (number && tracepoint == PYTHIA_NONE)
        return pythia__native_tell(n, "what a trace point costs that is not defined");
    if (!(ns <= COST_MAX_NS))
        return pythia__native_tell(n, "a trace point that costs an impossible time");
    return pythia__cost(&n->d, tracepoint, (uint64_t)(ns + .5));
}
