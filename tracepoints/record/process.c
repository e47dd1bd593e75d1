/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memory/leftovers.h"
#include "memory/names.h"
#include "memory/sized.h"
#include "variables.h"

#define RING_BYTES ((uint64_t)1024 * 1024)
#define RINGS      256
#define FLUSH_MS   20
#define RETRY_NS   UINT64_C(100000000)
#define TIMED_FIRST                                                                                \
    64 /* spans before the first that is timed, of a thread, or up to twice as many */
#define NO_RING_NS 1000000 /* between looks for a ring that has become free */

#define PAGE_BYTES 4096

_Static_assert(sizeof(struct pythia__page) <= PAGE_BYTES, "it is one page");

#define RESETTING UINT64_MAX /* the epoch while a child makes itself anew */

static const uint32_t not_off;
static uint64_t epochs = 1; /* given away; a child goes on from there */
static pthread_key_t leaving;

static int has_page(void)
{
    return pythia__page != &pythia__first_page;
}

/* ---- settings ---- */

const char *pythia__given(const char *name, const char *option)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : option && *option ? option : NULL;
}

static uint64_t read_number_setting(const char *name, uint64_t option, uint64_t least,
                                    uint64_t most, uint64_t usual)
{
    const char *text = pythia__given(name, NULL);
    uint64_t number = option ? option : usual;
    if (!text)
        return number;
    char *end, sentence[PYTHIA__WHY];
    errno = 0;
    uint64_t said = strtoull(text, &end, 10);
    if (errno == 0 && *end == '\0' && *text >= '0' && *text <= '9' && said >= least && said <= most)
        return said;
    snprintf(sentence, sizeof(sentence),
             "%s is '%.40s', not a number from %" PRIu64 " to %" PRIu64 ": taken for %" PRIu64,
             name, text, least, most, number);
    pythia__problem(sentence);
    return number;
}

