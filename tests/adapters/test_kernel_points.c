/* Descriptions of trace points as Linux 6.1 and 6.18 write them, and what is not one. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "pythia/kernel_points.h"
#include "pythia/status.h"

#define COMMON                                                                                     \
    "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char sched_switch[] =
    "name: sched_switch\nID: 372\n" COMMON
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\nprint fmt: \"prev_state=%s next_pid=%d\", REC->prev_state, REC->next_pid\n";

static struct pythia_kernel_point point;
static struct pythia_error e;

static int read_point(enum pythia_kernel_event event, const char *format)
{
    pythia_error_clear(&e);
    return pythia_kernel_point_read(event, pythia_text_of(format), &point, &e);
}

static void fields_are_where_the_description_says(void **state)
{
    assert_int_equal(read_point(PYTHIA_KERNEL_SWITCH_OUT, sched_switch), PYTHIA_OK);
    assert_int_equal(point.id, 372);
    assert_int_equal(point.subject.thread, 0);
    assert_int_equal(point.site.operand_count, 1);
    assert_int_equal(point.site.operands[0].kind, PYTHIA_USDT_FIELD);
    assert_int_equal(point.site.operands[0].base, 32);
    assert_int_equal(point.site.operands[0].bytes, 8);
    assert_true(point.site.operands[0].is_signed);
    assert_int_equal(read_point(PYTHIA_KERNEL_SWITCH_IN, sched_switch), PYTHIA_OK);
    assert_int_equal(point.subject.thread, 56);
    assert_int_equal(point.site.operand_count, 0);
    assert_int_equal(read_point(PYTHIA_KERNEL_BLOCK_ISSUE,
                                "name: block_rq_issue\nID: 7\n" COMMON
                                "\tfield:unsigned int nr_bytes;\toffset:24;\tsize:4;\tsigned:0;\n"
                                "\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"),
                     PYTHIA_OK);
    assert_int_equal(point.site.operands[0].base, 28);
    assert_int_equal(point.site.operands[0].bytes, 4);
    assert_false(point.site.operands[0].is_signed);
}

/* As Linux 6.18 has them. */
static void sockets_are_where_the_descriptions_say(void **state)
{
    assert_int_equal(read_point(PYTHIA_KERNEL_CONNECT,
                                "name: inet_sock_set_state\nID: 2285\n" COMMON
                                "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                "\tfield:int oldstate;\toffset:16;\tsize:4;\tsigned:1;\n"
                                "\tfield:int newstate;\toffset:20;\tsize:4;\tsigned:1;\n"),
                     PYTHIA_OK);
    assert_int_equal(point.subject.socket, 8);
    assert_int_equal(point.subject.state, 20);
    assert_true(point.subject.sends);
    assert_int_equal(point.site.operand_count, 0);
    assert_int_equal(read_point(PYTHIA_KERNEL_SEND,
                                "name: sock_send_length\nID: 2284\n" COMMON
                                "\tfield:void * sk;\toffset:8;\tsize:8;\tsigned:0;\n"),
                     PYTHIA_OK);
    assert_int_equal(point.subject.socket, 8);
    assert_int_equal(point.subject.state, 0);
    assert_true(point.subject.sends);
    assert_int_equal(read_point(PYTHIA_KERNEL_RETRANSMIT,
                                "name: tcp_retransmit_skb\nID: 2281\n" COMMON
                                "\tfield:const void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                "\tfield:const void * skaddr;\toffset:16;\tsize:8;\tsigned:0;\n"),
                     PYTHIA_OK);
    assert_int_equal(point.subject.socket, 16);
    assert_false(point.subject.sends);
    assert_int_equal(point.subject.thread, 0);
    assert_int_equal(point.site.operand_count, 1); /* when it was sent */
}

static void a_description_that_is_otherwise_is_refused(void **state)
{
    static const struct {
        enum pythia_kernel_event event;
        const char *format, *missing;
    } rows[] = {
        {PYTHIA_KERNEL_SWITCH_OUT, "", "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "ID: 1\n prev_state", "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "\nID: 1\nlong prev_state;\toffset:33;\tsize:8;\tsigned:1;\n",
         "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "\nID: 1\nlong prev_state;\toffset:4;\tsize:4;\tsigned:1;\n",
         "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "\nID: 1\nlong prev_state;\toffset:256;\tsize:8;\tsigned:1;\n",
         "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "\nID: 1\nlong prev_state;\toffset:32;\tsize:2;\tsigned:1;\n",
         "prev_state"},
        {PYTHIA_KERNEL_SWITCH_OUT, "\nID: 1\nlong prev_state;\n\toffset:32;\tsize:8;\n",
         "prev_state"},
        {PYTHIA_KERNEL_SWITCH_IN, "\nID: 1\nlong next_pid;\toffset:32;\tsize:8;\tsigned:1;\n",
         "next_pid"},
        {PYTHIA_KERNEL_SEND, "\nID: 1\nint sk;\toffset:8;\tsize:4;\tsigned:0;\n", "sk"},
        {PYTHIA_KERNEL_RETRANSMIT, "\nID: 1\nvoid * skbaddr;\toffset:8;\tsize:8;\n", "skaddr"},
        {PYTHIA_KERNEL_CONNECT, "\nID: 1\nvoid * skaddr;\toffset:8;\tsize:8;\n", "newstate"},
        {PYTHIA_KERNEL_PAGE_FAULT, "\nID: \n", "ID"},
        {PYTHIA_KERNEL_PAGE_FAULT, "\nID: 99999999999999999999\n", "ID"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char sentence[256];
        point.id = 5;
        assert_int_equal(read_point(rows[i].event, rows[i].format), PYTHIA_EFORMAT);
        snprintf(sentence, sizeof(sentence), "%s: no %s as it is known",
                 pythia_kernel_format_path(rows[i].event), rows[i].missing);
        assert_string_equal(e.sentence, sentence);
        assert_int_equal(point.id, 5);
    }
}

static void events_are_found_by_their_names(void **state)
{
    for (unsigned i = 0; i < PYTHIA_KERNEL_EVENTS; i++)
        assert_int_equal(pythia_kernel_event_find(pythia_text_of(pythia_kernel_event_name(i))), i);
    assert_int_equal(pythia_kernel_event_find(PYTHIA_TEXT("")), PYTHIA_KERNEL_EVENTS);
    assert_int_equal(pythia_kernel_event_find(PYTHIA_TEXT("switch")), PYTHIA_KERNEL_EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_where_the_description_says),
        cmocka_unit_test(sockets_are_where_the_descriptions_say),
        cmocka_unit_test(a_description_that_is_otherwise_is_refused),
        cmocka_unit_test(events_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
