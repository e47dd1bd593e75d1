#ifndef PYTHIA_NEAREST_H
#define PYTHIA_NEAREST_H

#include <stddef.h>

#include "pythia/text.h"

/* Which of several words did somebody mean who misspelt one? Offer all of them, one after the
 * other. {.wanted = word} is the beginning; the words that are offered are borrowed. */
struct pythia_nearest {
    struct pythia_text wanted, best; /* best: empty if none is near */
    size_t distance;                 /* of the best */
};

/* The distance of two words is the number of letters to put in, take out, change, or swap with the
 * next one to make one word of the other (optimal string alignment). A word is near if a third of
 * its letters differ at most, and one at least may. Of words as near the first counts; words longer
 * than 64 bytes are never near. O(size of the word * size of the one that is wanted). */
void pythia_nearest_offer(struct pythia_nearest *n, struct pythia_text word);

#endif
