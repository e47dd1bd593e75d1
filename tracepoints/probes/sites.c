/* SPDX-License-Identifier: MIT */
/* Which sites there are in this process, and which of them are to be patched.
 *
 * A thread of its own looks whether switches were thrown or objects have come: a closed site has no
 * code that could look itself. What is patched is compared with what is wanted, and what differs is
 * changed, all at once. This is done within dl_iterate_phdr, which keeps the dynamic linker from
 * unloading an object meanwhile.
 *
 * A child by fork has a copy of all patches; it gets a thread of its own. fork waits until nothing
 * is being patched. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probes.h"
#include "record/hooking.h"

#define STACK_BYTES ((size_t)256 * 1024)
#define EARLY_LOOKS 10
#define EARLY_NS    10000000

static struct {
    pthread_mutex_t lock;
    const struct pythia__probes_host *host;
    const struct pythia__sites_head *head; /* the plan; NULL: there is none */
    const struct pythia__site_object *objects;
    const struct pythia__site *sites;
    struct pythia__probed *points;
    unsigned long long added, removed; /* objects, as the dynamic linker counts them */
    struct stat program;
    const char *stopped;   /* why nothing is patched any more; NULL: it is */
    uint32_t jumps, traps; /* that were told */
    int active, ending;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- objects ---- */

static int is_within(const struct dl_phdr_info *info, uint64_t address, uint64_t bytes,
                     uint32_t flags)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && (h->p_flags & flags) == flags && address >= h->p_vaddr &&
            h->p_memsz >= bytes && address - h->p_vaddr <= h->p_memsz - bytes)
            return 1;
    }
    return 0;
}

/* Bytes of a site that are compared with the file's, and may be overwritten. */
static size_t bytes_of(const struct pythia__site *s)
{
    return s->code.original ? s->code.original : s->nop;
}

/* The object may have been unloaded, and loaded again at the same address, since the last look. */
static void meet_again(struct pythia__placed *p)
{
    p->gone = 0;
    if (p->state != PYTHIA__SITE_CLOSED && *p->at == p->site->original[0])
        p->state = PYTHIA__SITE_CLOSED;
}

/* Returns 1 if the code of the file is not there. */
static int place_site(const struct pythia__site *s, const struct dl_phdr_info *info)
{
    struct pythia__placed *p = pythia__placed_exactly(info->dlpi_addr + s->address);
    if (p && p->site == s) {
        meet_again(p);
        return 0;
    }
    if (!is_within(info, s->address, bytes_of(s), PF_X) ||
        (s->semaphore && !is_within(info, s->semaphore, sizeof(uint16_t), PF_W)) ||
        memcmp((const void *)(info->dlpi_addr + s->address), /* NOLINT: an address */
               s->original, bytes_of(s)) != 0)
        return 1;
    p = pythia__placed_add(s, &all.points[s->point], info->dlpi_addr);
    if (p)
        p->of->places++;
    return !p;
}

static int place_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct stat about = all.program;
    uint32_t differ = 0, object = 0;
    (void)size, (void)context;
    all.added = info->dlpi_adds;
    all.removed = info->dlpi_subs;
    if (*info->dlpi_name && stat(info->dlpi_name, &about) != 0)
        return 0;
    while (object < all.head->objects && (all.objects[object].device != about.st_dev ||
                                          all.objects[object].inode != about.st_ino))
        object++;
    for (uint32_t i = 0; object < all.head->objects && i < all.head->sites; i++)
        if (all.sites[i].object == object)
            differ += (uint32_t)place_site(&all.sites[i], info);
    if (differ)
        all.host->tell("problem\t%u probes were left alone: %s is not as it was read, or there is "
                       "no memory",
                       differ, *info->dlpi_name ? info->dlpi_name : "the program");
    return 0;
}

static void place_objects(void)
{
    for (uint32_t i = 0; i < pythia__placed_count(); i++)
        pythia__placed_at_number(i)->gone = 1;
    dl_iterate_phdr(place_object, NULL);
    for (uint32_t i = 0; i < pythia__placed_count(); i++) {
        struct pythia__placed *p = pythia__placed_at_number(i);
        if (p->gone) /* with its patches */
            p->state = PYTHIA__SITE_CLOSED;
    }
    for (uint32_t i = 0; i < all.head->points; i++) {
        struct pythia__probed *h = &all.points[i];
        if (h->places == 0 || h->opened)
            continue;
        h->opened = 1;
        if (h->plan->flags & PYTHIA__SITE_OPEN)
            all.host->open(i, h->plan->name);
    }
}

/* ---- what is wanted ---- */

/* Requests are known by their own points: while any point is open, those are patched. */
static int is_any_open(void)
{
    int open = 0;
    for (uint32_t i = 0; i < all.head->points; i++)
        open |= all.points[i].places > 0 && pythia__is_wanted(&all.points[i].point);
    return open;
}

