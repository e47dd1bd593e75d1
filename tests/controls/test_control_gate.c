#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tracepoints/segments.h"
#include "check.h"
#include "plane.h"
#include "pythia/controller.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "pythia/switchboard.h"
#include "pythia/tracepoints.h"

#define HANGS                                                                                      \
    (120 * S) /* after which something that a busy machine only slows down is taken to hang */

/* What the programs that are traced show to the test. */
struct shown {
    _Atomic uint64_t rounds;
    _Atomic int pay, cart, typed, untyped; /* was it open when it was passed last? */
};

static struct shown *shown;
static char directory[64], setting[80];

static pid_t programs[4]; /* that run; ended after each test */

/* ---- a program that is traced ---- */

static int pass_pay(void)
{
    PYTHIA_SPAN_AS(span, "pay");
    return span != NULL;
}

static int pass_cart(void)
{
    PYTHIA_SPAN_AS(span, "cart");
    return span != NULL;
}

static int pass_step(void)
{
    PYTHIA_SPAN_AS(span, "step");
    return span != NULL;
}

static int pass_step_of_buy(void)
{
    PYTHIA_REQUEST("buy");
    return pass_step();
}

static int pass_step_of_look(void)
{
    PYTHIA_REQUEST("look");
    return pass_step();
}

static _Noreturn void program(void)
{
    /* Nobody reads the rings: they are large, since one that is full has no spans either. */
    struct pythia_tracepoints_options o = {
        .service = "shop", .directory = directory, .ring_bytes = 64 << 20, .rings = 4};
    pythia_tracepoints_setup(&o);
    for (;;) {
        shown->pay = pass_pay();
        shown->cart = pass_cart();
        shown->typed = pass_step_of_buy();
        shown->untyped = pass_step_of_look();
        shown->rounds++;
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
}

static void note_process(pid_t process)
{
    for (size_t i = 0; i < 4; i++)
        if (programs[i] == 0) {
            programs[i] = process;
            return;
        }
    fail_msg("too many programs");
}

static pid_t start_program(void)
{
    uint64_t rounds = shown->rounds;
    pid_t process = fork();
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if the test fails */
        program();
    }
    note_process(process);
    while (shown->rounds < rounds + 2)
        sleep_ms(1);
    return process;
}

static void end(pid_t process)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    for (size_t i = 0; i < 4; i++)
        if (programs[i] == process)
            programs[i] = 0;
}

/* The program has passed everything once more. */
static void pass(void)
{
    uint64_t rounds = shown->rounds;
    while (shown->rounds < rounds + 2)
        sched_yield();
}

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/pythia-gate-%ld-XXXXXX", (long)getpid());
    assert_non_null(mkdtemp(directory));
    snprintf(setting, sizeof(setting), "directory=%s", directory);
    memset(shown, 0, sizeof(*shown));
    return 0;
}

static int remove_directory(void **state)
{
    for (size_t i = 0; i < 4; i++)
        if (programs[i])
            end(programs[i]);
    remove_segments(directory);
    return 0;
}

static struct pythia_control *make(const char *defaults)
{
    char pattern[64];
    snprintf(pattern, sizeof(pattern), "open-by-default=%s", defaults);
    const char *settings[] = {setting, pattern, NULL};
    return plane_make("gate", settings);
}

/* ---- tests ---- */

