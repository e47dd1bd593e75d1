/* A session with an opener that opens /dev/null for each site, so that descriptors can be counted
 * without any privilege. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "session.h"

#define S       UINT64_C(1000000000)
#define NO_VERB "refused : a message is attach, enter MARK, leave MARK, within or detach, and an ID"
#define NO_MARK "refused : a mark is a number from 0 to 65535"

struct counting {
    struct pythia__opener opener;
    int opened;
    uint16_t texts;
    enum pythia_probe_role role;
    uint32_t mark, pid;
};

static int open_null(struct pythia__opener *o, const struct pythia_probe_message *m, uint16_t texts,
                     uint32_t number, struct pythia__sites *out, struct pythia_error *e)
{
    struct counting *c = (struct counting *)(void *)o;
    if (PYTHIA_TEXT_IS(m->id.name, "none"))
        return pythia_error_set(e, PYTHIA_ENOTFOUND, "the program has no such probe");
    out->events = pythia_calloc(2, sizeof(*out->events));
    for (out->count = 0; out->count < 2; out->count++)
        out->events[out->count] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    c->opened++;
    c->texts = texts;
    c->role = m->role;
    c->mark = m->mark;
    c->pid = m->id.pid;
    return stat(m->id.path, &out->file) == 0 ? PYTHIA_OK : PYTHIA_EIO;
}

static struct pythia_allow_list allowed;
static struct counting counting;
static struct pythia__session session;

static int begin(void **state)
{
    static const char list[] = "/etc/passwd query:1\n/etc/hostname\n";
    counting = (struct counting){.opener = {open_null}};
    session = (struct pythia__session){
        .allowed = &allowed, .opener = &counting.opener, .lease_ns = 30 * S};
    return pythia_allow_list_parse(&allowed, list, sizeof(list) - 1, NULL);
}

static int end(void **state)
{
    pythia__session_end(&session);
    return 0;
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void expect(const char *message, uint64_t now_ns, const char *answer)
{
    struct pythia_buf got = {0};
    pythia__session_answer(&session, pythia_text_of(message), now_ns, &got);
    assert_string_equal(got.bytes, answer);
    pythia_buf_free(&got);
}

static void what_is_attached_is_detached(void **state)
{
    int before = count_descriptors();
    expect("attach p:query /etc/passwd", S, "attached 1 p:query /etc/passwd");
    assert_int_equal(counting.texts, 1);
    expect("attach p:other /etc/passwd", S, "attached 2 p:other /etc/passwd");
    assert_int_equal(counting.texts, 0);
    assert_int_equal(count_descriptors(), before + 4);
    expect("attach p:query /etc/passwd", S, "attached 1 p:query /etc/passwd");
    assert_int_equal(counting.opened, 2);
    expect("detach p:query /etc/passwd", S, "detached p:query /etc/passwd");
    expect("detach p:query /etc/passwd", S, "detached p:query /etc/passwd");
    assert_int_equal(count_descriptors(), before + 2);
    expect("attach p:query /etc/passwd", S, "attached 3 p:query /etc/passwd"); /* no number twice */
    pythia__session_end(&session);
    assert_int_equal(count_descriptors(), before);
}

static void a_verb_says_which_hits_are_reported(void **state)
{
    expect("enter 0 p:a /etc/passwd", S, "attached 1 p:a /etc/passwd");
    assert_int_equal(counting.role, PYTHIA_PROBE_ENTER);
    expect("leave 65535 p:b /etc/passwd", S, "attached 2 p:b /etc/passwd");
    assert_int_equal(counting.role, PYTHIA_PROBE_LEAVE);
    assert_int_equal(counting.mark, 65535);
    expect("within p:c /etc/passwd", S, "attached 3 p:c /etc/passwd");
    assert_int_equal(counting.role, PYTHIA_PROBE_WITHIN);
    expect("attach p:d /etc/passwd", S, "attached 4 p:d /etc/passwd");
    assert_int_equal(counting.role, PYTHIA_PROBE_ANYWHERE);
    expect("enter 65536 p:e /etc/passwd", S, NO_MARK);
    expect("enter p:e /etc/passwd", S, NO_MARK);
    expect("enter  p:e /etc/passwd", S, NO_MARK);
    expect("leave -1 p:e /etc/passwd", S, NO_MARK);
    expect("leave 1", S, NO_MARK);
    expect("leave 18446744073709551617 p:e /etc/passwd", S, NO_MARK);
    assert_int_equal(counting.opened, 4);
}

static void a_probe_of_a_process_is_another_one(void **state)
{
    expect("within p:a /etc/passwd 7", S, "attached 1 p:a /etc/passwd 7");
    assert_int_equal(counting.pid, 7);
    expect("within p:a /etc/passwd 4194304", S, "attached 2 p:a /etc/passwd 4194304");
    expect("within p:a /etc/passwd", S, "attached 3 p:a /etc/passwd");
    assert_int_equal(counting.pid, 0);
    expect("within p:a /etc/passwd 7", S, "attached 1 p:a /etc/passwd 7");
    expect("detach p:a /etc/passwd 7", S, "detached p:a /etc/passwd 7");
    expect("within p:a /etc/passwd 7", S, "attached 4 p:a /etc/passwd 7");
    assert_int_equal(counting.opened, 4);
    static const char *const wrong[] = {
        "", "0", "4194305", "-1", "7x", "7 8", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char message[96], answer[160];
        snprintf(message, sizeof(message), "attach p:a /etc/passwd %s", wrong[i]);
        snprintf(answer, sizeof(answer), "refused %s: an id is PROVIDER:NAME /PATH [PID]",
                 message + sizeof("attach"));
        expect(message, S, answer);
    }
}

