/* What a node of HiQ has beside its times: base64 of a dictionary as Python prints it. */
#ifndef PYTHIA_TRACES_HIQ_EXTRA_H
#define PYTHIA_TRACES_HIQ_EXTRA_H

#include "../decoder.h"

/* Put what is in `packed` into the decoder's attributes: texts and numbers by their keys, all else
 * as the text that it is. What is no dictionary becomes the key-value "extra". false: it is not
 * base64 either. */
bool pythia__hiq_extra(struct pythia__decoder *d, struct pythia_text packed,
                       struct pythia_buf *scratch);

#endif