static void switches_are_in_force_in_another_process(void **state)
{
    struct pythia_control *c = make("");
    struct pythia_buf out = {0};
    plane_inventory(c, &out);
    assert_int_equal(out.size, 0); /* nobody has made a switchboard */
    c->ops->set_lease(c, 30 * S);
    start_program();
    assert_int_equal(shown->pay + shown->cart, 0);
    plane_inventory(c, &out);
    assert_string_equal(out.bytes,
                        "shop shop:pay nan 0\nshop shop:cart nan 0\nshop shop:step nan 0\n");
    assert_int_equal(plane_apply(c, "shop:pay shop:step", 1, 1 * S), PYTHIA_OK);
    pass();
    assert_true(shown->pay && !shown->cart && shown->typed && shown->untyped);
    plane_observe(c, 1 * S, &out);
    assert_string_equal(out.bytes, "shop shop:pay applied 1\nshop shop:cart applied 1\n"
                                   "shop shop:step applied 1\n");
    assert_int_equal(plane_apply(c, "shop:cart", 2, 2 * S), PYTHIA_OK);
    pass();
    assert_true(!shown->pay && shown->cart && !shown->typed);
    c->ops->destroy(c);
    pythia_buf_free(&out);
}

static void ids_that_nobody_has_are_refused(void **state)
{
    struct pythia_control *c = make("");
    struct pythia_buf out = {0};
    struct pythia_switchboard *b = NULL;
    c->ops->set_lease(c, 30 * S);
    start_program();
    assert_int_equal(plane_apply(c, "shop:pay ../../etc/passwd shop:none", 1, 1 * S), PYTHIA_OK);
    assert_int_equal(plane_result(c, "../../etc/passwd", 1 * S), PYTHIA_CONTROL_REFUSED);
    plane_observe(c, 1 * S, &out);
    assert_non_null(strstr(out.bytes, " shop:none refused 0\n"));
    plane_inventory(c, &out); /* and they have not become points */
    assert_null(strstr(out.bytes, "none"));
    assert_int_equal(pythia_switchboard_open(directory, 0, &b, NULL), 0);
    assert_int_equal(pythia_switchboard_points(b), 3 + 1); /* and the word of the owner */
    pythia_switchboard_close(b);
    c->ops->destroy(c);
    pythia_buf_free(&out);
}

static void a_point_can_be_open_for_some_types(void **state)
{
    struct pythia_control *c = make("");
    const struct pythia_text buy[] = {PYTHIA_TEXT("shop:buy")};
    const struct pythia_text other[] = {PYTHIA_TEXT("buy"), PYTHIA_TEXT("nobody's")};
    struct pythia_control_wish wish = {
        .id = PYTHIA_TEXT("shop:step"), .types = buy, .type_count = 1};
    struct pythia_error e = {0};
    c->ops->set_lease(c, 30 * S);
    start_program();
    assert_int_equal(c->ops->apply(c, &wish, 1, 1, 1 * S, &e), PYTHIA_OK);
    pass();
    assert_true(shown->typed && !shown->untyped);
    wish.types = other; /* one that the program does not know: open for all */
    wish.type_count = 2;
    assert_int_equal(c->ops->apply(c, &wish, 1, 2, 2 * S, &e), PYTHIA_OK);
    pass();
    assert_true(shown->typed && shown->untyped);
    assert_int_equal(plane_result(c, "shop:step", 2 * S), PYTHIA_CONTROL_APPLIED);
    c->ops->destroy(c);
}

static void a_switch_thrown_by_another_is_seen_and_thrown_back(void **state)
{
    struct pythia_control *c = make("");
    struct pythia_switchboard *b = NULL;
    c->ops->set_lease(c, 30 * S);
    start_program();
    assert_int_equal(plane_apply(c, "shop:pay", 1, 1 * S), PYTHIA_OK);
    assert_int_equal(pythia_switchboard_open(directory, 0, &b, NULL), 0);
    assert_int_equal(pythia_switchboard_throw(b, "shop:pay", 8, PYTHIA_SWITCHES_ALL, 0), 0);
    pythia_switchboard_close(b);
    assert_int_equal(plane_result(c, "shop:pay", 1 * S), PYTHIA_CONTROL_PENDING);
    assert_int_equal(plane_apply(c, "shop:pay", 1, 2 * S), PYTHIA_OK);
    assert_int_equal(plane_result(c, "shop:pay", 2 * S), PYTHIA_CONTROL_APPLIED);
    c->ops->destroy(c);
}

