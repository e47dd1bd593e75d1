/* Traces whose processes have clocks that differ, a little or by hours. Each is built from its
 * parts in every order, or in 200, and must be the same (trace_text.h). */
#include "check.h"
#include "pythia/trace.h"
#include "trace_text.h"

/* ---- clocks without a common base ---- */

static void a_clock_without_a_common_base_gives_durations_only(void **state)
{
    /* More than an hour after its caller: into the middle, as if both ways took 400. */
    check_trace(.spans = "A[100,1100]:@h1 B[3600000001101,3600000001301]<A:@h2",
                .tree = "A[100,1100]{B[500,700]:clock_base}", .counts = "clock_base 1",
                .client = "A -400-> B -200-> /B -400-> /A");
    check_trace(.spans = "A[3600000002000,3600000003000]:@h1 B[100,300]<A:@h2:call",
                .tree = "A[3600000002000,3600000003000]{B[3600000002400,3600000002600]:clock_base}",
                .counts = "clock_base 1");
    /* The next call to that host keeps its distance from the first; what is below moves along, and
     * what that host asks of the first one is by a clock that fits. So that B and C begin after 100
     * and D contains E, B begins at 460 to 510: in the middle. */
    check_trace(.spans =
                    "A[100,1100]:@h1 B[7200000000000,7200000000200]<A:@h2 "
                    "C[7200000000300,7200000000350]<A:@h2 D[7200000000020,7200000000100]<B:@h2 "
                    "E[530,560]<D:@h1",
                .tree = "A[100,1100]{B[485,685]:clock_base{D[505,585]{E[530,560]}} "
                        "C[785,835]:clock_base}",
                .counts = "clock_base 2");
    /* One that lasts longer begins with its caller; a caller that waits for it ends it. */
    check_trace(.spans = "A[100,1100]:@h1 B[7200000000000,7200000001500]<A:@h2:call",
                .tree = "A[100,1100]{B[100,1100]:clamped:clock_base}",
                .counts = "clamped 1 clock_base 1");
    check_trace(.spans = "A[100,1100]:@h1 B[7200000000000,7200000001500]<A:@h2",
                .tree = "A[100,1100..1600]{B[100,1600]:clock_base}",
                .counts = "clock_base 1 outlive 1");
    check_trace(.spans = "A[0,?]:@h1 B[7200000000000,7200000000200]<A:@h2",
                .tree = "A[0,200]:unfinished{B[0,200]:clock_base}",
                .counts = "unfinished 1 clock_base 1");
    /* Processes whose hosts are not known. */
    check_trace(.spans = "A[100,1100]:%web B[7200000000000,7200000000200]<A:%db:call",
                .tree = "A[100,1100]{B[500,700]:clock_base}", .counts = "clock_base 1");
}

static void roots_of_clocks_without_a_common_base_are_put_into_the_longest(void **state)
{
    check_trace(.spans = "A[0,1000]:@h1 B[7200000000000,7200000000400]:@h2",
                .tree = "A[0,1000] B[300,700]:extra_root:clock_base",
                .counts = "extra_root 1 clock_base 1");
    check_trace(.spans = "A[0,400]:@h2 B[7200000000000,7200000001000]:@h1 C[100,200]<A:@h2",
                .tree = "B[7200000000000,7200000001000]:extra_root "
                        "A[7200000000300,7200000000700]:clock_base"
                        "{C[7200000000400,7200000000500]}",
                .counts = "extra_root 1 clock_base 1");
}

static void an_hour_is_no_other_base_and_later_work_none(void **state)
{
    check_trace(.spans = "A[100,1100]:@h1 B[3600000001100,3600000001300]<A:@h2",
                .tree = "A[100,1100..3600000001300]{B[3600000001100,3600000001300]}",
                .counts = "outlive 1");
    check_trace(.spans = "A[100,1100]:@h1 B[7200000000000,7200000000200]<A:@h2:spawn",
                .tree = "A[100,1100..7200000000200]{B[7200000000000,7200000000200]}",
                .counts = "outlive 1");
    check_trace(.spans = "A[100,1100]:@h1 B[7200000000000,7200000000200]<A:@h1:%db",
                .tree = "A[100,1100..7200000000200]{B[7200000000000,7200000000200]}",
                .counts = "outlive 1");
    /* But nothing begins before its cause. */
    check_trace(.spans = "A[7200000000100,7200000001100]:@h1 B[0,200]<A:@h2:spawn",
                .tree = "A[7200000000100,7200000001100]{B[7200000000500,7200000000700]:clock_base}",
                .counts = "clock_base 1");
}

