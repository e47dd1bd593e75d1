/* Sums over calls: each line or RPC is read, told or empty, and what is read makes a profile whose
 * own times are no more than its totals. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "pythia/call_summaries.h"
#include "pythia/profile.h"
#include "pythia/status.h"

static uint64_t told;

static void on_broken(void *context, const struct pythia_error *why)
{
    (void)context;
    told++;
    MUST(why->status == PYTHIA_EFORMAT && why->sentence[0] && strcmp(why->source, "input") == 0);
}

static void check_profile(struct pythia_vocabulary *v, const struct pythia_call_summary *all,
                          size_t count)
{
    struct pythia_profile *profile;
    const struct pythia_profile_options options = {.processes = true};
    size_t rows, pairs;
    uint64_t calls = 0;
    MUST(pythia_profile_create(v, &options, &profile) == PYTHIA_OK);
    for (size_t i = 0; i < count; i++) {
        MUST(all[i].depth >= 1 && all[i].calls >= 1 && all[i].target == (all[i].depth % 2 == 0));
        calls += all[i].calls;
    }
    MUST(pythia_profile_add_summaries(profile, all, count) == PYTHIA_OK);
    MUST(pythia_profile_totals(profile).spans == calls);
    const struct pythia_profile_row *row = pythia_profile_rows(profile, &rows);
    for (size_t i = 0; i < rows; i++)
        MUST(row[i].exclusive_ns <= pythia_profile_sum_ns(&row[i].times) &&
             isnan(pythia_profile_quantile(&row[i].times, .5)));
    (void)pythia_profile_pairs(profile, &pairs);
    MUST(pairs <= count);
    pythia_profile_destroy(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_vocabulary *v;
    struct pythia_call_summaries *s;
    struct pythia_error why = {0};
    size_t count;
    told = 0;
    MUST(pythia_vocabulary_create(&v) == PYTHIA_OK);
    MUST(pythia_call_summaries_create(v, on_broken, NULL, &s) == PYTHIA_OK);
    int status = pythia_call_summaries_read(
        s, "input", (struct pythia_text){size ? (const char *)bytes : "", size}, &why);
    MUST(status == PYTHIA_OK || (status == PYTHIA_EFORMAT && why.sentence[0]));
    const struct pythia_call_summary *all = pythia_call_summaries_all(s, &count);
    struct pythia_call_summaries_counts counts = pythia_call_summaries_counts(s);
    MUST(all && counts.read == count && counts.refused == told);
    check_profile(v, all, count);
    pythia_call_summaries_destroy(s);
    pythia_vocabulary_destroy(v);
    return 0;
}
