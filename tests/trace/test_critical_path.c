/* Behaviours 1 to 11 of a critical path carry their number in the name of the test. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/critical_path.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"
#include "trace_text.h"

static void a_span_alone_is_the_path(void **state)
{
    check_trace(.spans = "A[0,1000]", .client = "A -1000-> /A");
    check_trace(.spans = "A[5,5]", .client = "A -0-> /A");
    check_trace(.spans = "A[7]", .client = "*A");
}

static void a_child_splits_its_parent(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A", .client = "A -10-> B -100-> /B -890-> /A");
}

static void children_one_after_the_other_are_all_on_the_path(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A C[200,300]<A",
                .client = "A -10-> B -100-> /B -90-> C -100-> /C -700-> /A");
    check_trace(
            .spans =
                "A[0,300] B[0,100]<A C[100,200]<A D[200,300]<A", /* each begins as the last ends */
            .client = "A -0-> B -100-> /B -0-> C -100-> /C -0-> D -100-> /D -0-> /A");
}

static void concurrent_children_leave_one_on_the_path(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A C[100,200]<A",
                .client = "A -100-> C -100-> /C -800-> /A");
    check_trace(.spans = "A[0,1000] B[10,900]<A C[100,200]<A",
                .client = "A -10-> B -890-> /B -100-> /A");
}

static void what_overlaps_the_one_on_the_path_is_passed_over(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A C[100,200]<A D[150,250]<A",
                .client = "A -10-> B -100-> /B -40-> D -100-> /D -750-> /A");
}

static void concurrency_below_concurrency(void **state)
{
    check_trace(.spans =
                    "A[0,1000] B[100,600]<A C[400,900]<A D[200,500]<B E[500,700]<C F[600,800]<C",
                .client = "A -400-> C -200-> F -200-> /F -100-> /C -100-> /A");
}

static void a_chain_is_on_the_path_as_a_whole(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,900]<A C[200,800]<B D[300,700]<C",
                .client = "A -100-> B -100-> C -100-> D -400-> /D -100-> /C -100-> /B -100-> /A");
}

static void forked_work_is_on_the_path_where_it_is_waited_for(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A C[300,400]<A W[450,800]<A&K D[850,900]<A "
                         "K[150,790]<&K K2[200,700]<K",
                .tree = "A[0,1000]{K[150,790]:forked{K2[200,700]} C[300,400] "
                        "W[450,800]:joins=K D[850,900]}",
                .client = "A -150-> K -50-> K2 -500-> /K2 -90-> /K -60-> D -50-> /D -100-> /A");
}

static void forked_work_nobody_waits_for_is_not(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,790]<&K", .client = "A -1000-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,790]<&K B[200,900]<A",
                .client = "A -200-> B -700-> /B -100-> /A");
}

static void a_wait_for_unknown_work_is_a_span(void **state)
{
    const char *span = "A -450-> W -350-> /W -200-> /A";
    check_trace(.spans = "A[0,1000] W[450,800]<A&K", .client = span); /* no fork, no work */
    check_trace(.spans = "A[0,1000] &K[100]<A W[450,800]<A&K",
                .client = span); /* a fork, no work */
    check_trace(.spans = "A[0,1000] W[450,800]<A&K &L[100]<A L[150,700]<&L",
                .client = span); /* other work */
}

static void work_that_had_ended_before_the_wait_began_was_not_waited_for(void **state)
{
    const char *span = "A -450-> W -350-> /W -200-> /A";
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,400]<&K W[450,800]<A&K", .client = span);
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,450]<&K W[450,800]<A&K", .client = span);
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,451]<&K W[450,800]<A&K",
                .client = "A -150-> K -301-> /K -549-> /A");
    check_trace(.spans = "&K[100] K[150,400]<&K W[450,800]&K",
                .client = "K -250-> /K -50-> W -350-> /W"); /* the request began with the work */
}

/* The clocks disagree, or the wait gave up: the path goes through the work all the same and never
 * back in time. */
static void work_that_ends_after_the_wait_is_cut_where_the_path_goes_on(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,900]<&K W[450,800]<A&K",
                .client = "A -150-> K -750-> /K -100-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,900]<&K W[450,800]<A&K D[850,900]<A",
                .client = "A -150-> K -700-> /K -0-> D -50-> /D -100-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,1200]<&K W[450,800]<A&K",
                .client = "A -150-> K -850-> /K -0-> /A",
                .completion = "A -150-> K -1050-> /K -0-> /A", .counts = "outlive 1");
    /* Work that seems to begin after all of the wait is over. */
    check_trace(.spans = "A[0,1000] &K[100]<A K[850,900]<&K W[450,800]<A&K D[820,840]<A",
                .client = "A -450-> W -350-> /W -20-> D -20-> /D -160-> /A");
}

