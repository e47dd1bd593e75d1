/* Which keys go with the difference, of a group or of a type of request. */
#include <math.h>
#include <string.h>

#include "pythia/shown_text.h"
#include "report_html.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"

#define CARDS_MAX    3   /* keys that are shown with what they do to the mean */
#define CARD_MIN     .02 /* of the variance explained, or a key is only in the table */
#define TWINS_MAX    3
#define KEYS_SEEN    8   /* in the table, before the rest is folded away */
#define KEYS_MAX     200 /* in it */
#define LOADINGS_MAX 3
#define VALUE_SHORT  14 /* characters that stay on one line */
#define LOADING_MIN  .3 /* a tenth of the edge's variance: less is not worth a line */

/* ---- a card ---- */

static void key_name(struct pythia__html *h, const json_t *key)
{
    const char *before, *name = pythia__key_name(key, &before);
    if (before[0])
        pythia__html_printf(h, "%s ", before);
    pythia__html_name(h, name);
}

static double largest_mean(const json_t *bins)
{
    double largest = 0;
    for (size_t i = 0; i < json_array_size(bins); i++)
        largest = fmax(largest, pythia__number(json_array_get(bins, i), "mean_ns"));
    return largest;
}

static bool has_long_values(const json_t *bins)
{
    for (size_t i = 0; i < json_array_size(bins); i++) {
        const char *value = pythia__string(json_array_get(bins, i), "value");
        if (pythia_glyph_count(pythia_text_of(value)) > VALUE_SHORT)
            return true;
    }
    return false;
}

/* The mean duration for each value: bars begin at 0, so that their lengths can be compared. Values
 * that are long stand above their bars. */
static void draw_key_profile(struct pythia__html *h, const json_t *key)
{
    static const char *const labels[] = {"Value", "=Mean duration", ">Requests"};
    const json_t *bins = pythia__array(key, "profile");
    double largest = largest_mean(bins);
    if (json_array_size(bins) == 0)
        return;
    pythia__html_table_begin(h, has_long_values(bins) ? "tall" : "low", labels,
                             sizeof(labels) / sizeof(labels[0]));
    for (size_t i = 0; i < json_array_size(bins); i++)
        pythia__html_mean_row(h, pythia__string(json_array_get(bins, i), "value"),
                              json_array_get(bins, i), largest);
    pythia__html_table_end(h);
}

/* The edges with the largest loadings of either sign, best first. Returns how many. */
static size_t pick_loadings(const json_t *edges, const json_t *picked[LOADINGS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(edges); i++) {
        const json_t *edge = json_array_get(edges, i);
        double loading = fabs(pythia__number(edge, "loading"));
        if (!(loading >= LOADING_MIN))
            continue;
        size_t at = count;
        while (at > 0 && fabs(pythia__number(picked[at - 1], "loading")) < loading)
            at--;
        count += count < LOADINGS_MAX;
        for (size_t k = count; k-- > at + 1;)
            picked[k] = picked[k - 1];
        if (at < count)
            picked[at] = edge;
    }
    return count;
}

/* The parts of the path that the key goes with. */
static void draw_key_loadings(struct pythia__html *h, const json_t *key)
{
    const json_t *picked[LOADINGS_MAX] = {NULL};
    size_t count = pick_loadings(pythia__array(key, "edges"), picked);
    if (count == 0)
        return;
    pythia__html_leaf(h, "p", "sub", "Correlation with the time spent");
    pythia__html_open(h, "ul", "class", "sub", NULL);
    for (size_t i = 0; i < count; i++) {
        pythia__html_open(h, "li", NULL);
        pythia__html_printf(h, "%+.2f ", pythia__number(picked[i], "loading"));
        pythia__html_edge(h, picked[i]);
        pythia__html_close(h);
    }
    pythia__html_close(h);
}

/* Two groups of requests that the key parts best. */
static void draw_key_split(struct pythia__html *h, const json_t *key)
{
    const json_t *of = json_object_get(key, "split");
    struct pythia_buf text = {0};
    if (!json_is_object(of))
        return;
    pythia__add_means(&text, "Mean ", key);
    pythia__html_open(h, "p", NULL);
    pythia__html_prose(h, text.bytes ? text.bytes : "");
    pythia__html_open(h, "span", "class", "dim", NULL);
    pythia__html_text(h, " (");
    pythia__html_count(h, pythia__number(of, "high_requests"));
    pythia__html_text(h, " and ");
    pythia__html_things(h, pythia__number(of, "low_requests"), "request", "requests");
    pythia__html_text(h, ")");
    pythia__html_close(h);
    pythia__html_close(h);
    if (text.failed)
        h->out->failed = 1;
    pythia_buf_free(&text);
}

