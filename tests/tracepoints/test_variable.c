/* Variables: what is bound to the process is a key-value of every span that is entered, what is
 * bound to requests of the innermost one; and they can be listed, from outside too. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <pythia/variable.h>
#include <signal.h>
#include <time.h>

#include "traced.h"

static double value_of(const struct collection *c, size_t span, const char *key, size_t *times)
{
    struct pythia_text rest = attributes_at(c, span);
    struct pythia_attribute a = {0};
    double value = NAN;
    *times = 0;
    while (pythia_attributes_next(&rest, &a)) {
        if (!pythia_text_equal(pythia_vocabulary_text(c->vocabulary, a.key), pythia_text_of(key)))
            continue;
        value = a.kind == PYTHIA_ATTRIBUTE_INTEGER ? (double)a.integer : a.real;
        (*times)++;
    }
    return value;
}

static void assert_value(const struct collection *c, const char *id, const char *key, double value,
                         size_t times)
{
    size_t found;
    assert_rel_equal(value_of(c, only(c, id), key, &found), value, 1e-15);
    assert_int_equal(found, times);
}

static long waiting;
static double load = .25;
static int asked;

static double ask(void *context)
{
    asked++;
    return *(const int *)context;
}

static double clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void a_variable_of_the_process_is_in_spans_where_it_is_new(void **state)
{
    static int seven = 7;
    struct collection c;
    struct pythia_variable_source of_long = PYTHIA_SOURCE_LONG(&waiting),
                                  of_double = PYTHIA_SOURCE_DOUBLE(&load),
                                  by_function = PYTHIA_SOURCE_ASKED(ask, &seven);
    int queue =
        pythia_variable_define("queue length", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &of_long);
    assert_true(queue > 0);
    assert_true(pythia_variable_define("load", PYTHIA_CLASS_STATE, PYTHIA_BIND_PROCESS,
                                       &of_double) > queue);
    assert_true(
        pythia_variable_define("asked", PYTHIA_CLASS_SIZE, PYTHIA_BIND_PROCESS, &by_function) > 0);
    open_point("test:outer");
    open_point("test:inner");
    waiting = 3;
    double begun_ms = clock_ms();
    {
        PYTHIA_SPAN("outer");
        waiting = 5;
        PYTHIA_SPAN("inner");
        PYTHIA_SPAN("closed");
        waiting = 100;
    }
    double took_ms = clock_ms() - begun_ms;
    read_spans(&c);
    assert_value(&c, "test:outer", "variable.queue length", 3, 1);
    assert_value(&c, "test:inner", "variable.queue length", 5, 1);
    assert_value(&c, "test:outer", "variable.load", .25, 1);
    assert_value(&c, "test:inner", "variable.load", NAN, 0); /* said of this request before */
    assert_value(&c, "test:outer", "variable.asked", 7, 1);
    assert_value(&c, "test:inner", "variable.asked", NAN, 0);
    /* Not again within a millisecond; what a span costs is measured at first, by passing points. */
    assert_in_range(asked, 1, 1 + (int)took_ms);
    assert_problems(&c, "");
    collection_close(&c);
    struct pythia_variable_info info;
    assert_int_equal(pythia_variable_get(queue, &info), 0);
    assert_string_equal(info.name, "queue length");
    assert_int_equal(info.of_class, PYTHIA_CLASS_LEVEL);
    assert_int_equal(info.binding, PYTHIA_BIND_PROCESS);
    assert_int_equal(info.type, PYTHIA_VARIABLE_LONG);
    assert_rel_equal(info.value, 5, 0);
}

static int define(const char *name, enum pythia_variable_class of_class)
{
    int number = pythia_variable_define(name, of_class, PYTHIA_BIND_REQUEST, NULL);
    assert_true(number > 0);
    return number;
}

