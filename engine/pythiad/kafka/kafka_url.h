/* kafka://HOST[:PORT][,HOST[:PORT]...]/TOPIC[?group=NAME][&evidence=TOPIC][&SETTING=VALUE...]
 *
 * SETTING is one of librdkafka's, such as security.protocol or group.instance.id. Values may have
 * %XX in them. */
#ifndef PYTHIA_PYTHIAD_KAFKA_URL_H
#define PYTHIA_PYTHIAD_KAFKA_URL_H

#include "pythia/error.h"

#define PYTHIA__KAFKA_SETTINGS_MAX 64

struct pythia__kafka_url {
    char *text; /* owned, with the others in it */
    const char *brokers, *topic, *group;
    const char *evidence; /* the topic by which members share their search; NULL: they do not */
    struct {
        const char *name, *value;
    } settings[PYTHIA__KAFKA_SETTINGS_MAX];
    int setting_count;
};

/* PYTHIA_OK, or PYTHIA_EUSAGE or PYTHIA_ENOMEM with the reason in `e`, which repeats no value: it
 * may be a password. */
int pythia__kafka_url_read(const char *url, struct pythia__kafka_url *out, struct pythia_error *e);
void pythia__kafka_url_free(struct pythia__kafka_url *u);

#endif
