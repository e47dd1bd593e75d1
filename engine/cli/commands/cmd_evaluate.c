#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <uv.h>

#include "pythia/evaluation.h"
#include "pythia/evaluation_report.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "shared/command.h"
#include "shared/terminal.h"

#define THREADS_MAX 256
#define PROGRESS_NS UINT64_C(200000000)
#define AGAIN_MS    300 /* from then on, a second Ctrl-C is meant as one */
/* A search in more nodes takes seconds, and with all of them open minutes. */
#define LARGE_NODES 10000

struct settings {
    const char *strategies, *problems, *from, *output;
    int64_t seeds, seed, points, requests, cycles, threads;
    double price_ns;
    int format, profile;
    bool list, times, verbose, quiet;
};

#define OF(member) offsetof(struct settings, member)

static const struct pythia_option options[] = {
    PYTHIA_TEXT_OPTION("strategy", 0, "LIST", OF(strategies),
                       "Strategies to test, separated by commas (default all, see --list)"),
    PYTHIA_TEXT_OPTION("problem", 0, "LIST", OF(problems),
                       "Problems to test them on, separated by commas (default all except those "
                       "of 50 000 nodes, see --list)"),
    PYTHIA_FLAG("list", 0, OF(list), "List the strategies and problems, and exit"),
    PYTHIA_TEXT_OPTION("from", 0, "FILE", OF(from),
                       "Convert an earlier result in JSON to another format instead of searching"),
    PYTHIA_INTEGER("seeds", 'n', "N", "20", 1, 1e6, OF(seeds),
                   "Searches for each strategy and problem, each on another workflow"),
    PYTHIA_INTEGER("seed", 0, "N", "1", 0, 9e15, OF(seed), "First seed; the others follow"),
    PYTHIA_INTEGER("points", 0, "N", "3", 0, 1e6, OF(points),
                   "Most trace points to open in a cycle"),
    PYTHIA_INTEGER("requests", 'r', "N", "0", 0, 1e6, OF(requests),
                   "Requests in a cycle; 0: the problem's own number, mostly 50"),
    PYTHIA_INTEGER("cycles", 0, "N", "30", 1, 1e6, OF(cycles), "Most cycles of a search"),
    PYTHIA_CHOICE("profile", 0, "before|during", "before", OF(profile),
                  "Requests that the search space is made from: from before the causes were "
                  "planted, or with the causes in them, so that they show in the mean times"),
    PYTHIA_REAL("price-ns", 0, "NS", "1000", 0, 1e12, OF(price_ns),
                "Cost of one hit of an open trace point"),
    PYTHIA_INTEGER("threads", 0, "N", "0", 0, THREADS_MAX, OF(threads),
                   "Threads; 0: one per processor"),
    PYTHIA_FLAG("times", 0, OF(times),
                "Also report the CPU time of decisions, which differs from run to run"),
    PYTHIA_FLAG("verbose", 0, OF(verbose),
                "Log what each search saw and decided, when it has ended"),
    PYTHIA_CHOICE("format", 'f', "text|json|csv|markdown|svg", "text", OF(format),
                  "Format of the result; svg draws cycles against trace points opened"),
    PYTHIA_TEXT_OPTION("output", 'o', "FILE", OF(output),
                       "Write the result to a file, which is replaced only when the result is "
                       "complete (default standard output)"),
    PYTHIA_FLAG("quiet", 'q', OF(quiet), "Log only warnings and errors"),
    {0},
};

/* ---- what is asked for ---- */

/* A list of names, each found at its place among all. */
struct chosen {
    const char *what; /* "strategy" */
    const char *(*name)(size_t number);
    size_t all;
    size_t *numbers; /* owned */
    size_t count;
};

static const char *strategy_name(size_t number)
{
    return pythia_strategies(&(size_t){0})[number]->name;
}

static const char *problem_name(size_t number)
{
    return pythia_trial_problems(&(size_t){0})[number].name;
}

static int wrong_name(const struct chosen *c, const char *name, size_t size, const char *why)
{
    pythia_log(PYTHIA_LOG_ERROR, "--%s: '%.*s': %s (see pythia evaluate --list)", c->what,
               (int)size, name, why);
    return PYTHIA_EUSAGE;
}

