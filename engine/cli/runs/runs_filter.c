#define _GNU_SOURCE
#include "runs_filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/run_json.h"
#include "pythia/shown_text.h"
#include "pythia/status.h"
#include "shared/command.h"

/* An age before now, "7d", or a date with or without a time. False: neither. */
static bool parse_time(const char *text, uint64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
    static const struct {
        char letter;
        int64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
    char *end;
    int64_t number = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (end != text && *end == units[i].letter && end[1] == '\0' && number >= 0 &&
            number < 1000000000) {
            int64_t then = (int64_t)time(NULL) - number * units[i].seconds;
            *ns = then > 0 ? (uint64_t)then * 1000000000 : 1;
            return true;
        }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm tm = {.tm_isdst = -1};
        const char *rest = strptime(text, forms[i], &tm);
        if (!rest || *rest)
            continue;
        time_t then = mktime(&tm);
        *ns = then > 0 ? (uint64_t)then * 1000000000 : 1;
        return true;
    }
    return false;
}

static int read_times(struct pythia__runs_filter *f, const struct pythia__runs_settings *s)
{
    const struct {
        const char *name, *text;
        uint64_t *ns;
    } times[] = {{"since", s->since, &f->filter.since_ns},
                 {"until", s->until, &f->filter.until_ns}};
    for (size_t i = 0; i < 2; i++)
        if (times[i].text && !parse_time(times[i].text, times[i].ns)) {
            pythia_log(PYTHIA_LOG_ERROR,
                       "--%s %s: expected a date (2026-11-25, 2026-11-25T08:30) or an age (90m, "
                       "12h, 7d)",
                       times[i].name, times[i].text);
            return PYTHIA__EXIT_USAGE;
        }
    return PYTHIA__EXIT_DONE;
}

static int read_pairs(struct pythia__runs_filter *f, const struct pythia__runs_settings *s)
{
    for (size_t i = 0; i < s->meta.count; i++) {
        const char *text = s->meta.texts[i], *equals = strchr(text, '=');
        if (!equals || equals == text) {
            pythia_log(PYTHIA_LOG_ERROR, "--meta %s: expected KEY=VALUE", text);
            return PYTHIA__EXIT_USAGE;
        }
        f->keys[i] = pythia_strndup(text, (size_t)(equals - text));
        if (!f->keys[i])
            return pythia__fail(PYTHIA_ENOMEM);
        f->pairs[i] = (struct pythia_run_pair){f->keys[i], equals + 1};
    }
    f->filter.meta = f->pairs;
    f->filter.meta_count = s->meta.count;
    return PYTHIA__EXIT_DONE;
}

static int log_and_fail(const struct pythia_error *why)
{
    pythia_log_error(PYTHIA_LOG_ERROR, why);
    return PYTHIA__EXIT_FAILED;
}

int pythia__runs_begin(struct pythia__runs_filter *f, const struct pythia__runs_settings *s)
{
    char path[4096];
    struct pythia_error why = {0};
    *f = (struct pythia__runs_filter){.filter = {.command = s->command,
                                                 .tag = s->tag,
                                                 .suite = s->suite,
                                                 .benchmark = s->benchmark,
                                                 .host = s->host,
                                                 .last = (uint64_t)s->last}};
    int code = read_times(f, s);
    if (code == PYTHIA__EXIT_DONE)
        code = read_pairs(f, s);
    if (code != PYTHIA__EXIT_DONE)
        return code;
    if (!s->db && pythia_run_store_default(false, path, sizeof(path), &why) != PYTHIA_OK)
        return log_and_fail(&why);
    if (pythia_run_store_open(s->db ? s->db : path, false, &f->store, &why) != PYTHIA_OK)
        return log_and_fail(&why);
    return PYTHIA__EXIT_DONE;
}

void pythia__runs_end(struct pythia__runs_filter *f)
{
    for (size_t i = 0; i < PYTHIA_OPTION_TEXTS_MAX; i++)
        pythia_free(f->keys[i]);
    pythia_run_store_close(f->store);
}

int pythia__runs_each(struct pythia__runs_filter *f, unsigned with, pythia_run_visit *visit,
                      void *context)
{
    struct pythia_error why = {0};
    int status = pythia_run_store_each(f->store, &f->filter, with, visit, context, &why);
    if (why.status)
        log_and_fail(&why);
    else if (status != PYTHIA_OK)
        pythia__fail(status);
    return status;
}

int pythia__runs_number(const char *text, int64_t *id)
{
    char *end;
    *id = strtoll(text, &end, 10);
    if (end != text && !*end && *id > 0)
        return PYTHIA__EXIT_DONE;
    pythia_log(PYTHIA_LOG_ERROR, "%s: expected the number of a run (pythia runs list)", text);
    return PYTHIA__EXIT_USAGE;
}

void pythia__runs_add_value(struct pythia_buf *to, enum pythia_run_unit unit, double value)
{
    static const struct {
        double size;
        const char *name;
    } units[2][4] = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}},
                     {{1073741824., "GiB"}, {1048576., "MiB"}, {1024., "KiB"}, {1, "B"}}};
    if (isnan(value)) {
        pythia_buf_putc(to, '-');
        return;
    }
    if (unit == PYTHIA_RUN_COUNT) {
        pythia_buf_printf(to, "%.0f", value);
        return;
    }
    size_t i = 0;
    while (i < 3 && fabs(value) < units[unit][i].size)
        i++;
    double shown = value / units[unit][i].size;
    int decimals = fabs(shown) < 10 && i < 3 ? 2 : fabs(shown) < 100 && i < 3 ? 1 : 0;
    pythia_buf_printf(to, "%.*f %s", decimals, shown, units[unit][i].name);
}

void pythia__runs_add_name(struct pythia_buf *to, const struct pythia_run *run, size_t columns)
{
    struct pythia_buf name = {0};
    if (run->benchmark)
        pythia_buf_puts(&name, run->benchmark);
    else
        pythia_run_command_show(run->command, &name);
    if (pythia_buf_status(&name) != PYTHIA_OK)
        to->failed = 1;
    pythia_shown_add(to, pythia_buf_text(&name), columns);
    pythia_buf_free(&name);
}

void pythia__runs_add_time(struct pythia_buf *to, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm local;
    char text[32] = "";
    if (localtime_r(&seconds, &local))
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
    pythia_buf_puts(to, text);
}

int pythia__runs_write(const char *output, struct pythia_buf *text, int status)
{
    if (status == PYTHIA_OK && (status = pythia_buf_status(text)) != PYTHIA_OK)
        pythia__fail(status);
    status = pythia__write_text(output, status, text);
    return status == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}