/* What the work itself has begun and not waited for was not waited for here either. */
static void only_the_end_of_the_work_itself_is_waited_for(void **state)
{
    check_trace(.spans =
                    "A[0,1000] &K[100]<A W[450,800]<A&K K[150,790]<&K X[700,950]<K D[900,980]<A",
                .counts = "outlive 1", .client = "A -150-> K -640-> /K -110-> D -80-> /D -20-> /A");
}

static void forks_within_forks(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A W[500,900]<A&K "
                         "K[150,880]<&K &L[200]<K V[600,850]<K&L L[250,840]<&L",
                .client = "A -150-> K -100-> L -590-> /L -40-> /K -120-> /A");
}

static void of_several_roots_of_the_work_the_last_to_end_was_waited_for(void **state)
{
    check_trace(
            .spans =
                "A[0,1000] &K[100]<A W[500,900]<A&K K1[150,600]<&K K2[200,800]<&K K3[300,700]<&K",
            .client = "A -200-> K2 -600-> /K2 -200-> /A");
    /* Two ended at once: the first in the order of siblings. */
    check_trace(.spans = "A[0,1000] &K[100]<A W[500,900]<A&K K1[250,800]<&K K2[200,800]<&K",
                .client = "A -200-> K2 -600-> /K2 -200-> /A");
}

static void all_roots_of_the_work_that_did_not_run_beside_each_other_are_on_the_path(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A W[450,800]<A&K K1[150,300]<&K K2[350,790]<&K",
                .client = "A -150-> K1 -150-> /K1 -50-> K2 -440-> /K2 -210-> /A");
    check_trace(.spans =
                    "A[0,1000] &K[100]<A B[110,900]<A W[450,800]<B&K K1[150,300]<&K K2[350,790]<&K "
                    "K3[280,340]<&K",
                .client = "A -280-> K3 -60-> /K3 -10-> K2 -440-> /K2 -0-> ~B -110-> /B -100-> /A");
    /* Of another fork only what is waited for. */
    check_trace(.spans =
                    "A[0,1000] &K[100]<A &L[100]<A W[450,800]<A&K K1[150,300]<&K K2[350,790]<&K "
                    "L1[310,340]<&L",
                .client = "A -150-> K1 -150-> /K1 -50-> K2 -440-> /K2 -210-> /A");
}

static void of_two_waits_for_one_work_the_later_one_counts(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A W1[200,300]<A&K W2[500,800]<A&K K[150,790]<&K",
                .client = "A -150-> K -640-> /K -210-> /A");
}

static void a_wait_inside_another_span_keeps_the_path_nested(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A B[110,900]<A W[450,800]<B&K K[150,790]<&K",
                .client = "A -150-> K -640-> /K -0-> ~B -110-> /B -100-> /A");
    /* Two spans deep; what the inner one did before is not on the path, what it did afterwards is.
     */
    check_trace(.spans =
                    "A[0,1000] &K[100]<A B[110,900]<A C[120,890]<B X[130,140]<C W[450,800]<C&K "
                    "Y[820,840]<C K[150,790]<&K",
                .client = "A -150-> K -640-> /K -0-> ~B -0-> ~C -30-> Y -20-> /Y -50-> /C -10-> /B "
                          "-100-> /A");
    /* What came before the fork is. */
    check_trace(.spans = "A[0,1000] P[10,90]<A &K[100]<A B[110,900]<A W[450,800]<B&K K[150,790]<&K",
                .client = "A -10-> P -80-> /P -60-> K -640-> /K -0-> ~B -110-> /B -100-> /A");
}

static void a_wait_for_unknown_work_inside_another_span(void **state)
{
    check_trace(.spans = "A[0,1000] B[110,900]<A W[450,800]<B&K",
                .client = "A -110-> B -340-> W -350-> /W -100-> /B -100-> /A");
}

static void work_that_had_ended_before_the_wait_in_another_span(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A B[110,900]<A W[450,800]<B&K K[150,400]<&K",
                .client = "A -110-> B -340-> W -350-> /W -100-> /B -100-> /A");
}