static int choose_name(struct chosen *c, const char *name, size_t size)
{
    size_t number = 0;
    while (number < c->all &&
           (strlen(c->name(number)) != size || memcmp(c->name(number), name, size) != 0))
        number++;
    if (size == 0)
        return wrong_name(c, name, size, "a name is missing");
    if (number == c->all)
        return wrong_name(c, name, size, "there is no such name");
    for (size_t i = 0; i < c->count; i++)
        if (c->numbers[i] == number)
            return wrong_name(c, name, size, "is given twice");
    c->numbers[c->count++] = number;
    return PYTHIA_OK;
}

static bool is_small(size_t problem)
{
    return pythia_trial_problems(&(size_t){0})[problem].nodes <= LARGE_NODES;
}

/* The names in `list`, in its order; NULL: the default ones, or all. */
static int choose_listed(struct chosen *c, const char *list, bool (*is_default)(size_t))
{
    c->numbers = pythia_calloc(c->all, sizeof(*c->numbers));
    if (!c->numbers)
        return PYTHIA_ENOMEM;
    for (size_t i = 0; !list && i < c->all; i++)
        if (!is_default || is_default(i))
            c->numbers[c->count++] = i;
    int status = PYTHIA_OK;
    while (list) {
        size_t size = strcspn(list, ",");
        if ((status = choose_name(c, list, size)) != PYTHIA_OK)
            return status;
        list = list[size] ? list + size + 1 : NULL;
    }
    return PYTHIA_OK;
}

static void list_names(const char *title, const struct chosen *c, const char *(*help)(size_t),
                       struct pythia_buf *to)
{
    pythia_buf_printf(to, "%s\n", title);
    for (size_t i = 0; i < c->count; i++)
        pythia_buf_printf(to, "  %-18s%s\n", c->name(c->numbers[i]), help(c->numbers[i]));
}

static const char *strategy_help(size_t number)
{
    return pythia_strategies(&(size_t){0})[number]->help;
}

static const char *problem_help(size_t number)
{
    return pythia_trial_problems(&(size_t){0})[number].help;
}

static int list_all(const struct settings *s, const struct chosen *strategies,
                    const struct chosen *problems)
{
    struct pythia_buf text = {0};
    list_names("Strategies", strategies, strategy_help, &text);
    pythia_buf_putc(&text, '\n');
    list_names("Problems", problems, problem_help, &text);
    int status = pythia_buf_status(&text);
    status = pythia__write_text(s->output, status, &text);
    return status;
}

/* ---- running ---- */

struct evaluating {
    const struct settings *s;
    struct pythia_evaluation *e;
    size_t trials;
    _Atomic size_t next, done;
    atomic_bool failed;
    uv_mutex_t lock; /* of what follows, and of standard error */
    int status;      /* of the first trial that failed */
    struct pythia_error why;
    uint64_t shown_ns;
    bool progress, shown;
};

static volatile sig_atomic_t interrupted;

/* A second one ends the program, but not if it comes at once: timeout(1) sends each signal to the
 * program, and then to all programs of its group. */
static void note_interrupt(int number)
{
    static volatile sig_atomic_t first_ms; /* of no known day: it wraps */
    struct timespec now;
    int saved = errno;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sig_atomic_t ms = (sig_atomic_t)((now.tv_sec % 1000000) * 1000 + now.tv_nsec / 1000000);
    if (!interrupted)
        first_ms = ms;
    else if (ms < first_ms || ms - first_ms > AGAIN_MS) {
        signal(number, SIG_DFL);
        raise(number); /* when this function has returned */
    }
    interrupted = 1;
    errno = saved;
}

static bool is_interrupted(void)
{
    return interrupted != 0;
}

/* The CPU time of this thread alone: other threads' work is not the decision's time. */
static uint64_t thread_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void erase_trial_progress(struct evaluating *v)
{
    if (v->shown)
        fprintf(stderr, "\r%*s\r", 60, "");
    v->shown = false;
}

static void after_trial(struct evaluating *v, int status, const struct pythia_error *why,
                        struct pythia_buf *trial_log)
{
    uint64_t now_ns = uv_hrtime();
    uv_mutex_lock(&v->lock);
    if (status != PYTHIA_OK && status != PYTHIA_ESTOPPED && v->status == PYTHIA_OK) {
        v->status = status;
        v->why = *why;
        v->failed = true;
    }
    if (status == PYTHIA_OK && trial_log->size) {
        erase_trial_progress(v);
        fwrite(trial_log->bytes, 1, trial_log->size, stderr);
    }
    if (v->progress && now_ns - v->shown_ns >= PROGRESS_NS) {
        v->shown_ns = now_ns;
        v->shown = true;
        fprintf(stderr, "\r%zu of %zu searches ", (size_t)v->done, v->trials);
        fflush(stderr);
    }
    uv_mutex_unlock(&v->lock);
}

