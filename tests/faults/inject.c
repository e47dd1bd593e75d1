/* Lets one system call of a program fail, by ptrace(2), so that it is found whoever makes it: the
 * program, the C library's streams or SQLite.
 *
 *     inject NUMBER FOLDER LOG COMMAND [ARGUMENT…]
 *
 * Counted are the calls, also of children, that write, truncate, flush, rename, map and read files
 * below FOLDER, an absolute path without links. The one with that number fails, and is not made:
 * writes with ENOSPC, maps with ENOMEM, all else with EIO. After it the program runs on by itself,
 * so that sanitizers can look for leaks.
 * LOG gets a line, "write /path" of the call that failed, or "count N" if none
 * did (NUMBER 0 only counts). Exits as the program does, with 128 and the signal's number if one
 * ended it; 77 if this cannot be done here. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

#if defined(__x86_64__)
#include <linux/ptrace.h>
#include <sys/user.h>

#define THREADS_MAX 256
#define PATH_BYTES  4096

/* Which argument says what file it is about. */
enum about { BY_FILE, BY_MAPPED_FILE, BY_PATH, BY_PATH_AT };

static const struct call {
    long number;
    const char *kind;
    enum about about;
    int error;
} calls[] = {
    {SYS_write, "write", BY_FILE, ENOSPC},
    {SYS_pwrite64, "write", BY_FILE, ENOSPC},
    {SYS_writev, "write", BY_FILE, ENOSPC},
    {SYS_ftruncate, "truncate", BY_FILE, ENOSPC},
    {SYS_fallocate, "truncate", BY_FILE, ENOSPC},
    {SYS_fsync, "fsync", BY_FILE, EIO},
    {SYS_fdatasync, "fsync", BY_FILE, EIO},
    {SYS_rename, "rename", BY_PATH, EIO},
    {SYS_renameat, "rename", BY_PATH_AT, EIO},
    {SYS_renameat2, "rename", BY_PATH_AT, EIO},
    {SYS_read, "read", BY_FILE, EIO},
    {SYS_pread64, "read", BY_FILE, EIO},
    {SYS_readv, "read", BY_FILE, EIO},
    {SYS_mmap, "mmap", BY_MAPPED_FILE, ENOMEM},
};

struct injection {
    unsigned long number, count;
    const char *folder, *log;
    pid_t program, threads[THREADS_MAX];
    size_t thread_count;
    bool done;
};

/* NOLINTBEGIN(performance-no-int-to-ptr): numbers are pointers to ptrace(2) */

static void write_log(const struct injection *in, const char *what, const char *path)
{
    FILE *log = fopen(in->log, "w");
    if (!log || fprintf(log, "%s %s\n", what, path) < 0 || fclose(log) != 0) {
        perror(in->log);
        exit(1);
    }
}

static void read_path(pid_t thread, unsigned long at, char path[PATH_BYTES])
{
    struct iovec here = {path, PATH_BYTES - 1}, there = {(void *)at, PATH_BYTES - 1};
    ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (got < 0) { /* the page behind it is not there */
        here.iov_len = there.iov_len = 4096 - at % 4096;
        got = process_vm_readv(thread, &here, 1, &there, 1, 0);
    }
    path[got > 0 ? got : 0] = '\0';
}

static void find_path(pid_t thread, const struct call *call, const unsigned long long *arguments,
                      char path[PATH_BYTES])
{
    char link[64];
    path[0] = '\0';
    if (call->about == BY_PATH || call->about == BY_PATH_AT) {
        read_path(thread, arguments[call->about == BY_PATH_AT], path);
        return;
    }
    int file = (int)arguments[call->about == BY_MAPPED_FILE ? 4 : 0];
    snprintf(link, sizeof(link), "/proc/%d/fd/%d", thread, file);
    ssize_t size = file < 0 ? 0 : readlink(link, path, PATH_BYTES - 1);
    path[size > 0 ? size : 0] = '\0';
}

