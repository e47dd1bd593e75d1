#include <math.h>
#include <string.h>

#include "pythia/shown_text.h"
#include "report_html.h"
#include "sentences/report_sentence.h"
#include "sentences/sentences.h"

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

void pythia__html_name(struct pythia__html *h, const char *name)
{
    struct pythia_buf shown = {0}, title = {0};
    bool shortened =
        pythia_shown_add(&shown, pythia_text_of(name[0] ? name : "(no name)"), NAME_LIMIT);
    pythia__html_open(h, "code", NULL);
    if (shortened) {
        pythia_shown_add(&title, pythia_text_of(name), TITLE_LIMIT);
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

void pythia__html_sentence(struct pythia__html *h, const char *sentence, const json_t *group)
{
    struct pythia__names names;
    pythia__names_of(&names, group);
    bool is_name;
    size_t size;
    for (const char *at = sentence;
         (size = pythia__sentence_piece(&names, sentence, at, &is_name)) > 0; at += size) {
        struct pythia_buf piece = {0};
        pythia_buf_add(&piece, at, size);
        if (is_name)
            pythia__html_name(h, piece.bytes ? piece.bytes : "");
        else
            pythia__html_prose(h, piece.bytes ? piece.bytes : "");
        if (piece.failed)
            h->out->failed = 1;
        pythia_buf_free(&piece);
    }
}

void pythia__html_unlike(struct pythia__html *h, const char *element, const json_t *group)
{
    struct pythia_buf text = {0};
    pythia__add_unlike(&text, group);
    if (text.size > 0) {
        pythia__html_open(h, element, "class", "sub", NULL);
        pythia__html_sentence(h, text.bytes, group);
        pythia__html_close(h);
    }
    if (text.failed)
        h->out->failed = 1;
    pythia_buf_free(&text);
}

static void add_event(struct pythia__html *h, const char *how, const json_t *event)
{
    pythia__html_open(h, "span", "class", "how", NULL);
    pythia__html_printf(h, "%s %s of ", how, pythia__string(event, "event"));
    pythia__html_close(h);
    pythia__html_name(h, pythia__string(event, "trace_point"));
}

static bool is_event(const json_t *event, const char *name)
{
    return strcmp(pythia__string(event, "event"), name) == 0;
}

void pythia__html_edge(struct pythia__html *h, const json_t *edge)
{
    const json_t *from = json_object_get(edge, "from"), *to = json_object_get(edge, "to");
    const char *first = pythia__string(from, "trace_point");
    bool same = strcmp(first, pythia__string(to, "trace_point")) == 0;
    if (same && is_event(from, "start") && is_event(to, "end")) {
        pythia__html_leaf(h, "span", "how", "inside ");
        pythia__html_name(h, first);
    } else if (same && is_event(from, "end") && is_event(to, "start")) {
        pythia__html_leaf(h, "span", "how", "between one ");
        pythia__html_name(h, first);
        pythia__html_leaf(h, "span", "how", " and the next");
    } else {
        add_event(h, "from the", from);
        add_event(h, " to the", to);
    }
}

/* Ids are made by us and hexadecimal; whatever else stands there must not make two words of it. */
void pythia__html_group_anchor(struct pythia_buf *to, const char *id)
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    pythia_buf_puts(to, "g-");
    for (size_t i = 0; id[i] && i < 32; i++)
        pythia_buf_add(to, strchr(allowed, id[i]) ? id + i : "-", 1);
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

static void draw_head_cells(struct pythia__html *h, const char *const *labels, size_t count)
{
    pythia__html_open(h, "thead", NULL);
    pythia__html_open(h, "tr", NULL);
    for (size_t i = 0; i < count; i++) {
        bool number = labels[i][0] == '>', two = labels[i][0] == '=';
        pythia__html_open(h, "th", "scope", two ? "colgroup" : "col", NULL);
        if (number)
            pythia__html_attribute(h, "class", "n");
        if (two)
            pythia__html_attribute(h, "colspan", "2");
        pythia__html_text(h, labels[i] + (number || two));
        pythia__html_close(h);
    }
    pythia__html_close(h);
    pythia__html_close(h);
}

void pythia__html_cell(struct pythia__html *h, const char *class, const char *label)
{
    pythia__html_open(h, "td", "class", class, NULL);
    if (label)
        pythia__html_attribute(h, "data-l", label);
}

void pythia__html_duration_cell(struct pythia__html *h, const char *label, double ns)
{
    pythia__html_cell(h, "n", label);
    pythia__html_duration(h, ns);
    pythia__html_close(h);
}

void pythia__html_percent_cell(struct pythia__html *h, const char *label, double part)
{
    pythia__html_cell(h, "n", label);
    pythia__html_percent(h, part);
    pythia__html_close(h);
}

void pythia__html_chance_cell(struct pythia__html *h, const char *label, double p)
{
    struct pythia_buf text = {0};
    pythia__html_cell(h, "n", label);
    pythia__add_chance_cell(&text, p);
    put_and_clear(h, &text);
    pythia__html_close(h);
}

void pythia__html_count_cell(struct pythia__html *h, const char *label, double count)
{
    pythia__html_cell(h, "n", label);
    pythia__html_count(h, count);
    pythia__html_close(h);
}

void pythia__html_bar_cell(struct pythia__html *h, const char *class, double value)
{
    pythia__html_cell(h, "b", NULL);
    pythia__html_bar(h, class, value, NAN, NAN);
    pythia__html_close(h);
}

void pythia__html_table_begin(struct pythia__html *h, const char *class, const char *const *labels,
                              size_t count)
{
    pythia__html_open(h, "table", "class", class, NULL);
    draw_head_cells(h, labels, count);
    pythia__html_open(h, "tbody", NULL);
}

void pythia__html_table_end(struct pythia__html *h)
{
    pythia__html_close(h);
    pythia__html_close(h);
}

void pythia__html_found(struct pythia__html *h, const json_t *finding, const json_t *of)
{
    static const char *const parts_of_it[] = {"where", "why"};
    for (size_t i = 0; i < 2; i++) {
        const char *sentence = pythia__string(finding, parts_of_it[i]);
        if (!sentence[0])
            continue;
        pythia__html_open(h, "span", "class", "found", NULL);
        pythia__html_sentence(h, sentence, of);
        pythia__html_close(h);
    }
}

void pythia__html_notes(struct pythia__html *h, const json_t *finding, const json_t *of)
{
    for (size_t i = 0; i < PYTHIA__NOTES; i++) {
        if (!pythia__string(finding, pythia__notes[i])[0])
            continue;
        pythia__html_open(h, "p", "class", "note", NULL);
        pythia__html_sentence(h, pythia__string(finding, pythia__notes[i]), of);
        pythia__html_close(h);
    }
}

static void write_meta(struct pythia__html *h, const char *kind, const char *name,
                       const char *content)
{
    pythia__html_open(h, "meta", kind, name, "content", content, NULL);
    pythia__html_close(h);
}

#define NOTHING_LOADED                                                                             \
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "              \
    "form-action 'none'"

void pythia__html_head(struct pythia__html *h, const char *title)
{
    pythia__html_open(h, "head", NULL);
    pythia__html_open(h, "meta", "charset", "utf-8", NULL);
    pythia__html_close(h);
    /* Nothing else is loaded or runs, even if a name found a way to be markup. */
    write_meta(h, "http-equiv", "Content-Security-Policy", NOTHING_LOADED);
    write_meta(h, "name", "viewport", "width=device-width,initial-scale=1");
    write_meta(h, "name", "referrer", "no-referrer");
    pythia__html_leaf(h, "title", NULL, title);
    pythia__html_sheet(h);
    pythia__html_close(h);
}

void pythia__html_share_cells(struct pythia__html *h, const char *class, double share)
{
    pythia__html_bar_cell(h, class, share);
    pythia__html_percent_cell(h, "share", share);
}

void pythia__html_size_cells(struct pythia__html *h, const json_t *of)
{
    pythia__html_count_cell(h, "requests", pythia__number(of, "count"));
    pythia__html_duration_cell(h, "mean", pythia__number(of, "mean_ns"));
}

void pythia__html_mean_row(struct pythia__html *h, const char *name, const json_t *of,
                           double largest_ns)
{
    double mean = pythia__number(of, "mean_ns");
    pythia__html_open(h, "tr", NULL);
    pythia__html_open(h, "th", "scope", "row", NULL);
    pythia__html_name(h, name);
    pythia__html_close(h);
    pythia__html_bar_cell(h, "time", largest_ns > 0 ? mean / largest_ns : 0);
    pythia__html_duration_cell(h, NULL, mean);
    pythia__html_count_cell(h, "requests", pythia__number(of, "requests"));
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
