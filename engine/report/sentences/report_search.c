/* What the forms say of a search beside its cycles. */
#include <math.h>
#include <string.h>

#include "sentences.h"

static void add_things(struct pythia_buf *to, size_t count, const char *one, const char *many)
{
    pythia__add_count(to, (double)count);
    pythia_buf_puts(to, count == 1 ? one : many);
}

void pythia__add_search(struct pythia_buf *to, const json_t *search)
{
    double points = pythia__number(search, "trace_points"),
           skeleton = pythia__number(search, "skeleton"), opened = pythia__number(search, "opened");
    if (points == 0) {
        pythia_buf_puts(to, "The search space is being learnt.");
        return;
    }
    pythia_buf_puts(to, "Of ");
    pythia__add_count(to, points);
    pythia_buf_puts(to, points == 1 ? " trace point, " : " trace points, ");
    pythia__add_count(to, skeleton);
    pythia_buf_printf(to, " %s open from the start, ", pythia__was(skeleton));
    pythia__add_count(to, opened);
    pythia_buf_printf(to, " more %s opened.%s", pythia__was(opened),
                      json_is_true(json_object_get(search, "finished")) ? ""
                                                                        : " The search continues.");
}

void pythia__add_pins(struct pythia_buf *to, const json_t *search)
{
    const json_t *pins = json_object_get(search, "pins");
    size_t open = json_array_size(pythia__array(pins, "always"));
    size_t shut = json_array_size(pythia__array(pins, "never"));
    if (open > 0)
        add_things(to, open, " trace point is pinned open", " trace points are pinned open");
    pythia_buf_puts(to, open > 0 && shut > 0 ? ", " : "");
    if (shut > 0)
        add_things(to, shut, " trace point is pinned shut", " trace points are pinned shut");
    pythia_buf_puts(to, open + shut > 0 ? "." : "");
}

/* A number that may be missing: "-". */
static void add_number(struct pythia_buf *to, double number)
{
    if (isfinite(number))
        pythia__add_count(to, round(number));
    else
        pythia_buf_putc(to, '-');
}

void pythia__add_budget_use(struct pythia_buf *to, const json_t *search, const json_t *cycle)
{
    const json_t *budget = json_object_get(search, "budget");
    const json_t *use = json_object_get(cycle, "planned");
    double points = pythia__number(budget, "points"), ns = pythia__number(budget, "added_ns"),
           bytes = pythia__number(budget, "bytes_per_second");
    if (isnan(points) && isnan(ns) && isnan(bytes))
        return;
    pythia_buf_puts(to, " Now open: ");
    add_number(to, pythia__number(use, "points"));
    if (!isnan(points)) {
        pythia_buf_puts(to, " of ");
        add_number(to, points);
    }
    pythia_buf_puts(to, pythia__number(use, "points") == 1 && isnan(points) ? " point" : " points");
    if (!isnan(ns)) {
        pythia_buf_puts(to, ", ");
        pythia__add_duration(to, pythia__number(use, "added_ns"));
        pythia_buf_puts(to, " of ");
        pythia__add_duration(to, ns);
        pythia_buf_puts(to, " a request");
    }
    if (!isnan(bytes)) {
        pythia_buf_puts(to, ", ");
        add_number(to, pythia__number(use, "bytes_per_second"));
        pythia_buf_puts(to, " of ");
        add_number(to, bytes);
        pythia_buf_puts(to, " bytes a second");
    }
    pythia_buf_putc(to, '.');
}

static bool is_state(const json_t *problem, const char *name)
{
    return strcmp(pythia__string(problem, "state"), name) == 0;
}

bool pythia__has_reason(const json_t *problem)
{
    bool begun = pythia__number(problem, "cycles") > 0 || !is_state(problem, "too_few");
    return begun && pythia__string(problem, "reason")[0] != '\0';
}

void pythia__add_reason(struct pythia_buf *to, const json_t *problem)
{
    pythia_buf_puts(to, pythia__state_words(problem));
    pythia_buf_puts(to, is_state(problem, "done") ? ", though " : ", because ");
    pythia_buf_puts(to, pythia__string(problem, "reason"));
    pythia_buf_putc(to, '.');
}

const char *pythia__state_words(const json_t *problem)
{
    static const char *const words[][2] = {{"searching", "searched"}, {"done", "done"},
                                           {"quiet", "quiet"},        {"too_few", "too few"},
                                           {"unknown", "unknown"},    {"given_up", "given up"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is_state(problem, words[i][0]))
            return words[i][1];
    return pythia__string(problem, "state");
}

void pythia__add_never_searched(struct pythia_buf *to, const json_t *search)
{
    const json_t *problems = pythia__array(search, "problems");
    size_t few = 0, done = 0;
    for (size_t i = 0; i < json_array_size(problems); i++) {
        const json_t *problem = json_array_get(problems, i);
        few += is_state(problem, "too_few") && !pythia__has_reason(problem);
        done += is_state(problem, "done");
    }
    if (few == 0 || done > 0)
        return;
    add_things(to, few, " request type had", " request types had");
    pythia_buf_puts(to, " too few requests to be searched: ");
    add_number(to, pythia__number(search, "min_requests"));
    pythia_buf_puts(to, " in a cycle are needed.");
}

void pythia__add_lessons(struct pythia_buf *to, const json_t *search)
{
    double lessons = pythia__number(search, "lessons"), cut = pythia__number(search, "lessons_cut"),
           waiting = pythia__number(search, "types_waiting");
    if (lessons > 0) {
        pythia_buf_puts(to, "Trace points were opened ");
        add_things(to, (size_t)lessons, " time", " times");
        pythia_buf_puts(to, " to learn request types that turned up.");
    }
    if (cut > 0) {
        pythia_buf_puts(to, " In ");
        add_number(to, cut);
        pythia_buf_puts(to, " of them some that they pass stayed closed, because no more may be "
                            "open at once.");
    }
    if (waiting > 0) {
        pythia_buf_puts(to, lessons > 0 ? " " : "");
        add_things(to, (size_t)waiting, " request type waits", " request types wait");
        pythia_buf_puts(to, " to be learnt, because that was done as often as may be in an hour.");
    }
}

/* What to do stands before the names, which may be long. */
void pythia__add_unknown_points(struct pythia_buf *to, const json_t *search)
{
    const json_t *unknown = json_object_get(search, "unknown_points");
    const json_t *most = pythia__array(unknown, "most");
    double count = pythia__number(unknown, "count"), spans = pythia__number(unknown, "spans");
    if (!(count > 0))
        return;
    pythia_buf_puts(to, "The search space does not know ");
    add_things(to, (size_t)count, " trace point", " trace points");
    pythia_buf_puts(to, " of request types that it knows, of which ");
    add_things(to, (size_t)spans, " span was left out", " spans were left out");
    pythia_buf_puts(to, count == 1 ? ". Learn the space anew to have it searched: "
                                   : ". Learn the space anew to have them searched: ");
    for (size_t i = 0; i < json_array_size(most); i++)
        pythia_buf_printf(to, "%s%s", i ? ", " : "", json_string_value(json_array_get(most, i)));
    if ((double)json_array_size(most) < count)
        pythia_buf_printf(to, " and %.0f more", count - (double)json_array_size(most));
    pythia_buf_putc(to, '.');
}