static void work_that_ends_after_the_wait_in_another_span(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A B[110,900]<A W[450,800]<B&K K[150,850]<&K",
                .client = "A -150-> K -700-> /K -0-> ~B -50-> /B -100-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A B[110,900]<A W[450,800]<B&K K[150,950]<&K",
                .client = "A -150-> K -750-> /K -0-> ~B -0-> /B -100-> /A");
}

/* The span of the fork is not one the path is inside of: the work hangs where the path was when it
 * began. */
static void work_forked_elsewhere(void **state)
{
    check_trace(.spans =
                    "A[0,1000] P[50,120]<A &K[100]<P B[200,900]<A W[300,800]<B&K K[110,790]<&K",
                .counts = "outlive 1",
                .client = "A -110-> K -680-> /K -0-> ~B -110-> /B -100-> /A");
    check_trace(.spans =
                    "A[0,1000] P[50,320]<A &K[100]<P B[200,900]<A W[300,800]<B&K K[250,790]<&K",
                .counts = "outlive 1",
                .client = "A -200-> B -50-> K -540-> /K -110-> /B -100-> /A");
    check_trace(.spans = "P[50,120]:many &K[100]<P B[200,900]:many W[300,800]<B&K K[110,790]<&K",
                .counts = "outlive 1", .client = "P -60-> /~P -0-> K -680-> /K -0-> ~B -110-> /B",
                .completion = "P -60-> /~P -0-> K -680-> /K -0-> ~B -110-> /B");
}

/* A wait in the work that it waits for, and two works that wait for each other: whoever sends that
 * must not make us run for ever. Each work is on the path once. */
static void waits_in_a_circle_end(void **state)
{
    check_trace(.spans = "A[0,1000] &K[100]<A K[150,790]<&K V[300,700]<K&K W[450,800]<A&K",
                .client = "A -150-> K -150-> V -400-> /V -90-> /K -210-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A &L[100]<A K[150,900]<&K L[150,900]<&L "
                         "V[300,700]<K&L U[300,700]<L&K W[450,920]<A&K",
                .client = "A -150-> L -150-> U -400-> /U -200-> /L -0-> ~K -0-> /K -100-> /A");
    check_trace(.spans = "A[0,1000] &K[100]<A &L[100]<K K[150,900]<&K L[150,900]<&L "
                         "V[300,900]<K&L U[300,900]<L&K W[450,900]<L&L");
}

static void work_the_client_did_not_wait_for_has_a_latency_of_its_own(void **state)
{
    check_trace(.spans = "A[0,500] K[150,5000]<A", .tree = "A[0,500..5000]{K[150,5000]}",
                .counts = "outlive 1", .client = "A -500-> /A",
                .completion = "A -150-> K -4850-> /K -0-> /A");
    check_trace(.spans = "A[0,500] K[150,5000]<A:spawn", .counts = "outlive 1",
                .client = "A -500-> /A", .completion = "A -150-> K -4850-> /K -0-> /A");
    check_trace(.spans = "A[0,500] &K[100]<A K[150,5000]<&K", .counts = "outlive 1",
                .client = "A -500-> /A", .completion = "A -150-> K -4850-> /K -0-> /A");
    /* It began when the parent had ended; and further below. */
    check_trace(.spans = "A[0,500] B[100,400]<A K[700,5000]<B", .counts = "outlive 1",
                .client = "A -100-> B -300-> /B -100-> /A",
                .completion = "A -100-> B -600-> K -4300-> /K -0-> /B -0-> /A");
}

static void spawned_work_that_ends_in_time_is_on_no_path(void **state)
{
    check_trace(.spans = "A[0,1000] K[150,400]<A:spawn", .client = "A -1000-> /A");
    check_trace(.spans = "A[0,1000] K[150,400]<A:call", .client = "A -150-> K -250-> /K -600-> /A");
}

static void points_in_time_are_on_the_path(void **state)
{
    check_trace(.spans = "A[0,1000] N[300]<A B[400,500]<A",
                .client = "A -300-> *N -100-> B -100-> /B -500-> /A");
    check_trace(.spans = "A[0,1000] N[450]<A B[400,500]<A",
                .client = "A -400-> B -100-> /B -500-> /A");
    check_trace(.spans = "A[0,1000] N[450]<B B[400,500]<A",
                .client = "A -400-> B -50-> *N -50-> /B -500-> /A");
}

static void roots_one_after_the_other_are_all_on_the_path(void **state)
{
    check_trace(.spans = "A[0,100]:many B[200,300]:many",
                .client = "A -100-> /A -100-> B -100-> /B");
}

/* Work that a child began and nobody waits for runs beside what follows; the child itself was
 * waited for. */
