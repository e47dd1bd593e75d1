#ifndef PYTHIA_EXPECTATION_FILE_H
#define PYTHIA_EXPECTATION_FILE_H

#include "pythia/error.h"
#include "pythia/expectation.h"

/* Read expectations from a file, a list of maps in YAML or JSON:
 *
 *     - type: shop:GET /checkout
 *       where: queue_length < 2
 *       p99: < 250ms
 *       cov: < 0.3
 *       same_path_as: shop:GET /cart
 *
 * An empty list is an error: it would always hold. PYTHIA_OK with what was read added to `all`, or
 * PYTHIA_EIO, PYTHIA_EFORMAT, PYTHIA_EUSAGE or PYTHIA_ENOMEM with file, line and reason in `e`. */
int pythia_expectation_file_read(const char *path, struct pythia_expectations *all,
                                 struct pythia_error *e);

#endif
