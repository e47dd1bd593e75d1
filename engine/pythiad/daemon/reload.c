/* SIGHUP: the settings are read again. Pins, the limits of what tracing may take and the level
 * of the log change; of all else that is different it is told that it takes a restart. */
#include <stddef.h>
#include <string.h>

#include "daemon.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "switching/pins.h"
#include "switching/places.h"

static const char *get_setting_text(const void *settings, size_t offset)
{
    const char *text;
    memcpy(&text, (const char *)settings + offset, sizeof(text));
    return text ? text : "";
}

static bool same_texts(const struct pythia_option_texts *a, const struct pythia_option_texts *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->texts[i], b->texts[i]) == 0;
    return same;
}

static bool is_same_setting(const struct pythia_option *o, const void *a, const void *b)
{
    static const size_t sizes[] = {[PYTHIA_OPTION_FLAG] = sizeof(bool),
                                   [PYTHIA_OPTION_CHOICE] = sizeof(int),
                                   [PYTHIA_OPTION_INTEGER] = sizeof(int64_t),
                                   [PYTHIA_OPTION_REAL] = sizeof(double),
                                   [PYTHIA_OPTION_BYTES] = sizeof(uint64_t)};
    const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;
    if (o->type == PYTHIA_OPTION_TEXT)
        return strcmp(get_setting_text(a, o->offset), get_setting_text(b, o->offset)) == 0;
    if (o->type == PYTHIA_OPTION_TEXTS)
        return same_texts((const void *)x, (const void *)y);
    return memcmp(x, y, sizes[o->type]) == 0;
}

static bool may_change(const char *name)
{
    static const char *const names[] = {"always",    "never",       "max-overhead-pct",
                                        "max-load1", "max-spans-s", "breaker-ns",
                                        "quiet",     "verbose"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void pythia__log_level(const struct pythia__settings *s)
{
    pythia_log_setup("pythiad", s->quiet     ? PYTHIA_LOG_WARNING
                                : s->verbose ? PYTHIA_LOG_DEBUG
                                             : PYTHIA_LOG_INFO);
}

/* All settings are read and checked before any is changed, so that a mistake in the file leaves
 * the daemon as it was. Only what may change without a restart is taken over; a warning names
 * the rest. */
void pythia__daemon_reload(struct pythia__daemon *d)
{
    struct pythia__settings next;
    struct pythia_config *config = NULL;
    struct pythia_error why = {0};
    char text[1024];
    int status = pythia__settings_read(d->argc, d->argv, d->environment, &next, &config, &why);
    if (status != PYTHIA_OK ||
        (status = pythia__switching_read_pins(&d->switching, &next)) != PYTHIA_OK) {
        d->failed_reloads++;
        if (!why.status)
            pythia_error_set(&why, status, "%s", pythia_status_text(status));
        pythia_log(PYTHIA_LOG_ERROR, "Kept the previous settings: %s",
                   pythia_error_text(&why, text, sizeof(text)));
        pythia_config_destroy(config);
        return;
    }
    for (const struct pythia_option *o = pythia__settings_table; o->name; o++)
        if (!may_change(o->name) && !is_same_setting(o, &d->engine.s, &next))
            pythia_log(PYTHIA_LOG_WARNING, "This setting only changes with a restart: name=%s",
                       o->name);
    struct pythia__settings now = d->engine.s; /* whose texts the first configuration has */
    now.always = next.always;
    now.never = next.never;
    now.max_overhead_pct = next.max_overhead_pct;
    now.max_load1 = next.max_load1;
    now.max_spans_s = next.max_spans_s;
    now.breaker_ns = next.breaker_ns;
    now.quiet = next.quiet;
    now.verbose = next.verbose;
    pythia_config_destroy(d->pins_config);
    d->pins_config = config;
    d->engine.s = now;
    pythia__log_level(&d->engine.s);
    pythia_overhead_set_limit(d->switching.overhead, d->engine.s.max_overhead_pct / 100);
    pythia_breaker_set_limit(d->switching.breaker, d->engine.s.breaker_ns);
    pythia__places_tell(&d->engine.s);
    d->reloads++;
    pythia_log(PYTHIA_LOG_INFO, "Read the settings again");
}