/* Half an hour is 1800000000000 ns. */
static void a_message_that_is_half_an_hour_late_tells_of_a_clock(void **state)
{
    check_trace(.spans = "A[100,1100]:@h1 B[1800000001100,1800000001300]<A:@h2:consumer",
                .tree = "A[100,1100..1800000001300]{B[1800000001100,1800000001300]}",
                .counts = "outlive 1");
    /* It begins when it was sent, whatever it is a link of; on one host it waited. */
    check_trace(.spans = "A[100,1100]:@h1 B[1800000001101,1800000001301]<A:@h2:consumer",
                .tree = "A[100,1100..1300]{B[1100,1300]:clock_base}",
                .counts = "clock_base 1 outlive 1");
    check_trace(.spans = "A[100,1100]:@h1 B[3600000000500,3600000000700]<A:@h2:spawn:consumer",
                .tree = "A[100,1100..1300]{B[1100,1300]:clock_base}",
                .counts = "clock_base 1 outlive 1");
    check_trace(.spans = "A[100,1100]:@h1 B[3600000000500,3600000000700]<A:@h1:%db:consumer",
                .tree = "A[100,1100..3600000000700]{B[3600000000500,3600000000700]}",
                .counts = "outlive 1");
}

/* ---- clocks that differ ---- */

static void a_child_on_a_host_whose_clock_is_off_is_moved_into_its_parent(void **state)
{
    check_trace(.spans = "A[100,1100]:@h1 B[50,150]<A:@h2", .tree = "A[100,1100]{B[100,200]:skew}",
                .counts = "skew 1", .client = "A -0-> B -100-> /B -900-> /A");
    /* What is below it on that host is moved along; what is on the parent's host stays. So that C
     * contains D, it is moved by 40 to 55, and by 50 or more for A to contain B. */
    check_trace(.spans = "A[100,1100]:@h1 B[50,150]<A:@h2 C[60,140]<B:@h2 D[115,180]<C:@h1",
                .tree = "A[100,1100]{B[102,202]:skew{C[112,192]{D[115,180]}}}", .counts = "skew 1");
    /* The order of siblings is that of their times afterwards. */
    check_trace(.spans = "A[100,1100]:@h1 C[100,150]<A:@h1 B[50,60]<A:@h2",
                .tree = "A[100,1100]{C[100,150] B[100,110]:skew}", .counts = "skew 1");
    /* A call that ends too late is moved back, as far as it can be. */
    check_trace(.spans = "A[100,1100]:@h1 B[900,1400]<A:@h2:call",
                .tree = "A[100,1100]{B[600,1100]:skew}", .counts = "skew 1");
    check_trace(.spans = "A[100,1100]:@h1 B[50,1500]<A:@h2:call",
                .tree = "A[100,1100]{B[100,1100]:skew:clamped}", .counts = "skew 1 clamped 1");
    check_trace(.spans = "A[100,1100]:@h1 B[300,1500]<A:@h2:call",
                .tree = "A[100,1100]{B[100,1100]:skew:clamped}", .counts = "skew 1 clamped 1");
    check_trace(.spans = "A[100,1100]:@h1 B[300,1500]<A:@h2:call C[400,1400]<B:@h2",
                .tree = "A[100,1100]{B[100,1100]:skew:clamped{C[200,1100]:clamped}}",
                .counts = "skew 1 clamped 2"); /* moved by 200, as far as there was room */
    /* Another clock, and nothing wrong with it. */
    check_trace(.spans = "A[100,1100]:@h1 B[150,250]<A:@h2", .tree = "A[100,1100]{B[150,250]}");
}

static void one_shift_fits_all_calls_of_a_clock(void **state)
{
    /* The second call fits as it is; the first one and it agree on 15 to 20. */
    check_trace(.spans = "A[0,1000]:@h1 B[100,110]<A:@h1 C[85,95]<B:@h2:call D[200,500]<A:@h1 "
                         "E[200,480]<D:@h2:call",
                .tree = "A[0,1000]{B[100,110]{C[100,110]:skew} D[200,500]{E[215,495]:skew}}",
                .counts = "skew 2");
    /* Two calls that cannot both be right, and one of them is as it is: a caller that gave up. */
    check_trace(.spans = "A[0,1000]:@h1 B[100,200]<A:@h1:client C[150,240]<B:@h2:call:server "
                         "D[500,600]<A:@h1:client E[501,599]<D:@h2:call:server",
                .tree = "A[0,1000]{B[100,200]{C'[110,200]:skew} D[500,600]{E'[501,599]}}",
                .counts = "skew 1");
    /* An hour ahead: in the middle of the call. What that clock calls is on the first one. */
    check_trace(.spans = "A[0,1000]:@h1 B[100,200]<A:@h1:client "
                         "C[3600000000110,3600000000180]<B:@h2:call:server "
                         "D[150,155]<C:@h1:call:server E[3600000000170,3600000000175]<C:@h2",
                .tree = "A[0,1000]{B[100,200]{C'[115,185]:skew{D'[150,155] E[175,180]}}}",
                .counts = "skew 1");
    /* A third clock that is off by as much as its caller's. */
    check_trace(.spans = "A[0,1000]:@h1 B[100,200]<A:@h1:client "
                         "C[3600000000110,3600000000180]<B:@h2:call:server "
                         "D[3600000000111,3600000000115]<C:@h3:call:server",
                .tree = "A[0,1000]{B[100,200]{C'[115,185]:skew{D'[116,120]:skew}}}",
                .counts = "skew 2");
    /* Another root on a clock that is off moves with it. */
    check_trace(.spans = "A[0,1000]:@h1 B[100,200]<A:@h1:client "
                         "C[3600000000110,3600000000180]<B:@h2:call:server "
                         "D[3600000000200,3600000000250]:@h2",
                .tree = "A[0,1000]{B[100,200]{C'[115,185]:skew}} D[205,255]:extra_root:skew",
                .counts = "extra_root 1 skew 2");
}

