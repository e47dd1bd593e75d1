/* Makes stats/dip_table.c: null quantiles of the dip, simulated.
 *
 *     make_dip_table SEED DIVISOR THREADS > stats/dip_table.c
 *
 * DIVISOR divides the repetitions of every size: 1 for the committed table, more for a quick look.
 * The result depends on SEED and DIVISOR but not on THREADS: each repetition has a generator of its
 * own. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "modes/dip_table.h"
#include "pythia/dip.h"
#include "pythia/hash.h"
#include "pythia/mem.h"
#include "pythia/random.h"
#include "pythia/status.h"

#define THREADS_MAX 64

/* The last one is the reach of the table. */
static const char *const probabilities[PYTHIA__DIP_PROBABILITIES] = {
    "0",      "0.01",   "0.02",   "0.05",    "0.1",     "0.2",     "0.3",   "0.4",    "0.5",
    "0.6",    "0.7",    "0.75",   "0.8",     "0.85",    "0.9",     "0.925", "0.95",   "0.96",
    "0.97",   "0.975",  "0.98",   "0.985",   "0.99",    "0.9925",  "0.995", "0.9975", "0.999",
    "0.9995", "0.9998", "0.9999", "0.99995", "0.99998", "0.99999",
};

/* A million repetitions, and fewer where one takes milliseconds: there the quantiles of sqrt(n) *
 * dip have nearly settled, and what is left is noise below 1 % at the probability 0.9999. */
static const struct {
    uint32_t n, repetitions;
} sizes[PYTHIA__DIP_SIZES] = {
    {4, 1000000},    {5, 1000000},    {6, 1000000},     {7, 1000000},    {8, 1000000},
    {9, 1000000},    {10, 1000000},   {15, 1000000},    {20, 1000000},   {30, 1000000},
    {50, 1000000},   {100, 1000000},  {200, 1000000},   {500, 1000000},  {1000, 1000000},
    {2000, 1000000}, {5000, 1000000}, {10000, 1000000}, {20000, 700000}, {40000, 400000},
    {72000, 300000},
};

/* A share of the repetitions of one size: every `step`-th from `first` on. */
struct task {
    pthread_t thread;
    uint64_t seed;
    uint32_t n, repetitions, first, step;
    double *dips; /* one for each repetition, shared by the tasks */
    int status;
};

/* Order statistics of uniform values are, up to a factor that the dip does not see, the running
 * sums of exponential ones: no sort is needed. */
static void *simulate_dips(void *argument)
{
    struct task *t = argument;
    double *sample = pythia_calloc(t->n, sizeof(*sample));
    t->status = sample ? PYTHIA_OK : PYTHIA_ENOMEM;
    for (uint32_t i = t->first; i < t->repetitions && t->status == PYTHIA_OK; i += t->step) {
        struct pythia_random r;
        pythia_random_init(&r, pythia_hash_mix(pythia_hash_mix(t->seed, t->n), i));
        double sum = 0;
        for (uint32_t k = 0; k < t->n; k++) {
            sum += -log1p(-pythia_random_unit(&r));
            sample[k] = sum;
        }
        struct pythia_dip d = {.dip = NAN};
        t->status = pythia_dip_statistic(sample, t->n, &d);
        t->dips[i] = d.dip;
    }
    pythia_free(sample);
    return NULL;
}

static int simulate_in_threads(uint64_t seed, uint32_t n, uint32_t repetitions, uint32_t threads,
                               double *dips)
{
    struct task tasks[THREADS_MAX];
    uint32_t started = 0;
    int status = PYTHIA_OK;
    for (; started < threads; started++) {
        tasks[started] = (struct task){
            .seed = seed, .n = n, .repetitions = repetitions, .first = started, .step = threads};
        tasks[started].dips = dips;
        if (pthread_create(&tasks[started].thread, NULL, simulate_dips, &tasks[started]) != 0) {
            status = PYTHIA_ELIMIT;
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(tasks[i].thread, NULL);
        if (tasks[i].status != PYTHIA_OK)
            status = tasks[i].status;
    }
    return status;
}

static int compare_dip_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One row of the table. Quantile p is the value with p of the sample at or below it. */
static int print_row(uint64_t seed, uint32_t n, uint32_t repetitions, uint32_t threads)
{
    double *dips = pythia_calloc(repetitions, sizeof(*dips));
    if (!dips)
        return PYTHIA_ENOMEM;
    int status = simulate_in_threads(seed, n, repetitions, threads, dips);
    if (status != PYTHIA_OK)
        goto out;
    qsort(dips, repetitions, sizeof(*dips), compare_dip_values);
    printf("    {%" PRIu32 ", %" PRIu32 ",\n     {", n, repetitions);
    for (size_t k = 0; k < PYTHIA__DIP_PROBABILITIES; k++) {
        double rank = ceil(strtod(probabilities[k], NULL) * repetitions);
        size_t index = rank < 1 ? 0 : (size_t)rank - 1;
        const char *end = k + 1 == PYTHIA__DIP_PROBABILITIES ? "}},\n"
                          : k % 7 == 6                       ? ",\n      "
                                                             : ", ";
        printf("%.7g%s", dips[index], end);
    }
    (void)fflush(stdout);
out:
    pythia_free(dips);
    return status;
}

static void print_head(uint64_t seed, uint32_t divisor)
{
    printf("/* Made by `make_dip_table %" PRIu64 " %" PRIu32 " THREADS`: do not edit. */\n", seed,
           divisor);
    printf("#include \"dip_table.h\"\n\n/* clang-format off */\n");
    printf("const double pythia__dip_probabilities[PYTHIA__DIP_PROBABILITIES] = {\n    ");
    for (size_t k = 0; k < PYTHIA__DIP_PROBABILITIES; k++)
        printf("%s%s", probabilities[k],
               k + 1 == PYTHIA__DIP_PROBABILITIES ? ",\n};\n\n"
               : k % 11 == 10                     ? ",\n    "
                                                  : ", ");
    printf("/* n, repetitions, quantiles of the dip */\n");
    printf("const struct pythia__dip_row pythia__dip_table[PYTHIA__DIP_SIZES] = {\n");
}

static bool parse_count(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || value == 0 || value > most)
        return false;
    *out = value;
    return true;
}

int main(int argc, char **argv)
{
    uint64_t seed, divisor, threads;
    if (argc != 4 || !parse_count(argv[1], UINT64_MAX, &seed) ||
        !parse_count(argv[2], 10000, &divisor) || !parse_count(argv[3], THREADS_MAX, &threads)) {
        (void)fprintf(stderr, "usage: make_dip_table SEED DIVISOR THREADS > stats/dip_table.c\n");
        return 2;
    }
    print_head(seed, (uint32_t)divisor);
    for (size_t s = 0; s < PYTHIA__DIP_SIZES; s++) {
        uint32_t repetitions = sizes[s].repetitions / (uint32_t)divisor;
        int status = print_row(seed, sizes[s].n, repetitions, (uint32_t)threads);
        if (status != PYTHIA_OK) {
            (void)fprintf(stderr, "make_dip_table: %s\n", pythia_status_text(status));
            return 1;
        }
    }
    printf("};\n/* clang-format on */\n");
    return ferror(stdout) ? 1 : 0;
}
