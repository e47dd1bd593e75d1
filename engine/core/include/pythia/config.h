#ifndef PYTHIA_CONFIG_H
#define PYTHIA_CONFIG_H

#include "pythia/error.h"
#include "pythia/option.h"

/* Settings of a program that runs for long, from three places, the later ones over the earlier: a
 * YAML file, the environment, the command line. One table of options (option.h) describes them all.
 *
 *     otlp-http: 127.0.0.1:4318       # a name is that of the option
 *     tls: {key: /etc/x.pem}          # a name within a name: tls-key
 *     never: ["a:b", "c:*"]           # an option that may be given several times
 *     notify: [{url: x, form: json}]  # members that the option names: one text, "x json"
 *     insecure: true                  # a flag
 *
 * The texts that settings point to are owned by the configuration. */
struct pythia_config;

/* PYTHIA_OK with *out owned, or PYTHIA_ENOMEM. */
int pythia_config_create(const struct pythia_option *table, struct pythia_config **out);
void pythia_config_destroy(struct pythia_config *c); /* c may be NULL */

/* Set what a file says, and what it does not say is left as it is. Anchors, tags and several
 * documents are refused. Returns PYTHIA_OK, or PYTHIA_EIO, PYTHIA_EFORMAT, PYTHIA_EUSAGE or
 * PYTHIA_ENOMEM with file, line, column and reason in `e`; `settings` may then be half set. */
int pythia_config_read(struct pythia_config *c, const char *path, void *settings,
                       struct pythia_error *e);

/* As pythia_config_read, but from memory; `name` is for messages. */
int pythia_config_parse(struct pythia_config *c, const char *name, const char *bytes, size_t size,
                        void *settings, struct pythia_error *e);

/* Read a file that is a list of maps, in YAML or JSON, instead: for each map the settings are set
 * to their defaults and then to what it says, and `take` is called, whose error is reported at the
 * place of the map. It returns PYTHIA_OK, or what _read_list then returns. */
struct pythia_config_list {
    int (*take)(void *context, struct pythia_error *e);
    void *context;
};
int pythia_config_read_list(struct pythia_config *c, const char *path, void *settings,
                            const struct pythia_config_list *list, struct pythia_error *e);

/* Set what variables of the environment say: PREFIX_OTLP_HTTP for "otlp-http"; several values are
 * parted by commas. A variable with the prefix that is no option is an error: it is likely a slip.
 */
int pythia_config_environment(struct pythia_config *c, const char *prefix, char *const *environment,
                              void *settings, struct pythia_error *e);

#endif
