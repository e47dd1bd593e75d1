/* Two processes: the one that wants events, and the one that reads for it, which it starts.
 *
 *   commands (a pipe)   ─>  one byte each: read what the memory says; stop reading
 *   replies (a pipe)    <─  struct reply: a child reads; it has ended
 *   data (a pipe)       <─  frames of records, by the child
 *   memory (a memfd)    <>  words of both (reader_child.h); from REQUEST_AT the request
 *
 * The child writes to data and words only: it closes the rest, and the request is not mapped. So
 * what it has read of strangers reaches neither the next request nor the process that forks. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "reader_process.h"

#define PIPE_BYTES (1024 * 1024) /* so that the two processes seldom wait for each other */
#define REQUEST_AT ((off_t)65536)
#define END_MS     5000 /* for a reader that was told to end something */
#define COPIES_AT  16   /* descriptors are copied to numbers above those of the reader first */

_Static_assert(sizeof(struct pythia__reader_words) <= 65536, "the request lies after the words");

/* The descriptors of the process that reads. */
enum { COMMANDS = 3, REPLIES, DATA, MEMORY, FILES_END };

enum { COMMAND_READ = 'r', COMMAND_STOP = 's' };

enum reply_kind { REPLY_STARTED, REPLY_ENDED, REPLY_FAILED };

struct reply {
    enum reply_kind kind;
    int value; /* the child; how it has ended; why there is none, an errno */
};

/* After it: the path of the rules and those of the source, each with a NUL; the text of the rules.
 */
struct request {
    uint64_t paths_size, rules_size, count, is_live, quiet;
};

struct pythia_lttng_reader {
    pid_t process;
    int commands[2]; /* its reading end is held, too, so that no write raises SIGPIPE */
    int replies, data, memory;
    struct pythia__reader_words *words; /* mapped */
    bool claimed, reading, ended;
    bool lost; /* the process has ended, or does not obey: it reads no more */
    pid_t child;
    int how; /* it has ended */
};

/* ---- the process that reads ---- */

static void send_reply(enum reply_kind kind, int value)
{
    const struct reply reply = {.kind = kind, .value = value};
    (void)!write(REPLIES, &reply, sizeof(reply)); /* nobody there: there is no command either */
}

static int read_request(struct request *head, struct pythia_buf *rest)
{
    if (pread(MEMORY, head, sizeof(*head), REQUEST_AT) != (ssize_t)sizeof(*head))
        return PYTHIA_EIO;
    size_t size = (size_t)(head->paths_size + head->rules_size);
    char *to = pythia_buf_reserve(rest, size);
    while (to && rest->size < size) {
        ssize_t got = pread(MEMORY, to + rest->size, size - rest->size,
                            REQUEST_AT + (off_t)(sizeof(*head) + rest->size));
        if (got <= 0)
            return PYTHIA_EIO;
        rest->size += (size_t)got;
    }
    return to ? PYTHIA_OK : PYTHIA_ENOMEM;
}

/* Read what the request says. All memory is given back by the end of the process. */
static _Noreturn void run_child(struct pythia__reader_words *words, pid_t parent)
{
    struct request head;
    struct pythia_buf rest = {0};
    struct pythia_lttng_rules *rules = NULL;
    struct pythia_error why = {0};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(0);
    send_reply(REPLY_STARTED, getpid());
    int status = read_request(&head, &rest);
    const char **where = status == PYTHIA_OK ? pythia_calloc(head.count, sizeof(*where)) : NULL;
    if (!where) {
        pythia_error_set(&why, status == PYTHIA_OK ? PYTHIA_ENOMEM : status,
                         status == PYTHIA_EIO ? "the request cannot be read" : "out of memory");
        pythia__reader_child_end(words, &why);
    }
    const char *path = rest.bytes, *at = path;
    for (uint64_t i = 0; i < head.count; i++)
        where[i] = at += strlen(at) + 1;
    const struct pythia_text text = {rest.bytes + head.paths_size, (size_t)head.rules_size};
    if (pythia_lttng_rules_parse(path, text, &rules, &why) != PYTHIA_OK)
        pythia__reader_child_end(words, &why);
    const struct pythia__event_source source = {.where = where,
                                                .count = (size_t)head.count,
                                                .rules = rules,
                                                .is_live = head.is_live,
                                                .quiet = head.quiet};
    pythia__reader_child_run(&source, words, DATA);
}

