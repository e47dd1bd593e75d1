/* The dictionary that a node of HiQ may have, as Python prints it; version 2 packs it in base64. */
#ifndef PYTHIA_TRACES_HIQ_EXTRA_H
#define PYTHIA_TRACES_HIQ_EXTRA_H

#include "shared/decoder.h"

/* Add the entries of the dictionary `extra` to the decoder's attributes: texts and numbers by their
 * keys, everything else as its text. `packed`: it is in base64. A text that is not a dictionary
 * becomes the key-value "extra". Returns false if a packed text is not base64. */
bool pythia__hiq_extra(struct pythia__decoder *d, struct pythia_text extra, bool packed,
                       struct pythia_buf *scratch);

#endif