static char *copy_setting(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void set_service(struct pythia__process *p)
{
    const char *service = pythia__given("PYTHIA_SERVICE", p->options.service);
    if (!service)
        service = pythia__given("OTEL_SERVICE_NAME", NULL);
    if (!service)
        service = program_invocation_short_name;
    p->service_bytes = pythia__name_clean(service, strlen(service), p->service, sizeof(p->service),
                                          &p->service_cut);
}

static void set_options(struct pythia__process *p)
{
    struct pythia_tracepoints_options *o = &p->options;
    set_service(p);
    char *earlier[] = {p->open, p->records, p->wanted_directory};
    p->open = copy_setting(pythia__given("PYTHIA_OPEN", o->open));
    p->records = copy_setting(pythia__given("PYTHIA_RECORDS", o->records));
    p->wanted_directory = copy_setting(pythia__given("PYTHIA_DIRECTORY", o->directory));
    for (size_t i = 0; i < sizeof(earlier) / sizeof(earlier[0]); i++)
        free(earlier[i]);
    uint64_t bytes = read_number_setting("PYTHIA_RING_BYTES", o->ring_bytes, PYTHIA__RING_MIN,
                                         PYTHIA__RING_MAX, RING_BYTES);
    o->ring_bytes = PYTHIA__RING_MIN;
    while (o->ring_bytes < bytes)
        o->ring_bytes *= 2;
    o->rings = (unsigned)read_number_setting("PYTHIA_RINGS", o->rings, 1, PYTHIA__RINGS_MAX, RINGS);
    o->flush_ms = (unsigned)read_number_setting("PYTHIA_FLUSH_MS", o->flush_ms, 1, 60000, FLUSH_MS);
    pythia__clock_choose(pythia__given("PYTHIA_CLOCK", NULL));
}

int pythia_tracepoints_setup_sized(const struct pythia_tracepoints_options *given,
                                   size_t given_bytes)
{
    struct pythia__process *p = &pythia__process;
    struct pythia_tracepoints_options options;
    int status = pythia__sized_take(&options, sizeof(options), given, given_bytes);
    if (status != 0)
        return status;
    size_t ring = options.ring_bytes;
    if ((ring && (ring < PYTHIA__RING_MIN || ring > PYTHIA__RING_MAX || (ring & (ring - 1)))) ||
        options.rings > PYTHIA__RINGS_MAX || options.flush_ms > 60000)
        return -EINVAL;
    if (!pythia__lock(&pythia__self))
        return -EBUSY;
    status = p->begun || has_page() ? -EBUSY : 0;
    if (status == 0) {
        p->options = options;
        p->options.service =
            copy_setting(options.service); /* kept for as long as the program runs */
        p->open = copy_setting(options.open);
        p->records = copy_setting(options.records);
        p->wanted_directory = copy_setting(options.directory);
        p->options.open = p->open;
        p->options.records = p->records;
        p->options.directory = p->wanted_directory;
    }
    pythia__unlock(&pythia__self);
    return status;
}

/* ---- children ---- */

/* A thread has none any more. */
static void give_up_ring(struct pythia__thread *t)
{
    t->epoch = 0;
    t->page = &pythia__first_page;
}

/* Fill the page, but for its epoch, from the first one. Under the lock, or in a new child. */
static void fill_page(void);

/* A child begins anew: its own rings, its own file, its own ids. What it has from its parent are
 * the switches, and where in a request it stands. */
static void begin_recording_child(void)
{
    struct pythia__process *p = &pythia__process;
    pthread_mutex_init(&p->lock, NULL);
    pythia__self.locked = pythia__self.busy = 0;
    give_up_ring(&pythia__self);
    p->area = (struct pythia__area){0}; /* it was not inherited */
    p->defined = 0;
    p->calibrated = 0;
    memset(p->lost, 0, sizeof(p->lost));
    pythia__flusher_forget();
    __atomic_store_n(&p->recording, 0, __ATOMIC_RELEASE);
    fill_page();
    __atomic_store_n(&pythia__page->epoch, ++epochs, __ATOMIC_RELEASE);
}

static void fill_page(void)
{
    struct pythia__page *page = pythia__page;
    const size_t epoch = sizeof(page->epoch);
    if (!has_page())
        return;
    memcpy((char *)page + epoch, (const char *)&pythia__first_page + epoch, sizeof(*page) - epoch);
    page->off = pythia__process.begun ? pythia__process.off : NULL;
}

static unsigned char
    lock_taken; /* by lock_before_process_fork, which no other thread runs meanwhile */

static void lock_before_process_fork(void)
{
    lock_taken = !pythia__self.locked; /* a signal handler may fork while the lock is held */
    if (lock_taken)
        pthread_mutex_lock(&pythia__process.lock);
}

static void after_fork_parent(void)
{
    if (lock_taken)
        pthread_mutex_unlock(&pythia__process.lock);
}

static void after_fork_child(void)
{
    begin_recording_child();
}

/* A child of clone or of the bare system call, which runs no handlers. */
static int begin_unheard_child(void)
{
    uint64_t wiped = 0;
    if (!__atomic_compare_exchange_n(&pythia__page->epoch, &wiped, RESETTING, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return wiped != RESETTING; /* another thread of it is at it */
    begin_recording_child();
    return 1;
}

/* ---- beginning ---- */

static void leave_recording_thread(void *thread)
{
    struct pythia__thread *t = thread;
    if (t->epoch == pythia__epoch_now()) /* what is in the ring stays; another thread goes on */
        __atomic_store_n(&t->ring.control->owner, 0, __ATOMIC_RELEASE);
    give_up_ring(t);
}

/* The steps that are done once, even if the rest has to be tried again. */
static int begin_once(struct pythia__process *p)
{
    if (has_page())
        return 0;
    struct pythia__page *page =
        mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || pthread_key_create(&leaving, leave_recording_thread) != 0) {
        pythia__problem("there is no memory to begin with");
        return 1;
    }
    madvise(page, PAGE_BYTES, MADV_WIPEONFORK); /* older kernels: only fork is noticed */
    set_options(p);
    pthread_atfork(lock_before_process_fork, after_fork_parent, after_fork_child);
    *page = pythia__first_page;
    page->epoch = ++epochs;
    __atomic_store_n(&pythia__page, page, __ATOMIC_RELEASE);
    return 0;
}

/* A failure is tried again only after a while: it costs system calls, and trace points are hit all
 * the time. */
int pythia__begin(void)
{
    struct pythia__process *p = &pythia__process;
    char why[PYTHIA__WHY] = "";
    if (p->begun)
        return 0;
    if (p->retry_ns && pythia__clock_ns(CLOCK_MONOTONIC) < p->retry_ns)
        return 1;
    p->retry_ns = pythia__clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
    if (begin_once(p) != 0)
        return 1;
    int status = pythia__directory_find(p->wanted_directory, 0, &p->directory, why);
    if (status == 0)
        status = pythia__switchboard_open(&p->directory, 1, &p->switchboard, why);
    if (status != 0)
        pythia__problem(why);
    if (status == -EAGAIN)
        return 1;
    p->off = p->switchboard ? pythia__switchboard_off(p->switchboard) : &not_off;
    pythia__page->off = p->off;
    p->begun = 1;
    return 0;
}

/* ---- the area ---- */

static void define_process(const struct pythia__process *p)
{
    char host[64] = "";
    gethostname(host, sizeof(host) - 1);
    struct pythia_record_process record = {
        .head = {.kind = PYTHIA_RECORD_PROCESS,
                 .flags = p->service_cut ? PYTHIA_RECORD_TEXT_CUT : 0},
        .pid = (uint32_t)getpid(),
        .service_bytes = (uint16_t)p->service_bytes,
        .host_bytes = (uint16_t)strlen(host),
    };
    pythia__define(&record, sizeof(record), p->service, p->service_bytes, host, strlen(host));
}

/* Create as many rings as requested, or as address space and limits allow. */
static int create_segment(struct pythia__process *p, struct pythia__area *a)
{
    int status = -ENOMEM;
    void *at = NULL;
    for (uint32_t rings = p->options.rings; rings > 0 && status != 0; rings /= 4) {
        pythia__area_lay_out(a, NULL, rings, p->options.ring_bytes, PYTHIA__DEFINITIONS);
        status = pythia__segment_create(a->bytes, p->directory.owner, 1, &p->entry.segment, &at);
    }
    if (status == 0)
        pythia__area_lay_out(a, at, a->rings, a->ring_bytes, a->definition_bytes);
    return status;
}

static void fill_header(struct pythia__process *p, struct pythia__area_header *h)
{
    memcpy(h->magic, "PYTHAREA", 8);
    h->version = PYTHIA__AREA_VERSION;
    h->pid = (uint32_t)p->entry.pid;
    h->id_high = p->entry.id_high;
    h->id_low = p->entry.id_low;
    h->rings = p->area.rings;
    h->clock = pythia__clock;
    h->ring_bytes = p->area.ring_bytes;
    h->definition_bytes = p->area.definition_bytes;
    h->own_reader = p->records != NULL;
    pythia__clock_pair_now(pythia__clock, &h->first);
    uint64_t *counts[] = {&h->lost_spans, &h->lost_ends, &h->lost_annotations, &h->lost_values};
    for (size_t i = 0; i < 4; i++)
        *counts[i] = __atomic_exchange_n(&p->lost[i], 0, __ATOMIC_RELAXED);
}

/* Memory and its entry in the directory come before the first span; if either fails, spans are
 * counted as lost and the program goes on. */
static int begin_recording(struct pythia__process *p)
{
    char why[PYTHIA__WHY] = "";
    if (p->recording)
        return p->recording > 0;
    int status = p->directory.path[0] ? 0 : -ENOENT;
    p->entry = (struct pythia__entry){.kind = "area", .pid = (int)getpid()};
    pythia__random_bytes(&p->entry.id_high, 8);
    pythia__random_bytes(&p->entry.id_low, 8);
    if (status == 0) {
        pythia__leftovers_remove(&p->directory, p->switchboard);
        status = create_segment(p, &p->area);
        pythia__why(why, status, "no shared memory for rings: %s", strerror(-status));
    }
    if (status == 0) {
        fill_header(p, p->area.header);
        define_process(p);
        pythia__points_define();
        pythia__variables_define();
        pythia__page->variables = p->area.header->variables;
        snprintf(p->file, sizeof(p->file), "area-%d-%016" PRIx64, p->entry.pid, p->entry.id_low);
        status = pythia__entry_write(&p->directory, p->file, &p->entry, 0);
        if (status != 0) {
            pythia__why(why, status, "%.150s cannot be written to: %s", p->directory.path,
                        strerror(-status));
            pythia__segment_remove(p->entry.segment);
            pythia__segment_detach(p->area.header);
            p->area = (struct pythia__area){0};
        }
    }
    if (status != 0 && why[0])
        pythia__problem(why);
    __atomic_store_n(&p->recording, status == 0 ? 1 : -1, __ATOMIC_RELEASE);
    if (status == 0)
        pythia__flusher_start();
    return status == 0;
}

/* ---- threads ---- */

/* Is the owner of a ring a thread that has ended without a word? */
static int is_owner_dead(uint32_t owner)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)owner, 0) != 0 && errno == ESRCH;
}