static void what_outlives_a_child_does_not_take_the_child_off_the_path(void **state)
{
    check_trace(.spans = "R[0,100] A[10,40]<R X[40,60]<A:spawn B[50,90]<R", .counts = "outlive 1",
                .client = "R -10-> A -30-> /A -10-> B -40-> /B -10-> /R");
    check_trace(.spans = "R[0,100] A[10,20]<R X[15,60]<A:spawn C[25,45]<R B[50,90]<R",
                .counts = "outlive 1",
                .client = "R -10-> A -10-> /A -5-> C -20-> /C -5-> B -40-> /B -10-> /R");
    /* where it is not known whether somebody waits, what outlives counts as waited for */
    check_trace(.spans = "R[0,100] A[10,40]<R X[40,60]<A B[50,90]<R", .counts = "outlive 1",
                .client = "R -10-> A -30-> /A -10-> B -40-> /B -10-> /R",
                .completion = "R -50-> B -40-> /B -10-> /R");
}

/* The time before the root on the path is in the request, and so on its path. */
static void of_roots_that_overlap_the_first_is_left_where_the_next_takes_over(void **state)
{
    check_trace(.spans = "A[0,250]:many B[200,300]:many",
                .client = "A -200-> /~A -0-> B -100-> /B");
    check_trace(.spans = "A[0,250]:many C[50,100]<A D[150,240]<A B[200,300]:many",
                .client = "A -50-> C -50-> /C -100-> /~A -0-> B -100-> /B");
    check_trace(.spans = "A[0,250]:many C[20,40]:many B[200,300]:many",
                .client = "A -20-> /~A -0-> C -20-> /C -160-> B -100-> /B");
    check_trace(.spans = "A[0,300]:many B[0,250]:many", .client = "A -300-> /A");
}

/* Where spans start at whole milliseconds and last as long as they do, one that ended before the
 * next began is not taken to run beside it. */
static void what_ends_late_only_because_starts_are_rounded_is_on_the_path(void **state)
{
    check_trace(.spans = "A[0,20000000] B[1000000,5400000]<A C[5000000,9300000]<A",
                .client = "A -1000000-> B -4000000-> /B -0-> C -4300000-> /C -10700000-> /A");
    check_trace(.spans =
                    "A[0,20000000] B[1000000,5400000]<A D[2000000,5300000]<B C[5000000,9300000]<A",
                .client = "A -1000000-> B -1000000-> D -3000000-> /D -0-> /B -0-> C -4300000-> /C "
                          "-10700000-> /A");
    /* what begins in the millisecond in which B ends, inside of B, did so before C */
    check_trace(.spans = "A[0,20000000] B[1000000,6900000]<A D[6000000,6400000]<B "
                         "E[6000000,6300000]<D C[6000000,9300000]<A",
                .client = "A -1000000-> B -5000000-> D -0-> E -0-> /E -0-> /D -0-> /B -0-> C "
                          "-3300000-> /C -10700000-> /A");
    check_trace(.spans = "A[0,20000000] D[6000000,6400000]<A C[6000000,9300000]<A",
                .client = "A -6000000-> C -3300000-> /C -10700000-> /A");
    /* a finer clock; longer than the rounding; a clock that rounds both ends */
    check_trace(.spans = "A[0,20000000] B[1000001,5400000]<A C[5000000,9300000]<A",
                .client = "A -5000000-> C -4300000-> /C -10700000-> /A");
    check_trace(.spans = "A[0,20000000] B[1000000,6400000]<A C[5000000,9300000]<A",
                .client = "A -5000000-> C -4300000-> /C -10700000-> /A");
    check_trace(.spans = "A[0,20000000] B[1000000,6000000]<A C[5000000,9000000]<A",
                .client = "A -5000000-> C -4000000-> /C -11000000-> /A");
}

/* D began up to a millisecond earlier than it says, so that it seems to end after S, as both do
 * after the call B: D does not go on beside C, and B is not taken off the path. */
