#include "report_joint.h"

#include <math.h>
#include <string.h>

#include "sentences.h"

json_t *pythia__json_joint(struct pythia__json *w, const struct pythia_explanations *all)
{
    const struct pythia_joint *j = &all->joint;
    if (j->count == 0)
        return json_null();
    json_t *out = json_object(), *keys = json_array();
    for (size_t k = 0; k < j->count; k++) {
        const struct pythia_explanation *x = &all->found[j->keys[k]];
        bool levels = x->kind == PYTHIA_KEY_CATEGORICAL;
        json_t *key = json_object();
        pythia__json_set(w, key, "key", pythia__json_text(pythia_text_of(x->name)));
        pythia__json_set(w, key, "structural",
                         json_boolean(x->kind == PYTHIA_KEY_COUNT || x->kind == PYTHIA_KEY_HAS));
        pythia__json_set(w, key, "condition",
                         levels ? pythia__json_text(pythia_text_of(x->split)) : json_null());
        pythia__json_set(w, key, "coefficient", pythia__json_real(j->coefficients[k]));
        pythia__json_set(w, key, "slope_ns", pythia__json_real(j->slopes[k]));
        pythia__json_append(w, keys, key);
    }
    pythia__json_set(w, out, "keys", keys);
    pythia__json_set(w, out, "r", pythia__json_real(j->r));
    pythia__json_set(w, out, "explained", pythia__json_real(j->share));
    pythia__json_set(w, out, "explained_by_best", pythia__json_real(j->single_share));
    pythia__json_set(w, out, "q", pythia__json_real(j->q));
    pythia__json_set(w, out, "stability", pythia__json_real(j->stability));
    return out;
}

/* "each unit of queue_length", "a hit of api:retry", "host.name, where it is in {cp-2},": what a
 * slope is of. */
static void add_unit(struct pythia_buf *to, const json_t *key)
{
    const char *name = pythia__string(key, "key"), *condition = pythia__string(key, "condition");
    const char *point = strchr(name, ':');
    if (json_is_true(json_object_get(key, "structural")) && point)
        pythia_buf_printf(to, "%s hit of %s", strncmp(name, "has:", 4) == 0 ? "a" : "each",
                          point + 1);
    else if (condition[0])
        pythia_buf_printf(to, "%s, where it %s,", name, condition);
    else
        pythia_buf_printf(to, "each unit of %s", name);
}

void pythia__add_joint(struct pythia_buf *to, const json_t *of)
{
    const json_t *joint = json_object_get(of, "joint"), *keys = pythia__array(joint, "keys"), *key;
    size_t count = json_array_size(keys), i;
    if (count == 0)
        return;
    json_array_foreach (keys, i, key)
        pythia_buf_printf(to, "%s%s",
                          i == 0           ? ""
                          : i + 1 == count ? " and "
                                           : ", ",
                          pythia__string(key, "key"));
    pythia_buf_puts(to, " together account for ");
    pythia__add_percent(to, pythia__number(joint, "explained"));
    pythia_buf_puts(to, " of the latency variance, the best of them alone for ");
    pythia__add_percent(to, pythia__number(joint, "explained_by_best"));
    json_array_foreach (keys, i, key) {
        double slope_ns = pythia__number(key, "slope_ns");
        pythia_buf_puts(to, i == 0 ? ": " : i + 1 == count ? ", and " : ", ");
        add_unit(to, key);
        pythia_buf_puts(to, slope_ns < 0 ? " takes off " : " adds ");
        pythia__add_duration(to, fabs(slope_ns));
    }
    pythia_buf_puts(to, " (");
    if (isfinite(pythia__number(joint, "q"))) {
        pythia_buf_puts(to, "q ");
        pythia__add_chance(to, pythia__number(joint, "q"));
        pythia_buf_puts(to, ", ");
    }
    pythia_buf_puts(to, "confirmed in ");
    pythia__add_percent(to, pythia__number(joint, "stability"));
    pythia_buf_puts(to, " of random halves of the requests).");
}