static int take_ring(struct pythia__process *p, struct pythia__thread *t)
{
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    for (int dead = 0; dead < 2; dead++)
        for (uint32_t i = 0; i < p->area.rings; i++) {
            struct pythia__ring_control *control = &p->area.controls[i];
            uint32_t owner = __atomic_load_n(&control->owner, __ATOMIC_RELAXED);
            if (dead ? owner == 0 || !is_owner_dead(owner) : owner != 0)
                continue;
            if (!__atomic_compare_exchange_n(&control->owner, &owner, self, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_RELAXED))
                continue;
            pythia__ring_take(&t->ring, control, pythia__area_ring(&p->area, i),
                              p->area.ring_bytes);
            return 1;
        }
    pythia__problem("more threads record at once than there are rings (PYTHIA_RINGS)");
    return 0;
}

/* The cost of a span in a loop is a definition, because later readers need it too. */
static void calibrate_spans(struct pythia__process *p, struct pythia__thread *t)
{
    struct pythia_record_cost record = {.head = {.kind = PYTHIA_RECORD_COST},
                                        .ticks = pythia__cost_calibrate(t)};
    p->calibrated = 1;
    if (record.ticks)
        pythia__define(&record, sizeof(record), "", 0, "", 0);
}

int pythia__attach(struct pythia__thread *t)
{
    struct pythia__process *p = &pythia__process;
    if (t->locked || t->busy || __atomic_load_n(&p->recording, __ATOMIC_ACQUIRE) < 0)
        return 0;
    if (pythia__epoch_now() == RESETTING || (pythia__epoch_now() == 0 && !begin_unheard_child()))
        return 0;
    if (t->retry && pythia__clock_ns(CLOCK_MONOTONIC) < t->retry)
        return 0;
    int saved = errno, ready = 0;
    t->busy = 1; /* what is called here may have trace points too */
    if (pythia__lock(t)) {
        ready = pythia__begin() == 0 && begin_recording(p) && take_ring(p, t);
        if (ready) {
            t->page = pythia__page;
            t->clock = (unsigned char)pythia__clock;
        }
        if (ready && !p->calibrated)
            calibrate_spans(p, t);
        pythia__unlock(t);
    }
    if (ready) {
        pthread_setspecific(leaving, t);
        uint64_t epoch = pythia__epoch_now();
        if (t->random_epoch != epoch)
            pythia__seed(t, epoch);
        t->epoch = epoch;
        t->until_timed = TIMED_FIRST + (uint32_t)(pythia__random(t) % TIMED_FIRST);
    }
    t->retry = ready ? 0 : pythia__clock_ns(CLOCK_MONOTONIC) + NO_RING_NS;
    t->busy = 0;
    errno = saved;
    return ready;
}

