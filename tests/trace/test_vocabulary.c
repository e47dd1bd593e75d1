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

/* ---- limits ---- */

static struct pythia_vocabulary *make_limited(const struct pythia_vocabulary_limits *limits)
{
    struct pythia_vocabulary *v = make();
    assert_int_equal(pythia_vocabulary_limit(v, limits), PYTHIA_OK);
    return v;
}

static uint32_t numbered_string(struct pythia_vocabulary *v, const char *prefix, int number)
{
    char name[64];
    snprintf(name, sizeof(name), "%sx%d", prefix, number);
    return string_of(v, name);
}

/* With room for 100 strings the first 50 get in, of which two are there from the beginning; what
 * comes for the 16th time does too, until there are 100. */
static void half_of_the_strings_may_be_any_and_half_must_come_often(void **state)
{
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.strings = 100});
    uint32_t other = string_of(v, "(other)");
    assert_true(pythia_vocabulary_is_other(v, other));
    for (int i = 0; i < 48; i++) {
        uint32_t string = numbered_string(v, "any", i);
        assert_false(pythia_vocabulary_is_other(v, string));
        assert_int_equal(string, 2 + i);
    }
    assert_int_equal(pythia_vocabulary_numbers(v).strings, 50);
    assert_int_equal(pythia_vocabulary_numbers(v).other_strings, 0);
    for (int i = 0; i < 50; i++) {
        for (int times = 1; times < 16; times++)
            assert_int_equal(numbered_string(v, "often", i), other);
        uint32_t string = numbered_string(v, "often", i);
        assert_int_equal(string, 50 + i);
        assert_int_equal(numbered_string(v, "often", i), string);
    }
    assert_int_equal(pythia_vocabulary_numbers(v).strings, 100);
    assert_int_equal(pythia_vocabulary_numbers(v).other_strings, 50 * 15);
    for (int times = 0; times < 100; times++)
        assert_int_equal(numbered_string(v, "more", 0), other);
    assert_int_equal(pythia_vocabulary_numbers(v).strings, 100);
    assert_int_equal(pythia_vocabulary_numbers(v).other_strings, 50 * 15 + 100);
    assert_int_equal(numbered_string(v, "any", 7), 9); /* what is known stays known */
    assert_int_equal(string_of(v, ""), 0);
    pythia_vocabulary_destroy(v);
}

/* A million names that come once, and one that comes every thousandth time: only that gets in. */
static void of_a_flood_only_what_comes_often_gets_in(void **state)
{
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.strings = 200});
    for (int i = 0; i < 1000000; i++) {
        (void)numbered_string(v, "flood", i);
        if (i % 1000 == 999)
            (void)string_of(v, "often");
    }
    assert_false(pythia_vocabulary_is_other(v, string_of(v, "often")));
    assert_int_equal(pythia_vocabulary_numbers(v).strings, 101);
    assert_int_equal(pythia_vocabulary_numbers(v).other_strings, 1000000 - 98 + 15);
    pythia_vocabulary_destroy(v);
}

/* Ten names that come 100 000 to 10 000 times among ten million that come once: each is counted
 * under its own name within 1 % of the truth, and the rest takes no memory. */
static void names_that_come_often_among_ten_million_are_counted_within_a_percent(void **state)
{
    enum { NAMES = 10000000, OFTEN = 10 };
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.strings = 200});
    uint32_t counted[OFTEN] = {0}, exact[OFTEN] = {0};
    for (int i = 1; i <= NAMES; i++) {
        (void)numbered_string(v, "flood", i);
        for (int k = 0; k < OFTEN; k++) {
            if (i % (100 * (k + 1)))
                continue;
            exact[k]++;
            counted[k] += !pythia_vocabulary_is_other(v, numbered_string(v, "often", k));
        }
    }
    for (int k = 0; k < OFTEN; k++) {
        assert_int_equal(exact[k], NAMES / (100 * (k + 1)));
        assert_true(exact[k] - counted[k] <= exact[k] / 100);
    }
    assert_true(pythia_vocabulary_numbers(v).strings <= 200);
    pythia_vocabulary_destroy(v);
}

/* "GET /users/17" is not known any more, but "GET /users/{id}" is. */
static void beyond_the_limit_a_name_is_known_by_its_template(void **state)
{
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.strings = 20});
    uint32_t point = point_of(v, "web", "", "GET /users/17");
    for (int i = 0; i < 100; i++)
        (void)numbered_string(v, "flood", i);
    for (int i = 0; i < 100; i++) {
        char name[64];
        snprintf(name, sizeof(name), "GET /users/%d", 1000 + i);
        assert_int_equal(point_of(v, "web", "", name), point);
        snprintf(name, sizeof(name), "GET /carts/%d", i % 2 ? i : 7);
        uint32_t cart = point_of(v, "web", "", name);
        assert_string_equal(id_of(v, cart), i < 15 ? "web:(other)" : "web:GET /carts/{id}");
    }
    pythia_vocabulary_destroy(v);
}