static void a_program_that_was_killed_finds_its_switches(void **state)
{
    struct pythia_control *c = make("");
    c->ops->set_lease(c, 30 * S);
    pid_t process = start_program();
    assert_int_equal(plane_apply(c, "shop:pay", 1, 1 * S), PYTHIA_OK);
    pass();
    end(process);
    shown->pay = shown->cart = 0;
    assert_int_equal(plane_result(c, "shop:pay", 2 * S), PYTHIA_CONTROL_APPLIED);
    start_program();
    assert_true(shown->pay && !shown->cart);
    c->ops->destroy(c);
}

/* The switchboard is removed and made anew, as by a cleaner and a program that begins: that is
 * noticed, and the new one is set, within seconds of the controller's time. */
static void another_switchboard_is_noticed(void **state)
{
    struct pythia_control *c = make("");
    struct pythia_controller *controller = NULL;
    struct pythia_controller_options o = {0};
    struct pythia_control_wish wish = {.id = PYTHIA_TEXT("shop:pay")};
    uint64_t version, since, now = 100 * S;
    pid_t process = start_program();
    assert_int_equal(pythia_controller_create(&c, 1, &o, &controller), PYTHIA_OK);
    assert_int_equal(pythia_controller_want(controller, &wish, 1, &version), PYTHIA_OK);
    assert_int_equal(pythia_controller_tick(controller, now), PYTHIA_OK);
    pass();
    assert_true(shown->pay);
    assert_true(pythia_controller_in_force(controller, version, &since));
    assert_int_equal(pythia_switchboard_remove(directory, NULL), 0);
    end(process);
    start_program();
    assert_false(shown->pay);
    for (; now < 105 * S; now += 100 * MS)
        assert_int_equal(pythia_controller_tick(controller, now), PYTHIA_OK);
    pass();
    assert_true(shown->pay);
    pythia_controller_destroy(controller);
}

/* A process that applies, and renews its lease until it is killed or stopped. */
static pid_t start_daemon(const char *defaults, const char *ids, uint64_t lease_ns)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t process = fork();
    if (process == 0) {
        struct pythia_control *c = make(defaults);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[0]);
        c->ops->set_lease(c, lease_ns);
        for (uint64_t i = 1;; i++) {
            if (plane_apply(c, ids, 1, i * S) != PYTHIA_OK)
                _exit(1);
            if (i == 1 && write(ready[1], "", 1) != 1)
                _exit(1);
            sleep_ms(30);
        }
    }
    note_process(process);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return process;
}

static void the_default_set_returns_when_the_daemon_is_gone(void **state)
{
    static const int signals[] = {SIGKILL, SIGSTOP};
    start_program();
    for (size_t i = 0; i < 2; i++) {
        pid_t daemon = start_daemon("shop:c*,none", "shop:pay", 1 * S);
        pass();
        assert_true(shown->pay && !shown->cart);
        sleep_ms(1200); /* longer than the lease: it is renewed */
        pass();
        assert_true(shown->pay && !shown->cart);
        kill(daemon, signals[i]);
        uint64_t gone = clock_now_ns();
        while (shown->pay || !shown->cart) {
            assert_true(clock_now_ns() < gone + HANGS);
            sleep_ms(5);
        }
        assert_true(clock_now_ns() > gone + 200 * MS); /* the lease was out, not the daemon gone */
        end(daemon);
    }
}

static void a_guard_leaves_alone_what_another_has_taken_over(void **state)
{
    start_program();
    pid_t daemon = start_daemon("", "shop:pay", 300 * MS);
    end(daemon);
    struct pythia_control *c = make(""); /* it is back at once, with a longer lease */
    c->ops->set_lease(c, 30 * S);
    assert_int_equal(plane_apply(c, "shop:cart shop:pay", 1, 1 * S), PYTHIA_OK);
    sleep_ms(700);
    pass();
    assert_true(shown->pay && shown->cart);
    c->ops->destroy(c);
}