static void what_outlives_only_because_starts_are_rounded_ends_with_its_parent(void **state)
{
    check_trace(.spans = "A[0,20000000] B[1000000,8900000]<A S[1000000,9100000]<B:call "
                         "D[3000000,9900000]<S C[9000000,12500000]<A",
                .counts = "clamped 1",
                .client = "A -1000000-> B -0-> S -2000000-> D -5900000-> /D -0-> /S -0-> /B "
                          "-100000-> C -3500000-> /C -7500000-> /A");
    /* an event of the response ends D, and came late */
    check_trace(.spans = "A[0,20000000] B[1000000,8900000]<A S[1000000,9100000]<B:call "
                         "D[2000000,17200000]<S C[9000000,12500000]<A",
                .counts = "clamped 1",
                .completion = "A -1000000-> B -0-> S -1000000-> D -6900000-> /D -0-> /S -0-> /B "
                              "-100000-> C -3500000-> /C -7500000-> /A");
    /* D began within the call, and by more than the rounding it ends later: it goes on beside C, as
     * it does where starts are not rounded */
    check_trace(.spans = "A[0,20000000] B[1000100,8900000]<A S[1000200,9100000]<B:call "
                         "D[1000300,10200000]<S C[9000000,12500000]<A",
                .counts = "clamped 1 outlive 1",
                .completion = "A -9000000-> C -3500000-> /C -7500000-> /A");
    check_trace(.spans = "A[0,20000000] B[1000000,8900000]<A S[1000000,9100000]<B:call "
                         "D[3000000,10200000]<S C[9000000,12500000]<A",
                .counts = "outlive 1",
                .client = "A -1000000-> B -0-> S -7900000-> /S -0-> /B -100000-> C -3500000-> /C "
                          "-7500000-> /A",
                .completion = "A -9000000-> C -3500000-> /C -7500000-> /A");
}

/* B began up to a millisecond later than it says, so that S seems to begin after its end: S is
 * moved into it with all that it does, and keeps its length. */
static void what_begins_late_only_because_starts_are_rounded_is_in_its_parent(void **state)
{
    check_trace(.spans = "A[0,20000000] B[6000000,6546000]<A S[7000000,7271000]<B:call "
                         "D[7000000,7220000]<S",
                .client = "A -6000000-> B -275000-> S -0-> D -220000-> /D -51000-> /S -0-> /B "
                          "-13454000-> /A");
    /* by more than the rounding; finer clocks: it went on after B */
    check_trace(.spans = "A[0,20000000] B[6000000,6246000]<A S[7000000,7271000]<B:call",
                .counts = "outlive 1", .client = "A -6000000-> B -246000-> /B -13754000-> /A",
                .completion = "A -6000000-> B -1000000-> S -271000-> /S -0-> /B -12729000-> /A");
    check_trace(.spans = "A[0,20000000] B[6000100,6546000]<A S[7000000,7271000]<B:call",
                .counts = "outlive 1", .client = "A -6000100-> B -545900-> /B -13454000-> /A",
                .completion = "A -6000100-> B -999900-> S -271000-> /S -0-> /B -12729000-> /A");
}

/* ---- behaviour 11, and the definition itself ---- */

enum { TREE_SPANS = 24 };

/* A random trace as parts: each span below an earlier one and mostly inside it, short times so that
 * ends coincide. */
static size_t random_trace(struct pythia_random *r, struct pythia_span *spans, bool waits)
{
    size_t n = 1 + (size_t)pythia_random_below(r, TREE_SPANS);
    uint64_t range = 2 + pythia_random_below(r, 60);
    for (size_t i = 0; i < n; i++) {
        struct pythia_span *s = &spans[i];
        size_t parent = i ? (size_t)pythia_random_below(r, i) : 0;
        *s = (struct pythia_span){.id = i + 1, .parent = i ? spans[parent].id : 0};
        uint64_t low = i ? spans[parent].start_ns : TRACE_TEXT_BEGIN;
        uint64_t room = i ? (uint64_t)spans[parent].duration_ns : range;
        uint64_t from = pythia_random_below(r, room + 1);
        s->start_ns = low + from;
        s->duration_ns = (int64_t)pythia_random_below(r, room - from + 1);
        if (!i)
            s->duration_ns = (int64_t)range;
        else if (pythia_random_below(r, 8) == 0) /* it goes on when its parent has ended */
            s->duration_ns += (int64_t)pythia_random_below(r, range);
        if (pythia_random_below(r, 5) == 0)
            s->relation = PYTHIA_RELATION_SPAWN;
    }
    size_t tree = waits ? n : 0;
    for (size_t i = 1; i < tree;
         i++) /* some of it is forked work, and some of the rest waits for it */
        if (pythia_random_below(r, 4) == 0) {
            struct pythia_trace_id link = {2, i};
            spans[n] = (struct pythia_span){.id = pythia_span_id_fold(link.high, link.low),
                                            .parent = spans[i].parent,
                                            .start_ns = spans[i].start_ns,
                                            .part = PYTHIA_PART_FORK,
                                            .link = link};
            spans[i].parent = spans[n++].id;
            size_t waiter = (size_t)pythia_random_below(r, i + 3);
            uint64_t start = TRACE_TEXT_BEGIN + pythia_random_below(r, range);
            struct pythia_span wait = {.id = 1000 + i,
                                       .parent = waiter < i ? spans[waiter].id : 1,
                                       .start_ns = start,
                                       .part = PYTHIA_PART_WAIT,
                                       .link = link};
            spans[n++] = wait;
            wait.part = PYTHIA_PART_STOP;
            wait.start_ns += pythia_random_below(r, range);
            spans[n++] = wait;
        }
    return n;
}

