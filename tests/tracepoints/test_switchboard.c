/* The switchboard as pythiad and pythia ctl use it, and what becomes of it in bad hands. */
#include <errno.h>
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/stat.h>

#include "traced.h"

#define ALL PYTHIA_SWITCHES_ALL

static struct pythia_switchboard *open_board(void)
{
    struct pythia_switchboard *b = NULL;
    char why[256] = "";
    if (pythia_switchboard_open(traced.directory, 1, &b, why) != 0)
        fail_msg("%s", why);
    return b;
}

static void throw_all(struct pythia_switchboard *b, const char *id, uint64_t types)
{
    assert_int_equal(pythia_switchboard_throw(b, id, strlen(id), ALL, types), 0);
}

/* The switches of a point; fails if there is none, or two. */
static uint64_t switches_of(const struct pythia_switchboard *b, const char *id)
{
    struct pythia_switchboard_point point;
    uint64_t found = 0;
    int count = 0;
    for (uint32_t i = 0; i < pythia_switchboard_points(b); i++)
        if (pythia_switchboard_at(b, i, &point) == 0 && strcmp(point.id, id) == 0) {
            found = point.switches;
            count++;
        }
    if (count != 1)
        fail_msg("%s is there %d times", id, count);
    return found;
}

/* The file that names the segment. */
static void file_name(char path[128])
{
    snprintf(path, 128, "%s/switchboard-2", traced.directory);
}

static int segment_number(void)
{
    char path[128];
    int number = -1;
    file_name(path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "pythia-switchboard 1 %d", &number), 1); /* NOLINT */
    fclose(file);
    return number;
}

static int first_segment; /* some tests spoil the file that names it */

/* A switchboard of a test's own, in a directory of its own. */
static int begin(void **state)
{
    traced_directory();
    traced.board = open_board();
    first_segment = segment_number();
    return 0;
}

static int end(void **state)
{
    traced_end();
    shmctl(first_segment, IPC_RMID, NULL);
    memset(&traced, 0, sizeof(traced));
    return 0;
}

static void a_switch_that_is_thrown_is_thrown_for_all(void **state)
{
    struct pythia_switchboard *other = open_board();
    throw_all(traced.board, "shop:checkout", 5);
    assert_int_equal(switches_of(other, "shop:checkout"), 5);
    assert_int_equal(pythia_switchboard_throw(other, "shop:checkout", 13, 6, 2), 0);
    assert_int_equal(switches_of(traced.board, "shop:checkout"), 3); /* bits 1 and 2 became 01 */
    throw_all(other, "shop:checkout", 0);
    assert_int_equal(switches_of(traced.board, "shop:checkout"), 0);
    pythia_switchboard_close(other);
}

static void there_is_none_unless_it_is_asked_for(void **state)
{
    struct pythia_switchboard *b = NULL;
    char why[256] = "";
    assert_int_equal(pythia_switchboard_remove(traced.directory, why), 0);
    assert_int_equal(pythia_switchboard_remove(traced.directory, why), -ENOENT);
    assert_int_equal(pythia_switchboard_open(traced.directory, 0, &b, why), -ENOENT);
    assert_non_null(strstr(why, "cannot be opened: No such file"));
    assert_null(b);
}

/* What is removed stays with those who have it; who comes later finds another. */
static void one_that_is_removed_stays_for_those_who_have_it(void **state)
{
    throw_all(traced.board, "a:b", 1);
    assert_int_equal(pythia_switchboard_remove(traced.directory, NULL), 0);
    assert_int_equal(switches_of(traced.board, "a:b"), 1);
    struct pythia_switchboard *other = open_board();
    assert_int_equal(pythia_switchboard_points(other), 0);
    pythia_switchboard_close(other);
}

