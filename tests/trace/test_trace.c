/* Each trace is built from its parts in every order, or in 200, and must be the same
 * (trace_text.h). Clocks that differ are in test_trace_clocks.c. */
#include "check.h"
#include "pythia/mem.h"
#include "pythia/trace.h"
#include "trace_text.h"

/* ---- clean input ---- */

static void spans_find_their_parents_in_any_order(void **state)
{
    check_trace(.spans =
                    "A[0,1000] B[100,900]<A C[200,800]<B D[300,400]<C E[500,700]<C F[920,950]<A",
                .tree = "A[0,1000]{B[100,900]{C[200,800]{D[300,400] E[500,700]}} F[920,950]}");
}

static void a_start_and_a_stop_are_one_span(void **state)
{
    check_trace(.spans = "A[0,?] /A[1000] B[10,?]<A /B[110]<A", .tree = "A[0,1000]{B[10,110]}");
    check_trace(.spans = "A[5,?] /A[5]", .tree = "A[5,5]");
    check_trace(.spans = "A[0,?]:{begun} /A[1000]:{done}", .tree = "A[0,1000]:{begun}:{done}");
    check_trace(.spans = "A[0,?] /A[1000]:{done}:error", .tree = "A[0,1000]:error:{done}");
    check_trace(.spans = "A[0,?]:{begun}:error /A[1000]", .tree = "A[0,1000]:error:{begun}");
}

static void a_point_in_time_with_a_stop_or_a_child_is_a_span(void **state)
{
    check_trace(.spans = "A[0,1000] N[100]<A", .tree = "A[0,1000]{N[100]}");
    check_trace(.spans = "A[0,1000] N[100]<A /N[300]", .tree = "A[0,1000]{N[100,300]}");
    check_trace(.spans = "A[0,1000] N[100]<A B[150,300]<N",
                .tree = "A[0,1000]{N[100,300]{B[150,300]}}");
    check_trace(.spans = "A[0,1000] N[100]<A M[150]<N", .tree = "A[0,1000]{N[100,150]{M[150]}}");
}

static void a_parent_that_is_the_trace_itself_means_a_root(void **state)
{
    check_trace(.spans = "A[0,1000]<&trace B[10,110]<A", .tree = "A[0,1000]{B[10,110]}");
}

static void the_completion_of_a_span_is_the_last_end_below_it(void **state)
{
    check_trace(.spans = "A[0,100] B[10,80]<A C[20,300]<B D[30,200]<C", .counts = "outlive 1",
                .tree = "A[0,100..300]{B[10,80..300]{C[20,300]{D[30,200]}}}");
}

static void the_two_halves_of_a_shared_id_are_two_spans(void **state)
{
    check_trace(.spans =
                    "A[0,1000]:%web C[100,500]<A:%web C[150,450]<A:%db:shared D[200,300]<C:%db "
                    "E[110,120]<C:%web",
                .tree = "A[0,1000]{C[100,500]{E[110,120] C'[150,450]{D[200,300]}}}");
    check_trace(
            .spans =
                "A[0,1000]:%web C[150,450]<A:%db:shared D[200,300]<C:%db", /* one half is lost */
            .tree = "A[0,1000]{C'[150,450]{D[200,300]}}");
    check_trace(
            .spans =
                "C[100,500]:%web C[150,450]:%web:shared D[200,300]<C:%web", /* it calls itself */
            .tree = "C[100,500]{C'[150,450]{D[200,300]}}");
    /* The client's half names its own id as its parent: each half is below the other. */
    check_trace(.spans = "A[0,900] C[1,5]<C:%db C[1,5]<A:%db:shared", .counts = "cycle 1",
                .tree = "A[0,900]{C[1,5]:cycle{C'[1,5]}}");
    check_trace(.spans = "C[100,500]:%web:@h1 C[50,350]:%db:@h2:shared",
                .tree = "C[100,500]{C'[100,400]:skew}", .counts = "skew 1");
}

static void kinds_tell_the_halves_of_an_id_apart(void **state)
{
    check_trace(.spans = "A[0,1000]:%web C[100,500]<A:%web:client C[150,450]<A:%db:server "
                         "D[200,300]<C:%db E[110,120]<C:%web",
                .tree = "A[0,1000]{C[100,500]{E[110,120] C'[150,450]{D[200,300]}}}");
    check_trace(.spans = "A[0,1000]:%web:server B[100,500]<A:%web",
                .tree = "A'[0,1000]{B[100,500]}");
}

static void additions_go_to_the_half_of_their_service(void **state)
{
    check_trace(.spans = "C[100,500]:%web C[150,450]:%db:shared:{half} +C:%db:{more} +C:%db:{most}",
                .tree = "C[100,500]{C'[150,450]:{half}:{more}:{most}}");
    check_trace(.spans = "C[100,500]:%web C[150,450]:%db:shared +C:%web:{more} +C:%web:{more}",
                .tree = "C[100,500]:{more}{C'[150,450]}");
    check_trace(.spans = "C[100,500]:%web +C:%other:{more}:error",
                .tree = "C[100,500]:error:{more}");
}

static void a_span_without_any_time_begins_with_its_parent(void **state)
{
    check_trace(.spans = "A[0,900] B[100,500]<A +C<B:{x} D[200,300]<C",
                .tree = "A[0,900]{B[100,500]{C[100,300]:{x}:unfinished{D[200,300]}}}",
                .counts = "unfinished 1");
    check_trace(.spans = "A[5,900] B[100,500]<A +C<B +D<C",
                .tree = "A[5,900]{B[100,500]{C[100,100]:unfinished{D[100]:unfinished}}}",
                .counts = "unfinished 2");
    check_trace(.spans = "+A B[100,500]<A", .tree = "A[100,500]:unfinished{B[100,500]}",
                .counts = "unfinished 1");
    check_trace(.spans = "B[100,500] +C<X", .tree = "B[100,500]{C[100]:orphan:unfinished}",
                .counts = "orphan 1 unfinished 1");
    check_trace(.spans = "+A:{x} +B<A", .counts = "broken_record 2");
    check_trace(.spans = "+A:{x} /B[5] /A[7]", .counts = "broken_record 1 stop_without_start 2");
}