static uint8_t choose_site_state(struct pythia__placed *p, int any)
{
    if (p->gone || all.ending || all.stopped || !any ||
        (!(p->of->plan->flags & PYTHIA__SITE_REQUEST) && !pythia__is_wanted(&p->of->point)))
        return PYTHIA__SITE_CLOSED;
    if (p->state != PYTHIA__SITE_CLOSED)
        return p->state;
    if (p->site->code.original && !p->stub && !p->no_place)
        p->no_place = pythia__probe_place(p) != 0;
    return p->stub ? PYTHIA__SITE_JUMPING : PYTHIA__SITE_TRAPPED;
}

struct changing {
    struct pythia__placed **sites;
    size_t count;
    int status, again;
};

/* Called with the lock of the dynamic linker that unloading takes. */
static int patch_changes(struct dl_phdr_info *info, size_t size, void *context)
{
    struct changing *c = context;
    (void)size;
    c->again = info->dlpi_adds != all.added || info->dlpi_subs != all.removed;
    if (!c->again)
        c->status = pythia__patch(c->sites, c->count);
    return 1;
}

static void tell_how(void)
{
    uint32_t jumps = 0, traps = 0;
    for (uint32_t i = 0; i < pythia__placed_count(); i++) {
        const struct pythia__placed *p = pythia__placed_at_number(i);
        jumps += p->stub != NULL;
        traps += p->was_trapped;
    }
    if (jumps <= all.jumps && traps <= all.traps)
        return;
    all.jumps = jumps;
    all.traps = traps;
    all.host->tell("patched\t%u\t%u", jumps, traps);
}

/* Change what is not as it is to be. Returns 1 if objects have come or gone meanwhile. */
static int change_sites(void)
{
    int any = is_any_open();
    struct changing c = {0};
    c.sites = calloc(pythia__placed_count() + 1, sizeof(struct pythia__placed *)); /* NOLINT */
    for (uint32_t i = 0; c.sites && i < pythia__placed_count(); i++) {
        struct pythia__placed *p = pythia__placed_at_number(i);
        p->to = choose_site_state(p, any);
        if (p->to == p->state)
            continue;
        p->was_trapped |= p->to == PYTHIA__SITE_TRAPPED;
        if (p->to == PYTHIA__SITE_CLOSED)
            __atomic_fetch_add(&p->of->closings, 1, __ATOMIC_RELAXED);
        c.sites[c.count++] = p;
    }
    if (c.count > 0)
        dl_iterate_phdr(patch_changes, &c);
    if (c.status != 0 && !all.stopped) {
        all.stopped = "code cannot be patched";
        all.host->tell("problem\tprobes are left alone: %s: %s", all.stopped, strerror(-c.status));
    }
    free(c.sites);
    if (c.count > 0)
        tell_how();
    return c.again;
}

/* ---- what a program must not have ---- */