/* "db" and "api" report one id, and one of them under two names. */
static void services_that_share_an_id_are_the_same_in_any_order(void **state)
{
    static const char *const said[][2] = {{"db", "select"}, {"", ""}, {"api", "query"}};
    for (size_t first = 0; first < 3; first++) {
        struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){0});
        for (size_t i = 0; i < 3; i++) {
            const char *const *one = said[(first + i) % 3];
            uint32_t service = pythia_vocabulary_string(v, pythia_text_of(one[0])),
                     name = pythia_vocabulary_string(v, pythia_text_of(one[1]));
            assert_int_equal(
                pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("db:SELECT"), service, name), 0);
        }
        const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(v, 0);
        assert_string_equal(pythia_vocabulary_text(v, p->service).bytes, "api");
        assert_string_equal(pythia_vocabulary_text(v, p->name).bytes, "query");
        pythia_vocabulary_destroy(v);
    }
}

static void beyond_the_limit_each_service_has_one_trace_point_for_all(void **state)
{
    struct pythia_vocabulary *v =
        make_limited(&(struct pythia_vocabulary_limits){.tracepoints = 20});
    char name[32];
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "p%c", 'a' + i);
        assert_int_equal(point_of(v, "web", "", name), i);
    }
    assert_int_equal(pythia_vocabulary_numbers(v).other_tracepoints, 0);
    uint32_t web = point_of(v, "web", "scope", "new"), db = point_of(v, "db", "", "new"),
             none = point_of(v, "", "", "new");
    assert_string_equal(id_of(v, web), "web:(other)");
    assert_string_equal(id_of(v, db), "db:(other)");
    assert_string_equal(id_of(v, none), "(other)");
    assert_int_equal(pythia_vocabulary_numbers(v).other_tracepoints, 3);
    const struct pythia_tracepoint *p = pythia_vocabulary_tracepoint_at(v, db);
    assert_string_equal(pythia_vocabulary_text(v, p->service).bytes, "db");
    assert_true(pythia_vocabulary_is_other(v, p->name));
    assert_int_equal(point_of(v, "web", "", "another"), web);
    assert_int_equal(
        pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("own id"), p->service, p->name), db);
    assert_int_equal(pythia_vocabulary_tracepoints(v), 13);
    for (int times = 0; times < 16; times++)
        web = point_of(v, "web", "", "often");
    assert_string_equal(id_of(v, web), "web:often");
    assert_int_equal(point_of(v, "web", "", "pc"), 2);
    /* Services without number: at twice the limit there is one trace point for all of them. */
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "service%c%d", 'a' + i % 26, i);
        assert_int_not_equal(point_of(v, name, "", "p"), PYTHIA_NONE);
    }
    assert_int_equal(pythia_vocabulary_tracepoints(v), 40);
    assert_int_equal(point_of(v, "service of another name", "", "p"), none);
    assert_string_equal(id_of(v, point_of(v, "db", "", "anew")), "db:(other)");
    pythia_vocabulary_destroy(v);
}

/* Names, ids and patterns of trace points are strings, but it is the limit of trace points that
 * counts for them. */
static void a_trace_point_that_gets_in_keeps_its_id(void **state)
{
    struct pythia_vocabulary *v =
        make_limited(&(struct pythia_vocabulary_limits){.strings = 8, .tracepoints = 1000});
    uint32_t web = string_of(v, "web");
    for (int i = 0; i < 100; i++)
        (void)numbered_string(v, "flood", i);
    uint32_t point = pythia_vocabulary_tracepoint_of_id(v, PYTHIA_TEXT("the very id/17"), web, web);
    assert_string_equal(id_of(v, point), "the very id/17");
    assert_string_equal(pythia_vocabulary_tracepoint_pattern(v, point).bytes, "the very id/{id}");
    pythia_vocabulary_destroy(v);
}