static void note_child(int number)
{
    (void)number; /* its only use is to end ppoll */
}

/* Wait until the child has ended, and end it on command, or once the parent is gone. */
static int await_child(pid_t child)
{
    sigset_t none;
    int how = 0;
    sigemptyset(&none);
    while (waitpid(child, &how, WNOHANG) == 0) {
        struct pollfd commands = {.fd = COMMANDS, .events = POLLIN};
        char command = 0;
        if (ppoll(&commands, 1, NULL, &none) <= 0)
            continue;
        ssize_t got = read(COMMANDS, &command, 1);
        if (got == 0 || command == COMMAND_STOP)
            kill(child, SIGKILL);
        if (got == 0)
            _exit(0);
    }
    return how;
}

/* SIGCHLD is blocked but while await_child waits, so that no end of a child is missed. */
static _Noreturn void serve_requests(struct pythia__reader_words *words)
{
    struct sigaction action = {.sa_handler = note_child};
    sigset_t child_ends;
    pid_t self = getpid();
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, NULL);
    sigaction(SIGCHLD, &action, NULL);
    for (;;) {
        char command = 0;
        ssize_t got = read(COMMANDS, &command, 1);
        if (got == 0 || (got < 0 && errno != EINTR))
            _exit(0);
        if (got < 0 || command != COMMAND_READ)
            continue;
        pid_t child = fork();
        if (child == 0)
            run_child(words, self);
        if (child < 0)
            send_reply(REPLY_FAILED, errno);
        else
            send_reply(REPLY_ENDED, await_child(child));
    }
}

void pythia_lttng_reader_main(int argc, char **argv)
{
    if (argc != 2 || strcmp(argv[1], PYTHIA_LTTNG_READER_WORD) != 0)
        return;
    pythia__reader_child_detach("lttng-readers");
    void *words = mmap(NULL, sizeof(struct pythia__reader_words), PROT_READ | PROT_WRITE,
                       MAP_SHARED, MEMORY, 0);
    if (words == MAP_FAILED)
        _exit(2);
    serve_requests(words);
}

/* ---- starting it ---- */

/* The variables of the environment that the reader gets: the program, and libbabeltrace2 with its
 * plugins, must be those that this process would load. All others stay here: they may be secrets,
 * or make libbabeltrace2 do more than to read (BABELTRACE_EXEC_ON_ABORT). */
static void choose_environment(char *chosen[3])
{
    static const char *const handed_over[] = {"LD_LIBRARY_PATH=", "BABELTRACE_PLUGIN_PATH="};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(handed_over) / sizeof(handed_over[0]); i++)
        for (char **at = environ; at && *at; at++)
            if (strncmp(*at, handed_over[i], strlen(handed_over[i])) == 0) {
                chosen[count++] = *at;
                break;
            }
    chosen[count] = NULL;
}

/* The program's own file, by its name where that still stands for it: under valgrind,
 * /proc/self/exe is valgrind. A program that was replaced has " (deleted)" after its name. */
static const char *find_program(char name[4096])
{
    ssize_t size = readlink("/proc/self/exe", name, 4095);
    name[size > 0 ? size : 0] = '\0';
    return access(name, X_OK) == 0 ? name : "/proc/self/exe";
}

