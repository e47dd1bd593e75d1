/* Names that a trace may bring, and verdicts with a name of choice wherever a trace can put one. */
#ifndef REPORT_SAMPLE_H
#define REPORT_SAMPLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "pythia/buf.h"
#include "pythia/status.h"

/* What a trace may bring. None of them may be longer in visible characters than names are shown. */
static const char *const sample_hostile[] = {
    "<script>alert(1)</script>",
    "\"onload=\"alert(1)",
    "' onmouseover='alert(1)",
    "]]>",
    "-->",
    "<!--",
    "</style></title></svg>",
    "&lt;b&gt; &#60;i&#62; &amp",
    "a|b||c",
    "a\\|b\\\\|c\\",
    "`a` ``b`` `",
    "```",
    "[link](http://example.org) ![picture](x)",
    "http://example.org/?a=1&b=2",
    "www.1example.org",
    "someone@example.org @team #123 :smile: $x$",
    "**bold** _a_ ~~gone~~ # heading",
    "| --- | --- |",
    "first\nsecond\r\n\n# third\n| a | b |\n| --- | --- |\n",
    "\t tab \x01 \x1b[31m red \x7f",
    "exe\xE2\x80\xAEgpj.exe",
    "\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\xEF\xBF\xBE\xF3\xA0\x81\x81",
    " ",
    "",
    "%s%n%d",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xF0\x9F\x94\xA5",
};

#define SAMPLE_HOSTILE (sizeof(sample_hostile) / sizeof(sample_hostile[0]))

/* Nothing, or nothing but spaces, cannot be told from the rest of a sentence. */
static inline bool sample_can_be_set_apart(const char *name)
{
    return name[strspn(name, " ")] != '\0';
}

static inline json_t *sample_event(const char *name, const char *event)
{
    return json_pack("{s:s, s:s}", "trace_point", name, "event", event);
}

static inline json_t *sample_sentence(const char *before, const char *name)
{
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "%s%s.", before, name);
    json_t *out = json_stringn(text.bytes, text.size);
    pythia_buf_free(&text);
    return out;
}

/* What is found of a type, shown by a group. */
static inline json_t *sample_verdict(const char *name, const char *group, const char *state)
{
    json_t *edge = json_pack("{s:o, s:o}", "from", sample_event(name, "start"), "to",
                             sample_event(name, "end"));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:[{s:O, s:f}], s:[{s:o, s:f}], s:o, "
                     "s:{s:s}, s:s, s:i, s:i, s:I, s:o}",
                     "request_type", name, "state", state, "sentence",
                     sample_sentence("97 % lies inside ", name), "where",
                     sample_sentence("97 % lies inside ", name), "why",
                     sample_sentence("It goes with ", name), "confidence", "high", "standing",
                     "Confidence is high.", "found", "edge", edge, "share", .97, "also_seen",
                     "edge", edge, "share", .1, "also", sample_sentence("Also seen: ", name),
                     "explanation", "key", name, "group", group, "requests", 40, "since_cycle", 2,
                     "since_unix_ns", (json_int_t)1700003600 * 1000000000, "change",
                     sample_sentence("Before cycle 2 it was ", name));
}

/* A report with three verdicts, and `name` in all places that a trace can fill. */
static inline json_t *sample_report(const char *name)
{
    return json_pack("{s:[o,o,o]}", "verdicts", sample_verdict(name, "00000000000000aa", "found"),
                     sample_verdict(name, "00000000000000bb", "found"),
                     sample_verdict(name, "00000000000000bb", "too_few"));
}

/* A name of `size` bytes without places to break. */
static inline char *sample_long_name(size_t size)
{
    char *name = malloc(size + 1);
    memset(name, 'x', size);
    memcpy(name, "begin", 5);
    memcpy(name + size - 3, "end", 3);
    name[size] = '\0';
    return name;
}

static inline size_t sample_count(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

#endif
