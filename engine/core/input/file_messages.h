/* Logs errors in files in the order of the files and of the places in them, however many threads
 * decode their pieces (pieces.h), and whichever thread is first. */
#ifndef PYTHIA_CORE_FILE_MESSAGES_H
#define PYTHIA_CORE_FILE_MESSAGES_H

#include "blocks.h"
#include "pieces.h"
#include "pythia/error.h"
#include "pythia/log.h"

struct pythia__file_messages;

/* PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__file_messages_create(struct pythia__file_messages **out);

/* Log what still waits, if decoding was given up before all pieces had ended. m may be NULL. */
void pythia__file_messages_destroy(struct pythia__file_messages *m);

/* Make a place for messages of the next piece, in order of their numbers, before anybody decodes
 * it. PYTHIA_OK or PYTHIA_ENOMEM. Any thread. */
int pythia__file_messages_begin(struct pythia__file_messages *m, const struct pythia__piece *piece);

/* Report an error in a piece, or in a block of a piece that is read in blocks (NULL: it is not);
 * the place is that in the piece or block. It is logged at once if all pieces before this one have
 * ended, otherwise when they have; those of blocks when their piece has ended, too. Any thread. */
void pythia__file_messages_add(struct pythia__file_messages *m, const struct pythia__piece *piece,
                               const struct pythia__block *block, enum pythia_log_level level,
                               const struct pythia_error *why);

/* The same of a broken record. The first five of a file are logged, and the number of further ones
 * once all of its pieces have ended. */
void pythia__file_messages_add_broken(struct pythia__file_messages *m,
                                      const struct pythia__piece *piece,
                                      const struct pythia__block *block,
                                      const struct pythia_error *why);

/* A piece is decoded: no further message of it comes. */
void pythia__file_messages_end(struct pythia__file_messages *m, const struct pythia__piece *piece);

#endif
