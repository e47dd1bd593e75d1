#include "pythia/nearest.h"

#define SIZE_MAX_WORD 64

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances between prefixes are enough: a swap looks two rows back. */
static size_t find_distance(struct pythia_text a, struct pythia_text b)
{
    size_t rows[3][SIZE_MAX_WORD + 1];
    if (a.size > SIZE_MAX_WORD || b.size > SIZE_MAX_WORD)
        return a.size > b.size ? a.size : b.size;
    for (size_t k = 0; k <= b.size; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= a.size; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *higher = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= b.size; k++) {
            size_t differs = a.bytes[i - 1] != b.bytes[k - 1];
            row[k] = smaller_of(above[k - 1] + differs, smaller_of(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a.bytes[i - 1] == b.bytes[k - 2] &&
                a.bytes[i - 2] == b.bytes[k - 1])
                row[k] = smaller_of(row[k], higher[k - 2] + 1);
        }
    }
    return rows[a.size % 3][b.size];
}

void pythia_nearest_offer(struct pythia_nearest *n, struct pythia_text word)
{
    size_t distance = find_distance(n->wanted, word), most = n->wanted.size / 3;
    if (distance > (most > 1 ? most : 1) || distance >= word.size)
        return;
    if (n->best.size == 0 || distance < n->distance) {
        n->best = word;
        n->distance = distance;
    }
}