/* A number of /proc/thread-self/status; 0: it is not there. */
static uint64_t read_status(const char *name)
{
    char text[8192];
    int file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

static const char confined[] = "it confines itself with seccomp";

/* Why this process is to be left alone; NULL: it is not. */
static const char *find_obstacle(void)
{
    if (read_status("\nTracerPid:") != 0)
        return "a debugger or tracer is attached to it";
    if (read_status("\nSeccomp_filters:") > all.head->filters)
        return confined;
    if (all.active && !pythia__trap_is_ours())
        return "it has taken SIGTRAP by a system call of its own";
    return NULL;
}

/* ---- looking ---- */

static int note_changes(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(int *)context = info->dlpi_adds != all.added || info->dlpi_subs != all.removed;
    return 1;
}

static int objects_changed(void)
{
    int changed = 0;
    dl_iterate_phdr(note_changes, &changed);
    return changed;
}

static int differs(void)
{
    int any = is_any_open(), found = 0;
    for (uint32_t i = 0; i < pythia__placed_count() && !found; i++) {
        struct pythia__placed *p = pythia__placed_at_number(i);
        found = choose_site_state(p, any) != p->state;
    }
    return found;
}

/* Under the lock. */
static void look_once(void)
{
    for (int again = 1; again && !all.stopped;) {
        if (objects_changed())
            place_objects();
        if (!differs() && pythia__trap_is_ours())
            return;
        const char *obstacle = find_obstacle();
        if (obstacle) {
            all.host->tell("problem\tprobes of a program are left alone: %s", obstacle);
            all.stopped = obstacle;
        }
        if (obstacle == confined)
            return; /* to patch anything back could be what the filter forbids */
        again = change_sites();
    }
}

void pythia__probes_look(void)
{
    if (!__atomic_load_n(&all.active, __ATOMIC_ACQUIRE))
        return;
    int saved = errno;
    pthread_mutex_lock(&all.lock);
    look_once();
    pthread_mutex_unlock(&all.lock);
    errno = saved;
}

static void *watch_switches(void *context)
{
    const struct timespec early = {0, EARLY_NS};
    (void)context;
    /* At first often: a program that takes SIGTRAP by itself does so when it begins. */
    for (int looks = 0;; looks++) {
        uint32_t thrown = pythia__thrown();
        pthread_mutex_lock(&all.lock);
        int over = all.ending || all.stopped;
        if (!over)
            look_once();
        pthread_mutex_unlock(&all.lock);
        if (over)
            return NULL;
        if (looks < EARLY_LOOKS)
            nanosleep(&early, NULL);
        else
            pythia__thrown_wait(thrown);
    }
}

/* The signals of the program are for its own threads. */
static void start_watching(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t every, before;
    sigfillset(&every);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &every, &before);
    int status = pthread_create(&thread, &attributes, watch_switches, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (status != 0)
        all.host->tell("problem\tswitches of probes will not be noticed: %s", strerror(status));
}

/* ---- fork ---- */

static void lock_sites_before_fork(void)
{
    pthread_mutex_lock(&all.lock);
}

static void unlock_parent(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void begin_child(void)
{
    pthread_mutex_unlock(&all.lock);
    if (all.stopped || all.ending || pythia__patch_begin() != 0)
        return;
    start_watching();
}

/* ---- beginning and end ---- */

/* It stays for as long as the program runs. NULL: there is none, or it is not one. */
static const struct pythia__sites_head *read_site_plan(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char *bytes = NULL;
    if (file < 0)
        return NULL;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        !(about.st_mode & (S_IWGRP | S_IWOTH)) &&
        about.st_size >= (off_t)sizeof(struct pythia__sites_head))
        bytes = malloc((size_t)about.st_size);
    for (ssize_t at = 0, size; bytes && at < about.st_size; at += size)
        if ((size = read(file, bytes + at, (size_t)(about.st_size - at))) <= 0) {
            free(bytes);
            bytes = NULL;
            break;
        }
    close(file);
    const struct pythia__sites_head *h = (const void *)bytes;
    if (h && memcmp(h->magic, PYTHIA__SITES_MAGIC, sizeof(h->magic)) == 0 &&
        h->points <= PYTHIA__SITE_POINTS_MAX && h->objects <= PYTHIA__SITE_OBJECTS_MAX &&
        h->sites <= PYTHIA__SITES_MAX &&
        (size_t)about.st_size == sizeof(*h) + h->points * sizeof(struct pythia__site_point) +
                                     h->objects * sizeof(struct pythia__site_object) +
                                     h->sites * sizeof(struct pythia__site))
        return h;
    free(bytes);
    return NULL;
}

static int add_probed(void)
{
    const struct pythia__site_point *plan = (const void *)(all.head + 1);
    all.objects = (const void *)(plan + all.head->points);
    all.sites = (const void *)(all.objects + all.head->objects);
    all.points = calloc(all.head->points + 1, sizeof(*all.points));
    if (!all.points)
        return -ENOMEM;
    for (uint32_t i = 0; i < all.head->points; i++) {
        struct pythia__probed *h = &all.points[i];
        const char *name = plan[i].name;
        struct pythia_point point =
            PYTHIA_POINT(PYTHIA_POINT_INTERNAL, name, (uint32_t)strlen(name));
        h->point = point;
        h->request = (struct pythia_request){name, strlen(name), PYTHIA_TRACEPOINTS_VERSION};
        h->plan = &plan[i];
        h->is_slow = (plan[i].flags & PYTHIA__SITE_REQUEST) != 0;
        for (uint32_t k = 0; k < plan[i].key_count; k++) {
            h->has_only |= *plan[i].keys[k].only != '\0';
            h->is_slow |= plan[i].keys[k].text != 0;
        }
    }
    return stat("/proc/self/exe", &all.program) == 0 ? 0 : -errno;
}

static int make_ready(void)
{
    int status = add_probed();
    if (status == 0)
        status = pythia__patch_begin();
    if (status == 0)
        status = pythia__hits_begin((int)all.head->anywhere);
    if (status == 0)
        status = pythia__trap_begin();
    if (status == 0)
        status = -pthread_atfork(lock_sites_before_fork, unlock_parent, begin_child);
    return status;
}

void pythia__probes_begin(const char *path, const struct pythia__probes_host *host)
{
    all.host = host;
    all.head = read_site_plan(path);
    if (!all.head)
        return;
    const char *obstacle = find_obstacle();
    int status = obstacle ? 0 : make_ready();
    if (obstacle || status != 0) {
        host->tell("problem\tprobes of a program are left alone: %s",
                   obstacle ? obstacle : strerror(-status));
        return;
    }
    __atomic_store_n(&all.active, 1, __ATOMIC_RELEASE);
    pythia__probes_look();
    start_watching();
}

void pythia__probes_end(void)
{
    if (!all.active)
        return;
    pthread_mutex_lock(&all.lock);
    all.ending = 1;
    if (!all.stopped)
        while (change_sites())
            place_objects();
    pthread_mutex_unlock(&all.lock);
    struct pythia__hit_counts c = pythia__hits_count();
    if (c.hits)
        all.host->tell("hits\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu", (unsigned long long)c.hits,
                       (unsigned long long)c.spans, (unsigned long long)c.outside,
                       (unsigned long long)c.unmatched, (unsigned long long)c.abandoned,
                       (unsigned long long)c.unrecorded);
}