/* The keys of one rank go together in these requests: which of them counts, they cannot say. */
static void draw_key_twins(struct pythia__html *h, const json_t *keys, size_t first)
{
    double rank = pythia__number(json_array_get(keys, first), "rank");
    size_t count = 0;
    for (size_t i = first + 1; i < json_array_size(keys); i++) {
        const json_t *key = json_array_get(keys, i);
        if (pythia__number(key, "rank") != rank)
            continue;
        if (count == 0) {
            pythia__html_open(h, "p", "class", "sub", NULL);
            pythia__html_text(h, "Cannot be told apart from ");
        }
        if (count < TWINS_MAX) {
            pythia__html_text(h, count ? ", " : "");
            key_name(h, key);
        }
        count++;
    }
    if (count > TWINS_MAX)
        pythia__html_printf(h, " and %zu more", count - TWINS_MAX);
    if (count > 0) {
        pythia__html_text(h, ".");
        pythia__html_close(h);
    }
}

static void rests_on(struct pythia__html *h, const json_t *key)
{
    struct pythia_buf text = {0};
    pythia__add_rests_on(&text, key);
    if (text.size > 0)
        pythia__html_printf(h, "; %s", text.bytes);
    pythia_buf_free(&text);
}

static void draw_key_card(struct pythia__html *h, const json_t *keys, size_t index)
{
    const json_t *key = json_array_get(keys, index);
    pythia__html_open(h, "div", "class", "card", NULL);
    pythia__html_open(h, "h4", NULL);
    key_name(h, key);
    pythia__html_close(h);
    pythia__html_open(h, "p", "class", "dim", NULL);
    pythia__html_text(h, "explains ");
    pythia__html_percent(h, pythia__number(key, "explained"));
    pythia__html_text(h, " of the variance");
    rests_on(h, key);
    pythia__html_close(h);
    draw_key_profile(h, key);
    draw_key_split(h, key);
    draw_key_loadings(h, key);
    draw_key_twins(h, keys, index);
    pythia__html_close(h);
}

/* Has the key something to say that no key before it has said? */
static bool is_worth_a_card(const json_t *keys, size_t index)
{
    const json_t *key = json_array_get(keys, index);
    double rank = pythia__number(key, "rank");
    if (index == 0)
        return true;
    return !(rank == pythia__number(json_array_get(keys, index - 1), "rank")) &&
           !pythia__string(key, "proxy_of")[0] && pythia__key_size(key) >= CARD_MIN;
}

static void draw_key_cards(struct pythia__html *h, const json_t *keys)
{
    size_t shown = 0;
    pythia__html_open(h, "div", "class", "cards", NULL);
    for (size_t i = 0; i < json_array_size(keys) && shown < CARDS_MAX; i++) {
        if (is_worth_a_card(keys, i)) {
            draw_key_card(h, keys, i);
            shown++;
        }
    }
    pythia__html_close(h);
}

/* ---- the table ---- */

/* What weakens a finding, or what it is beside another. */
static void draw_key_remarks(struct pythia__html *h, const json_t *key)
{
    const char *proxy_of = pythia__string(key, "proxy_of");
    const char *comma = "";
    if (proxy_of[0]) {
        pythia__html_text(h, "nothing beyond ");
        pythia__html_name(h, proxy_of);
        comma = ", ";
    }
    if (json_is_true(json_object_get(key, "low_confidence"))) {
        pythia__html_printf(h, "%slow confidence: few requests for so many values", comma);
        comma = ", ";
    }
    if (json_is_true(json_object_get(key, "confirmed"))) {
        pythia__html_printf(h, "%sconfirmed", comma);
    } else if (isfinite(pythia__number(key, "stability"))) {
        pythia__html_printf(h, "%sheld on only ", comma);
        pythia__html_percent(h, pythia__number(key, "stability"));
        pythia__html_text(h, " of random halves");
    }
}

static void draw_key_chance(struct pythia__html *h, const char *label, double p)
{
    pythia__html_chance_cell(h, label, p);
}