static void run_trials(void *context)
{
    struct evaluating *v = context;
    struct pythia_buf trial_log = {0};
    for (size_t number; !v->failed && !interrupted && (number = v->next++) < v->trials;) {
        struct pythia_error why = {0};
        pythia_buf_clear(&trial_log);
        int status = pythia_evaluation_run(v->e, number, v->s->verbose ? &trial_log : NULL, &why);
        v->done += status == PYTHIA_OK;
        after_trial(v, status, &why, &trial_log);
    }
    pythia_buf_free(&trial_log);
}

/* The first Ctrl-C lets the searches at hand end their cycle, a second one ends the program. */
static int run_all(struct evaluating *v)
{
    static uv_thread_t threads[THREADS_MAX];
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART}, before[2];
    size_t wanted = v->s->threads ? (size_t)v->s->threads : uv_available_parallelism(), running = 0;
    if (uv_mutex_init(&v->lock) != 0)
        return PYTHIA_ENOMEM;
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
    wanted = wanted < v->trials ? wanted : v->trials;
    while (running + 1 < wanted && running + 1 < THREADS_MAX &&
           uv_thread_create(&threads[running], run_trials, v) == 0)
        running++;
    run_trials(v); /* this thread helps; threads that could not be created are not needed */
    for (size_t i = 0; i < running; i++)
        uv_thread_join(&threads[i]);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    uv_mutex_destroy(&v->lock);
    erase_trial_progress(v);
    if (v->why.status != PYTHIA_OK)
        pythia_log(PYTHIA_LOG_ERROR, "%s", v->why.sentence);
    return v->status;
}

static int write_evaluation(const struct settings *s, const struct pythia_evaluation_report *r)
{
    struct pythia_buf text = {0};
    const struct pythia__terminal terminal = pythia__terminal_of(s->output);
    const struct pythia_evaluation_view view = {terminal.width, terminal.colour, terminal.ascii};
    int status =
        pythia_evaluation_report_write(r, (enum pythia_evaluation_format)s->format, &view, &text);
    return pythia__write_text(s->output, status, &text);
}

static int report_evaluation(const struct evaluating *v)
{
    struct pythia_evaluation_report *r = NULL;
    int status = pythia_evaluation_report_create(v->e, v->s->times, &r);
    if (status != PYTHIA_OK)
        return status;
    status = write_evaluation(v->s, r);
    pythia_evaluation_report_destroy(r);
    return status;
}

static int report_again(const struct settings *s)
{
    struct pythia_error why = {0};
    struct pythia_evaluation_report *r = NULL;
    if (s->strategies || s->problems || s->times || s->verbose) {
        pythia_log(PYTHIA_LOG_ERROR,
                   "--from makes no searches, so --strategy, --problem, --times and --verbose "
                   "have no effect with it (pythia evaluate --help lists the options)");
        return PYTHIA_EUSAGE;
    }
    int status = pythia_evaluation_report_read(s->from, &r, &why);
    if (status != PYTHIA_OK) {
        pythia_log_error(PYTHIA_LOG_ERROR, &why);
        return status == PYTHIA_ENOMEM ? status : PYTHIA_EIO;
    }
    status = write_evaluation(s, r);
    pythia_evaluation_report_destroy(r);
    return status;
}

/* Results so far go to standard output; they never replace a file of complete results. */
static int after_interrupt(const struct evaluating *v)
{
    bool to_file = v->s->output && strcmp(v->s->output, "-") != 0;
    pythia_log(PYTHIA_LOG_WARNING, "Interrupted after %zu of %zu searches%s%s%s", (size_t)v->done,
               v->trials, to_file ? "; " : "", to_file ? v->s->output : "",
               to_file ? " is not written" : "");
    if (!to_file && v->done > 0)
        report_evaluation(v);
    return PYTHIA_ESTOPPED;
}

/* An interrupt ends all threads after their current trial, and what is done by then may be
 * shown, but never as a whole result (after_interrupt). */
