/* What a trace point costs that nobody has opened. */
#define _GNU_SOURCE
#include <time.h>

#include "timed.h"
#include "traced.h"

#define BLOCKS 200
#define CALLS  500000 /* of a block; together 1e8 */
#define MOST   3.0    /* ns */

/* So that no pass is moved, or left out. */
#define HERE __asm__ volatile("" ::: "memory")

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void __attribute__((noinline)) empty(void)
{
    for (int i = 0; i < CALLS; i++)
        HERE;
}

static void __attribute__((noinline)) closed(void)
{
    for (int i = 0; i < CALLS; i++) {
        PYTHIA_SPAN("closed");
        HERE;
    }
}

/* The least CPU time of one call, of all blocks: others on the machine add to it, and take nothing
 * away. The two take turns, so that the clock rate of the processor weighs on both alike. */
static void a_hundred_million_closed_calls_cost_three_ns_each(void **state)
{
    void (*const ways[2])(void) = {empty, closed};
    double least[2] = {1e9, 1e9};
    struct collection c;
    if (SANITIZED)
        skip(); /* times are the sanitizer's */
    closed();   /* the first pass asks for its switch */
    for (int block = 0; block < BLOCKS; block++)
        for (int way = 0; way < 2; way++) {
            double begun = cpu_ns();
            ways[way]();
            double took = (cpu_ns() - begun) / CALLS;
            least[way] = took < least[way] ? took : least[way];
        }
    print_message("a closed call takes %.2f ns, an empty loop %.2f ns\n", least[1], least[0]);
    assert_true(least[0] > 0.05); /* it is there at all */
    check_time(least[1] - least[0] <= MOST, "%.2f ns", least[1] - least[0]);
    read_spans(&c);
    assert_int_equal(c.count, 0); /* nothing was recorded, and it can be: */
    collection_close(&c);
    open_point("test:closed");
    for (int i = 0; i < 3; i++) {
        PYTHIA_SPAN("closed");
    }
    read_spans(&c);
    assert_int_equal(c.count, 3);
    collection_close(&c);
    close_point("test:closed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_million_closed_calls_cost_three_ns_each),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
