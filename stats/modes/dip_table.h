#ifndef PYTHIA_DIP_TABLE_H
#define PYTHIA_DIP_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Simulated null quantiles of the dip, shared by dip.c, which reads them, and
 * tools/make_dip_table.c, which makes them. */

#define PYTHIA__DIP_PROBABILITIES 33
#define PYTHIA__DIP_SIZES         21

struct pythia__dip_row {
    uint32_t n;                                  /* values in a sample */
    uint32_t repetitions;                        /* samples simulated */
    double quantiles[PYTHIA__DIP_PROBABILITIES]; /* of the dip, one for each probability below */
};

extern const double pythia__dip_probabilities[PYTHIA__DIP_PROBABILITIES]; /* ascending from 0 */
extern const struct pythia__dip_row pythia__dip_table[PYTHIA__DIP_SIZES]; /* ascending in n */

#endif