static void ids_may_have_any_bytes(void **state)
{
    struct pythia_switchboard_point point;
    static const char odd[] = "s:\x01\n\xFF\xC3\xA9\0z";
    assert_int_equal(pythia_switchboard_throw(traced.board, odd, sizeof(odd) - 1, ALL, 9), 0);
    assert_int_equal(pythia_switchboard_at(traced.board, 0, &point), 0);
    assert_string_equal(point.id, "s:\x01\n\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBDz");
    assert_int_equal(pythia_switchboard_throw(traced.board, "", 0, ALL, 1), -ENOSPC);
    assert_int_equal(pythia_switchboard_points(traced.board), 1);
}

static void long_ids_stay_apart(void **state)
{
    char a[1000], b[1000];
    struct pythia_switchboard_point point;
    memset(a, 'x', sizeof(a));
    memset(b, 'x', sizeof(b));
    b[999] = 'y';
    assert_int_equal(pythia_switchboard_throw(traced.board, a, sizeof(a), ALL, 1), 0);
    assert_int_equal(pythia_switchboard_throw(traced.board, b, sizeof(b), ALL, 2), 0);
    assert_int_equal(pythia_switchboard_throw(traced.board, a, sizeof(a), ALL, 4), 0);
    assert_int_equal(pythia_switchboard_points(traced.board), 2);
    assert_int_equal(pythia_switchboard_at(traced.board, 0, &point), 0);
    assert_int_equal(point.switches, 4);
    assert_int_equal(point.id_bytes, 265);
    assert_memory_equal(point.id + 240, "xxxxx...#", 9);
}

static void sixty_two_kinds_of_requests_have_a_switch_of_their_own(void **state)
{
    char name[272];
    struct pythia_switchboard_state s;
    for (int i = 0; i < 70; i++) {
        int size = snprintf(name, sizeof(name), "type %d", i), expected = i < 62 ? 1 + i : 63;
        assert_int_equal(pythia_switchboard_type(traced.board, name, (size_t)size), expected);
    }
    assert_int_equal(pythia_switchboard_type(traced.board, "type 61", 7), 62); /* the same again */
    assert_int_equal(pythia_switchboard_type_name(traced.board, 62, name), 0);
    assert_string_equal(name, "type 61");
    assert_int_equal(pythia_switchboard_type_name(traced.board, 0, name), -ENOENT);
    assert_int_equal(pythia_switchboard_type_name(traced.board, 63, name), -ENOENT);
    pythia_switchboard_state_get(traced.board, &s);
    assert_int_equal(s.types, 62);
    assert_int_equal(s.refused_types, 8);
}

static void it_holds_as_many_points_as_it_says_and_counts_the_rest(void **state)
{
    char id[32];
    struct pythia_switchboard_state s;
    struct pythia_switchboard_point point;
    for (uint32_t i = 0; i < PYTHIA_SWITCHBOARD_POINTS + 10; i++) {
        int size = snprintf(id, sizeof(id), "service:point %u", i),
            expected = i < PYTHIA_SWITCHBOARD_POINTS ? 0 : -ENOSPC;
        assert_int_equal(
            pythia_switchboard_throw(traced.board, id, (size_t)size, ALL, UINT64_C(1) << (i % 64)),
            expected);
    }
    pythia_switchboard_state_get(traced.board, &s);
    assert_int_equal(s.points, PYTHIA_SWITCHBOARD_POINTS);
    assert_int_equal(s.refused_points, 10);
    for (uint32_t i = 0; i < PYTHIA_SWITCHBOARD_POINTS; i += 997) {
        snprintf(id, sizeof(id), "service:point %u", i);
        assert_int_equal(pythia_switchboard_at(traced.board, i, &point), 0);
        assert_string_equal(point.id, id);
        assert_true(point.switches == UINT64_C(1) << (i % 64));
    }
    assert_int_equal(pythia_switchboard_at(traced.board, PYTHIA_SWITCHBOARD_POINTS, &point),
                     -ENOENT);
}

#define ADDERS 4
#define SHARED 2000