/* `files`: the descriptors of the reader, from COMMANDS on. Returns 0 or an errno. */
static int spawn_reader(const int files[FILES_END], pid_t *process)
{
    char name[4096], program[] = "pythia-lttng", word[] = PYTHIA_LTTNG_READER_WORD;
    char *const arguments[] = {program, word, NULL};
    char *environment[3];
    posix_spawn_file_actions_t actions;
    int copies[FILES_END], error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    for (int i = COMMANDS; i < FILES_END; i++) {
        copies[i] = fcntl(files[i], F_DUPFD_CLOEXEC, COPIES_AT);
        if (copies[i] < 0)
            error = errno;
        else if (error == 0)
            error = posix_spawn_file_actions_adddup2(&actions, copies[i], i);
    }
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, FILES_END);
    choose_environment(environment);
    if (error == 0)
        error = posix_spawn(process, find_program(name), &actions, NULL, arguments, environment);
    for (int i = COMMANDS; i < FILES_END; i++)
        if (copies[i] >= 0)
            close(copies[i]);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

/* The other ends of the pipes are in `files`. Returns 0 or an errno. */
static int make_files(struct pythia_lttng_reader *r, int files[FILES_END])
{
    int replies[2], data[2];
    if (pipe2(r->commands, O_CLOEXEC) != 0 || pipe2(replies, O_CLOEXEC) != 0)
        return errno;
    r->replies = replies[0];
    files[REPLIES] = replies[1];
    if (pipe2(data, O_CLOEXEC) != 0)
        return errno;
    r->data = data[0];
    files[DATA] = data[1];
    r->memory = memfd_create("pythia-lttng", MFD_CLOEXEC);
    if (r->memory < 0 || ftruncate(r->memory, REQUEST_AT) != 0)
        return errno;
    (void)fcntl(data[1], F_SETPIPE_SZ, PIPE_BYTES);
    (void)fcntl(r->data, F_SETFL, O_NONBLOCK);
    (void)fcntl(r->replies, F_SETFL, O_NONBLOCK);
    files[COMMANDS] = r->commands[0];
    files[MEMORY] = r->memory;
    void *words = mmap(NULL, sizeof(*r->words), PROT_READ | PROT_WRITE, MAP_SHARED, r->memory, 0);
    r->words = words == MAP_FAILED ? NULL : words;
    return r->words ? 0 : errno;
}

int pythia_lttng_reader_start(struct pythia_lttng_reader **out, struct pythia_error *e)
{
    int files[FILES_END] = {-1, -1, -1, -1, -1, -1, -1};
    struct pythia_lttng_reader *r = pythia_calloc(1, sizeof(*r));
    if (!r)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    r->commands[0] = r->commands[1] = r->replies = r->data = r->memory = -1;
    int error = make_files(r, files);
    if (error == 0)
        error = spawn_reader(files, &r->process);
    close_file(&files[REPLIES]);
    close_file(&files[DATA]);
    if (error == 0) {
        *out = r;
        return PYTHIA_OK;
    }
    r->process = 0;
    pythia_lttng_reader_end(r);
    return pythia_error_set(e, error == ENOMEM ? PYTHIA_ENOMEM : PYTHIA_EIO,
                            "no process can be started that reads traces of LTTng: %s",
                            strerror(error));
}

/* A process that is confined may send no signal; then the end of the pipe ends the reader. */
void pythia_lttng_reader_end(struct pythia_lttng_reader *r)
{
    if (!r)
        return;
    (void)pythia__lttng_reader_stop(r);
    close_file(&r->commands[0]);
    close_file(&r->commands[1]);
    if (r->process > 0) {
        bool is_killed = kill(r->process, SIGKILL) == 0;
        struct pollfd replies = {.fd = r->replies};
        if (!is_killed)
            (void)poll(&replies, 1, END_MS);
        while (waitpid(r->process, NULL, is_killed ? 0 : WNOHANG) < 0 && errno == EINTR)
            continue;
    }
    close_file(&r->replies);
    close_file(&r->data);
    close_file(&r->memory);
    if (r->words)
        munmap(r->words, sizeof(*r->words));
    pythia_free(r);
}

/* ---- using it ---- */

struct pythia__reader_words *pythia__lttng_reader_claim(struct pythia_lttng_reader *r)
{
    assert(!r->claimed);
    r->claimed = true;
    memset(r->words, 0, sizeof(*r->words)); /* no child has it */
    return r->words;
}