struct bench {
    struct pythia_vocabulary *vocabulary;
    struct pythia_trace_builder *builder;
    struct pythia_critical_path path;
    uint32_t point;
};

static int make_bench(void **state)
{
    static struct bench bench;
    if (pythia_vocabulary_create(&bench.vocabulary) != PYTHIA_OK ||
        pythia_trace_builder_create(bench.vocabulary, NULL, &bench.builder) != PYTHIA_OK)
        return -1;
    pythia_critical_path_init(&bench.path);
    bench.point =
        pythia_vocabulary_tracepoint(bench.vocabulary, 0, 0, intern(bench.vocabulary, "p"));
    *state = &bench;
    return 0;
}

static int free_bench(void **state)
{
    struct bench *bench = *state;
    pythia_critical_path_free(&bench->path);
    pythia_trace_builder_destroy(bench->builder);
    pythia_vocabulary_destroy(bench->vocabulary);
    return 0;
}

static const struct pythia_trace *build(struct bench *bench, struct pythia_span *spans, size_t n)
{
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace = NULL;
    pythia_trace_builder_begin(bench->builder, (struct pythia_trace_id){1, 1});
    for (size_t i = 0; i < n; i++) {
        spans[i].tracepoint = spans[i].part == PYTHIA_PART_STOP ? PYTHIA_NONE : bench->point;
        assert_int_equal(pythia_trace_builder_add(bench->builder, &spans[i]), PYTHIA_OK);
    }
    assert_int_equal(pythia_trace_builder_finish(bench->builder, &counts, &trace), PYTHIA_OK);
    return trace;
}

static void the_gaps_of_every_path_add_up_to_its_length(void **state)
{
    struct bench *bench = *state;
    struct pythia_random r;
    struct pythia_span spans[4 * TREE_SPANS];
    pythia_random_init(&r, 11);
    for (size_t round = 0; round < 6000; round++) {
        const struct pythia_trace *trace = build(bench, spans, random_trace(&r, spans, round % 2));
        for (int k = 0; k < 2; k++) {
            enum pythia_latency latency = k ? PYTHIA_LATENCY_COMPLETION : PYTHIA_LATENCY_CLIENT;
            assert_int_equal(pythia_critical_path_find(&bench->path, trace, latency), PYTHIA_OK);
            const char *fault = fault_of_path(trace, &bench->path);
            if (fault)
                fail_msg("round %zu: %s", round, fault);
            const struct pythia_path_event *last = &bench->path.events[bench->path.count - 1];
            uint64_t end_ns = k ? trace->completed_ns : trace->end_ns;
            assert_int_equal(last->at_ns,
                             end_ns); /* one root: it is entered, and all of it is walked over */
            assert_int_equal(bench->path.events[0].at_ns, trace->start_ns);
        }
    }
}

/* The definition, word for word: within a span the child with the latest end that is not after the
 * point reached (if the end of all its work is, its own end); its start is the next such point.
 * What the parent does not wait for counts only where it goes on longer than the parent. Of two
 * that end at once the one that began later, then the one that comes later among the siblings. */
struct definition {
    const struct pythia_trace *trace;
    bool completion;
    bool used[4 * TREE_SPANS];
    struct pythia_path_event events[8 * TREE_SPANS]; /* from the end */
    size_t count;
};

static uint64_t defined_end(const struct definition *d, uint32_t span, uint64_t cursor)
{
    const struct pythia_trace_span *s = &d->trace->spans[span];
    bool own = s->unawaited && s->completed_ns > cursor && s->end_ns > s->start_ns;
    return d->completion && !own ? s->completed_ns : s->end_ns;
}

