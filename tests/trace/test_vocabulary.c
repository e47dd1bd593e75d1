#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/attributes.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/vocabulary.h"

static struct pythia_vocabulary *make(void)
{
    struct pythia_vocabulary *v = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    return v;
}

static uint32_t string_of(struct pythia_vocabulary *v, const char *text)
{
    return pythia_vocabulary_string(v, pythia_text_of(text));
}

static uint32_t point_of(struct pythia_vocabulary *v, const char *service, const char *scope,
                         const char *name)
{
    return pythia_vocabulary_tracepoint(v, string_of(v, service), string_of(v, scope),
                                        string_of(v, name));
}

static const char *id_of(struct pythia_vocabulary *v, uint32_t point)
{
    return pythia_vocabulary_tracepoint_id(v, point).bytes;
}

static void strings_are_numbered_once(void **state)
{
    struct pythia_vocabulary *v = make();
    assert_int_equal(string_of(v, ""), 0);
    uint32_t a = string_of(v, "a"), b = string_of(v, "b");
    assert_int_not_equal(a, b);
    assert_int_equal(string_of(v, "a"), a);
    assert_string_equal(pythia_vocabulary_text(v, b).bytes, "b");
    pythia_vocabulary_destroy(v);
    pythia_vocabulary_destroy(NULL);
}

static void the_id_of_a_trace_point_names_service_scope_and_name(void **state)
{
    struct pythia_vocabulary *v = make();
    static const struct {
        const char *service, *scope, *name, *id;
    } cases[] = {
        {"web", "", "render", "web:render"},
        {"web", "http.lib", "render", "web:http.lib:render"},
        {"", "", "render", "render"},
        {"", "http.lib", "render", "http.lib:render"},
        {"web", "", "", "web:"},
        {"", "", "", "(unnamed)"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t point = point_of(v, cases[i].service, cases[i].scope, cases[i].name);
        assert_int_equal(point, i); /* 0, 1, 2, … */
        assert_string_equal(id_of(v, point), cases[i].id);
        assert_int_equal(point_of(v, cases[i].service, cases[i].scope, cases[i].name), point);
        const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(v, point);
        assert_string_equal(pythia_vocabulary_text(v, p->service).bytes, cases[i].service);
        assert_string_equal(pythia_vocabulary_text(v, p->name).bytes, cases[i].name);
        assert_int_equal(pythia_vocabulary_tracepoint_find(v, pythia_text_of(cases[i].id)), point);
    }
    assert_int_equal(pythia_vocabulary_tracepoints(v), 6);
    assert_int_equal(pythia_vocabulary_tracepoint_find(v, PYTHIA_TEXT("web")), PYTHIA_NONE);
    assert_int_equal(pythia_vocabulary_tracepoint_find(v, PYTHIA_TEXT("")), PYTHIA_NONE);
    pythia_vocabulary_destroy(v);
}

static void identifiers_in_a_name_do_not_make_new_points(void **state)
{
    struct pythia_vocabulary *v = make();
    uint32_t point = point_of(v, "web", "", "GET /users/17");
    assert_string_equal(id_of(v, point), "web:GET /users/{id}");
    assert_string_equal(pythia_vocabulary_tracepoint_pattern(v, point).bytes,
                        "web:GET /users/{id}");
    assert_string_equal(
        pythia_vocabulary_text(v, pythia_vocabulary_tracepoint_at(v, point)->name).bytes,
        "GET /users/{id}");
    assert_int_equal(point_of(v, "web", "", "GET /users/4711"), point);
    assert_int_equal(point_of(v, "web", "", "GET /users/{id}"), point);
    assert_int_equal(point_of(v, "web", "", "GET /users/123e4567-e89b-12d3-a456-426614174000?x=1"),
                     point);
    assert_int_not_equal(point_of(v, "web", "", "GET /users/me"), point);
    assert_int_equal(pythia_vocabulary_tracepoints(v), 2);
    pythia_vocabulary_destroy(v);
}

/* As short as its elements are, and as many: each "/7" becomes "/{id}". */
static void long_names_are_made_templates_too(void **state)
{
    struct pythia_vocabulary *v = make();
    char name[4096], template[8192];
    for (size_t elements = 1; elements < 1500; elements = elements * 5 / 4 + 1) {
        size_t size = 0, long_size = 0;
        for (size_t i = 0; i < elements; i++) {
            size += (size_t)sprintf(name + size, "/%zu", i % 10);
            long_size += (size_t)sprintf(template + long_size, "/{id}");
        }
        assert_string_equal(id_of(v, point_of(v, "", "", name)), template);
    }
    pythia_vocabulary_destroy(v);
}

static void an_id_of_the_source_is_taken_as_it_is(void **state)
{
    struct pythia_vocabulary *v = make();
    uint32_t service = string_of(v, "nova"), name = string_of(v, "rpc");
    uint32_t point =
        pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("/a/17/file.py:42"), service, name);
    assert_string_equal(id_of(v, point), "/a/17/file.py:42");
    assert_string_equal(pythia_vocabulary_tracepoint_pattern(v, point).bytes, "/a/{id}/file.py:42");
    assert_int_equal(pythia_vocabulary_tracepoint_at(v, point)->service, service);
    assert_int_equal(pythia_vocabulary_tracepoint_at(v, point)->name, name);
    assert_int_equal(pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("/a/17/file.py:42"), 0, 0),
                     point);
    assert_int_not_equal(
        pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("/a/18/file.py:42"), 0, 0), point);
    /* Both ways to the same id lead to the same point. */
    uint32_t other = point_of(v, "web", "", "render");
    assert_int_equal(pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("web:render"), 0, 0), other);
    pythia_vocabulary_destroy(v);
}