/* The call that begins, if it is one of those that are counted. */
static const struct call *find_call(const struct injection *in, pid_t thread,
                                    const struct ptrace_syscall_info *info, char *path)
{
    size_t size = strlen(in->folder);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if ((unsigned long long)calls[i].number != info->entry.nr)
            continue;
        find_path(thread, &calls[i], info->entry.args, path);
        return strncmp(path, in->folder, size) == 0 && path[size] == '/' ? &calls[i] : NULL;
    }
    return NULL;
}

/* Make no call, and return -error from it: the thread stands at its beginning. */
static void fail_call(pid_t thread, int error)
{
    struct user_regs_struct registers;
    int status;
    ptrace(PTRACE_GETREGS, thread, NULL, &registers);
    registers.orig_rax = (unsigned long long)-1;
    ptrace(PTRACE_SETREGS, thread, NULL, &registers);
    ptrace(PTRACE_SYSCALL, thread, NULL, NULL);
    waitpid(thread, &status, __WALL);
    ptrace(PTRACE_GETREGS, thread, NULL, &registers);
    registers.rax = (unsigned long long)-error;
    ptrace(PTRACE_SETREGS, thread, NULL, &registers);
}

static void let_go(const struct injection *in, pid_t thread)
{
    int status;
    ptrace(PTRACE_DETACH, thread, NULL, NULL);
    for (size_t i = 0; i < in->thread_count; i++) {
        pid_t other = in->threads[i];
        if (other == thread || syscall(SYS_tkill, other, SIGSTOP) != 0)
            continue;
        while (waitpid(other, &status, __WALL) == other && WIFSTOPPED(status)) {
            if (WSTOPSIG(status) == SIGSTOP) {
                ptrace(PTRACE_DETACH, other, NULL, NULL);
                break;
            }
            ptrace(PTRACE_CONT, other, NULL, NULL);
        }
    }
}

static void enter_call(struct injection *in, pid_t thread)
{
    struct ptrace_syscall_info info;
    char path[PATH_BYTES];
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return;
    const struct call *call = find_call(in, thread, &info, path);
    if (!call || ++in->count != in->number)
        return;
    fail_call(thread, call->error);
    in->done = true;
    write_log(in, call->kind, path);
    let_go(in, thread);
}

/* A thread has stopped. */
static void go_on(struct injection *in, pid_t thread, int status)
{
    int number = WSTOPSIG(status), sent = 0;
    bool is_known = false;
    for (size_t i = 0; i < in->thread_count; i++)
        is_known |= in->threads[i] == thread;
    if (!is_known && in->thread_count < THREADS_MAX)
        in->threads[in->thread_count++] = thread;
    if (number == (SIGTRAP | 0x80))
        enter_call(in, thread);
    else if (number != SIGTRAP && (number != SIGSTOP || is_known))
        sent = number;
    if (!in->done)
        ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)sent);
}

static int watch(struct injection *in)
{
    int status;
    waitpid(in->program, &status, 0);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    ptrace(PTRACE_SETOPTIONS, in->program, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    in->threads[in->thread_count++] = in->program;
    ptrace(PTRACE_SYSCALL, in->program, NULL, NULL);
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return 1;
        if (WIFSTOPPED(status))
            go_on(in, thread, status);
        else if (thread == in->program)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

/* NOLINTEND(performance-no-int-to-ptr) */

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: inject NUMBER FOLDER LOG COMMAND [ARGUMENT…]\n", stderr);
        return 2;
    }
    struct injection in = {
        .number = strtoul(argv[1], NULL, 10), .folder = argv[2], .log = argv[3], .program = fork()};
    if (in.program == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(SKIPPED);
        execvp(argv[4], argv + 4);
        perror(argv[4]);
        _exit(127);
    }
    int code = watch(&in);
    char count[32];
    snprintf(count, sizeof(count), "%lu", in.count);
    if (!in.done)
        write_log(&in, "count", count);
    return code;
}
#else
int main(void)
{
    fputs("inject: not written for this processor\n", stderr);
    return SKIPPED;
}
#endif