static uint32_t latest_child(const struct definition *d, uint32_t parent, uint64_t cursor)
{
    const struct pythia_trace_span *spans = d->trace->spans;
    uint32_t best = PYTHIA_NO_SPAN;
    for (uint32_t c = spans[parent].first_child; c != PYTHIA_NO_SPAN; c = spans[c].next_sibling) {
        uint64_t end = defined_end(d, c, cursor);
        if (d->used[c] || end > cursor ||
            (spans[c].relation == PYTHIA_RELATION_SPAWN && end <= spans[parent].end_ns))
            continue;
        if (best == PYTHIA_NO_SPAN || end > defined_end(d, best, cursor) ||
            (end == defined_end(d, best, cursor) && spans[c].start_ns >= spans[best].start_ns))
            best = c;
    }
    return best;
}

static void define(struct definition *d, uint32_t span, uint64_t cursor)
{
    d->events[d->count++] =
        (struct pythia_path_event){.at_ns = cursor, .span = span, .kind = PYTHIA_EVENT_END};
    for (uint32_t child; (child = latest_child(d, span, cursor)) != PYTHIA_NO_SPAN;) {
        d->used[child] = true;
        define(d, child, defined_end(d, child, cursor));
        cursor = d->trace->spans[child].start_ns;
    }
    d->events[d->count++] = (struct pythia_path_event){
        .at_ns = d->trace->spans[span].start_ns, .span = span, .kind = PYTHIA_EVENT_START};
}

static void paths_agree_with_their_definition(void **state)
{
    struct bench *bench = *state;
    struct pythia_random r;
    struct pythia_span spans[4 * TREE_SPANS];
    size_t longest = 0;
    pythia_random_init(&r, 12);
    for (size_t round = 0; round < 6000; round++) {
        const struct pythia_trace *trace = build(bench, spans, random_trace(&r, spans, false));
        for (int k = 0; k < 2; k++) {
            struct definition d = {.trace = trace, .completion = k};
            define(&d, trace->first_root, k ? trace->completed_ns : trace->end_ns);
            assert_int_equal(
                pythia_critical_path_find(&bench->path, trace,
                                          k ? PYTHIA_LATENCY_COMPLETION : PYTHIA_LATENCY_CLIENT),
                PYTHIA_OK);
            assert_int_equal(bench->path.count, d.count);
            for (size_t i = 0; i < d.count; i++) {
                const struct pythia_path_event *ours = &bench->path.events[i];
                const struct pythia_path_event *theirs = &d.events[d.count - 1 - i];
                assert_int_equal(ours->span, theirs->span);
                assert_int_equal(ours->kind, theirs->kind);
                assert_int_equal(ours->at_ns, theirs->at_ns);
                assert_false(ours->synthetic);
            }
            longest = d.count > longest ? d.count : longest;
        }
    }
    assert_true(longest > 20); /* not all of it was trivial */
}

/* ---- memory ---- */

static void one_path_can_be_used_for_many_traces(void **state)
{
    struct bench *bench = *state;
    struct pythia_span spans[4 * TREE_SPANS];
    struct pythia_random r;
    pythia_random_init(&r, 13);
    for (size_t round = 0; round < 50; round++) {
        const struct pythia_trace *trace = build(bench, spans, random_trace(&r, spans, true));
        struct pythia_critical_path fresh;
        pythia_critical_path_init(&fresh);
        assert_int_equal(pythia_critical_path_find(&fresh, trace, PYTHIA_LATENCY_COMPLETION),
                         PYTHIA_OK);
        assert_int_equal(pythia_critical_path_find(&bench->path, trace, PYTHIA_LATENCY_COMPLETION),
                         PYTHIA_OK);
        assert_int_equal(bench->path.count, fresh.count);
        for (size_t i = 0; i < fresh.count; i++) {
            assert_int_equal(bench->path.events[i].span, fresh.events[i].span);
            assert_int_equal(bench->path.events[i].at_ns, fresh.events[i].at_ns);
        }
        pythia_critical_path_free(&fresh);
    }
}