/* The guards that this process has started. */
static size_t find_guards(pid_t *out, size_t room)
{
    char path[64], name[32], number[24];
    size_t count = 0;
    snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)getpid(), (long)getpid());
    FILE *children = fopen(path, "r");
    while (children && count < room && fscanf(children, "%23s", number) == 1) {
        snprintf(path, sizeof(path), "/proc/%s/comm", number);
        FILE *comm = fopen(path, "r");
        if (comm && fscanf(comm, "%31s", name) == 1 && strcmp(name, "pythia-guard") == 0)
            out[count++] = (pid_t)strtol(number, NULL, 10);
        if (comm)
            fclose(comm);
    }
    if (children)
        fclose(children);
    return count;
}

static void a_guard_that_was_ended_is_started_again(void **state)
{
    pid_t guards[8];
    start_program();
    struct pythia_control *c = make("");
    c->ops->set_lease(c, 300 * MS);
    assert_int_equal(plane_apply(c, "shop:pay", 1, 1 * S), PYTHIA_OK);
    size_t count = find_guards(guards, 8);
    if (count == 0)
        skip(); /* a kernel that does not tell whose child a process is */
    for (size_t i = 0; i < count; i++) {
        siginfo_t ended;
        kill(guards[i], SIGKILL);
        assert_int_equal(waitid(P_PID, (id_t)guards[i], &ended, WEXITED | WNOWAIT), 0);
    }
    assert_int_equal(plane_apply(c, "shop:pay", 1, 2 * S), PYTHIA_OK);
    for (uint64_t begun = clock_now_ns(); shown->pay && clock_now_ns() < begun + HANGS;)
        sleep_ms(5);
    assert_false(shown->pay);
    c->ops->destroy(c);
}

static void off_closes_everything(void **state)
{
    struct pythia_control *c = make(""), *other = make("");
    struct pythia_error e = {0};
    c->ops->set_lease(c, 30 * S);
    start_program();
    assert_int_equal(plane_apply(c, "shop:pay", 1, 1 * S), PYTHIA_OK);
    pass();
    assert_true(shown->pay);
    /* By another process than the one that applies: it has set no lease, and has no guard. */
    assert_int_equal(other->ops->off(other, true, 1 * S, &e), PYTHIA_OK);
    pass();
    assert_false(shown->pay);
    assert_int_equal(plane_apply(c, "shop:pay", 2, 2 * S), PYTHIA_OK);
    pass();
    assert_false(shown->pay);
    assert_int_equal(other->ops->off(other, false, 3 * S, &e), PYTHIA_OK);
    pass();
    assert_true(shown->pay);
    other->ops->destroy(other);
    c->ops->destroy(c);
}

/* The segment that the directory's file names, attached. */
static unsigned char *attach(size_t *size)
{
    char path[128], line[256] = "";
    int segment = -1;
    struct shmid_ds about;
    snprintf(path, sizeof(path), "%s/switchboard-2", directory);
    int file = open(path, O_RDONLY);
    assert_true(file >= 0 && read(file, line, sizeof(line) - 1) > 0);
    close(file);
    const char *head = "pythia-switchboard 1 ";
    assert_memory_equal(line, head, strlen(head));
    segment = (int)strtol(line + strlen(head), NULL, 10);
    assert_int_equal(shmctl(segment, IPC_STAT, &about), 0);
    *size = about.shm_segsz;
    void *at = shmat(segment, NULL, 0);
    assert_true(at != (void *)-1); /* NOLINT(performance-no-int-to-ptr) */
    return at;
}