static void *add_points(void *argument)
{
    struct pythia_switchboard *b = open_board();
    const int *first = argument;
    for (int i = 0; i < SHARED; i++) {
        char id[32], type[16];
        int number = (*first * 37 + i) % SHARED; /* all add the same ones, in other orders */
        int size = snprintf(id, sizeof(id), "s:%d", number);
        pythia_switchboard_throw(b, id, (size_t)size, UINT64_C(1) << *first, UINT64_MAX);
        size = snprintf(type, sizeof(type), "t%d", number % 40);
        pythia_switchboard_type(b, type, (size_t)size);
    }
    pythia_switchboard_close(b);
    return NULL;
}

static void check_what_was_added(uint64_t expected)
{
    char seen[SHARED] = "", name[272];
    struct pythia_switchboard_point point;
    struct pythia_switchboard_state s;
    int types[40] = {0};
    for (uint32_t i = 0; i < pythia_switchboard_points(traced.board); i++) {
        if (pythia_switchboard_at(traced.board, i, &point) != 0)
            continue; /* given up by one who came second */
        assert_true(point.switches == expected);
        seen[strtol(point.id + 2, NULL, 10)]++;
    }
    for (int i = 0; i < SHARED; i++)
        assert_int_equal(seen[i], 1);
    pythia_switchboard_state_get(traced.board, &s);
    assert_int_equal(s.types, 40);
    for (int i = 1; i <= 40; i++) {
        assert_int_equal(pythia_switchboard_type_name(traced.board, i, name), 0);
        types[strtol(name + 1, NULL, 10)]++;
    }
    for (int i = 0; i < 40; i++)
        assert_int_equal(types[i], 1);
}

static void threads_that_add_the_same_points_agree(void **state)
{
    pthread_t threads[ADDERS];
    int numbers[ADDERS] = {0, 1, 2, 3};
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_points, &numbers[i]), 0);
    for (int i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    check_what_was_added(15);
}

static void processes_that_add_the_same_points_agree(void **state)
{
    pid_t children[ADDERS];
    for (int i = 0; i < ADDERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            add_points(&i);
            _exit(0);
        }
    }
    for (int i = 0; i < ADDERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    check_what_was_added(15);
}

/* ---- text ---- */

static int64_t apply(const char *text, char *why)
{
    return pythia_switchboard_apply(traced.board, text, strlen(text), why);
}

static void switches_may_be_thrown_by_a_text(void **state)
{
    throw_all(traced.board, "shop:a", 0);
    throw_all(traced.board, "shop:b", 0);
    throw_all(traced.board, "bank:a", ALL);
    assert_int_equal(
        apply("# a comment\n\nopen\tshop:*\nclose\tbank:?\nopen\tnew:point\tcheckout", NULL), 4);
    int type = pythia_switchboard_type(traced.board, "checkout", 8);
    assert_true(switches_of(traced.board, "shop:a") == ALL);
    assert_true(switches_of(traced.board, "shop:b") == ALL);
    assert_true(switches_of(traced.board, "bank:a") == 0);
    assert_true(switches_of(traced.board, "new:point") == UINT64_C(1) << type);
    assert_int_equal(apply("close\tshop:a\tcheckout\n", NULL), 1);
    assert_true(switches_of(traced.board, "shop:a") == ~(UINT64_C(1) << type));
    assert_int_equal(apply("", NULL), 0);
}

static void a_line_that_is_wrong_is_told_and_those_before_it_count(void **state)
{
    static const char *const wrong[] = {"shut\ta:b",    "open a:b",      "open\t",
                                        "open\ta:b\t",  "open\ta\tb\tc", "opened\ta:b",
                                        "close\t\tkind"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[64], why[256] = "";
        snprintf(text, sizeof(text), "open\tgood:%zu\n%s\nopen\tafter:it\n", i, wrong[i]);
        assert_int_equal(apply(text, why), -EINVAL);
        assert_string_equal(why, "line 2: wanted \"open\" or \"close\", a tab, an id, and at most "
                                 "one more tab and a kind of request");
        assert_int_equal(pythia_switchboard_points(traced.board), i + 1);
    }
}