static void what_is_not_renewed_goes_with_its_lease(void **state)
{
    int before = count_descriptors();
    expect("attach p:a /etc/passwd", 0, "attached 1 p:a /etc/passwd");
    expect("attach p:b /etc/passwd", 0, "attached 2 p:b /etc/passwd");
    expect("attach p:b /etc/passwd", 20 * S, "attached 2 p:b /etc/passwd");
    pythia__session_expire(&session, 30 * S - 1);
    assert_int_equal(count_descriptors(), before + 4);
    pythia__session_expire(&session, 30 * S);
    assert_int_equal(count_descriptors(), before + 2);
    pythia__session_expire(&session, 50 * S);
    assert_int_equal(count_descriptors(), before);
}

static void what_is_not_allowed_is_refused(void **state)
{
    int before = count_descriptors();
    expect("attach p:a /etc/group", 0,
           "refused p:a /etc/group: the program is not in the allow-list, which root can "
           "change");
    expect("attach p:a /etc/../etc/passwd", 0,
           "refused p:a /etc/../etc/passwd: the program is not in the allow-list, which "
           "root can change");
    expect("attach p:none /etc/passwd", 0,
           "refused p:none /etc/passwd: the program has no such probe");
    expect("attach p /etc/passwd", 0, "refused p /etc/passwd: an id is PROVIDER:NAME /PATH [PID]");
    expect("attach :a /etc/passwd", 0,
           "refused :a /etc/passwd: an id is PROVIDER:NAME /PATH [PID]");
    expect("attach p: /etc/passwd", 0,
           "refused p: /etc/passwd: an id is PROVIDER:NAME /PATH [PID]");
    expect("attach p:a passwd", 0, "refused p:a passwd: an id is PROVIDER:NAME /PATH [PID]");
    expect("attach ", 0, "refused : an id is PROVIDER:NAME /PATH [PID]");
    expect("", 0, NO_VERB);
    expect("list", 0, NO_VERB);
    expect("within", 0, NO_VERB);
    assert_int_equal(count_descriptors(), before);
    assert_int_equal(counting.opened, 0);
}

static void an_id_with_a_nul_or_too_long_a_path_is_refused(void **state)
{
    char message[PYTHIA__MESSAGE_BYTES];
    struct pythia_buf answer = {0};
    static const char nul[] = "attach p:a /etc/passwd\0x";
    pythia__session_answer(&session, (struct pythia_text){nul, sizeof(nul) - 1}, 0, &answer);
    assert_true(pythia_text_starts(pythia_buf_text(&answer), PYTHIA_TEXT("refused ")));
    int size = snprintf(message, sizeof(message), "attach p:a /");
    memset(message + size, 'x', sizeof(message) - (size_t)size);
    pythia_buf_clear(&answer);
    pythia__session_answer(&session, (struct pythia_text){message, sizeof(message)}, 0, &answer);
    assert_true(pythia_text_starts(pythia_buf_text(&answer), PYTHIA_TEXT("refused ")));
    pythia_buf_free(&answer);
}

static void a_program_that_was_replaced_is_attached_anew(void **state)
{
    char path[] = "/tmp/session.XXXXXX", next[64], list[64], message[64], answer[64];
    close(mkstemp(path));
    snprintf(next, sizeof(next), "%s.next", path);
    int size = snprintf(list, sizeof(list), "%s\n", path);
    assert_int_equal(pythia_allow_list_parse(&allowed, list, (size_t)size, NULL), PYTHIA_OK);
    snprintf(message, sizeof(message), "attach p:a %s", path);
    snprintf(answer, sizeof(answer), "attached 1 p:a %s", path);
    expect(message, 0, answer);
    expect(message, 0, answer);
    close(open(next, O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
    assert_int_equal(rename(next, path), 0);
    int before = count_descriptors();
    snprintf(answer, sizeof(answer), "attached 2 p:a %s", path);
    expect(message, 0, answer);
    assert_int_equal(count_descriptors(), before);
    unlink(path);
}

static void there_is_a_limit_to_what_one_client_attaches(void **state)
{
    char message[64], answer[96];
    for (int i = 0; i < PYTHIA__ATTACHED_MAX; i++) {
        snprintf(message, sizeof(message), "attach p:n%d /etc/passwd", i);
        snprintf(answer, sizeof(answer), "attached %d p:n%d /etc/passwd", i + 1, i);
        expect(message, 0, answer);
    }
    expect("attach p:more /etc/passwd", 0,
           "refused p:more /etc/passwd: more than 256 probes are attached");
}

static void each_failed_allocation_leaves_nothing_open(void **state)
{
    int before = count_descriptors();
    for (long let = 0; let < 8; let++) {
        struct pythia_buf answer = {0};
        char *space = pythia_buf_reserve(&answer, 512);
        assert_non_null(space);
        pythia_mem_fail_after(let);
        pythia__session_answer(&session, PYTHIA_TEXT("attach p:none /etc/passwd"), 0, &answer);
        pythia_mem_fail_after(-1);
        assert_int_equal(session.count, 0);
        assert_int_equal(count_descriptors(), before);
        pythia_buf_free(&answer);
    }
}

#define IN_SESSION(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SESSION(what_is_attached_is_detached),
        IN_SESSION(what_is_not_renewed_goes_with_its_lease),
        IN_SESSION(a_verb_says_which_hits_are_reported),
        IN_SESSION(a_probe_of_a_process_is_another_one),
        IN_SESSION(what_is_not_allowed_is_refused),
        IN_SESSION(an_id_with_a_nul_or_too_long_a_path_is_refused),
        IN_SESSION(a_program_that_was_replaced_is_attached_anew),
        IN_SESSION(there_is_a_limit_to_what_one_client_attaches),
        IN_SESSION(each_failed_allocation_leaves_nothing_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
