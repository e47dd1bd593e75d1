/* A thread that has no processor waits for one (it was preempted, or has been woken), or for what
 * it has asked the kernel for. The system call that it is in says what that is:
 *
 *     switch_out            waking         switch_in
 *     |-- reason: futex_ns ----|-- run_queue_ns --|
 *
 * An uninterruptible sleep is one for a disk, unless the system call has nothing to do with files:
 * then it is for a lock of the kernel. Outside of a system call it is for a page of a file. */
#include "kernel_time.h"

#include <sys/syscall.h>

#define STATE_INTERRUPTIBLE   1
#define STATE_UNINTERRUPTIBLE 2
#define STATE_PREEMPTED       0x100 /* and above: still running */

static const struct {
    long call;
    enum pythia_kernel_sum reason;
} reasons[] = {
    {SYS_futex, PYTHIA_KERNEL_FUTEX_NS},
    {449 /* futex_waitv */, PYTHIA_KERNEL_FUTEX_NS},
    {455 /* futex_wait */, PYTHIA_KERNEL_FUTEX_NS},
    {SYS_nanosleep, PYTHIA_KERNEL_SLEEP_NS},
    {SYS_clock_nanosleep, PYTHIA_KERNEL_SLEEP_NS},
    {SYS_accept, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_accept4, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_connect, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_sendto, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_sendmsg, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_sendmmsg, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_recvfrom, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_recvmsg, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_recvmmsg, PYTHIA_KERNEL_NETWORK_NS},
    {SYS_poll, PYTHIA_KERNEL_POLL_NS},
    {SYS_ppoll, PYTHIA_KERNEL_POLL_NS},
    {SYS_select, PYTHIA_KERNEL_POLL_NS},
    {SYS_pselect6, PYTHIA_KERNEL_POLL_NS},
    {SYS_epoll_wait, PYTHIA_KERNEL_POLL_NS},
    {SYS_epoll_pwait, PYTHIA_KERNEL_POLL_NS},
    {441 /* epoll_pwait2 */, PYTHIA_KERNEL_POLL_NS},
    {SYS_fsync, PYTHIA_KERNEL_BLOCK_IO_NS},
    {SYS_fdatasync, PYTHIA_KERNEL_BLOCK_IO_NS},
    {SYS_sync_file_range, PYTHIA_KERNEL_BLOCK_IO_NS},
    {SYS_msync, PYTHIA_KERNEL_BLOCK_IO_NS},
    {SYS_io_getevents, PYTHIA_KERNEL_BLOCK_IO_NS},
    {SYS_mmap, PYTHIA_KERNEL_OTHER_NS},
    {SYS_munmap, PYTHIA_KERNEL_OTHER_NS},
    {SYS_mprotect, PYTHIA_KERNEL_OTHER_NS},
    {SYS_brk, PYTHIA_KERNEL_OTHER_NS},
    {SYS_wait4, PYTHIA_KERNEL_OTHER_NS},
};

/* A return that is probed makes the thread call the kernel, which is no call of the program. */
static bool is_own_call(int64_t call)
{
    return call != 335 /* uretprobe */ && call != 336 /* uprobe */;
}

/* Why a thread that is in no state to run has no processor. */
static enum pythia_kernel_sum find_reason(const struct pythia__kernel_time *k, int64_t state)
{
    for (size_t i = 0; k->in_call && i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].call == k->call)
            return reasons[i].reason;
    return state & STATE_UNINTERRUPTIBLE ? PYTHIA_KERNEL_BLOCK_IO_NS : PYTHIA_KERNEL_OTHER_NS;
}

static void begin_wait(struct pythia__kernel_time *k, uint64_t time_ns, int64_t state)
{
    bool runs = state == 0 || state >= STATE_PREEMPTED;
    k->out_ns = time_ns;
    k->woken_ns = runs ? time_ns : 0;
    k->reason = runs ? PYTHIA_KERNEL_RUN_QUEUE_NS : find_reason(k, state);
}

static void end_wait(struct pythia__kernel_time *k, uint64_t time_ns)
{
    if (k->out_ns == 0)
        return;
    uint64_t woken_ns = k->woken_ns ? k->woken_ns : time_ns;
    k->sums[k->reason] += (int64_t)(woken_ns - k->out_ns);
    k->sums[PYTHIA_KERNEL_RUN_QUEUE_NS] += (int64_t)(time_ns - woken_ns);
    k->out_ns = k->woken_ns = 0;
}

void pythia__kernel_time_add(struct pythia__kernel_time *k, enum pythia_kernel_event event,
                             uint64_t time_ns, int64_t value)
{
    switch (event) {
    case PYTHIA_KERNEL_SWITCH_OUT:
        begin_wait(k, time_ns, value);
        break;
    case PYTHIA_KERNEL_SWITCH_IN:
        end_wait(k, time_ns);
        break;
    case PYTHIA_KERNEL_WAKING:
        if (k->out_ns && !k->woken_ns)
            k->woken_ns = time_ns;
        break;
    case PYTHIA_KERNEL_SYSTEM_CALL:
        if (!is_own_call(value))
            break;
        k->in_call = true;
        k->call = value;
        k->call_ns = time_ns;
        k->sums[PYTHIA_KERNEL_SYSTEM_CALLS]++;
        break;
    case PYTHIA_KERNEL_SYSTEM_RETURN:
        if (k->in_call)
            k->sums[PYTHIA_KERNEL_SYSTEM_CALL_NS] += (int64_t)(time_ns - k->call_ns);
        k->in_call = false;
        break;
    case PYTHIA_KERNEL_PAGE_FAULT:
        k->sums[PYTHIA_KERNEL_PAGE_FAULTS]++;
        break;
    case PYTHIA_KERNEL_BLOCK_ISSUE:
        k->sums[PYTHIA_KERNEL_BLOCK_REQUESTS]++;
        k->sums[PYTHIA_KERNEL_BLOCK_BYTES] += value;
        break;
    case PYTHIA_KERNEL_RETRANSMIT:
        k->sums[PYTHIA_KERNEL_RETRANSMITS]++;
        break;
    default:
        break;
    }
}