static void many_points_keep_their_numbers_and_places(void **state)
{
    enum { N = 5000 };
    struct pythia_vocabulary *v = make();
    static const struct pythia_tracepoint *places[N];
    char name[32];
    for (uint32_t i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "n%u", i);
        assert_int_equal(point_of(v, "s", "", name), i);
        places[i] = pythia_vocabulary_tracepoint_at(v, i);
    }
    assert_int_equal(pythia_vocabulary_tracepoints(v), N);
    for (uint32_t i = 0; i < N; i++) {
        char id[32];
        snprintf(id, sizeof(id), "s:n%u", i);
        assert_string_equal(id_of(v, i), id);
        assert_int_equal(pythia_vocabulary_tracepoint_find(v, pythia_text_of(id)), i);
        assert_ptr_equal(pythia_vocabulary_tracepoint_at(v, i), places[i]);
    }
    pythia_vocabulary_destroy(v);
}

static void resources_are_numbered_by_their_content(void **state)
{
    struct pythia_vocabulary *v = make();
    struct pythia_buf packed = {0};
    pythia_attributes_integer(&packed, string_of(v, "pid"), 42);
    uint32_t web = string_of(v, "web"), host = string_of(v, "h1"), instance = string_of(v, "i");
    struct pythia_resource none = {0}, r[] = {
                                           {.service = web},
                                           {.host = web},
                                           {.instance = web},
                                           {.service = web, .host = host},
                                           {.service = web, .host = host, .instance = instance},
                                           {.attributes = pythia_buf_text(&packed)},
                                           {web, host, instance, pythia_buf_text(&packed)},
                                       };
    enum { N = sizeof(r) / sizeof(r[0]) };
    uint32_t numbers[N];
    assert_int_equal(pythia_vocabulary_resource(v, &none), 0);
    none.attributes = (struct pythia_text){"", 0};
    assert_int_equal(pythia_vocabulary_resource(v, &none), 0);
    for (size_t i = 0; i < N; i++) {
        numbers[i] = pythia_vocabulary_resource(v, &r[i]);
        assert_int_not_equal(numbers[i], 0);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(numbers[i], numbers[k]);
    }
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(pythia_vocabulary_resource(v, &r[i]), numbers[i]);
        struct pythia_resource back = pythia_vocabulary_resource_at(v, numbers[i]);
        assert_int_equal(back.service, r[i].service);
        assert_int_equal(back.host, r[i].host);
        assert_int_equal(back.instance, r[i].instance);
        assert_true(pythia_text_equal(back.attributes, r[i].attributes));
    }
    struct pythia_resource unknown = pythia_vocabulary_resource_at(v, 0);
    assert_int_equal(unknown.service + unknown.host + unknown.instance, 0);
    assert_int_equal(unknown.attributes.size, 0);
    pythia_buf_free(&packed);
    pythia_vocabulary_destroy(v);
}

enum { THREADS = 8, POINTS = 4000 };

struct worker {
    pthread_t thread;
    struct pythia_vocabulary *vocabulary;
    atomic_bool *done;
    uint64_t seed;
    uint32_t points[POINTS], resources[POINTS];
};

static void *name_all(void *context)
{
    struct worker *w = context;
    struct pythia_random r;
    static _Thread_local size_t order[POINTS];
    for (size_t i = 0; i < POINTS; i++)
        order[i] = i;
    pythia_random_init(&r, w->seed);
    pythia_random_shuffle(&r, order, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        char name[32];
        size_t at = order[i];
        snprintf(name, sizeof(name), "n%zu/%zu", at, i); /* a template: i is no part of the point */
        w->points[at] = point_of(w->vocabulary, "s", "", name);
        struct pythia_resource resource = {.host = string_of(w->vocabulary, name)};
        w->resources[at] = pythia_vocabulary_resource(w->vocabulary, &resource);
        if (pythia_vocabulary_resource_at(w->vocabulary, w->resources[at]).host != resource.host)
            return w;
    }
    return NULL;
}

/* A point that can be found is there, whole, whoever is making it. */
static void *find_while_others_name(void *context)
{
    struct worker *w = context;
    struct pythia_random r;
    pythia_random_init(&r, w->seed);
    while (!atomic_load(w->done)) {
        char id[32];
        snprintf(id, sizeof(id), "s:n%zu/{id}", (size_t)pythia_random_below(&r, POINTS));
        uint32_t point = pythia_vocabulary_tracepoint_find(w->vocabulary, pythia_text_of(id));
        if (point != PYTHIA_NONE && strcmp(id_of(w->vocabulary, point), id) != 0)
            return w;
        uint32_t count = pythia_vocabulary_tracepoints(w->vocabulary);
        if (count && strncmp(id_of(w->vocabulary, count - 1), "s:n", 3) != 0)
            return w;
    }
    return NULL;
}