static void each_failed_allocation_leaves_no_path(void **state)
{
    struct bench *bench = *state;
    struct pythia_span spans[400];
    size_t n = 0;
    spans[n++] = (struct pythia_span){.id = 1, .start_ns = TRACE_TEXT_BEGIN, .duration_ns = 10000};
    for (uint64_t i = 1; i < 200; i++) /* deep and broad, and some of it forked and waited for */
        spans[n++] = (struct pythia_span){.id = i + 1,
                                          .parent = i < 100 ? i : 1,
                                          .start_ns = TRACE_TEXT_BEGIN + i,
                                          .duration_ns = (int64_t)(5000 - 7 * i)};
    struct pythia_trace_id link = {2, 3};
    uint64_t fork = pythia_span_id_fold(2, 3), base = TRACE_TEXT_BEGIN;
    spans[n++] = (struct pythia_span){
        .id = fork, .parent = 1, .start_ns = base + 6000, .part = PYTHIA_PART_FORK, .link = link};
    spans[n++] = (struct pythia_span){
        .id = 900, .parent = fork, .start_ns = base + 6100, .duration_ns = 2000};
    spans[n++] = (struct pythia_span){
        .id = 901, .parent = 1, .start_ns = base + 7000, .part = PYTHIA_PART_WAIT, .link = link};
    spans[n++] = (struct pythia_span){.id = 901, .start_ns = base + 9000, .part = PYTHIA_PART_STOP};
    const struct pythia_trace *trace = build(bench, spans, n);
    long failures = 0;
    for (;; failures++) {
        struct pythia_critical_path path;
        pythia_critical_path_init(&path);
        path.count = 99;
        pythia_mem_fail_after(failures);
        int status = pythia_critical_path_find(&path, trace, PYTHIA_LATENCY_CLIENT);
        pythia_mem_fail_after(-1);
        assert_int_equal(path.count, status == PYTHIA_OK ? 2 * 101 : 0);
        pythia_critical_path_free(&path);
        if (status == PYTHIA_OK)
            break;
        assert_int_equal(status, PYTHIA_ENOMEM);
    }
    assert_true(failures >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_alone_is_the_path),
        cmocka_unit_test(a_child_splits_its_parent),
        cmocka_unit_test(children_one_after_the_other_are_all_on_the_path),
        cmocka_unit_test(concurrent_children_leave_one_on_the_path),
        cmocka_unit_test(what_overlaps_the_one_on_the_path_is_passed_over),
        cmocka_unit_test(concurrency_below_concurrency),
        cmocka_unit_test(a_chain_is_on_the_path_as_a_whole),
        cmocka_unit_test(forked_work_is_on_the_path_where_it_is_waited_for),
        cmocka_unit_test(forked_work_nobody_waits_for_is_not),
        cmocka_unit_test(a_wait_for_unknown_work_is_a_span),
        cmocka_unit_test(work_that_had_ended_before_the_wait_began_was_not_waited_for),
        cmocka_unit_test(work_that_ends_after_the_wait_is_cut_where_the_path_goes_on),
        cmocka_unit_test(only_the_end_of_the_work_itself_is_waited_for),
        cmocka_unit_test(forks_within_forks),
        cmocka_unit_test(of_several_roots_of_the_work_the_last_to_end_was_waited_for),
        cmocka_unit_test(all_roots_of_the_work_that_did_not_run_beside_each_other_are_on_the_path),
        cmocka_unit_test(of_two_waits_for_one_work_the_later_one_counts),
        cmocka_unit_test(a_wait_inside_another_span_keeps_the_path_nested),
        cmocka_unit_test(a_wait_for_unknown_work_inside_another_span),
        cmocka_unit_test(work_that_had_ended_before_the_wait_in_another_span),
        cmocka_unit_test(work_that_ends_after_the_wait_in_another_span),
        cmocka_unit_test(work_forked_elsewhere),
        cmocka_unit_test(waits_in_a_circle_end),
        cmocka_unit_test(work_the_client_did_not_wait_for_has_a_latency_of_its_own),
        cmocka_unit_test(spawned_work_that_ends_in_time_is_on_no_path),
        cmocka_unit_test(points_in_time_are_on_the_path),
        cmocka_unit_test(roots_one_after_the_other_are_all_on_the_path),
        cmocka_unit_test(what_outlives_a_child_does_not_take_the_child_off_the_path),
        cmocka_unit_test(of_roots_that_overlap_the_first_is_left_where_the_next_takes_over),
        cmocka_unit_test(what_ends_late_only_because_starts_are_rounded_is_on_the_path),
        cmocka_unit_test(what_outlives_only_because_starts_are_rounded_ends_with_its_parent),
        cmocka_unit_test(what_begins_late_only_because_starts_are_rounded_is_in_its_parent),
        cmocka_unit_test(the_gaps_of_every_path_add_up_to_its_length),
        cmocka_unit_test(paths_agree_with_their_definition),
        cmocka_unit_test(one_path_can_be_used_for_many_traces),
        cmocka_unit_test(each_failed_allocation_leaves_no_path),
    };
    return cmocka_run_group_tests(tests, make_bench, free_bench);
}