/* ---- bad hands ---- */

static void write_file(const char *content, size_t size)
{
    char path[128];
    file_name(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(content, 1, size, file);
    fclose(file);
}

static void assert_refused(int status, const char *part)
{
    struct pythia_switchboard *b = NULL;
    char why[256] = "";
    int found = pythia_switchboard_open(traced.directory, 1, &b, why);
    if (found != status || !strstr(why, part))
        fail_msg("expected %d and '%s', found %d and '%s'", status, part, found, why);
    assert_null(b);
}

static void a_file_that_is_not_as_it_should_be_is_refused(void **state)
{
    static const struct {
        const char *content, *why;
    } cases[] = {
        {"", "is cut short, or not one line"},
        {"pythia-switchboard 1 3", "is cut short, or not one line"},
        {"pythia-switchboard 1 3\nagain\n", "is cut short, or not one line"},
        {"something else\n", "does not say that it is a switchboard"},
        {"pythia-area 1 0 0 0 0 0\n", "does not say that it is a switchboard"},
        {"pythia-switchboard 2 0 whatever comes\n", "is of another version than 1"},
        {"pythia-switchboard -1 0\n", "is of another version than 1"},
        {"pythia-switchboard 99999999999999999999 0\n", "is of another version than 1"},
        {"pythia-switchboard 1\n", "is not such a line as it should be"},
        {"pythia-switchboard 1 -3 00000000000000000000000000000000 1 - 0\n",
         "is not such a line as it should be"},
        {"pythia-switchboard 1 3 0000000000000000000000000000000 1 - 0\n",
         "is not such a line as it should be"},
        {"pythia-switchboard 1 3 0000000000000000000000000000000G 1 - 0\n",
         "is not such a line as it should be"},
        {"pythia-switchboard 1 3 00000000000000000000000000000000 1 - 0 more\n",
         "is not such a line as it should be"},
        {"pythia-switchboard 1 99999999999 00000000000000000000000000000000 1 - 0\n",
         "is not such a line as it should be"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        write_file(cases[i].content, strlen(cases[i].content));
        struct pythia_switchboard *b = NULL;
        char why[256] = "";
        assert_true(pythia_switchboard_open(traced.directory, 1, &b, why) < 0);
        if (!strstr(why, cases[i].why))
            fail_msg("%s: %s", cases[i].content, why);
    }
    write_file("pythia-switchboard 1 \0 3\n", 24);
    assert_refused(-EBADMSG, "is cut short, or not one line");
    char large[4096];
    memset(large, 'x', sizeof(large));
    write_file(large, sizeof(large));
    assert_refused(-EBADMSG, "is cut short, or not one line");
}

/* One of before the machine was started stands for nothing: it is made anew. */
static void one_of_another_boot_is_made_anew(void **state)
{
    char line[256];
    int size = snprintf(line, sizeof(line),
                        "pythia-switchboard 1 %d %032d 1 00000000-0000-0000-0000-000000000000 1\n",
                        segment_number(), 0);
    shmctl(segment_number(), IPC_RMID, NULL);
    write_file(line, (size_t)size);
    struct pythia_switchboard *b = open_board();
    throw_all(b, "a:b", 1);
    pythia_switchboard_close(b);
}

static void one_whose_memory_is_gone_is_made_anew(void **state)
{
    throw_all(traced.board, "a:b", 1);
    assert_int_equal(shmctl(segment_number(), IPC_RMID, NULL), 0);
    pythia_switchboard_close(traced.board); /* the last: only now it goes */
    traced.board = open_board();
    assert_int_equal(pythia_switchboard_points(traced.board), 0);
    throw_all(traced.board, "a:b", 1);
}

/* Those who have it go on. */
static void memory_that_is_removed_under_its_users_stays_for_them(void **state)
{
    throw_all(traced.board, "a:b", 1);
    assert_int_equal(shmctl(segment_number(), IPC_RMID, NULL), 0);
    assert_int_equal(switches_of(traced.board, "a:b"), 1);
    throw_all(traced.board, "c:d", 2);
    assert_int_equal(switches_of(traced.board, "c:d"), 2);
}

static unsigned char *attach_segment(void)
{
    void *at = shmat(segment_number(), NULL, 0);
    assert_int_not_equal((intptr_t)at, -1);
    return at;
}

static void memory_that_is_something_else_is_refused(void **state)
{
    static const struct {
        size_t offset;
        unsigned char byte;
        int status;
        const char *why;
    } cases[] = {
        {0, 'X', -EBADMSG, "does not begin as one does"},
        {8, 1, -EPROTO, "is of version 1, not 2"},
        {16, 0x5a, -EBADMSG, "is not the one that its file names"},
        {31, 0x5a, -EBADMSG, "is not the one that its file names"},
    };
    unsigned char *segment = attach_segment();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char was = segment[cases[i].offset];
        segment[cases[i].offset] = was == cases[i].byte ? (unsigned char)~was : cases[i].byte;
        assert_refused(cases[i].status, cases[i].why);
        char why[256] = "";
        assert_true(pythia_switchboard_remove(traced.directory, why) < 0); /* it is not ours */
        segment[cases[i].offset] = was;
    }
    shmdt(segment);
    pythia_switchboard_close(open_board());
}

/* The number of a segment comes around again: a file may name another program's. */
static void memory_of_another_size_is_refused(void **state)
{
    char path[128], line[256];
    int number = -1, other = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    file_name(path);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    char *rest = strchr(line + 21, ' ');
    assert_int_equal(sscanf(line, "pythia-switchboard 1 %d", &number), 1); /* NOLINT */
    char changed[512];
    int size = snprintf(changed, sizeof(changed), "pythia-switchboard 1 %d%s", other, rest);
    write_file(changed, (size_t)size);
    assert_refused(-EBADMSG, "has 4096 bytes, not 19399168");
    shmctl(other, IPC_RMID, NULL);
    write_file(line, strlen(line));
}

/* Everything in it is anybody's to write: reading and throwing ends, and stays inside. */
static void hostile_content_harms_nobody(void **state)
{
    unsigned char *segment = attach_segment();
    uint32_t seed = 1;
    char id[32];
    throw_all(traced.board, "before:it", 1);
    for (int round = 0; round < 60; round++) {
        for (size_t at = 32; at < 19399168; at += round % 3 ? 4 : 4096) {
            seed = seed * 1664525 + 1013904223;
            uint32_t word = round % 3 == 0   ? seed
                            : round % 3 == 1 ? UINT32_MAX - (seed & 7)
                                             : seed & 0x00ffffff;
            if (at >= 2625536 && round % 3)
                break;
            memcpy(segment + at, &word, 4);
        }
        struct pythia_switchboard_point point;
        struct pythia_switchboard_state s;
        for (uint32_t i = 0; i < pythia_switchboard_points(traced.board); i += 101)
            (void)pythia_switchboard_at(traced.board, i, &point);
        for (int i = 0; i < 20; i++) {
            int size = snprintf(id, sizeof(id), "hostile:%d", i);
            (void)pythia_switchboard_throw(traced.board, id, (size_t)size, ALL, 1);
            assert_in_range(pythia_switchboard_type(traced.board, id, (size_t)size),
                            PYTHIA_TYPE_FIRST, PYTHIA_TYPE_OTHER);
        }
        pythia_switchboard_state_get(traced.board, &s);
        assert_in_range(s.types, 0, 62);
    }
    shmdt(segment);
}

static void what_others_may_write_to_is_refused(void **state)
{
    char path[128];
    file_name(path);
    chmod(path, 0620);
    assert_refused(-EPERM, "may be written to by others than its owner");
    chmod(path, 0600);
    chmod(traced.directory, 0720);
    assert_refused(-EPERM, "may be written to by others than its owner");
    chmod(traced.directory, 0700);
    pythia_switchboard_close(open_board());
}

static void what_is_no_plain_file_is_refused(void **state)
{
    char path[128], other[128];
    file_name(path);
    snprintf(other, sizeof(other), "%s/other", traced.directory);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_refused(-ELOOP, "cannot be opened");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(-EBADMSG, "is not a plain file"); /* and nobody waited for a writer */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(other, path), 0);
}

