#include "page_pieces.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pythia/shown_text.h"
#include "write/words.h"

#define NAME_LIMIT  140  /* characters of a name that are shown */
#define TITLE_LIMIT 1000 /* of those in its title */
#define PROSE_LIMIT 600  /* of what stands between names */
#define BREAK_FROM  24   /* a shorter name needs no places to break */

static void put_and_clear(struct pythia__html *h, struct pythia_buf *text)
{
    pythia__html_text(h, text->bytes ? text->bytes : "");
    if (text->failed)
        h->out->failed = 1;
    pythia_buf_free(text);
}

void pythia__html_duration(struct pythia__html *h, double ns)
{
    struct pythia_buf text = {0};
    pythia__add_duration(&text, ns);
    put_and_clear(h, &text);
}

void pythia__html_percent(struct pythia__html *h, double part)
{
    struct pythia_buf text = {0};
    pythia__add_percent(&text, part);
    put_and_clear(h, &text);
}

void pythia__html_count(struct pythia__html *h, double count)
{
    struct pythia_buf text = {0};
    if (isfinite(count))
        pythia__add_count(&text, count);
    else
        pythia_buf_putc(&text, '-');
    put_and_clear(h, &text);
}

void pythia__html_things(struct pythia__html *h, double count, const char *one, const char *many)
{
    pythia__html_count(h, count);
    pythia__html_printf(h, " %s", count == 1 ? one : many);
}

/* Names are made of parts: a line may break behind what parts them. */
static void add_parts(struct pythia__html *h, const char *name)
{
    static const char separators[] = ":/.-_@,&=|";
    struct pythia_buf part = {0};
    for (size_t i = 0; name[i]; i++) {
        pythia_buf_putc(&part, name[i]);
        if (!strchr(separators, name[i]) || !name[i + 1] || strchr(separators, name[i + 1]))
            continue;
        pythia__html_text(h, part.bytes ? part.bytes : "");
        pythia_buf_clear(&part);
        pythia__html_open(h, "wbr", NULL);
        pythia__html_close(h);
    }
    put_and_clear(h, &part);
}

void pythia__html_name(struct pythia__html *h, struct pythia_text name, struct pythia_text full)
{
    struct pythia_buf shown = {0}, title = {0};
    bool shortened =
        pythia_shown_add(&shown, name.size ? name : PYTHIA_TEXT("(no name)"), NAME_LIMIT);
    pythia__html_open(h, "code", NULL);
    if (shortened || !pythia_text_equal(name, full)) {
        pythia_shown_add(&title, full, TITLE_LIMIT);
        pythia__html_attribute(h, "title", title.bytes ? title.bytes : "");
    }
    if (shown.size > BREAK_FROM)
        add_parts(h, shown.bytes);
    else
        pythia__html_text(h, shown.bytes ? shown.bytes : "");
    pythia__html_close(h);
    if (shown.failed || title.failed)
        h->out->failed = 1;
    pythia_buf_free(&shown);
    pythia_buf_free(&title);
}

void pythia__html_prose(struct pythia__html *h, const char *text)
{
    struct pythia_buf shown = {0};
    pythia_shown_add(&shown, pythia_text_of(text), PROSE_LIMIT);
    put_and_clear(h, &shown);
}

static double clamp_to_unit(double value)
{
    return value >= 0 ? fmin(value, 1) * 100 : 0; /* NaN gives 0 */
}

void pythia__html_bar(struct pythia__html *h, const char *class, double value, double low,
                      double high)
{
    bool interval = low <= high;
    pythia__html_open(h, "span", "aria-hidden", "true", NULL);
    pythia__html_attribute_printf(h, "class", "bar %s%s", class, interval ? " iv" : "");
    if (interval)
        pythia__html_attribute_printf(h, "style", "--v:%.1f%%;--l:%.1f%%;--h:%.1f%%",
                                      clamp_to_unit(value), clamp_to_unit(low),
                                      clamp_to_unit(high));
    else
        pythia__html_attribute_printf(h, "style", "--v:%.1f%%", clamp_to_unit(value));
    pythia__html_text(h, "");
    pythia__html_close(h);
}

void pythia__html_cell(struct pythia__html *h, const char *class, const char *label)
{
    pythia__html_open(h, "td", "class", class, NULL);
    if (label)
        pythia__html_attribute(h, "data-l", label);
}

static void write_meta(struct pythia__html *h, const char *kind, const char *name,
                       const char *content)
{
    pythia__html_open(h, "meta", kind, name, "content", content, NULL);
    pythia__html_close(h);
}

/* A script that keeps the document current, and what stands in for it where scripts do not run. */
static void write_script(struct pythia__html *h, const char *path, unsigned refresh_s)
{
    char seconds[16];
    pythia__html_open(h, "script", "src", path, "defer", "", NULL);
    pythia__html_close(h);
    snprintf(seconds, sizeof(seconds), "%u", refresh_s);
    pythia__html_open(h, "noscript", NULL);
    write_meta(h, "http-equiv", "refresh", seconds);
    pythia__html_close(h);
}

#define NOTHING_LOADED                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "              \
    "form-action 'none'"

void pythia__html_head(struct pythia__html *h, const char *title, const char *script,
                       unsigned refresh_s)
{
    pythia__html_open(h, "head", NULL);
    pythia__html_open(h, "meta", "charset", "utf-8", NULL);
    pythia__html_close(h);
    /* Nothing else is loaded or runs, even if a name found a way to be markup. */
    write_meta(h, "http-equiv", "Content-Security-Policy",
               script ? NOTHING_LOADED "; script-src 'self'; connect-src 'self'" : NOTHING_LOADED);
    write_meta(h, "name", "viewport", "width=device-width,initial-scale=1");
    write_meta(h, "name", "referrer", "no-referrer");
    if (script)
        write_script(h, script, refresh_s);
    pythia__html_leaf(h, "title", NULL, title);
    pythia__html_sheet(h);
    pythia__html_close(h);
}

void pythia__html_part_link(struct pythia__html *h, const char *id, const char *text)
{
    pythia__html_open(h, "li", NULL);
    pythia__html_open(h, "a", NULL);
    pythia__html_attribute_printf(h, "href", "#%s", id);
    pythia__html_text(h, text);
    pythia__html_close(h);
    pythia__html_close(h);
}