/* ---- what is known of it, and its end ---- */

static int all_read(const struct pythia__area *a)
{
    for (uint32_t i = 0; i < a->rings; i++)
        if (__atomic_load_n(&a->controls[i].head, __ATOMIC_ACQUIRE) !=
            __atomic_load_n(&a->controls[i].tail, __ATOMIC_ACQUIRE))
            return 0;
    return 1;
}

/* Last of all, behind the program's own destructors. What nobody has read yet stays for a reader;
 * where the reader is this process, or has been here, nothing is left behind. */
__attribute__((destructor(101))) static void finish(void)
{
    struct pythia__process *p = &pythia__process;
    if (!has_page() || pythia__epoch_now() == 0)
        return; /* nothing has begun, or not in this child */
    pythia__flusher_stop();
    if (!pythia__lock(&pythia__self))
        return;
    if (p->recording > 0 && all_read(&p->area)) {
        pythia__entry_remove(&p->directory, p->file);
        pythia__segment_remove(p->entry.segment);
    }
    __atomic_store_n(&p->recording, -1, __ATOMIC_RELEASE);
    pthread_key_delete(leaving);
    pythia__unlock(&pythia__self);
}

/* Losses are counted where they happen, per thread and per ring, so that no counter is shared on
 * the way; they are added up when someone asks. */
