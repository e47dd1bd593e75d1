#include "check.h"
#include "pythia/layers.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "requests.h"
#include "space/descent.h"

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_layers *layers;
    struct pythia_space *space;
    struct pythia_space_type *type;
    bool open[64], never[64];
    struct pythia__descent d;
};

static void begin(struct bench *b)
{
    *b = (struct bench){0};
    assert_int_equal(pythia_vocabulary_create(&b->vocabulary), PYTHIA_OK);
    assert_int_equal(pythia_layers_create(b->vocabulary, &b->layers), PYTHIA_OK);
    assert_int_equal(pythia_space_create(b->vocabulary, &b->space), PYTHIA_OK);
    b->type = pythia_space_type_make(b->space,
                                     pythia_vocabulary_string(b->vocabulary, pythia_text_of("t")));
}

static void end(struct bench *b)
{
    pythia__descent_free(&b->d);
    pythia_space_destroy(b->space);
    pythia_layers_destroy(b->layers);
    pythia_vocabulary_destroy(b->vocabulary);
}

static uint32_t point(struct bench *b, const char *id)
{
    return pythia_vocabulary_tracepoint_of_id(b->vocabulary, pythia_text_of(id), 0, 0);
}

static void set(struct bench *b, const char *id, enum pythia_layer layer)
{
    assert_int_equal(pythia_layers_set(b->layers, pythia_text_of(id), layer), PYTHIA_OK);
}

static enum pythia_layer layer(struct bench *b, const char *id)
{
    return pythia_layers_of(b->layers, point(b, id));
}

/* ---- the table ---- */

static void a_point_of_which_nothing_is_said_is_the_applications(void **state)
{
    struct bench b;
    begin(&b);
    assert_int_equal(layer(&b, "app:work"), PYTHIA_LAYER_APPLICATION);
    assert_int_equal(pythia_layers_of(NULL, point(&b, "app:work")), PYTHIA_LAYER_APPLICATION);
    assert_int_equal(pythia_layers_of(b.layers, PYTHIA_NONE), PYTHIA_LAYER_APPLICATION);
    assert_int_equal(pythia_layers_lowest(NULL), PYTHIA_LAYER_APPLICATION);
    assert_int_equal(pythia_layers_lowest(b.layers), PYTHIA_LAYER_APPLICATION);
    set(&b, "libc:*", PYTHIA_LAYER_LIBRARY);
    set(&b, "app:kernel.futex", PYTHIA_LAYER_KERNEL);
    assert_int_equal(layer(&b, "libc:fsync"), PYTHIA_LAYER_LIBRARY);
    assert_int_equal(layer(&b, "app:kernel.futex"), PYTHIA_LAYER_KERNEL);
    assert_int_equal(layer(&b, "app:work"), PYTHIA_LAYER_APPLICATION);
    assert_int_equal(pythia_layers_lowest(b.layers), PYTHIA_LAYER_KERNEL);
    set(&b, "libc:main", PYTHIA_LAYER_APPLICATION); /* an id goes before patterns */
    assert_int_equal(layer(&b, "libc:main"), PYTHIA_LAYER_APPLICATION);
    pythia_layers_destroy(NULL);
    end(&b);
}

static void assert_parse(const char *text, const char *id, int layer, const char *why)
{
    struct pythia_error e = {0};
    struct pythia_text point = PYTHIA_TEXT("");
    enum pythia_layer got = PYTHIA_LAYER_APPLICATION;
    int status = pythia_layers_parse(pythia_text_of(text), &point, &got, &e);
    assert_int_equal(status, why ? PYTHIA_EFORMAT : PYTHIA_OK);
    assert_int_equal(got, layer);
    if (why)
        assert_string_equal(e.sentence, why);
    else
        assert_true(pythia_text_equal(point, pythia_text_of(id)));
}

static void a_layer_is_read_after_the_last_equals_sign(void **state)
{
    assert_parse("db:a=b=runtime", "db:a=b", PYTHIA_LAYER_RUNTIME, NULL);
    assert_parse("*=kernel", "*", PYTHIA_LAYER_KERNEL, NULL);
    assert_parse("x=application", "x", PYTHIA_LAYER_APPLICATION, NULL);
    assert_parse("x=Kernel", "", 0,
                 "'Kernel' is not a layer: expected application, library, runtime or kernel");
    assert_parse("x=", "", 0,
                 "'' is not a layer: expected application, library, runtime or kernel");
    assert_parse("=kernel", "", 0,
                 "'=kernel' has no layer: expected ID=LAYER, such as libc:*=library");
    assert_parse("kernel", "", 0,
                 "'kernel' has no layer: expected ID=LAYER, such as libc:*=library");
}

