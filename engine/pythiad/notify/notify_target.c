#include "notify_target.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pythia/json_text.h"
#include "pythia/option.h"
#include "pythia/status.h"

int pythia__notify_target_read(const char *text, struct pythia__notify_target *out,
                               struct pythia_error *e)
{
    size_t size = strcspn(text, " ");
    const char *format = text + size + strspn(text + size, " ");
    int index = *format ? pythia_option_choice_index(PYTHIA__NOTIFY_FORMATS, format) : 0;
    if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "notify requires a url that begins with http:// or https://");
    if (size >= sizeof(out->url))
        return pythia_error_set(e, PYTHIA_EUSAGE, "a url of notify has more than %zu bytes",
                                sizeof(out->url) - 1);
    if (index < 0)
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "the formats of notify are " PYTHIA__NOTIFY_FORMATS ", not '%.40s'",
                                format);
    memcpy(out->url, text, size);
    out->url[size] = '\0';
    out->format = (enum pythia__notify_format)index;
    return PYTHIA_OK;
}

/* ---- bodies ---- */

#define ALERT_S 86400 /* an alert that nothing refutes ends after a day */

static const char *text_of(const json_t *verdict, const char *member)
{
    const char *text = json_string_value(json_object_get(verdict, member));
    return text ? text : "";
}

/* Names come from traced programs: what Slack gives a meaning, such as <!channel>, is escaped. */
static void add_slack_text(struct pythia_buf *to, const char *text)
{
    for (; *text; text++)
        if (*text == '&')
            pythia_buf_puts(to, "&amp;");
        else if (*text == '<')
            pythia_buf_puts(to, "&lt;");
        else if (*text == '>')
            pythia_buf_puts(to, "&gt;");
        else
            pythia_buf_putc(to, *text);
}

/* The change of a refuted verdict, which says more than the verdict that took its place. There is
 * none if no place is known that the verdict had. */
static const char *summarize(const json_t *verdict, bool refuted)
{
    const char *change = text_of(verdict, "change");
    return refuted && *change ? change : text_of(verdict, "sentence");
}

static json_t *make_slack(const json_t *verdict, bool refuted)
{
    struct pythia_buf text = {0};
    add_slack_text(&text, text_of(verdict, "request_type"));
    pythia_buf_puts(&text, refuted ? ": refuted. " : ": ");
    add_slack_text(&text, summarize(verdict, refuted));
    if (!refuted) {
        pythia_buf_puts(&text, " ");
        add_slack_text(&text, text_of(verdict, "standing"));
    }
    json_t *out = text.bytes ? json_pack("{s:s}", "text", text.bytes) : NULL;
    pythia_buf_free(&text);
    return out;
}

static json_t *time_of(uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&seconds, &parts))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
}

/* A refutation is the same alert, which ends now: Alertmanager knows an alert by its labels. */
static json_t *make_alert(const json_t *verdict, bool refuted, uint64_t unix_ns)
{
    uint64_t end = refuted ? unix_ns : unix_ns + UINT64_C(1000000000) * ALERT_S;
    return json_pack("[{s:{s:s, s:s}, s:{s:s, s:s}, s:o, s:o}]", "labels", "alertname",
                     "PythiaVerdict", "request_type", text_of(verdict, "request_type"),
                     "annotations", "summary", summarize(verdict, refuted), "description",
                     text_of(verdict, "standing"), "startsAt", time_of(unix_ns), "endsAt",
                     time_of(end));
}

int pythia__notify_body(enum pythia__notify_format format, const json_t *verdict, bool refuted,
                        uint64_t unix_ns, struct pythia_buf *to)
{
    json_t *body = NULL;
    if (format == PYTHIA__NOTIFY_SLACK)
        body = make_slack(verdict, refuted);
    else if (format == PYTHIA__NOTIFY_ALERTMANAGER)
        body = make_alert(verdict, refuted, unix_ns);
    else
        body = json_pack("{s:s, s:I, s:O}", "event", refuted ? "verdict.refuted" : "verdict.new",
                         "unix_ns", (json_int_t)unix_ns, "verdict", verdict);
    int status = pythia_json_put(to, body, JSON_COMPACT, "");
    json_decref(body);
    return status;
}