static void what_is_somebody_elses_is_refused(void **state)
{
    char path[128], why[256] = "";
    struct pythia_switchboard *b = NULL;
    struct shmid_ds about;
    if (geteuid() != 0)
        skip();
    file_name(path);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_refused(-EPERM, "belongs to user 12345");
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(shmctl(segment_number(), IPC_STAT, &about), 0);
    about.shm_perm.uid = 12345;
    assert_int_equal(shmctl(segment_number(), IPC_SET, &about), 0);
    assert_refused(-EPERM, "is of user");
    about.shm_perm.uid = 0;
    about.shm_perm.mode = 0660;
    assert_int_equal(shmctl(segment_number(), IPC_SET, &about), 0);
    assert_refused(-EPERM, "may be written to by others than its owner");
    about.shm_perm.mode = 0600;
    assert_int_equal(shmctl(segment_number(), IPC_SET, &about), 0);

    pid_t child = fork(); /* another user finds this one's directory */
    if (child == 0) {
        chmod(traced.directory, 0755);
        if (chown(traced.directory, 12346, 0) != 0 || setuid(12345) != 0)
            _exit(2);
        int status = pythia_switchboard_open(traced.directory, 1, &b, why);
        _exit(status == -EPERM && strstr(why, "belongs to user 12346") ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chown(traced.directory, 0, 0), 0);
}

/* Root makes one for a user, who can then use it. */
static void root_makes_one_for_the_owner_of_the_directory(void **state)
{
    char why[256] = "", path[128];
    if (geteuid() != 0)
        skip();
    pythia_switchboard_close(traced.board);
    assert_int_equal(pythia_switchboard_remove(traced.directory, NULL), 0);
    assert_int_equal(chown(traced.directory, 12345, 12345), 0);
    traced.board = open_board();
    throw_all(traced.board, "users:point", 3);
    file_name(path);
    assert_int_equal(chown(path, 12345, 12345), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pythia_switchboard *b = NULL;
        if (setuid(12345) != 0 || pythia_switchboard_open(traced.directory, 0, &b, why) != 0)
            _exit(1);
        _exit(switches_of(b, "users:point") == 3 ? 0 : 2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_switch_that_is_thrown_is_thrown_for_all),
        TEST(there_is_none_unless_it_is_asked_for),
        TEST(one_that_is_removed_stays_for_those_who_have_it),
        TEST(ids_may_have_any_bytes),
        TEST(long_ids_stay_apart),
        TEST(sixty_two_kinds_of_requests_have_a_switch_of_their_own),
        TEST(it_holds_as_many_points_as_it_says_and_counts_the_rest),
        TEST(threads_that_add_the_same_points_agree),
        TEST(processes_that_add_the_same_points_agree),
        TEST(switches_may_be_thrown_by_a_text),
        TEST(a_line_that_is_wrong_is_told_and_those_before_it_count),
        TEST(a_file_that_is_not_as_it_should_be_is_refused),
        TEST(one_of_another_boot_is_made_anew),
        TEST(one_whose_memory_is_gone_is_made_anew),
        TEST(memory_that_is_removed_under_its_users_stays_for_them),
        TEST(memory_that_is_something_else_is_refused),
        TEST(memory_of_another_size_is_refused),
        TEST(hostile_content_harms_nobody),
        TEST(what_others_may_write_to_is_refused),
        TEST(what_is_no_plain_file_is_refused),
        TEST(what_is_somebody_elses_is_refused),
        TEST(root_makes_one_for_the_owner_of_the_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