static void key_row(struct pythia__html *h, const json_t *key)
{
    double explained = pythia__number(key, "explained");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    key_name(h, key);
    pythia__html_close(h);
    pythia__html_count_cell(h, "rank", pythia__number(key, "rank"));
    pythia__html_bar_cell(h, "share", explained);
    pythia__html_percent_cell(h, "explains", explained);
    draw_key_chance(h, "q", pythia__number(key, "q"));
    draw_key_chance(h, "by permutation", pythia__number(key, "p_permutation"));
    pythia__html_cell(h, "dim full", NULL);
    draw_key_remarks(h, key);
    pythia__html_close(h);
    pythia__html_close(h);
}

static void key_table(struct pythia__html *h, const json_t *keys, size_t from, size_t to)
{
    static const char *const labels[] = {"Key", ">Rank",           "=Explains of the variance",
                                         ">q",  ">By permutation", "Remarks"};
    pythia__html_table_begin(h, "stack", labels, sizeof(labels) / sizeof(labels[0]));
    for (size_t i = from; i < to; i++)
        key_row(h, json_array_get(keys, i));
    pythia__html_table_end(h);
}

/* ---- keys that were not asked ---- */

/* Keys by reason: one reason holds for many, and is said once. */
static void skipped_for(struct pythia__html *h, const json_t *skipped, size_t first)
{
    const char *reason = pythia__string(json_array_get(skipped, first), "reason");
    const char *comma = "";
    for (size_t i = 0; i < first; i++)
        if (strcmp(pythia__string(json_array_get(skipped, i), "reason"), reason) == 0)
            return;
    pythia__html_open(h, "dt", NULL);
    pythia__html_prose(h, reason);
    pythia__html_close(h);
    pythia__html_open(h, "dd", NULL);
    for (size_t i = first; i < json_array_size(skipped); i++) {
        const json_t *one = json_array_get(skipped, i);
        if (strcmp(pythia__string(one, "reason"), reason) != 0)
            continue;
        pythia__html_text(h, comma);
        pythia__html_name(h, pythia__string(one, "key"));
        comma = ", ";
    }
    pythia__html_close(h);
}

static void draw_skipped_keys(struct pythia__html *h, const json_t *of)
{
    const json_t *list = pythia__array(of, "skipped_keys");
    size_t count = json_array_size(list);
    if (count == 0)
        return;
    pythia__html_open(h, "details", NULL);
    pythia__html_open(h, "summary", NULL);
    pythia__html_things(h, (double)count, "key was not tested", "keys were not tested");
    pythia__html_close(h);
    pythia__html_open(h, "dl", "class", "words", NULL);
    for (size_t i = 0; i < count; i++)
        skipped_for(h, list, i);
    pythia__html_close(h);
    pythia__html_close(h);
}

/* The keys that act together, as a paragraph. */
static void draw_joint_keys(struct pythia__html *h, const json_t *of)
{
    struct pythia_buf text = {0};
    pythia__add_joint(&text, of);
    if (text.size > 0) {
        pythia__html_open(h, "p", "class", "joint", NULL);
        pythia__html_prose(h, text.bytes);
        pythia__html_close(h);
    }
    pythia_buf_free(&text);
}

void pythia__html_keys(struct pythia__html *h, const json_t *of)
{
    const json_t *keys = pythia__array(of, "explanations");
    size_t found = json_array_size(keys), count = found < KEYS_MAX ? found : KEYS_MAX;
    pythia__html_open(h, "p", "class", "note", NULL);
    pythia__html_text(h, "Tested: ");
    pythia__html_things(h, pythia__number(of, "keys_asked"), "key", "keys");
    pythia__html_printf(h, ". %s",
                        found ? "A key that correlates need not be the cause."
                              : "None correlates with the latency.");
    pythia__html_close(h);
    if (count > 0) {
        draw_key_cards(h, keys);
        key_table(h, keys, 0, count < KEYS_SEEN ? count : KEYS_SEEN);
    }
    if (count > KEYS_SEEN) {
        pythia__html_open(h, "details", NULL);
        pythia__html_open(h, "summary", NULL);
        pythia__html_things(h, (double)(found - KEYS_SEEN), "more key correlates",
                            "more keys correlate");
        pythia__html_close(h);
        key_table(h, keys, KEYS_SEEN, count);
        if (found > count)
            pythia__html_printf(h, "%zu are left out.", found - count);
        pythia__html_close(h);
    }
    draw_joint_keys(h, of);
    draw_skipped_keys(h, of);
}
