#include <math.h>

#include "profile_forms.h"

void pythia__profile_name(const struct pythia_profile *p, const struct pythia_profile_row *row,
                          uint32_t levels, struct pythia_buf *to)
{
    const struct pythia_vocabulary *v = pythia_profile_vocabulary(p);
    if (row->tracepoint == PYTHIA_NONE) {
        pythia_buf_puts(to, "(between the roots)");
        return;
    }
    if (row->node == PYTHIA_NONE) {
        pythia_buf_text_add(to, pythia_vocabulary_tracepoint_id(v, row->tracepoint));
        return;
    }
    const struct pythia_cct *cct = pythia_profile_cct(p);
    uint32_t depth = pythia_cct_depth(cct, row->node), first = depth > levels ? depth - levels : 0;
    pythia_buf_puts(to, first > 0 ? "... > " : "");
    for (uint32_t level = first + 1; level <= depth; level++) {
        uint32_t node = pythia_cct_ancestor(cct, row->node, level);
        pythia_buf_puts(to, level > first + 1 ? " > " : "");
        pythia_buf_text_add(to,
                            pythia_vocabulary_tracepoint_id(v, pythia_cct_tracepoint(cct, node)));
    }
}

const uint32_t *pythia__profile_parts_of(const struct pythia__profile_shown *s, uint32_t row,
                                         size_t *count)
{
    size_t low = 0, high = s->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->parts[s->part_order[middle]].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < s->part_count; ++*count)
        if (s->parts[s->part_order[low + *count]].row != row)
            break;
    return s->part_order + low;
}

struct pythia__profile_imbalance pythia__profile_imbalance_of(const struct pythia__profile_shown *s,
                                                              const uint32_t *parts, size_t count)
{
    struct pythia__profile_imbalance most = {PYTHIA_NONE, NAN, NAN};
    double calls = 0, ns = 0, most_calls = 0, most_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pythia_profile_part *part = &s->parts[parts[i]];
        double of_part = (double)part->times.moments.weight,
               ns_of_part = (double)pythia_profile_sum_ns(&part->times);
        calls += of_part;
        ns += ns_of_part;
        if (of_part > most_calls) { /* parts are in order of time, so of equal ones the first */
            most_calls = of_part;
            most_ns = ns_of_part;
            most.process = part->process;
        }
    }
    if (count > 1) {
        most.calls = most_calls * (double)(count - 1) / (calls - most_calls);
        most.time = most_ns * (double)(count - 1) / (ns - most_ns);
    }
    return most;
}