static void each_class_keeps_what_it_is_for(void **state)
{
    static const struct {
        const char *name;
        enum pythia_variable_class of_class;
        double expected;
    } cases[] = {
        {"r.state", PYTHIA_CLASS_STATE, 4},        {"r.level", PYTHIA_CLASS_LEVEL, 4},
        {"r.size", PYTHIA_CLASS_SIZE, 4},          {"r.timer", PYTHIA_CLASS_TIMER, 16.5},
        {"r.counter", PYTHIA_CLASS_COUNTER, 16.5}, {"r.high", PYTHIA_CLASS_HIGHWATERMARK, 9.5},
        {"r.low", PYTHIA_CLASS_LOWWATERMARK, 3}};
    struct collection c;
    char key[64];
    {
        PYTHIA_REQUEST("a request");
        PYTHIA_SPAN("outer");
        for (size_t i = 0; i < 7; i++) {
            int v = define(cases[i].name, cases[i].of_class);
            pythia_variable_set(v, 3);
            pythia_variable_set(v, 9.5);
            pythia_variable_set(v, 4);
        }
    }
    read_spans(&c);
    for (size_t i = 0; i < 7; i++) {
        snprintf(key, sizeof(key), "variable.%s", cases[i].name);
        assert_value(&c, "test:outer", key, cases[i].expected, 3);
    }
    collection_close(&c);
}

static void a_request_has_its_own(void **state)
{
    struct collection c;
    int tries = define("tries", PYTHIA_CLASS_COUNTER), level = define("level", PYTHIA_CLASS_LEVEL);
    open_point("test:other");
    pythia_variable_add(tries, 100); /* there is no request */
    {
        PYTHIA_REQUEST("first");
        PYTHIA_SPAN("outer");
        pythia_variable_add(tries, 1);
        {
            PYTHIA_SPAN("inner"); /* it goes on where it stood */
            pythia_variable_add(tries, 2);
            pythia_variable_set(level, 10);
            pythia_variable_add(level, -4);
        }
        struct pythia_context here, before;
        pythia_context_get(&here);
        struct pythia_context none = {.flags = PYTHIA_CONTEXT_SAMPLED};
        pythia_context_set(&none, &before); /* another request, meanwhile, on this thread */
        {
            PYTHIA_SPAN("other");
            pythia_variable_add(tries, 7);
        }
        pythia_context_set(&before, NULL);
        pythia_variable_add(tries, 4);
    }
    read_spans(&c);
    assert_value(&c, "test:inner", "variable.tries", 3, 1);
    assert_value(&c, "test:inner", "variable.level", 6, 2);
    assert_value(&c, "test:other", "variable.tries", 7, 1);
    assert_value(&c, "test:outer", "variable.tries", 7, 2);
    collection_close(&c);
}

#define BY_TURNS 4

static void requests_that_a_thread_has_by_turns_keep_theirs(void **state)
{
    struct pythia_context contexts[BY_TURNS], before;
    struct pythia_scope rooms[BY_TURNS], *spans[BY_TURNS];
    struct collection c;
    int sum = define("sum", PYTHIA_CLASS_COUNTER), level = define("level", PYTHIA_CLASS_LEVEL);
    for (int i = 0; i < BY_TURNS; i++) {
        const struct pythia_context none = {.flags = PYTHIA_CONTEXT_SAMPLED};
        pythia_context_set(&none, &before);
        spans[i] = PYTHIA_BEGIN(&rooms[i], PYTHIA_POINT_SERVER, "other");
        pythia_context_of(spans[i], &contexts[i]);
        pythia_context_set(&before, NULL);
    }
    for (int turn = 1; turn <= 3; turn++)
        for (int i = 0; i < BY_TURNS; i++) {
            pythia_context_set(&contexts[i], &before);
            pythia_variable_add(sum, i + 1);
            pythia_variable_add(level, -turn);
            pythia_context_set(&before, NULL);
        }
    for (int i = 0; i < BY_TURNS; i++)
        PYTHIA_END(spans[i]);
    read_spans(&c);
    assert_int_equal(c.count, BY_TURNS);
    double sums[BY_TURNS] = {0};
    for (size_t i = 0; i < BY_TURNS; i++) {
        size_t times;
        assert_rel_equal(value_of(&c, i, "variable.level", &times), -6, 0);
        sums[(int)value_of(&c, i, "variable.sum", &times) / 3 - 1] = 1;
        assert_int_equal(times, 3);
    }
    for (int i = 0; i < BY_TURNS; i++)
        assert_rel_equal(sums[i], 1, 0);
    collection_close(&c);
}