static int evaluate_all(const struct settings *s, const struct chosen *strategies,
                        const struct chosen *problems)
{
    struct evaluating v = {.s = s, .progress = !s->quiet && isatty(STDERR_FILENO)};
    const struct pythia_strategy **rows =
        pythia_calloc(strategies->count, sizeof(const struct pythia_strategy *));
    const struct pythia_trial_problem **planted =
        pythia_calloc(problems->count, sizeof(const struct pythia_trial_problem *));
    struct pythia_evaluation_options how = {.strategies = rows,
                                            .strategy_count = strategies->count,
                                            .problems = planted,
                                            .problem_count = problems->count,
                                            .profile = (enum pythia_trial_profile)s->profile,
                                            .first_seed = (uint64_t)s->seed,
                                            .seeds = (size_t)s->seeds,
                                            .points = (size_t)s->points,
                                            .requests = (size_t)s->requests,
                                            .cycles = (size_t)s->cycles,
                                            .price_ns = s->price_ns,
                                            .now_ns = s->times ? thread_ns : NULL,
                                            .stopped = is_interrupted};
    for (size_t i = 0; rows && i < strategies->count; i++)
        rows[i] = pythia_strategies(&(size_t){0})[strategies->numbers[i]];
    for (size_t i = 0; planted && i < problems->count; i++)
        planted[i] = &pythia_trial_problems(&(size_t){0})[problems->numbers[i]];
    int status = rows && planted ? pythia_evaluation_create(&how, &v.e) : PYTHIA_ENOMEM;
    if (status != PYTHIA_OK)
        goto out;
    v.trials = pythia_evaluation_trials(v.e);
    if ((status = run_all(&v)) != PYTHIA_OK)
        goto out;
    status = interrupted ? after_interrupt(&v) : report_evaluation(&v);
out:
    pythia_evaluation_destroy(v.e);
    pythia_free(rows);
    pythia_free(planted);
    return status;
}

static int run_evaluate(const void *settings, char *const *operands, int count)
{
    const struct settings *s = settings;
    struct chosen strategies = {"strategy", strategy_name, 0, NULL, 0},
                  problems = {"problem", problem_name, 0, NULL, 0};
    (void)operands;
    (void)count;
    pythia_strategies(&strategies.all);
    pythia_trial_problems(&problems.all);
    pythia_log_setup("pythia", s->quiet ? PYTHIA_LOG_WARNING : PYTHIA_LOG_INFO);
    int status = choose_listed(&strategies, s->strategies, NULL);
    if (status != PYTHIA_OK ||
        (status = choose_listed(&problems, s->problems, s->list ? NULL : is_small)) != PYTHIA_OK)
        goto out;
    status = s->list   ? list_all(s, &strategies, &problems)
             : s->from ? report_again(s)
                       : evaluate_all(s, &strategies, &problems);
out:
    pythia_free(strategies.numbers);
    pythia_free(problems.numbers);
    return pythia__exit_of(status);
}

const struct pythia__command pythia__cmd_evaluate = {
    .name = "evaluate",
    .operands = "",
    .summary = "Measure how fast strategies find planted causes",
    .description =
        "Plants causes of variance in generated requests, searches for them with each strategy on "
        "each problem and with several seeds, and reports how often and how fast they are found, "
        "how many trace points that takes, and how much time these add to requests. --list shows "
        "the strategies and problems.\n\n"
        "A search begins with the skeleton of the search space open and, in each cycle, sees "
        "requests as pythia generate would make them with the trace points that it has opened; "
        "then it decides. A cause is found when the search names a place where it is. A search "
        "that does not find all causes counts as taking the maximum number of cycles. Where "
        "nothing is planted, any place named is wrong.\n\n"
        "Everything is computed from the seeds: the same command gives the same bytes, whatever "
        "the number of threads. CPU times are reported only with --times. Ctrl-C stops the "
        "running searches: results so far are written to standard output, an output file is left "
        "unchanged, and the exit status is 1. pythia-evaluation(5) describes each member of the "
        "JSON.",
    .examples =
        "# The default strategy and two others on a bushy and a deep tree\n"
        "pythia evaluate --strategy information-gain,hierarchical,random --problem bushy,deep\n"
        "# Test everything once, then draw the result\n"
        "pythia evaluate --seeds 50 --format json --output results.json\n"
        "pythia evaluate --from results.json --format svg --output plot.svg\n"
        "# What does the search with seed 3 see and decide, cycle by cycle?\n"
        "pythia evaluate --strategy information-gain --problem openstack --seeds 1 --seed 3 "
        "--verbose\n",
    .exits = "0 done, 1 failed or interrupted, 2 wrong usage.",
    .see_also = "pythia-generate(1), pythia-evaluation(5)",
    .options = options,
    .read_offset = PYTHIA__READS_NOTHING,
    .settings_size = sizeof(struct settings),
    .operands_min = 0,
    .operands_max = 0,
    .run = run_evaluate,
};