static int write_request(const struct pythia_lttng_reader *r,
                         const struct pythia__event_source *source)
{
    const char *path = pythia_lttng_rules_path(source->rules);
    struct pythia_text rules = pythia_lttng_rules_text(source->rules);
    struct request head = {.paths_size = strlen(path) + 1,
                           .rules_size = rules.size,
                           .count = source->count,
                           .is_live = source->is_live,
                           .quiet = source->quiet};
    struct pythia_buf all = {0};
    for (size_t i = 0; i < source->count; i++)
        head.paths_size += strlen(source->where[i]) + 1;
    pythia_buf_add(&all, &head, sizeof(head));
    pythia_buf_add(&all, path, strlen(path) + 1);
    for (size_t i = 0; i < source->count; i++)
        pythia_buf_add(&all, source->where[i], strlen(source->where[i]) + 1);
    pythia_buf_add(&all, rules.bytes, rules.size);
    int status = pythia_buf_status(&all);
    for (size_t at = 0; status == PYTHIA_OK && at < all.size;) {
        ssize_t done = pwrite(r->memory, all.bytes + at, all.size - at, REQUEST_AT + (off_t)at);
        if (done > 0)
            at += (size_t)done;
        else if (done == 0 || errno != EINTR)
            status = PYTHIA_ENOMEM; /* it is memory that is written */
    }
    pythia_buf_free(&all);
    return status;
}

static void send_command(const struct pythia_lttng_reader *r, char command)
{
    while (write(r->commands[1], &command, 1) < 0 && errno == EINTR)
        continue;
}

int pythia__lttng_reader_begin(struct pythia_lttng_reader *r,
                               const struct pythia__event_source *source, struct pythia_error *e)
{
    int status = write_request(r, source);
    if (status != PYTHIA_OK)
        return pythia_error_set(e, status, "out of memory");
    r->ended = r->lost;
    r->how = SIGKILL; /* unless there is another word */
    r->reading = true;
    send_command(r, COMMAND_READ);
    return PYTHIA_OK;
}

/* Without a reply the child has ended if the reader has. */
static void take_replies(struct pythia_lttng_reader *r)
{
    struct reply reply;
    while (!r->ended) {
        ssize_t got = read(r->replies, &reply, sizeof(reply));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        r->lost = got != (ssize_t)sizeof(reply);
        r->ended = r->lost || reply.kind != REPLY_STARTED;
        if (r->lost)
            return;
        if (reply.kind == REPLY_STARTED)
            r->child = reply.value;
        else
            r->how = reply.kind == REPLY_ENDED ? reply.value : SIGKILL;
    }
}

bool pythia__lttng_reader_wait(struct pythia_lttng_reader *r, int wait_ms)
{
    struct pollfd both[] = {{.fd = r->data, .events = POLLIN},
                            {.fd = r->replies, .events = POLLIN}};
    return r->ended || poll(both, 2, wait_ms) > 0;
}

/* The end is looked for first: what was written before it is there then. */
ssize_t pythia__lttng_reader_receive(struct pythia_lttng_reader *r, char *to, size_t capacity)
{
    take_replies(r);
    ssize_t size = read(r->data, to, capacity);
    if (size > 0)
        return size;
    return r->ended ? -1 : 0;
}

static void drop_data(const struct pythia_lttng_reader *r)
{
    char dropped[4096];
    ssize_t size;
    while ((size = read(r->data, dropped, sizeof(dropped))) > 0 || (size < 0 && errno == EINTR))
        continue;
}

int pythia__lttng_reader_stop(struct pythia_lttng_reader *r)
{
    bool was_reading = r->reading;
    r->claimed = r->reading = false;
    if (!was_reading)
        return 0;
    take_replies(r);
    if (!r->ended)
        send_command(r, COMMAND_STOP);
    while (!r->ended) {
        struct pollfd replies = {.fd = r->replies, .events = POLLIN};
        r->lost = r->ended = poll(&replies, 1, END_MS) == 0;
        take_replies(r);
    }
    drop_data(r);
    r->child = 0;
    return r->how;
}

pid_t pythia__lttng_reader_child(const struct pythia_lttng_reader *r)
{
    return r->child;
}
