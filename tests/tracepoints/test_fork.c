/* Children: their own rings, their own ids, and the request that they were born into. */
#define _GNU_SOURCE /* clone's flags, syscall */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "traced.h"

static void a_child_goes_on_with_its_parents_request(void **state)
{
    struct collection c;
    int status;
    open_point("test:parent");
    open_point("test:child");
    open_point("test:left by both");
    {
        PYTHIA_REQUEST("forked");
        PYTHIA_SPAN("parent");
        pid_t child;
        {
            PYTHIA_SPAN("left by both"); /* it is the parent's to end */
            child = fork();
        }
        if (child == 0) {
            PYTHIA_SPAN("child");
        }
        if (child == 0)
            exit(0);
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 3);
    assert_child(&c, "test:left by both", "test:parent");
    assert_child(&c, "test:child", "test:parent");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(span_at(&c, i)->part, PYTHIA_PART_WHOLE);
    assert_int_not_equal(span_at(&c, only(&c, "test:child"))->resource,
                         span_at(&c, only(&c, "test:parent"))->resource);
    assert_text(&c, only(&c, "test:parent"), "request_type", "forked");
    collection_close(&c);
}

static void one_span(void)
{
    PYTHIA_SPAN("any");
}

/* As random as before: parent and child never make the same ids. */
static void ids_of_children_are_their_own(void **state)
{
    struct collection c;
    open_point("test:any");
    one_span();
    for (int i = 0; i < 20; i++)
        in_child(one_span);
    one_span();
    read_spans(&c);
    assert_int_equal(c.count, 22);
    for (size_t i = 0; i < c.count; i++)
        for (size_t k = 0; k < i; k++) {
            assert_true(span_at(&c, i)->id != span_at(&c, k)->id);
            assert_false(pythia_trace_id_equal(c.spans[i].trace, c.spans[k].trace));
        }
    collection_close(&c);
}

static void grandchild(void)
{
    one_span();
    in_child(one_span);
    one_span();
}

static void children_of_children_are_children(void **state)
{
    struct collection c;
    in_child(grandchild);
    read_spans(&c);
    assert_int_equal(c.count, 3);
    collection_close(&c);
}

/* The bare system call, of which no handler hears. */
static void a_child_that_nobody_announced_is_noticed(void **state)
{
    struct collection c;
    one_span();
    for (int i = 0; i < 5; i++) {
        long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        assert_true(child >= 0);
        if (child == 0) {
            one_span();
            one_span();
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid((pid_t)child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    one_span();
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 12);
    collection_close(&c);
}

/* A thread that has recorded nothing has nothing that would tell it. */
static void *clone_from_a_new_thread(void *context)
{
    int *status = context;
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        one_span();
        _exit(0);
    }
    waitpid((pid_t)child, status, 0);
    return NULL;
}

static void a_child_of_a_thread_without_records_is_noticed(void **state)
{
    pthread_t thread;
    struct collection c;
    int status = -1;
    one_span();
    assert_int_equal(pthread_create(&thread, NULL, clone_from_a_new_thread, &status), 0);
    pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    read_spans(&c);
    assert_problems(&c, "");
    assert_int_equal(c.count, 2);
    collection_close(&c);
}

static void vfork_and_exec_leave_the_parent_alone(void **state)
{
    struct collection c;
    {
        PYTHIA_SPAN("any");
        pid_t child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(127);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    read_spans(&c);
    assert_int_equal(c.count, 1);
    assert_int_equal(span_at(&c, 0)->part, PYTHIA_PART_WHOLE);
    collection_close(&c);
}

static uint32_t stop;

static void *write_spans(void *unused)
{
    static char name[16];
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        int size = snprintf(name, sizeof(name), "new %u", i % 1000);
        struct pythia_point point = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, name, (uint32_t)size);
        struct pythia_scope room;
        pythia_leave(pythia_enter(&point, &room)); /* takes the lock, time and again */
    }
    return unused;
}

static void new_point_in_child(void)
{
    static const char name[] = "seen by a child alone";
    struct pythia_point point = PYTHIA_POINT(PYTHIA_POINT_INTERNAL, name, sizeof(name) - 1);
    struct pythia_scope room;
    struct pythia_scope *span = pythia_enter(&point, &room);
    assert_non_null(span);
    pythia_leave(span);
}

/* The lock of another thread must not be left closed in the child. */
static void forks_while_other_threads_are_busy(void **state)
{
    pthread_t thread;
    struct collection c;
    open_point("test:seen by a child alone");
    discard_spans();
    assert_int_equal(pthread_create(&thread, NULL, write_spans, NULL), 0);
    for (int i = 0; i < 40; i++) {
        in_child(new_point_in_child);
        assert_int_equal(pythia_drain_pass(traced.drain), 0); /* before too many are dead */
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    read_spans(&c);
    assert_int_equal(count_of(&c, "test:seen by a child alone"), 40);
    collection_close(&c);
}

static void a_switch_is_in_force_in_children_too(void **state)
{
    struct collection c;
    close_point("test:any");
    in_child(one_span);
    open_point("test:any");
    in_child(one_span);
    read_spans(&c);
    assert_int_equal(c.count, 1);
    collection_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_goes_on_with_its_parents_request),
        cmocka_unit_test(ids_of_children_are_their_own),
        cmocka_unit_test(children_of_children_are_children),
        cmocka_unit_test(a_child_that_nobody_announced_is_noticed),
        cmocka_unit_test(a_child_of_a_thread_without_records_is_noticed),
        cmocka_unit_test(vfork_and_exec_leave_the_parent_alone),
        cmocka_unit_test(forks_while_other_threads_are_busy),
        cmocka_unit_test(a_switch_is_in_force_in_children_too),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