/* ---- dirty input ---- */

static void a_child_that_outlives_its_parent_is_cut_if_it_was_waited_for(void **state)
{
    check_trace(.spans = "A[0,1000] B[900,1400]<A:call", .tree = "A[0,1000]{B[900,1000]:clamped}",
                .counts = "clamped 1", .client = "A -900-> B -100-> /B -0-> /A");
    check_trace(.spans = "A[0,1000] B[900,1400]<A:call C[950,1390]<B:call",
                .tree = "A[0,1000]{B[900,1000]:clamped{C[950,1000]:clamped}}",
                .counts = "clamped 2");
}

static void else_it_is_asynchronous_and_counted(void **state)
{
    const char *tree = "A[0,1000..1400]{B[900,1400]}", *client = "A -1000-> /A";
    const char *completion = "A -900-> B -500-> /B -0-> /A";
    check_trace(.spans = "A[0,1000] B[900,1400]<A", .tree = tree, .counts = "outlive 1",
                .client = client, .completion = completion);
    check_trace(.spans = "A[0,1000] B[900,1400]<A:spawn", .tree = tree, .counts = "outlive 1",
                .client = client, .completion = completion);
    check_trace(.spans = "A[0,1000]:@h1 B[900,1400]<A:@h2", .tree = tree, .counts = "outlive 1",
                .client = client, .completion = completion);
    check_trace(.spans = "A[0,1000] B[1200,1400]<A", .tree = "A[0,1000..1400]{B[1200,1400]}",
                .counts = "outlive 1", .client = client,
                .completion = "A -1200-> B -200-> /B -0-> /A");
}

static void a_call_that_begins_after_its_parent_keeps_its_length(void **state)
{
    check_trace(.spans = "A[0,1000] B[1200,1400]<A:call C[1210,1390]<B:call",
                .tree = "A[0,1000..1400]{B[1200,1400]{C[1210,1390]}}", .counts = "outlive 1",
                .client = "A -1000-> /A",
                .completion = "A -1200-> B -10-> C -180-> /C -10-> /B -0-> /A");
    check_trace(.spans = "A[0,1000] B[1000,1400]<A:call", /* at its end it may be a rounding */
                .tree = "A[0,1000]{B[1000,1000]:clamped}", .counts = "clamped 1");
    /* On another host: between two servers nothing tells that a clock was off. */
    check_trace(.spans = "A[0,1000]:@h1:server B[1200,1400]<A:@h2:call:server",
                .tree = "A'[0,1000..1400]{B'[1200,1400]}", .counts = "outlive 1");
    check_trace(.spans = "A[0,1000]:@h1:client B[1200,1400]<A:@h2:call:server",
                .tree = "A[0,1000]{B'[800,1000]:skew}", .counts = "skew 1");
}

/* Starts of both are cut to whole milliseconds, and lengths are not: B may have ended up to one
 * later than it says. */
static void less_than_a_millisecond_is_no_repair_where_starts_are_rough(void **state)
{
    check_trace(.spans = "A[0,20000001] B[1000000,8000002]<A S[1000000,9000001]<B:call",
                .tree = "A[0,20000001]{B[1000000,8000002]{S[1000000,8000002]}}");
    check_trace(.spans = "A[0,20000001] B[1000000,8000001]<A S[1000000,9000001]<B:call",
                .tree = "A[0,20000001]{B[1000000,8000001]{S[1000000,8000001]:clamped}}",
                .counts = "clamped 1");
    /* S is cut by .7 ms, and T with it: that is .3 ms, and of U 1.1 ms */
    check_trace(.spans = "A[0,20000001] B[1000000,8000001]<A S[1000000,8700001]<B:call "
                         "T[2000000,8300001]<S:call U[3000000,9100001]<S:call",
                .tree = "A[0,20000001]{B[1000000,8000001]{S[1000000,8000001]"
                        "{T[2000000,8000001] U[3000000,8000001]:clamped}}}",
                .counts = "clamped 1");
    /* a finer clock, of either; one that rounds the ends, too; another host */
    check_trace(.spans = "A[0,20000001] B[1000000,8000002]<A S[1000001,8000003]<B:call",
                .tree = "A[0,20000001]{B[1000000,8000002]{S[1000001,8000002]:clamped}}",
                .counts = "clamped 1");
    check_trace(.spans = "A[0,20000001] B[1000001,8000002]<A S[2000000,8000003]<B:call",
                .tree = "A[0,20000001]{B[1000001,8000002]{S[2000000,8000002]:clamped}}",
                .counts = "clamped 1");
    check_trace(.spans = "A[0,20000001] B[1000000,8000000]<A S[1000000,8000003]<B:call",
                .tree = "A[0,20000001]{B[1000000,8000000]{S[1000000,8000000]:clamped}}",
                .counts = "clamped 1");
    check_trace(.spans = "A[0,20000001]:@h1 S[1000000,20000003]<A:@h2:call",
                .tree = "A[0,20000001]{S[999998,20000001]:skew}", .counts = "skew 1");
}