static void count_losses(const struct pythia__process *p, struct pythia_tracepoints_state *out)
{
    uint64_t lost[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        lost[i] = __atomic_load_n(&p->lost[i], __ATOMIC_RELAXED);
    if (p->recording > 0) {
        const struct pythia__area_header *h = p->area.header;
        const uint64_t none[] = {h->lost_spans, h->lost_ends, h->lost_annotations, h->lost_values};
        for (int i = 0; i < 4; i++)
            lost[i] += none[i];
    }
    for (uint32_t i = 0; p->recording > 0 && i < p->area.rings; i++) {
        struct pythia__ring_control *c = &p->area.controls[i];
        lost[PYTHIA__LOST_SPAN] += __atomic_load_n(&c->lost_spans, __ATOMIC_RELAXED);
        lost[PYTHIA__LOST_END] += __atomic_load_n(&c->lost_ends, __ATOMIC_RELAXED);
        lost[PYTHIA__LOST_ANNOTATION] += __atomic_load_n(&c->lost_annotations, __ATOMIC_RELAXED);
        lost[PYTHIA__LOST_VALUE] += __atomic_load_n(&c->lost_values, __ATOMIC_RELAXED);
        out->cut_values += __atomic_load_n(&c->cut_values, __ATOMIC_RELAXED);
    }
    out->lost_spans = lost[PYTHIA__LOST_SPAN];
    out->lost_ends = lost[PYTHIA__LOST_END];
    out->lost_annotations = lost[PYTHIA__LOST_ANNOTATION];
    out->lost_values = lost[PYTHIA__LOST_VALUE];
}

static void find_state(struct pythia_tracepoints_state *out)
{
    struct pythia__process *p = &pythia__process;
    if (!pythia__lock(&pythia__self)) {
        snprintf(out->problem, sizeof(out->problem), "its state is being changed just now");
        return;
    }
    struct pythia__counts counts = pythia__points_count();
    out->points = counts.points;
    out->points_refused = counts.refused;
    out->types = counts.types;
    out->types_other = counts.other;
    out->flushed_bytes = pythia__flusher_bytes();
    count_losses(p, out);
    memcpy(out->problem, p->problem, sizeof(out->problem));
    pythia__unlock(&pythia__self);
}

void pythia_tracepoints_state_get_sized(struct pythia_tracepoints_state *out, size_t out_bytes)
{
    struct pythia_tracepoints_state state = {0};
    find_state(&state);
    pythia__sized_give(out, out_bytes, &state, sizeof(state));
}

int pythia_tracepoints_flush(void)
{
    return pythia__flusher_flush();
}