static void threads_agree_on_the_number_of_every_point(void **state)
{
    static struct worker workers[THREADS], readers[2];
    struct pythia_vocabulary *v = make();
    atomic_bool done = false;
    void *fault;
    for (size_t i = 0; i < 2; i++) {
        readers[i] = (struct worker){.vocabulary = v, .done = &done, .seed = 100 + i};
        pthread_create(&readers[i].thread, NULL, find_while_others_name, &readers[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.vocabulary = v, .seed = i};
        pthread_create(&workers[i].thread, NULL, name_all, &workers[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, &fault);
        assert_null(fault);
    }
    atomic_store(&done, true);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(readers[i].thread, &fault);
        assert_null(fault);
    }
    assert_int_equal(pythia_vocabulary_tracepoints(v), POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        char id[32];
        snprintf(id, sizeof(id), "s:n%zu/{id}", i);
        assert_string_equal(id_of(v, workers[0].points[i]), id);
        for (size_t k = 1; k < THREADS; k++)
            assert_int_equal(workers[k].points[i], workers[0].points[i]);
    }
    pythia_vocabulary_destroy(v);
}

/* What a point is without memory for `n` more pieces: itself or none, and never another or half of
 * one. */
static uint32_t point_within(struct pythia_vocabulary *v, long n, uint32_t service,
                             const char *name)
{
    uint32_t string = string_of(v, name);
    pythia_mem_fail_after(n);
    uint32_t point = pythia_vocabulary_tracepoint(v, service, 0, string);
    pythia_mem_fail_after(-1);
    return point;
}

static void each_failed_allocation_gives_no_point_and_harms_none(void **state)
{
    enum { N = 3000 };
    struct pythia_vocabulary *v = NULL;
    long n = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_vocabulary_create(&v);
        pythia_mem_fail_after(-1);
        assert_true(status == PYTHIA_OK || (status == PYTHIA_ENOMEM && !v));
    }
    assert_true(n > 6);
    uint32_t service = string_of(v, "s"), first = PYTHIA_NONE;
    char plain[900];
    memset(plain, 'x', sizeof(plain) - 1);
    plain[sizeof(plain) - 1] = '\0';
    for (n = 0; first == PYTHIA_NONE;
         n++) /* what it is put together in must grow, and that can fail too */
        first = point_within(v, n, service, plain);
    assert_int_equal(first, 0);
    assert_true(n > 2);
    size_t failures = 0;
    for (size_t i = 0; i < N; i++) {
        char name[1024], other[64], id[1024];
        /* Some names are too long for the stack: their templates are made on the heap. */
        snprintf(name, sizeof(name), "n%zu/%0*d", i, i % 10 == 0 ? 700 : 3, 7);
        snprintf(id, sizeof(id), "s:n%zu/{id}", i);
        uint32_t point = PYTHIA_NONE;
        for (n = 0; point == PYTHIA_NONE; n++) {
            point = point_within(v, n, service, name);
            if (point != PYTHIA_NONE)
                break;
            failures++;
            assert_int_equal(pythia_vocabulary_tracepoint_find(v, pythia_text_of(id)), PYTHIA_NONE);
            snprintf(other, sizeof(other), "between %zu, %ld", i, n); /* another one is next */
            assert_int_not_equal(point_within(v, -1, service, other), PYTHIA_NONE);
        }
        assert_string_equal(id_of(v, point), id);
        assert_int_equal(pythia_vocabulary_tracepoint_find(v, pythia_text_of(id)), point);
    }
    assert_true(failures > 300);
    for (uint32_t i = 0; i < pythia_vocabulary_tracepoints(v); i++)
        assert_memory_equal(id_of(v, i), "s:", 2);
    pythia_vocabulary_destroy(v);
}

static void a_resource_without_memory_is_none(void **state)
{
    struct pythia_vocabulary *v = make();
    struct pythia_resource r = {.service = string_of(v, "s")};
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_vocabulary_resource(v, &r), PYTHIA_NONE);
    pythia_mem_fail_after(-1);
    assert_int_not_equal(pythia_vocabulary_resource(v, &r), PYTHIA_NONE);
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_numbered_once),
        cmocka_unit_test(the_id_of_a_trace_point_names_service_scope_and_name),
        cmocka_unit_test(identifiers_in_a_name_do_not_make_new_points),
        cmocka_unit_test(long_names_are_made_templates_too),
        cmocka_unit_test(an_id_of_the_source_is_taken_as_it_is),
        cmocka_unit_test(many_points_keep_their_numbers_and_places),
        cmocka_unit_test(resources_are_numbered_by_their_content),
        cmocka_unit_test(threads_agree_on_the_number_of_every_point),
        cmocka_unit_test(each_failed_allocation_gives_no_point_and_harms_none),
        cmocka_unit_test(a_resource_without_memory_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