/* Times are whole microseconds: each of a start and a duration was cut by less than one. */
static void two_microseconds_of_a_rounding_are_no_repair(void **state)
{
    check_trace(.spans = "A[0,9000] B[3000,11000]<A:call", .tree = "A[0,9000]{B[3000,9000]}",
                .client = "A -3000-> B -6000-> /B -0-> /A");
    check_trace(.spans = "A[0,9000] B[3000,10000]<A", .tree = "A[0,9000]{B[3000,9000]}",
                .client = "A -3000-> B -6000-> /B -0-> /A");
    check_trace(.spans = "A[0,9000] B[3000,12000]<A:call",
                .tree = "A[0,9000]{B[3000,9000]:clamped}", .counts = "clamped 1");
    check_trace(.spans = "A[0,9000] B[3000,9001]<A:call", .tree = "A[0,9000]{B[3000,9000]:clamped}",
                .counts = "clamped 1");
    check_trace(.spans = "A[0,9000] B[3000,12000]<A", .counts = "outlive 1",
                .tree = "A[0,9000..12000]{B[3000,12000]}");
    check_trace(.spans = "A[0,9000] B[3000,11000]<A:spawn", .counts = "outlive 1",
                .tree = "A[0,9000..11000]{B[3000,11000]}");
    /* The order of siblings is that of their times afterwards. */
    check_trace(.spans = "A[0,9000] B[3000,10000]<A:call C[3000,9500]<A:spawn",
                .tree = "A[0,9000..9500]{C[3000,9500] B[3000,9000]}", .counts = "outlive 1");
}

static void a_span_without_its_parent_is_put_below_the_root(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<X C[20,30]<B",
                .tree = "A[0,1000]{B[10,110]:orphan{C[20,30]}}", .counts = "orphan 1",
                .client = "A -10-> B -10-> C -10-> /C -80-> /B -890-> /A");
    check_trace(.spans = "A[0,1000] B[10,110]<X C[200,300]<X D[400,500]<Y",
                .tree = "A[0,1000]{B[10,110]:orphan C[200,300]:orphan D[400,500]:orphan}",
                .counts = "orphan 3");
}

static void without_one_root_orphans_stand_beside_each_other(void **state)
{
    check_trace(.spans = "B[10,110]<X C[20,30]<B D[200,210]<Y",
                .tree = "B[10,110]:orphan{C[20,30]} D[200,210]:orphan", .counts = "orphan 2",
                .client = "B -10-> C -10-> /C -80-> /B -90-> D -10-> /D");
    check_trace(.spans = "A[0,50] E[60,90] B[100,110]<X",
                .tree = "A[0,50] E[60,90]:extra_root B[100,110]:orphan",
                .counts = "orphan 1 extra_root 1");
    /* Nobody around it waits for a root, so what it would have been to its parent does not matter.
     */
    check_trace(.spans = "B[10,110]<X:spawn C[20,30]<B", .tree = "B[10,110]:orphan{C[20,30]}",
                .counts = "orphan 1", .client = "B -10-> C -10-> /C -80-> /B");
    check_trace(.spans = "B[10,110]:spawn", .tree = "B[10,110]", .client = "B -100-> /B");
}

static void two_roots_stand_beside_each_other(void **state)
{
    check_trace(.spans = "A[0,1000] B[1100,1500] C[1200,1300]<B D[10,20]<A",
                .tree = "A[0,1000]{D[10,20]} B[1100,1500]:extra_root{C[1200,1300]}",
                .counts = "extra_root 1",
                .client = "A -10-> D -10-> /D -980-> /A -100-> B -100-> C -100-> /C -200-> /B");
    check_trace(.spans = "A[0,10] B[0,20] C[5,6]",
                .tree = "B[0,20] A[0,10]:extra_root C[5,6]:extra_root", .counts = "extra_root 2",
                .client = "B -20-> /B");
    check_trace(.spans = "A[0,1000]:many B[1100,1500]:many C[1600,1601]:many",
                .tree = "A[0,1000] B[1100,1500] C[1600,1601]"); /* normal for such a source */
}

static void the_same_span_twice_is_one(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A B[10,110]<A",
                .tree = "A[0,1000]{B[10,110]:duplicate}", .counts = "duplicate 1");
    check_trace(.spans =
                    "A[0,1000] B[10,110]<A B[10,110]<A B[10,110]<A", /* a span is mended once */
                .tree = "A[0,1000]{B[10,110]:duplicate}", .counts = "duplicate 1");
    check_trace(.spans = "A[0,?] A[0,?] /A[50] /A[50]", .tree = "A[0,50]:duplicate",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,1000] N[7]<A N[7]<A", .tree = "A[0,1000]{N[7]:duplicate}",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,1000]:@h1 A[0,1000]:@h2", .tree = "A[0,1000]:duplicate",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,1000]:{x} A[0,1000]:{y} A[0,1000]", .tree = "A[0,1000]:duplicate",
                .counts = "duplicate 1"); /* which one is kept does not depend on who came first */
    check_trace(.spans = "A[0,1000]:{x} A[0,1000]:{y}:error",
                .tree = "A[0,1000]:error:{x}:duplicate", .counts = "duplicate 1");
}

static void of_one_id_with_different_times_the_longest_is_kept(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<A B[10,210]<A C[20,30]<B",
                .tree = "A[0,1000]{B[10,210]:conflict{C[20,30]}}", .counts = "conflict 1");
    check_trace(.spans = "A[0,1000] B[10,110]<A B[310,410]<A", /* as long: the earlier */
                .tree = "A[0,1000]{B[10,110]:conflict}", .counts = "conflict 1");
    check_trace(
            .spans =
                "A[0,1000] B[10,110]<A B[10,110]<A B[10,210]<A", /* the copies were of the other */
            .tree = "A[0,1000]{B[10,210]:conflict}", .counts = "conflict 1");
    check_trace(.spans = "A[0,1000] B[10,110]<A B[10,210]<A B[10,210]<A",
                .tree = "A[0,1000]{B[10,210]:duplicate:conflict}",
                .counts = "duplicate 1 conflict 1");
    check_trace(.spans = "A[10,?] A[0,?] /A[50] /A[70]", .tree = "A[0,70]:conflict",
                .counts = "conflict 1");
    check_trace(.spans =
                    "A[0,1000] B[110,10]<A B[50,90]<A", /* the negative one is not the one kept */
                .tree = "A[0,1000]{B[50,90]:conflict}", .counts = "conflict 1");
}

