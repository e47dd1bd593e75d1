#ifndef PYTHIA_REDACTION_H
#define PYTHIA_REDACTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/counts.h"
#include "pythia/error.h"
#include "pythia/keyed_hash.h"
#include "pythia/text.h"
#include "pythia/vocabulary.h"

/* Which values of key-values nobody may see: rules by key, the first that fits holds. A value is
 * kept, left out, or replaced by a hash, which is keyed: equal values stay equal, and explain as
 * much, but what they were cannot be looked up. Of an address ("url") only what can be secret is
 * left out: user info, query and fragment. Any number of threads. */
struct pythia_redaction;

enum pythia_redact {
    PYTHIA_REDACT_KEEP,
    PYTHIA_REDACT_URL, /* keep of an address scheme, host and path */
    PYTHIA_REDACT_HASH,
    PYTHIA_REDACT_DROP, /* what is stricter is larger */
};

/* The form of a hash: this, and 16 hexadecimal digits. The last four of them depend on the others
 * and on the secret, so that a hash is known as one, and not hashed again. */
#define PYTHIA_REDACTED    "hash:"
#define PYTHIA_HASHED_SIZE 21

/* The form of a rule: "PATTERN: keep", "…: url", "…: hash" or "…: drop". The pattern is of
 * keys, in capitals or not, with * for any text and ? for any character. "default" stands for the
 * rules that pythia_redaction_defaults names, and "off" ends the list: nothing behind it holds.
 * PYTHIA_OK, or PYTHIA_EUSAGE with the reason in `e`. */
int pythia_redaction_check(const char *rule, struct pythia_error *e);

/* The default rules, ended by NULL; static. */
const char *const *pythia_redaction_defaults(void);

/* Does one of the rules hash, and so need a secret? */
bool pythia_redaction_hashes(const char *const *rules, size_t count);

/* PYTHIA_OK with *out owned, NULL if there are no rules; PYTHIA_EUSAGE with the reason in `e`, or
 * PYTHIA_ENOMEM. Nothing is borrowed but the vocabulary, by whose numbers keys are asked for. */
int pythia_redaction_create(const struct pythia_vocabulary *vocabulary, const char *const *rules,
                            size_t count, const struct pythia_hash_key *secret,
                            struct pythia_redaction **out, struct pythia_error *e);
void pythia_redaction_destroy(struct pythia_redaction *r); /* r may be NULL */

/* The action for a key, by its full name: O(rules). */
enum pythia_redact pythia_redaction_of_name(const struct pythia_redaction *r,
                                            struct pythia_text name);

/* The action for a key that is a string of the vocabulary: O(1), except the first time. */
enum pythia_redact pythia_redaction_of(struct pythia_redaction *r, uint32_t key);

/* The hash that takes the place of a value, as text of PYTHIA_HASHED_SIZE bytes and a NUL. */
void pythia_redaction_hash(const struct pythia_redaction *r, struct pythia_text value,
                           char hash[PYTHIA_HASHED_SIZE + 1]);

/* The string `key` may stand for a longer name, or for several: from now on it is treated at least
 * as strictly as `by`. */
void pythia_redaction_note(struct pythia_redaction *r, uint32_t key, enum pythia_redact by);

/* The scratch memory of redaction, for one thread; all zero at first. Values come again soon:
 * those that were hashed last are known with their hashes, and that is where a value stays
 * longest, in memory alone. */
#define PYTHIA_REDACTION_RECENT      128 /* values; a power of two */
#define PYTHIA_REDACTION_RECENT_SIZE 39  /* bytes; longer ones are hashed anew */
struct pythia_redaction_work {
    struct pythia_buf scratch;     /* owned */
    struct pythia_buf url;         /* owned: an address without what is left out */
    struct pythia_hash_key secret; /* by which the hashes were made */
    struct pythia_redaction_recent {
        uint64_t hash;
        uint8_t sized; /* size + 1; 0: none */
        char text[PYTHIA_REDACTION_RECENT_SIZE];
    } recent[PYTHIA_REDACTION_RECENT];
};
void pythia_redaction_work_free(struct pythia_redaction_work *work);

/* Replace packed key-values (attributes.h) by what may be kept of them, and count what is hashed or
 * dropped. Nothing more happens to a value that is a hash already. What `work` knows by another
 * secret it forgets. PYTHIA_OK or PYTHIA_ENOMEM; then nothing is left of them. O(key-values). */
int pythia_redaction_apply(struct pythia_redaction *r, struct pythia_buf *attributes,
                           struct pythia_redaction_work *work, struct pythia_counts *counts);

#endif