static void beyond_the_limit_only_the_service_of_a_resource_is_known(void **state)
{
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.resources = 9});
    uint32_t web = string_of(v, "web"), db = string_of(v, "db"), host = string_of(v, "h");
    for (uint32_t i = 0; i < 100; i++) {
        struct pythia_resource r = {.service = i % 2 ? web : db, .host = host, .instance = 1 + i};
        struct pythia_resource kept =
            pythia_vocabulary_resource_at(v, pythia_vocabulary_resource(v, &r));
        assert_int_equal(kept.service, r.service);
        assert_int_equal(kept.instance, i < 3 ? r.instance : 0);
        assert_int_equal(kept.host, i < 3 ? r.host : 0);
    }
    assert_int_equal(pythia_vocabulary_numbers(v).resources, 6); /* with the empty one */
    assert_int_equal(pythia_vocabulary_numbers(v).other_resources, 97);
    struct pythia_resource without = {.host = host, .instance = 1};
    assert_int_equal(pythia_vocabulary_resource(v, &without), 0);
    for (uint32_t i = 1000; i < 1100; i++) { /* services without number */
        struct pythia_resource r = {.service = i, .host = host};
        uint32_t kept = pythia_vocabulary_resource(v, &r);
        assert_true(kept == 0 || pythia_vocabulary_resource_at(v, kept).service == i);
    }
    assert_int_equal(pythia_vocabulary_numbers(v).resources, 18);
    pythia_vocabulary_destroy(v);
}

/* Long names, of all kinds, until the memory is used up; then nothing grows any more. */
static void memory_has_a_limit_too(void **state)
{
    enum { LIMIT = 8 * 1024 * 1024, STEPS = 20000 };
    struct pythia_vocabulary *v = make_limited(&(struct pythia_vocabulary_limits){.bytes = LIMIT});
    size_t half = 0;
    char *name = calloc(1, 1001);
    assert_non_null(name);
    for (int i = 0; i < STEPS; i++) {
        memset(name, 'a' + i % 26, 1000);
        snprintf(name, 20, "%d,", i);
        name[strlen(name)] = 'z';
        uint32_t string = string_of(v, name);
        struct pythia_resource r = {.service = string, .attributes = {name, 1000}};
        assert_int_not_equal(pythia_vocabulary_tracepoint(v, string, 0, string), PYTHIA_NONE);
        assert_int_not_equal(pythia_vocabulary_resource(v, &r), PYTHIA_NONE);
        if (pythia_vocabulary_numbers(v).other_strings == 0)
            half = pythia_vocabulary_numbers(v).bytes;
    }
    assert_in_range(half, LIMIT / 2 - 65536 * 4, LIMIT / 2 + 65536 * 4);
    assert_in_range(pythia_vocabulary_numbers(v).bytes, LIMIT / 2, LIMIT / 2 + 65536 * 4);
    for (int i = 0; i < 20 * 20000; i++) { /* names that come often use the other half */
        memset(name, 'A' + i / 20 % 26, 1000);
        snprintf(name, 20, "%d,", i / 20);
        name[strlen(name)] = 'z';
        (void)string_of(v, name);
    }
    assert_in_range(pythia_vocabulary_numbers(v).bytes, LIMIT - 65536 * 4, LIMIT + 65536 * 4);
    free(name);
    pythia_vocabulary_destroy(v);
}

static void limits_without_memory_are_none(void **state)
{
    struct pythia_vocabulary *v = make();
    const struct pythia_vocabulary_limits limits = {.strings = 4};
    int status = PYTHIA_ENOMEM;
    for (long n = 0; status != PYTHIA_OK; n++) {
        pythia_mem_fail_after(n);
        status = pythia_vocabulary_limit(v, &limits);
        pythia_mem_fail_after(-1);
        if (status != PYTHIA_OK)
            assert_false(pythia_vocabulary_is_other(v, string_of(v, "(other)")) && n == 0);
    }
    assert_true(pythia_vocabulary_is_other(v, string_of(v, "x")));
    assert_int_equal(pythia_vocabulary_limit(v, &(struct pythia_vocabulary_limits){.strings = 100}),
                     PYTHIA_OK); /* a second one takes the place of the first */
    assert_false(pythia_vocabulary_is_other(v, string_of(v, "x")));
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
        cmocka_unit_test(half_of_the_strings_may_be_any_and_half_must_come_often),
        cmocka_unit_test(of_a_flood_only_what_comes_often_gets_in),
        cmocka_unit_test(names_that_come_often_among_ten_million_are_counted_within_a_percent),
        cmocka_unit_test(beyond_the_limit_a_name_is_known_by_its_template),
        cmocka_unit_test(services_that_share_an_id_are_the_same_in_any_order),
        cmocka_unit_test(beyond_the_limit_each_service_has_one_trace_point_for_all),
        cmocka_unit_test(a_trace_point_that_gets_in_keeps_its_id),
        cmocka_unit_test(beyond_the_limit_only_the_service_of_a_resource_is_known),
        cmocka_unit_test(memory_has_a_limit_too),
        cmocka_unit_test(limits_without_memory_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