/* A span that was exported while it ran and again when it had ended: the second report is the whole
 * one. */
static void a_whole_span_is_kept_before_a_mere_start(void **state)
{
    check_trace(.spans = "A[0,?]:{a} A[0,1000]:{b}", .tree = "A[0,1000]:{b}:duplicate",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,?]:{b} A[0,1000]:{a}", .tree = "A[0,1000]:{a}:duplicate",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,?] A[5,1000]", .tree = "A[5,1000]:conflict", .counts = "conflict 1");
    check_trace(.spans = "A[0,1000] /A[1000]:{done}", .tree = "A[0,1000]:{done}:duplicate",
                .counts = "duplicate 1");
    check_trace(.spans = "A[0,1000] /A[1200]", .tree = "A[0,1200]:conflict",
                .counts = "conflict 1");
    check_trace(.spans = "A[0,1000] /A[800]", .tree = "A[0,1000]:conflict", .counts = "conflict 1");
}

static void of_two_parents_one_is_kept_and_the_other_is_flagged(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,500]<A C[20,510]<A D[30,40]<B D[30,40]<C",
                .tree = "A[0,1000]{B[10,500]{D[30,40]:duplicate:several_parents} C[20,510]}",
                .counts = "duplicate 1 several_parents 1");
    check_trace(.spans =
                    "A[0,1000] B[10,500]<A D[30,40]<B D[30,40]<B", /* twice the same is none more */
                .tree = "A[0,1000]{B[10,500]{D[30,40]:duplicate}}", .counts = "duplicate 1");
}

static void a_span_without_an_end_lasts_as_long_as_what_is_below_it(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,?]<A C[200,300]<B",
                .tree = "A[0,1000]{B[100,300]:unfinished{C[200,300]}}", .counts = "unfinished 1",
                .client = "A -100-> B -100-> C -100-> /C -0-> /B -700-> /A");
    check_trace(.spans = "A[0,?] B[10,?]<A C[20,90]<B",
                .tree = "A[0,90]:unfinished{B[10,90]:unfinished{C[20,90]}}",
                .counts = "unfinished 2", .client = "A -10-> B -10-> C -70-> /C -0-> /B -0-> /A");
    check_trace(.spans = "A[0,1000] B[100,?]<A", .tree = "A[0,1000]{B[100]:unfinished}",
                .counts = "unfinished 1", .client = "A -100-> *B -900-> /A");
    check_trace(.spans = "A[0,?]", .tree = "A[0]:unfinished", .counts = "unfinished 1",
                .client = "*A");
    /* A lost end and a clock that is off. */
    check_trace(.spans = "A[100,?]:@h1 B[50,150]<A:@h2", .counts = "unfinished 1 skew 1",
                .tree = "A[100,200]:unfinished{B[100,200]:skew}");
}

static void what_ended_before_it_began_has_no_length(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,50]<A", .tree = "A[0,1000]{B[100,100]:negative}",
                .counts = "negative 1", .client = "A -100-> B -0-> /B -900-> /A");
    check_trace(.spans = "A[0,1000] B[100,?]<A /B[50]", .tree = "A[0,1000]{B[100,100]:negative}",
                .counts = "negative 1");
}

static void a_stop_without_a_start_is_dropped_and_what_is_below_it_is_kept(void **state)
{
    check_trace(.spans = "A[0,1000] /B[50]<A", .tree = "A[0,1000]",
                .counts = "stop_without_start 1");
    check_trace(.spans = "A[0,1000] /B[50]<A C[20,30]<B D[22,23]<C",
                .tree = "A[0,1000]{C[20,30]{D[22,23]}}", .counts = "stop_without_start 1");
    check_trace(.spans =
                    "/A[1000] B[10,20]<A C[30,40]<A", /* the root itself: what is below are roots */
                .tree = "B[10,20] C[30,40]", .counts = "stop_without_start 1");
    check_trace(.spans = "/A[1000]", .tree = "", .counts = "stop_without_start 1");
}

static void a_span_that_is_its_own_parent_is_put_below_the_root(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<B C[20,30]<B",
                .tree = "A[0,1000]{B[10,110]:cycle{C[20,30]}}", .counts = "cycle 1",
                .client = "A -10-> B -10-> C -10-> /C -80-> /B -890-> /A");
    check_trace(.spans = "B[10,110]<B", .tree = "B[10,110]:cycle", .counts = "cycle 1");
}

static void a_circle_of_parents_is_cut_at_its_earliest_span(void **state)
{
    check_trace(.spans = "A[0,1000] B[10,110]<C C[20,100]<B",
                .tree = "A[0,1000]{B[10,110]:cycle{C[20,100]}}", .counts = "cycle 1");
    check_trace(.spans = "A[0,1000] B[20,110]<C C[20,210]<B", /* at once: the longest */
                .tree = "A[0,1000]{C[20,210]:cycle{B[20,110]}}", .counts = "cycle 1");
    check_trace(.spans = "A[0,1000] B[20,110]<C C[20,110]<B", /* as long: by name */
                .tree = "A[0,1000]{B[20,110]:cycle{C[20,110]}}", .counts = "cycle 1");
    check_trace(.spans = "B[10,110]<C C[20,100]<B", .tree = "B[10,110]:cycle{C[20,100]}",
                .counts = "cycle 1");
    check_trace(.spans = "A[0,900] B[10,110]<D C[20,100]<B D[30,90]<C E[32,33]<D F[40,50]<F",
                .tree = "A[0,900]{B[10,110]:cycle{C[20,100]{D[30,90]{E[32,33]}}} F[40,50]:cycle}",
                .counts = "cycle 2");
    /* A stop without a start is part of it. */
    check_trace(.spans = "/B[50]<C C[20,110]<B D[30,40]<C", .tree = "C[20,110]:orphan{D[30,40]}",
                .counts = "orphan 1 stop_without_start 1");
}

