/* The manual page of pythiad: the options are those of the settings. */
#ifndef PYTHIA_PYTHIAD_MANUAL_H
#define PYTHIA_PYTHIAD_MANUAL_H

#include "pythia/buf.h"

/* Append pythiad(8), as scdoc reads it. */
void pythia__manual_write(struct pythia_buf *to);

#endif
