/* The values of a key over time, as dots: what is at its limit is a line along the top. */
#include <math.h>

#include "pictures.h"
#include "write/html_writer.h"

#define HEIGHT 120
#define TOP    8
#define BOTTOM (HEIGHT - 8)
#define LEFT   1. /* percent */
#define RIGHT  1.

struct scatter {
    const struct pythia_saturated_key *key;
    double low;
};

static void draw_dot(struct pythia__html *h, const struct scatter *s, size_t point)
{
    const struct pythia_saturated_key *key = s->key;
    double span = (double)(key->last_ns - key->first_ns), high = key->found.limit;
    double x = span > 0 ? (double)(key->times_ns[point] - key->first_ns) / span : .5;
    double y = high > s->low ? (key->values[point] - s->low) / (high - s->low) : 1;
    pythia__html_open(h, "circle", "class", key->values[point] == high ? "limit" : "dot", "r", "2",
                      NULL);
    pythia__html_attribute_printf(h, "cx", "%.2f%%", LEFT + x * (100 - LEFT - RIGHT));
    pythia__html_attribute_printf(h, "cy", "%.1f", BOTTOM - y * (BOTTOM - TOP));
    pythia__html_close(h);
}

void pythia__scatter_draw(struct pythia__html *h, const void *key)
{
    struct scatter s = {.key = key, .low = INFINITY};
    for (size_t i = 0; i < s.key->points; i++)
        s.low = fmin(s.low, s.key->values[i]);
    pythia__html_open(h, "svg", "class", "scatter", "width", "100%", "role", "img", NULL);
    pythia__html_attribute_printf(h, "height", "%d", HEIGHT);
    pythia__html_attribute(h, "aria-label", "values over time");
    for (size_t i = 0; i < s.key->points; i++)
        draw_dot(h, &s, i);
    pythia__html_close(h);
}