static void circles_of_every_length_are_cut_once(void **state)
{
    enum { LONGEST = 300 };
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    uint32_t point = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "p"));
    for (uint64_t length = 1; length <= LONGEST; length++) {
        struct pythia_counts counts = {0};
        const struct pythia_trace *trace = NULL;
        pythia_trace_builder_begin(b, (struct pythia_trace_id){1, 1});
        for (uint64_t i = 0; i < length; i++) /* i is below i + 1, and the last below the first */
            pythia_trace_builder_add(b, &(struct pythia_span){.id = i + 1,
                                                              .parent = (i + 1) % length + 1,
                                                              .start_ns = 1000 - i,
                                                              .duration_ns = 5,
                                                              .tracepoint = point});
        assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
        assert_int_equal(trace->count, length);
        assert_int_equal(trace->roots, 1);
        assert_int_equal(trace->spans[trace->first_root].id, length); /* it began first */
        assert_int_equal(counts.repaired[PYTHIA_REPAIR_CYCLE], 1);
        uint32_t depth = 0;
        for (uint32_t at = trace->first_root; at != PYTHIA_NO_SPAN;
             at = trace->spans[at].first_child)
            depth++;
        assert_int_equal(depth, length);
    }
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
}

static void spans_without_length_keep_one_order(void **state)
{
    check_trace(.spans = "A[0,100] B[50,50]<A C[50,50]<A D[50]<A E[50,50]<A",
                .tree = "A[0,100]{B[50,50] C[50,50] D[50] E[50,50]}",
                .client = "A -50-> B -0-> /B -0-> C -0-> /C -0-> *D -0-> E -0-> /E -50-> /A");
    check_trace(.spans = "A[5,5] B[5,5]<A C[5,5]<B D[5,5]<B",
                .tree = "A[5,5]{B[5,5]{C[5,5] D[5,5]}}",
                .client = "A -0-> B -0-> C -0-> /C -0-> D -0-> /D -0-> /B -0-> /A");
    check_trace(
            .spans =
                "A[0,100] B.1[50,50]<A B.2[50,50]<A A.1[50,50]<A", /* by trace point, then by id */
            .tree = "A[0,100]{A.1[50,50] B.1[50,50] B.2[50,50]}");
    check_trace(.spans = "A[0,100] B[50,60]<A C[50,50]<A D[40,50]<A",
                .tree = "A[0,100]{D[40,50] B[50,60] C[50,50]}",
                .client = "A -40-> D -10-> /D -0-> C -0-> /C -0-> B -10-> /B -40-> /A");
}

static void sixty_siblings_at_one_instant_keep_one_order(void **state)
{
    struct pythia_buf spans = {0}, tree = {0}, path = {0};
    pythia_buf_puts(&spans, "A[0,100]");
    pythia_buf_puts(&tree, "A[0,100]{");
    pythia_buf_puts(&path, "A -50-> ");
    for (int i = 0; i < 60; i++) {
        pythia_buf_printf(&spans, " S%02d[50,50]<A", i * 7 % 60);
        pythia_buf_printf(&tree, "%sS%02d[50,50]", i ? " " : "", i);
        pythia_buf_printf(&path, "S%02d -0-> /S%02d -%d-> ", i, i, i < 59 ? 0 : 50);
    }
    pythia_buf_puts(&tree, "}");
    pythia_buf_puts(&path, "/A");
    check_trace(.spans = spans.bytes, .tree = tree.bytes, .client = path.bytes);
    pythia_buf_free(&spans);
    pythia_buf_free(&tree);
    pythia_buf_free(&path);
}

/* ---- closed trace points ---- */

static void what_is_below_a_closed_point_hangs_on_the_nearest_open_one(void **state)
{
    const char *spans = "A[0,1000] B[100,900]<A C[200,300]<B D[400,500]<B";
    check_trace(.spans = spans, .open = "A B C D",
                .client = "A -100-> B -100-> C -100-> /C -100-> D -100-> /D -400-> /B -100-> /A");
    /* The stretches from A to C, from C to D and from D to /A are what they were with B between
     * them. */
    check_trace(.spans = spans, .open = "A C D", .counts = "hidden 1",
                .tree = "A[0,1000]{C[200,300] D[400,500]}",
                .client = "A -200-> C -100-> /C -100-> D -100-> /D -500-> /A");
    check_trace(.spans = spans, .open = "A", .counts = "hidden 3", .client = "A -1000-> /A");
    check_trace(.spans = "A[0,1000] B[1,999]<A C[2,998]<B D[3,997]<C E[4,996]<D", .open = "A E",
                .counts = "hidden 3", .client = "A -4-> E -992-> /E -4-> /A");
}

static void below_a_closed_root_there_are_several_roots(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,300]<A C[400,900]<A D[500,600]<C", .open = "B D",
                .counts = "hidden 2", .tree = "B[100,300] D[500,600]",
                .client = "B -200-> /B -200-> D -100-> /D");
    check_trace(.spans = "A[0,1000] B[100,300]<A C[400,900]<A", .open = "B C", .counts = "hidden 1",
                .tree = "B[100,300] C[400,900]");
}

static void with_every_point_closed_there_is_no_trace(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,300]<A &K[110]<B K[150,790]<&K", .open = "none",
                .tree = "", .counts = "hidden 3");
}

static void orphans_below_closed_points_are_orphans(void **state)
{
    check_trace(.spans = "A[0,1000] B[100,300]<X C[150,200]<B", .open = "A C",
                .counts = "orphan 1 hidden 1", .tree = "A[0,1000]{C[150,200]:orphan}");
}

