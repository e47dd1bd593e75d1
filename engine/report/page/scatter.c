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
    double low, high; /* of the picture */
};

static void draw_dot(struct pythia__html *h, const struct scatter *s, size_t point)
{
    const struct pythia_saturated_key *key = s->key;
    double span = (double)(key->last_ns - key->first_ns), value = key->values[point];
    double x = span > 0 ? (double)(key->times_ns[point] - key->first_ns) / span : .5;
    double y = s->high > s->low ? (value - s->low) / (s->high - s->low) : 1;
    pythia__html_open(h, "circle", "class", value >= key->found.limit ? "limit" : "dot", "r", "2",
                      NULL);
    pythia__html_attribute_printf(h, "cx", "%.2f%%", LEFT + x * (100 - LEFT - RIGHT));
    pythia__html_attribute_printf(h, "cy", "%.1f", BOTTOM - y * (BOTTOM - TOP));
    pythia__html_close(h);
}

void pythia__scatter_draw(struct pythia__html *h, const void *key)
{
    struct scatter s = {.key = key, .low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < s.key->points; i++) {
        s.low = fmin(s.low, s.key->values[i]);
        s.high = fmax(s.high, s.key->values[i]);
    }
    pythia__html_open(h, "svg", "class", "scatter", "width", "100%", "role", "img", NULL);
    pythia__html_attribute_printf(h, "height", "%d", HEIGHT);
    pythia__html_attribute(h, "aria-label", "values over time");
    for (size_t i = 0; i < s.key->points; i++)
        draw_dot(h, &s, i);
    pythia__html_close(h);
}
