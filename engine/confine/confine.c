/* A list of what is forbidden, not of what is allowed: what the C library, OpenBLAS and a sanitizer
 * call differs from one version to the next, and a list of the allowed would break with them.
 * Listed is what reaches beyond this process. */
#define _GNU_SOURCE
#include "pythia/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

/* ---- files ---- */

#define TRUNCATE (UINT64_C(1) << 14) /* since the third version of Landlock; headers may be older */
#define MAKES                                                                                      \
    ((uint64_t)LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE |                      \
     LANDLOCK_ACCESS_FS_WRITE_FILE)
#define CHANGES                                                                                    \
    (MAKES | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                          \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
     LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

static void allow_below(int ruleset, const char *path, uint64_t access)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = access,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0)
        return;
    (void)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

static int allow_output(int ruleset, const char *path, uint64_t truncate)
{
    struct stat about;
    const char *slash = strrchr(path, '/');
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
        allow_below(ruleset, path, LANDLOCK_ACCESS_FS_WRITE_FILE | truncate); /* a device, a pipe */
        return PYTHIA_OK;
    }
    char *folder = slash ? pythia_strndup(path, (size_t)(slash - path) + 1) : NULL;
    if (slash && !folder)
        return PYTHIA_ENOMEM;
    allow_below(ruleset, folder ? folder : ".", MAKES | truncate);
    pythia_free(folder);
    return PYTHIA_OK;
}

static int confine_files(const char *const *outputs, size_t count, bool *holds)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    uint64_t truncate = version >= 3 ? TRUNCATE : 0;
    const struct landlock_ruleset_attr handled = {.handled_access_fs = CHANGES | truncate};
    long made =
        version > 0 ? syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0) : -1;
    int status = PYTHIA_OK;
    if (made < 0)
        return PYTHIA_OK;
    for (size_t i = 0; i < count; i++)
        if (outputs[i] && strcmp(outputs[i], "-") != 0 &&
            (status = allow_output((int)made, outputs[i], truncate)) != PYTHIA_OK)
            goto out;
    *holds = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
             syscall(SYS_landlock_restrict_self, (int)made, 0) == 0;
out:
    close((int)made);
    return status;
}

/* ---- calls ---- */

/* The network, as a client of it. */
static const int forbidden_network[] = {SCMP_SYS(socket),  SCMP_SYS(connect),  SCMP_SYS(sendto),
                                        SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg), SCMP_SYS(recvfrom),
                                        SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg)};

static const int forbidden[] = {
    /* the network, as a server of it, and by other ways */
    SCMP_SYS(socketpair), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register),
    /* programs, and other processes; a folder of /proc stands for one as its number does */
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(pidfd_send_signal), SCMP_SYS(tkill),
    SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev), SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(setns),
    SCMP_SYS(unshare),
    /* the system */
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(add_key), SCMP_SYS(request_key),
    SCMP_SYS(keyctl), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    /* files, in ways that Landlock does not see */
    SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchownat),
    SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(link), SCMP_SYS(linkat),
    SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mknod), SCMP_SYS(mknodat), SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat), SCMP_SYS(truncate)};

/* Threads are made and get signals, processes are not and do not. clone3 has its flags in memory,
 * where no filter sees them: the C library takes clone where clone3 is not there. A leak checker
 * stops its own process from a process beside it, so that sanitized programs may do both. */
static bool forbid_processes(scmp_filter_ctx filter)
{
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kill), 0) != 0)
        return false;
#ifdef PYTHIA_SANITIZED
    return true;
#else
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), 1,
                            SCMP_A0_64(SCMP_CMP_NE, (uint64_t)getpid())) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fork), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(vfork), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                            SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
#endif
}

static bool forbid_calls(scmp_filter_ctx filter, const int *calls, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0) == 0;
    return good;
}

static int confine_calls(unsigned may, bool *holds)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return PYTHIA_ENOMEM;
    bool good = forbid_calls(filter, forbidden, sizeof(forbidden) / sizeof(forbidden[0]));
    if (good && !(may & PYTHIA_CONFINE_MAY_CONNECT))
        good = forbid_calls(filter, forbidden_network,
                            sizeof(forbidden_network) / sizeof(forbidden_network[0]));
    if (good)
        good = forbid_processes(filter);
    *holds = good && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return PYTHIA_OK;
}

int pythia_confine(const char *const *outputs, size_t count, unsigned may,
                   struct pythia_confinement *out)
{
    *out = (struct pythia_confinement){0};
    int status = confine_files(outputs, count, &out->files);
    if (status != PYTHIA_OK)
        return status;
    return confine_calls(may, &out->calls);
}