static void forked_work_whose_root_is_closed_is_waited_for_all_the_same(void **state)
{
    const char *spans =
        "A[0,1000] &K[100]<A K[150,790]<&K K2[200,700]<K K3[250,600]<K2 W[450,800]<A&K";
    check_trace(.spans = spans, .open = "A K2 K3 W", .counts = "hidden 1",
                .tree = "A[0,1000]{K2[200,700]:forked{K3[250,600]} W[450,800]:joins=K2}",
                .client = "A -200-> K2 -50-> K3 -350-> /K3 -100-> /K2 -300-> /A");
    check_trace(.spans = spans, .open = "A K3 W", .counts = "hidden 2",
                .tree = "A[0,1000]{K3[250,600]:forked W[450,800]:joins=K3}",
                .client = "A -250-> K3 -350-> /K3 -400-> /A");
    check_trace(.spans = spans, .open = "A W", .counts = "hidden 3",
                .client = "A -450-> W -350-> /W -200-> /A"); /* no work is left: a plain span */
    check_trace(.spans =
                    "A[0,1000] &K[100]<A K[150,790]<&K K2[200,400]<K K3[450,700]<K W[450,800]<A&K",
                .open = "A K2 K3 W", .counts = "hidden 1",
                .client = "A -200-> K2 -200-> /K2 -50-> K3 -250-> /K3 -300-> /A");
    check_trace(.spans = spans, .open = "A K K2", .counts = "hidden 2", .client = "A -1000-> /A");
}

/* ---- forks ---- */

static void a_fork_at_the_top_makes_its_work_a_root_the_client_does_not_wait_for(void **state)
{
    check_trace(.spans = "A[0,500] &K[100] K[150,5000]<&K", .tree = "A[0,500] K[150,5000]:forked",
                .client = "A -500-> /A", .completion = "A -150-> /~A -0-> K -4850-> /K");
    check_trace(.spans = "&K[100] K[150,790]<&K K2[200,300]<K",
                .tree = "K[150,790]:forked{K2[200,300]}",
                .client = "K -50-> K2 -100-> /K2 -490-> /K"); /* there is nothing else */
}

static void work_of_a_fork_that_never_came_is_an_orphan(void **state)
{
    check_trace(.spans = "A[0,1000] K[150,790]<&K", .counts = "orphan 1",
                .tree = "A[0,1000]{K[150,790]:orphan}");
}

/* ---- times that cannot be ---- */

static void numbers_at_the_ends_of_their_range_do_no_harm(void **state)
{
    static const uint64_t starts[] = {
        0,          1, INT64_MAX, (uint64_t)INT64_MAX + 1, (uint64_t)INT64_MAX + 11, UINT64_MAX - 1,
        UINT64_MAX,
    };
    static const int64_t durations[] = {INT64_MIN, -1, 0, 10, INT64_MAX};
    enum { STARTS = 7, DURATIONS = 5, ALL = STARTS * DURATIONS };
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_critical_path path;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    pythia_critical_path_init(&path);
    uint32_t point = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "p"));
    uint32_t hosts[2] = {
        0, pythia_vocabulary_resource(v, &(struct pythia_resource){.host = intern(v, "h2")})};
    hosts[0] = pythia_vocabulary_resource(v, &(struct pythia_resource){.host = intern(v, "h1")});
    for (size_t i = 0; i < (size_t)ALL * ALL * 2 * 3; i++) {
        struct pythia_counts counts = {0};
        const struct pythia_trace *trace = NULL;
        size_t one = i % ALL, two = i / ALL % ALL;
        pythia_trace_builder_begin(b, (struct pythia_trace_id){1, 1});
        for (uint64_t k = 0; k < 3; k++)
            pythia_trace_builder_add(
                b,
                &(struct pythia_span){.id = k + 1,
                                      .parent = k,
                                      .start_ns = starts[(k ? two : one) % STARTS],
                                      .duration_ns = durations[(k ? two : one) / STARTS],
                                      .tracepoint = point,
                                      .resource = hosts[k == 1 && i / ALL / ALL % 2],
                                      .relation = (enum pythia_span_relation)(i / ALL / ALL / 2)});
        assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
        for (uint32_t k = 0; k < 3; k++) {
            const struct pythia_trace_span *s = &trace->spans[k];
            assert_true(s->start_ns <= s->end_ns && s->end_ns <= s->completed_ns);
            assert_true(k == 0 || s->start_ns >= trace->spans[k - 1].start_ns);
        }
        assert_int_equal(pythia_critical_path_find(&path, trace, (enum pythia_latency)(i % 2)),
                         PYTHIA_OK);
        assert_null(fault_of_path(trace, &path));
    }
    pythia_critical_path_free(&path);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
}

/* ---- the builder itself ---- */

static void a_builder_builds_one_trace_after_the_other(void **state)
{
    static const char *const traces[] = {"A[0,1000] B[10,110]<A", "C[0,50]",
                                         "A[0,9] D[1,2]<A E[3,4]<A:lossy F[5,6]<A G[7,8]<A", "",
                                         "A[0,1]"};
    static const uint32_t counts_of[] = {2, 1, 5, 0, 1};
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    struct pythia_counts counts = {0};
    for (uint64_t i = 0; i < 5; i++) {
        const struct pythia_trace *trace = NULL;
        size_t count = read_parts(traces[i], parts);
        pythia_trace_builder_begin(b, (struct pythia_trace_id){9, i});
        for (size_t k = 0; k < count; k++)
            assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[k], v)), PYTHIA_OK);
        assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), count ? PYTHIA_OK : 1);
        if (count) {
            assert_int_equal(trace->count, counts_of[i]);
            assert_int_equal(trace->id.high, 9);
            assert_int_equal(trace->id.low, i);
            assert_int_equal(trace->roots, 1);
            assert_int_equal(trace->start_ns, TRACE_TEXT_BEGIN);
            assert_int_equal(trace->incomplete, i == 2); /* one of its spans is lossy */
        } else {
            assert_null(trace); /* no span is left: untouched */
        }
        free_parts(parts, count);
    }
    assert_int_equal(counts.traces, 4); /* they add up */
    assert_int_equal(counts.kept, 9);
    assert_int_equal(counts.incomplete[PYTHIA_INCOMPLETE_RING], 1);
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
    pythia_trace_builder_destroy(NULL);
}

