#include "kafka_url.h"

#include <stdbool.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/text.h"

#define SCHEME        "kafka://"
#define DEFAULT_GROUP "pythia"
#define TOPIC_MAX     249 /* bytes that Kafka allows */
#define TOPIC_BYTES   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* What pythiad sets itself, and why nobody else may. */
static const struct {
    const char *name, *why;
} reserved[] = {
    {"bootstrap.servers", "the hosts before the topic say it"},
    {"metadata.broker.list", "the hosts before the topic say it"},
    {"group.id", "group=NAME says it"},
    {"enable.auto.commit", "offsets are committed when their requests are finished"},
    {"auto.commit.enable", "offsets are committed when their requests are finished"},
    {"enable.auto.offset.store", "offsets are committed when their requests are finished"},
    {"partition.assignment.strategy", "it is cooperative-sticky for all members"},
    {"enable.partition.eof", "the end of a partition is no error"},
};

/* Replace %XX in place. False: there is a % without two digits, or a byte 0. */
static bool decode_percents(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != '%') {
            *to++ = *at;
            continue;
        }
        int high = pythia_text_hex_digit(at[1]);
        int low = high < 0 ? -1 : pythia_text_hex_digit(at[2]);
        if (low < 0 || high * 16 + low == 0)
            return false;
        *to++ = (char)(high * 16 + low);
        at += 2;
    }
    *to = '\0';
    return true;
}

static int check_topic(const char *topic, struct pythia_error *e)
{
    size_t size = strlen(topic);
    if (size > 0 && size <= TOPIC_MAX && strspn(topic, TOPIC_BYTES) == size)
        return PYTHIA_OK;
    return pythia_error_set(e, PYTHIA_EUSAGE,
                            "kafka: a topic has 1 to %d letters, digits, '.', '_' and '-'",
                            TOPIC_MAX);
}

static int read_setting(struct pythia__kafka_url *u, char *pair, struct pythia_error *e)
{
    char *value = strchr(pair, '=');
    if (!value || value == pair)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "kafka: what follows ? has to be NAME=VALUE, "
                                "with & between several");
    *value++ = '\0';
    if (!decode_percents(value))
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "kafka: %s: a %% is written as %%25, other bytes as %%XX", pair);
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcmp(pair, reserved[i].name) == 0)
            return pythia_error_set(e, PYTHIA_EUSAGE, "kafka: %s cannot be set: %s", pair,
                                    reserved[i].why);
    if (strcmp(pair, "group") == 0) {
        u->group = value;
        return *value ? PYTHIA_OK : pythia_error_set(e, PYTHIA_EUSAGE, "kafka: group is empty");
    }
    if (strcmp(pair, "evidence") == 0) {
        u->evidence = value;
        return check_topic(value, e);
    }
    if (u->setting_count == PYTHIA__KAFKA_SETTINGS_MAX)
        return pythia_error_set(e, PYTHIA_EUSAGE, "kafka: more than %d settings",
                                PYTHIA__KAFKA_SETTINGS_MAX);
    u->settings[u->setting_count].name = pair;
    u->settings[u->setting_count++].value = value;
    return PYTHIA_OK;
}

static int read_parts(struct pythia__kafka_url *u, struct pythia_error *e)
{
    char *slash = strchr(u->text, '/'), *query = slash ? strchr(slash, '?') : NULL;
    if (!slash || slash == u->text)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "kafka: it has to be "
                                "kafka://HOST:PORT/TOPIC?group=NAME");
    *slash = '\0';
    if (query)
        *query++ = '\0';
    u->brokers = u->text;
    u->topic = slash + 1;
    u->group = DEFAULT_GROUP;
    int status = check_topic(u->topic, e);
    if (status != PYTHIA_OK)
        return status;
    for (char *pair = query, *next; pair && *pair; pair = next) {
        next = strchr(pair, '&');
        if (next)
            *next++ = '\0';
        if ((status = read_setting(u, pair, e)) != PYTHIA_OK)
            return status;
    }
    if (u->evidence && strcmp(u->evidence, u->topic) == 0)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "kafka: evidence has to be another topic than the traces");
    return PYTHIA_OK;
}

int pythia__kafka_url_read(const char *url, struct pythia__kafka_url *out, struct pythia_error *e)
{
    struct pythia__kafka_url u = {.text = NULL};
    if (strncmp(url, SCHEME, strlen(SCHEME)) != 0)
        return pythia_error_set(e, PYTHIA_EUSAGE, "kafka: it has to begin with " SCHEME);
    u.text = pythia_strndup(url + strlen(SCHEME), strlen(url) - strlen(SCHEME));
    if (!u.text)
        return pythia_error_set(e, PYTHIA_ENOMEM, "no memory for the settings");
    int status = read_parts(&u, e);
    if (status != PYTHIA_OK)
        pythia__kafka_url_free(&u);
    else
        *out = u;
    return status;
}

void pythia__kafka_url_free(struct pythia__kafka_url *u)
{
    pythia_free(u->text);
    *u = (struct pythia__kafka_url){.text = NULL};
}