static void on_another_clock_a_call_lies_between_its_siblings(void **state)
{
    /* Of the places before, between and after, B fits only between. */
    check_trace(.spans = "A[0,1000]:@h1 C[100,400]<A:@h1 D[600,950]<A:@h1 "
                         "B[3600000000500,3600000000650]<A:@h2:call",
                .tree = "A[0,1000]{C[100,400] B[425,575]:skew D[600,950]}", .counts = "skew 1");
    /* It fits twice: where there is less left. */
    check_trace(.spans = "A[0,1000]:@h1 C[100,400]<A:@h1 D[600,900]<A:@h1 "
                         "B[3600000000500,3600000000590]<A:@h2:call",
                .tree = "A[0,1000]{B[5,95]:skew C[100,400] D[600,900]}", .counts = "skew 1");
    /* Two calls of one clock fit in one way only. */
    check_trace(.spans = "A[0,1000]:@h1 C[100,400]<A:@h1 D[600,900]<A:@h1 "
                         "B[3600000000500,3600000000590]<A:@h2:call "
                         "E[3600000000600,3600000000690]<A:@h2:call",
                .tree = "A[0,1000]{C[100,400] B[405,495]:skew E[505,595]:skew D[600,900]}",
                .counts = "skew 2");
    /* The siblings are side by side, so B may be beside them. */
    check_trace(.spans = "A[0,1000]:@h1 C[100,400]<A:@h1 D[300,750]<A:@h1 "
                         "B[3600000000500,3600000000650]<A:@h2:call",
                .tree = "A[0,1000]{C[100,400] D[300,750] B[425,575]:skew}", .counts = "skew 1");
}

/* Hosts are not known. A caller that gave up after some seconds is not one whose clock is off. */
static void processes_without_a_host_that_are_an_hour_apart_have_two_clocks(void **state)
{
    check_trace(.spans = "A[100,1100]:%web:client B[3600000000100,3600000000300]<A:%db:call:server",
                .tree = "A[100,1100]{B'[500,700]:skew}", .counts = "skew 1");
    check_trace(.spans = "A[3600000000100,3600000001100]:%web:client B[100,300]<A:%db:call:server",
                .tree = "A[3600000000100,3600000001100]{B'[3600000000500,3600000000700]:skew}",
                .counts = "skew 1");
    check_trace(.spans = "A[100,1100]:%web:client B[5000000100,5000000300]<A:%db:call:server",
                .tree = "A[100,1100..5000000300]{B'[5000000100,5000000300]}",
                .counts = "outlive 1");
}

static void on_one_clock_what_begins_too_early_is_cut(void **state)
{
    check_trace(.spans = "A[100,1100]:@h1 B[50,150]<A:@h1",
                .tree = "A[100,1100]{B[100,150]:clamped}", .counts = "clamped 1",
                .client = "A -0-> B -50-> /B -950-> /A");
    check_trace(.spans = "A[100,1100] B[50,150]<A", .tree = "A[100,1100]{B[100,150]:clamped}",
                .counts = "clamped 1"); /* hosts that are not known count as one */
    check_trace(.spans = "A[100,1100]:@h1 B[50,150]<A", .tree = "A[100,1100]{B[100,150]:clamped}",
                .counts = "clamped 1"); /* and as any that is */
    check_trace(.spans = "A[100,1100] B[50,100]<A", .tree = "A[100,1100]{B[100,100]:clamped}",
                .counts = "clamped 1");
    check_trace(.spans =
                    "A[100,1100] B[20,60]<A C[30,50]<B", /* wholly before: it keeps its length */
                .tree = "A[100,1100]{B[100,140]:skew{C[110,130]}}", .counts = "skew 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_without_a_common_base_gives_durations_only),
        cmocka_unit_test(roots_of_clocks_without_a_common_base_are_put_into_the_longest),
        cmocka_unit_test(an_hour_is_no_other_base_and_later_work_none),
        cmocka_unit_test(a_message_that_is_half_an_hour_late_tells_of_a_clock),
        cmocka_unit_test(a_child_on_a_host_whose_clock_is_off_is_moved_into_its_parent),
        cmocka_unit_test(one_shift_fits_all_calls_of_a_clock),
        cmocka_unit_test(on_another_clock_a_call_lies_between_its_siblings),
        cmocka_unit_test(processes_without_a_host_that_are_an_hour_apart_have_two_clocks),
        cmocka_unit_test(on_one_clock_what_begins_too_early_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