static void without_spans_there_is_no_trace(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0}, none = {0};
    const struct pythia_trace *trace = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, (struct pythia_trace_id){1, 1});
    assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), 1);
    assert_null(trace);
    assert_memory_equal(&counts, &none, sizeof(counts));
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
}

/* ---- what was added so far ---- */

static enum pythia_trace_state state_of(const char *text)
{
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    size_t count = read_parts(text, parts);
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pythia_trace_builder_add(b, name_part(&parts[i], v)), PYTHIA_OK);
    enum pythia_trace_state found = pythia_trace_builder_state(b);
    assert_int_equal(pythia_trace_builder_state(b), found); /* looking changes nothing */
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
    free_parts(parts, count);
    return found;
}

static void a_trace_is_whole_once_nothing_is_known_to_be_missing(void **state)
{
    static const char *const whole[] = {
        "A[0,1000]",
        "A[0,1000]<&trace B[10,110]<A",
        "A[0,1000] B[10,110]<A C[20,30]<B N[25]<C A[0,1000]", /* twice */
        "A[0,?] B[10,?]<A /B[110]<A /A[1000]",
        "A[0,1000] B[10,2000]<A:spawn",
        "A[0,1000] A2[2000,3000]:many",
        "A[0,1000] &K[100]<A K1[150,790]<&K W[450,800]<A&K",
        "A[0,1000] &K[100]<A", /* its work may be hidden: nobody knows */
        "C[100,500]:%web C[150,450]:%web:shared D[200,300]<C:%web",
        "A[0,1000] B[10,110]<B", /* that parent is there */
    };
    static const char *const partial[] = {
        "",
        "B[10,110]<A",
        "A[0,1000] C[20,30]<B",
        "/A[1000]",
        "A[0,1000] /B[110]<A",
        "N[25]",
        "&K[100]",
        "K1[150,790]<&K", /* of another trace */
        "A[0,1000] C[150,450]<A:%db:shared D[200,300]<C:%db",
    };
    static const char *const running[] = {"A[0,?]", "A[0,1000] B[10,?]<A", "A[0,?] B[10,110]<A",
                                          "B[10,?]<A", "/C[20] B[10,?]<A"};
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        assert_int_equal(state_of(whole[i]), PYTHIA_TRACE_WHOLE);
    for (size_t i = 0; i < sizeof(partial) / sizeof(partial[0]); i++)
        assert_int_equal(state_of(partial[i]), PYTHIA_TRACE_PARTIAL);
    for (size_t i = 0; i < sizeof(running) / sizeof(running[0]); i++)
        assert_int_equal(state_of(running[i]), PYTHIA_TRACE_RUNNING);
}

static void a_builder_gives_its_memory_back(void **state)
{
    struct pythia_vocabulary *v = NULL;
    struct pythia_trace_builder *b = NULL;
    struct pythia_counts counts = {0};
    const struct pythia_trace *trace;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
    size_t empty = pythia_trace_builder_bytes(b);
    uint32_t point = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "p"));
    assert_in_range(empty, 100, 2000);
    for (uint64_t spans = 3; spans <= 30000; spans *= 10) {
        pythia_trace_builder_begin(b, (struct pythia_trace_id){1, spans});
        for (uint64_t i = 1; i <= spans; i++) {
            struct pythia_span span = {
                .id = i, .parent = i - 1, .start_ns = i, .tracepoint = point};
            assert_int_equal(pythia_trace_builder_add(b, &span), PYTHIA_OK);
        }
        assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
        assert_int_equal(trace->count, spans);
        assert_true(pythia_trace_builder_bytes(b) > empty + spans * sizeof(trace->spans[0]));
        assert_true(pythia_trace_builder_bytes(b) < empty + (spans + 16) * 1000);
        pythia_trace_builder_release(b);
        assert_int_equal(pythia_trace_builder_bytes(b), empty);
    }
    pythia_trace_builder_destroy(b);
    pythia_vocabulary_destroy(v);
}

/* Of the arrays that it needed meanwhile, 40 bytes a span are left. Forks need them longer. */
static void what_a_large_trace_was_built_from_does_not_stay(void **state)
{
    enum { SPANS = 20000 };
    size_t bytes[2];
    struct pythia_vocabulary *v = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    uint32_t point = pythia_vocabulary_tracepoint(v, 0, 0, intern(v, "p"));
    for (int forks = 0; forks < 2; forks++) {
        struct pythia_trace_builder *b = NULL;
        struct pythia_counts counts = {0};
        const struct pythia_trace *trace;
        assert_int_equal(pythia_trace_builder_create(v, NULL, &b), PYTHIA_OK);
        for (int round = 0; round < 2; round++) { /* the next trace is built all the same */
            pythia_trace_builder_begin(b, (struct pythia_trace_id){1, 1});
            for (uint64_t i = 1; i <= SPANS; i++) {
                struct pythia_span span = {
                    .id = i, .parent = i - 1, .start_ns = i, .duration_ns = 9, .tracepoint = point};
                span.part = forks && i == SPANS ? PYTHIA_PART_FORK : PYTHIA_PART_WHOLE;
                assert_int_equal(pythia_trace_builder_add(b, &span), PYTHIA_OK);
            }
            assert_int_equal(pythia_trace_builder_finish(b, &counts, &trace), PYTHIA_OK);
            assert_int_equal(trace->count, SPANS - forks);
        }
        bytes[forks] = pythia_trace_builder_bytes(b);
        pythia_trace_builder_destroy(b);
    }
    assert_true(bytes[0] <= SPANS * (sizeof(struct pythia_trace_span) + 40) + 2000);
    assert_true(bytes[1] > SPANS * (2 * sizeof(struct pythia_trace_span) + 40));
    pythia_vocabulary_destroy(v);
}