static void another_version_is_refused_with_the_reason(void **state)
{
    struct pythia_control *c = make("");
    struct pythia_error e = {0};
    size_t size;
    c->ops->set_lease(c, 30 * S);
    assert_int_equal(plane_apply(c, "", 1, 1 * S), PYTHIA_OK);
    unsigned char *at = attach(&size);
    at[8] = 99;
    assert_int_equal(c->ops->apply(c, NULL, 0, 2, 3 * S, &e), PYTHIA_EIO);
    assert_non_null(strstr(e.sentence, "version 99"));
    at[8] = 2;
    assert_int_equal(plane_apply(c, "", 2, 5 * S), PYTHIA_OK);
    shmdt(at);
    c->ops->destroy(c);
}

/* Whoever shares the memory may write anything into it: neither side breaks. */
static void a_hostile_switchboard_breaks_nobody(void **state)
{
    struct pythia_control *c = make("*");
    struct pythia_buf out = {0};
    struct pythia_random random;
    size_t size;
    pythia_random_init(&random, 7);
    c->ops->set_lease(c, 30 * S);
    pid_t process = start_program();
    assert_int_equal(plane_apply(c, "shop:pay", 1, 1 * S), PYTHIA_OK);
    unsigned char *at = attach(&size);
    for (uint64_t round = 0; round < 40; round++) {
        /* Everything behind the id, or only the counts, or only the places of ids. */
        size_t from = round % 4 == 0   ? 32
                      : round % 4 == 1 ? 36
                      : round % 4 == 2 ? 1049088
                                       : 1573376;
        size_t to = round % 4 == 1 ? 128 : round % 4 == 0 ? size : from + 4096;
        for (size_t i = from; i + 8 <= to; i += 8) {
            uint64_t bits = pythia_random_next(&random);
            memcpy(at + i, &bits, round % 5 ? 8 : 3);
        }
        plane_inventory(c, &out);
        plane_apply(c, "shop:pay shop:cart", 2 + round, (2 + round) * S);
        plane_observe(c, (2 + round) * S, &out);
        pass();
    }
    assert_int_equal(waitpid(process, NULL, WNOHANG), 0); /* it runs on */
    shmdt(at);
    c->ops->destroy(c);
    pythia_buf_free(&out);
}

static void want_of_memory_is_told(void **state)
{
    start_program();
    for (long n = 0;; n++) {
        struct pythia_control *c = NULL;
        struct pythia_error e = {0};
        struct pythia_control_wish wish = {.id = PYTHIA_TEXT("shop:pay")};
        struct pythia_buf out = {0};
        const char *settings[] = {setting, "open-by-default=x", NULL};
        pythia_mem_fail_after(n);
        int status = plane_try("gate", settings, &c, &e);
        if (status == PYTHIA_OK) {
            c->ops->set_lease(c, 30 * S);
            status = c->ops->apply(c, &wish, 1, 1, 1 * S, &e);
        }
        pythia_mem_fail_after(-1);
        if (c) {
            assert_int_equal(plane_apply(c, "shop:pay", 2, 2 * S), PYTHIA_OK);
            plane_observe(c, 2 * S, &out);
            assert_non_null(strstr(out.bytes, "shop:pay applied 2"));
            c->ops->destroy(c);
        }
        pythia_buf_free(&out);
        if (status == PYTHIA_OK)
            break;
    }
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(switches_are_in_force_in_another_process),
        ONE(ids_that_nobody_has_are_refused),
        ONE(a_point_can_be_open_for_some_types),
        ONE(a_switch_thrown_by_another_is_seen_and_thrown_back),
        ONE(a_program_that_was_killed_finds_its_switches),
        ONE(another_switchboard_is_noticed),
        ONE(the_default_set_returns_when_the_daemon_is_gone),
        ONE(a_guard_leaves_alone_what_another_has_taken_over),
        ONE(a_guard_that_was_ended_is_started_again),
        ONE(off_closes_everything),
        ONE(another_version_is_refused_with_the_reason),
        ONE(a_hostile_switchboard_breaks_nobody),
        ONE(want_of_memory_is_told),
    };
    shown = mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shown == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