static void without_memory_the_table_stays_as_it_was(void **state)
{
    struct bench b;
    struct pythia_layers *none = NULL;
    begin(&b);
    set(&b, "a", PYTHIA_LAYER_LIBRARY);
    for (int n = 0; n < 8; n++) {
        pythia_mem_fail_after(n);
        int status = pythia_layers_set(b.layers, PYTHIA_TEXT("k*"), PYTHIA_LAYER_KERNEL);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
        assert_int_equal(pythia_layers_lowest(b.layers), PYTHIA_LAYER_LIBRARY);
        assert_int_equal(layer(&b, "k"), PYTHIA_LAYER_APPLICATION);
    }
    pythia_mem_fail_after(0);
    assert_int_equal(pythia_layers_create(b.vocabulary, &none), PYTHIA_ENOMEM);
    pythia_mem_fail_after(-1);
    assert_null(none);
    end(&b);
}

/* ---- who holds the cause ---- */

/* Nodes "A A/B …", each after the one above it. */
static void plant(struct bench *b, const char *chains)
{
    char chain[64];
    int size;
    for (; sscanf(chains, " %63s%n", chain, &size) == 1; chains += size) {
        char *slash = strrchr(chain, '/'), *name = slash ? slash + 1 : chain;
        uint32_t node, parent = PYTHIA_CCT_ROOT, id = point(b, name);
        if (slash) {
            *slash = '\0';
            parent = requests_node(b->type->cct, chain);
        }
        assert_non_null(pythia_space_node_make(b->type, parent, id, &node));
    }
}

/* `mass` begins with the root's. */
static void descend(struct bench *b, const double *mass)
{
    pythia__descent_free(&b->d);
    assert_int_equal(pythia__descent_find(b->type, mass, b->open, b->never, b->layers, &b->d),
                     PYTHIA_OK);
}

static void assert_held(struct bench *b, const char *id, double held, const char *holder)
{
    uint32_t of = holder ? point(b, holder) : PYTHIA_NONE;
    assert_rel_equal(b->d.held[point(b, id)], held, 1e-15);
    assert_int_equal(b->d.holder[point(b, id)], of);
}

/* The drawing of descent.h. */
static void a_node_holds_itself_and_the_lower_layers_below_it(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, "request request/parse request/commit request/commit/block request/commit/lock");
    set(&b, "block", PYTHIA_LAYER_KERNEL);
    set(&b, "lock", PYTHIA_LAYER_KERNEL);
    b.open[point(&b, "request")] = true;
    const double mass[] = {0, .05, .05, .3, .45, .15};
    descend(&b, mass);
    assert_held(&b, "block", 0, NULL); /* as long as commit is closed */
    assert_held(&b, "commit", 1, NULL);
    assert_false(pythia__descent_reaches(&b.d, b.layers, PYTHIA_LAYER_RUNTIME, point(&b, "lock")));
    assert_true(pythia__descent_reaches(&b.d, b.layers, PYTHIA_LAYER_KERNEL, point(&b, "lock")));
    b.open[point(&b, "commit")] = true;
    descend(&b, mass);
    assert_held(&b, "block", .9, "commit");
    assert_held(&b, "lock", .9, "commit");
    assert_true(
        pythia__descent_reaches(&b.d, b.layers, PYTHIA_LAYER_APPLICATION, point(&b, "lock")));
    b.open[point(&b, "commit")] = false; /* it will never be open: no use to wait for it */
    b.never[point(&b, "commit")] = true;
    descend(&b, mass);
    assert_held(&b, "block", .9, "commit");
    end(&b);
}

/* What an application does when the runtime calls it is its own. */
static void a_call_back_into_a_higher_layer_is_not_held(void **state)
{
    struct bench b;
    begin(&b);
    plant(&b, "A A/R A/R/C A/R/C/K A/K A/R/K");
    set(&b, "R", PYTHIA_LAYER_RUNTIME);
    set(&b, "K", PYTHIA_LAYER_KERNEL);
    memset(b.open, true, sizeof(b.open));
    /* A holds A .1, A/R .1, A/K .1, A/R/K .1; C holds C .3 and C/K .3; R holds R and R/K */
    descend(&b, (const double[]){0, .1, .1, .3, .3, .1, .1});
    assert_held(&b, "R", .4, "A");
    assert_held(&b, "K", .6, "C"); /* the most of .6, .4 and .2 */
    assert_held(&b, "C", 1, NULL); /* no layer is above the application's */
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_of_which_nothing_is_said_is_the_applications),
        cmocka_unit_test(a_layer_is_read_after_the_last_equals_sign),
        cmocka_unit_test(without_memory_the_table_stays_as_it_was),
        cmocka_unit_test(a_node_holds_itself_and_the_lower_layers_below_it),
        cmocka_unit_test(a_call_back_into_a_higher_layer_is_not_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