#define MANY 30

/* More than a thread has room for beside its context. */
static void of_many_variables_those_are_told_that_changed(void **state)
{
    static long many[MANY];
    static const int changed[] = {0, 11, 12, 13, MANY - 1};
    struct collection c;
    size_t times;
    char key[64];
    for (int i = 0; i < MANY; i++) {
        struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&many[i]);
        snprintf(key, sizeof(key), "many %d", i);
        assert_true(pythia_variable_define(key, PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &source) >
                    0);
        many[i] = i;
    }
    {
        PYTHIA_SPAN("outer");
        for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
            many[changed[i]] += 100;
        PYTHIA_SPAN("inner");
    }
    read_spans(&c);
    for (int i = 0; i < MANY; i++) {
        int is_new = 0;
        for (size_t k = 0; k < sizeof(changed) / sizeof(changed[0]); k++)
            is_new |= changed[k] == i;
        snprintf(key, sizeof(key), "variable.many %d", i);
        assert_rel_equal(value_of(&c, only(&c, "test:outer"), key, &times), i, 1e-15);
        assert_int_equal(times, 1);
        double value = value_of(&c, only(&c, "test:inner"), key, &times);
        assert_int_equal(times, is_new);
        if (is_new)
            assert_rel_equal(value, i + 100, 1e-15);
    }
    collection_close(&c);
}

static void what_cannot_be_is_refused(void **state)
{
    struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&waiting),
                                  nowhere = PYTHIA_SOURCE_INT(NULL);
    char longest[PYTHIA_VARIABLE_NAME_BYTES + 2];
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(pythia_variable_define(NULL, PYTHIA_CLASS_STATE, PYTHIA_BIND_REQUEST, NULL),
                     -EINVAL);
    assert_int_equal(pythia_variable_define("", PYTHIA_CLASS_STATE, PYTHIA_BIND_REQUEST, NULL),
                     -EINVAL);
    assert_int_equal(pythia_variable_define(longest, PYTHIA_CLASS_STATE, PYTHIA_BIND_REQUEST, NULL),
                     -EINVAL);
    assert_int_equal(pythia_variable_define("x", PYTHIA_CLASS_STATE, PYTHIA_BIND_PROCESS, NULL),
                     -EINVAL);
    assert_int_equal(pythia_variable_define("x", PYTHIA_CLASS_STATE, PYTHIA_BIND_REQUEST, &source),
                     -EINVAL);
    assert_int_equal(pythia_variable_define("x", PYTHIA_CLASS_STATE, PYTHIA_BIND_PROCESS, &nowhere),
                     -EINVAL);
    assert_int_equal(
        pythia_variable_define("x", (enum pythia_variable_class)7, PYTHIA_BIND_REQUEST, NULL),
        -EINVAL);
    int tries = define("tries", PYTHIA_CLASS_COUNTER); /* it is there already */
    assert_int_equal(define("tries", PYTHIA_CLASS_COUNTER), tries);
    assert_int_equal(pythia_variable_define("tries", PYTHIA_CLASS_TIMER, PYTHIA_BIND_REQUEST, NULL),
                     -EINVAL);
    struct pythia_variable_info info;
    assert_int_equal(pythia_variable_get(0, &info), -ENOENT);
    assert_int_equal(pythia_variable_get(pythia_variable_count() + 1, &info), -ENOENT);
    pythia_variable_set(0, 1);
    pythia_variable_set(-1, 1);
    pythia_variable_set(1000, 1);
    pythia_variable_set(tries, NAN);
}