/* Spans of all parts, with attributes at both ends, more than the first arrays hold; each
 * allocation fails in turn. */
static void each_failed_allocation_is_reported_and_nothing_is_lost(void **state)
{
    enum { SPANS = 100 };
    static struct trace_part parts[TRACE_TEXT_PARTS];
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, "A[0,?]:{begun} /A[1000]:{done} &K[100]<A K[150,790]<&K W[450,800]<A&K "
                           "C[1,5]<A:=get:{x} C[1,5]<A:=:{y} C[2,4]<A:=put");
    for (int i = 0; i < SPANS; i++)
        pythia_buf_printf(&text, " B%02d[%d,%d]<A", i, i, i + 5);
    size_t count = read_parts(text.bytes, parts);
    struct pythia_vocabulary *v = NULL;
    assert_int_equal(pythia_vocabulary_create(&v), PYTHIA_OK);
    for (size_t i = 0; i < count; i++)
        name_part(&parts[i], v);
    long failures = 0;
    for (int status = PYTHIA_ENOMEM; status != PYTHIA_OK; failures++) {
        struct pythia_trace_builder *b = NULL;
        struct pythia_counts counts = {0};
        const struct pythia_trace *trace = NULL;
        pythia_mem_fail_after(failures);
        status = pythia_trace_builder_create(v, NULL, &b);
        if (status == PYTHIA_OK)
            pythia_trace_builder_begin(b, trace_id_of_name("trace", 5));
        for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
            status = pythia_trace_builder_add(b, &parts[i].span);
        if (status == PYTHIA_OK)
            status = pythia_trace_builder_finish(b, &counts, &trace);
        pythia_mem_fail_after(-1);
        if (status == PYTHIA_OK) {
            assert_int_equal(trace->count, SPANS + 5);
        } else {
            assert_int_equal(status, PYTHIA_ENOMEM);
            assert_null(trace);
            assert_int_equal(counts.traces + counts.kept, 0);
        }
        pythia_trace_builder_destroy(b);
    }
    assert_true(failures > 10);
    free_parts(parts, count);
    pythia_buf_free(&text);
    pythia_vocabulary_destroy(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_find_their_parents_in_any_order),
        cmocka_unit_test(a_start_and_a_stop_are_one_span),
        cmocka_unit_test(a_point_in_time_with_a_stop_or_a_child_is_a_span),
        cmocka_unit_test(a_parent_that_is_the_trace_itself_means_a_root),
        cmocka_unit_test(the_completion_of_a_span_is_the_last_end_below_it),
        cmocka_unit_test(the_two_halves_of_a_shared_id_are_two_spans),
        cmocka_unit_test(kinds_tell_the_halves_of_an_id_apart),
        cmocka_unit_test(additions_go_to_the_half_of_their_service),
        cmocka_unit_test(a_span_without_any_time_begins_with_its_parent),
        cmocka_unit_test(a_child_that_outlives_its_parent_is_cut_if_it_was_waited_for),
        cmocka_unit_test(a_call_that_begins_after_its_parent_keeps_its_length),
        cmocka_unit_test(less_than_a_millisecond_is_no_repair_where_starts_are_rough),
        cmocka_unit_test(two_microseconds_of_a_rounding_are_no_repair),
        cmocka_unit_test(else_it_is_asynchronous_and_counted),
        cmocka_unit_test(a_span_without_its_parent_is_put_below_the_root),
        cmocka_unit_test(without_one_root_orphans_stand_beside_each_other),
        cmocka_unit_test(two_roots_stand_beside_each_other),
        cmocka_unit_test(the_same_span_twice_is_one),
        cmocka_unit_test(of_one_id_with_different_times_the_longest_is_kept),
        cmocka_unit_test(a_whole_span_is_kept_before_a_mere_start),
        cmocka_unit_test(of_two_parents_one_is_kept_and_the_other_is_flagged),
        cmocka_unit_test(a_span_without_an_end_lasts_as_long_as_what_is_below_it),
        cmocka_unit_test(what_ended_before_it_began_has_no_length),
        cmocka_unit_test(a_stop_without_a_start_is_dropped_and_what_is_below_it_is_kept),
        cmocka_unit_test(a_span_that_is_its_own_parent_is_put_below_the_root),
        cmocka_unit_test(a_circle_of_parents_is_cut_at_its_earliest_span),
        cmocka_unit_test(circles_of_every_length_are_cut_once),
        cmocka_unit_test(spans_without_length_keep_one_order),
        cmocka_unit_test(sixty_siblings_at_one_instant_keep_one_order),
        cmocka_unit_test(what_is_below_a_closed_point_hangs_on_the_nearest_open_one),
        cmocka_unit_test(below_a_closed_root_there_are_several_roots),
        cmocka_unit_test(with_every_point_closed_there_is_no_trace),
        cmocka_unit_test(orphans_below_closed_points_are_orphans),
        cmocka_unit_test(forked_work_whose_root_is_closed_is_waited_for_all_the_same),
        cmocka_unit_test(a_fork_at_the_top_makes_its_work_a_root_the_client_does_not_wait_for),
        cmocka_unit_test(work_of_a_fork_that_never_came_is_an_orphan),
        cmocka_unit_test(numbers_at_the_ends_of_their_range_do_no_harm),
        cmocka_unit_test(a_builder_builds_one_trace_after_the_other),
        cmocka_unit_test(without_spans_there_is_no_trace),
        cmocka_unit_test(a_trace_is_whole_once_nothing_is_known_to_be_missing),
        cmocka_unit_test(a_builder_gives_its_memory_back),
        cmocka_unit_test(what_a_large_trace_was_built_from_does_not_stay),
        cmocka_unit_test(each_failed_allocation_is_reported_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