/* ---- from outside ---- */

struct listed {
    int count, process;
    struct pythia_variable_info queue, tries;
};

static int list(void *context, int process, const char *service,
                const struct pythia_variable_info *variable)
{
    struct listed *l = context;
    assert_string_equal(service, "test");
    if (strcmp(variable->name, "queue length") == 0)
        l->queue = *variable;
    if (strcmp(variable->name, "tries") == 0)
        l->tries = *variable;
    l->process = process;
    l->count++;
    return 0;
}

static int stop_at_once(void *context, int process, const char *service,
                        const struct pythia_variable_info *variable)
{
    (*(int *)context)++;
    return 42;
}

static void they_are_listed_from_outside(void **state)
{
    struct listed l = {0};
    char why[256];
    int calls = 0;
    waiting = 11;
    {
        PYTHIA_SPAN("outer");
    }
    assert_int_equal(pythia_variables_list(traced.directory, list, &l, why), 0);
    assert_int_equal(l.count, pythia_variable_count());
    assert_int_equal(l.process, getpid());
    assert_int_equal(l.queue.of_class, PYTHIA_CLASS_LEVEL);
    assert_int_equal(l.queue.binding, PYTHIA_BIND_PROCESS);
    assert_rel_equal(l.queue.value, 11, 0);
    assert_int_equal(l.tries.of_class, PYTHIA_CLASS_COUNTER);
    assert_int_equal(l.tries.binding, PYTHIA_BIND_REQUEST);
    assert_rel_equal(l.tries.value, 7, 0);
    assert_int_equal(pythia_variables_list(traced.directory, stop_at_once, &calls, why), 42);
    assert_int_equal(calls, 1);
    assert_true(pythia_variables_list("/no/such/place", list, &l, why) < 0);
    discard_spans();
}

static void record_one(void)
{
    struct pythia_variable_info info;
    PYTHIA_SPAN("outer");
    assert_int_equal(pythia_variable_get(1, &info), 0);
    struct listed l = {0};
    assert_int_equal(pythia_variables_list(traced.directory, list, &l, NULL), 0);
    assert_int_equal(l.count, 2 * pythia_variable_count()); /* the parent's, and its own */
}

static void a_child_has_those_of_its_parent(void **state)
{
    in_child(record_one);
    discard_spans();
}

/* ---- threads ---- */

static void *add_many(void *unused)
{
    int tries = define("tries", PYTHIA_CLASS_COUNTER);
    for (int i = 0; i < 2000; i++) {
        PYTHIA_REQUEST("in a thread");
        PYTHIA_SPAN("threads");
        for (int n = 0; n < 3; n++)
            pythia_variable_add(tries, 1);
        __atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

static void threads_keep_theirs_apart(void **state)
{
    pthread_t threads[4];
    struct collection c;
    open_point("test:threads");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    read_spans(&c);
    struct pythia_tracepoints_state s;
    pythia_tracepoints_state_get(&s);
    assert_int_equal(count_of(&c, "test:threads") + s.lost_spans, 8000);
    for (size_t i = 0; i < c.count; i++) {
        size_t times;
        double last = value_of(&c, i, "variable.tries", &times);
        assert_true(s.lost_values > 0 || (last == 3 && times == 3));
    }
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_of_the_process_is_in_spans_where_it_is_new),
        cmocka_unit_test(each_class_keeps_what_it_is_for),
        cmocka_unit_test(a_request_has_its_own),
        cmocka_unit_test(requests_that_a_thread_has_by_turns_keep_theirs),
        cmocka_unit_test(of_many_variables_those_are_told_that_changed),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(they_are_listed_from_outside),
        cmocka_unit_test(a_child_has_those_of_its_parent),
        cmocka_unit_test(threads_keep_theirs_apart),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
