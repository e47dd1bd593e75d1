#include "html_writer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pythia/shown_text.h"

/* Elements that never have content. In HTML no other may be written as "<p/>". */
static bool is_empty(const char *element)
{
    static const char *const empty[] = {"br", "line", "meta", "path", "wbr"};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
        if (strcmp(element, empty[i]) == 0)
            return true;
    return false;
}

/* The tag of the innermost element is complete: what comes now is its content. */
static void end_tag(struct pythia__html *h)
{
    if (h->in_tag)
        pythia_buf_putc(h->out, '>');
    h->in_tag = false;
}

void pythia__html_begin(struct pythia__html *h, struct pythia_buf *out)
{
    *h = (struct pythia__html){.out = out};
    pythia_buf_puts(out, "<!DOCTYPE html>\n");
}

void pythia__html_end(struct pythia__html *h)
{
    assert(h->depth == 0);
    pythia_buf_putc(h->out, '\n');
    if (h->scratch.failed) /* A text was lost on the way: the document is not whole. */
        h->out->failed = 1;
    pythia_buf_free(&h->scratch);
}

void pythia__html_open(struct pythia__html *h, const char *element, ...)
{
    assert(h->depth < PYTHIA__HTML_DEPTH);
    end_tag(h);
    pythia_buf_putc(h->out, '<');
    pythia_buf_puts(h->out, element);
    h->elements[h->depth++] = element;
    h->in_tag = true;
    va_list attributes;
    va_start(attributes, element);
    for (const char *name; (name = va_arg(attributes, const char *)) != NULL;)
        pythia__html_attribute(h, name, va_arg(attributes, const char *));
    va_end(attributes);
}

void pythia__html_close(struct pythia__html *h)
{
    assert(h->depth > 0);
    const char *element = h->elements[--h->depth];
    if (is_empty(element)) {
        assert(h->in_tag);
        pythia_buf_puts(h->out, "/>");
        h->in_tag = false;
        return;
    }
    end_tag(h);
    pythia_buf_puts(h->out, "</");
    pythia_buf_puts(h->out, element);
    pythia_buf_putc(h->out, '>');
    /* Lines make the file fit for diff and less; spaces between these elements mean nothing. */
    static const char *const blocks[] = {"dl", "div", "figure", "g", "p", "section", "style", "tr"};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        if (strcmp(element, blocks[i]) == 0)
            pythia_buf_putc(h->out, '\n');
}

void pythia__html_attribute(struct pythia__html *h, const char *name, const char *value)
{
    assert(h->in_tag);
    pythia_buf_putc(h->out, ' ');
    pythia_buf_puts(h->out, name);
    pythia_buf_puts(h->out, "=\"");
    pythia_shown_markup(h->out, pythia_text_of(value));
    pythia_buf_putc(h->out, '"');
}

/* Formatted into the scratch; "" when that fails, which `end` tells. */
static const char *format_into_scratch(struct pythia__html *h, const char *format,
                                       va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    pythia_buf_clear(&h->scratch);
    char *room = size >= 0 ? pythia_buf_reserve(&h->scratch, (size_t)size + 1) : NULL;
    if (room)
        vsnprintf(room, (size_t)size + 1, format, again);
    va_end(again);
    return room ? room : "";
}

void pythia__html_attribute_printf(struct pythia__html *h, const char *name, const char *format,
                                   ...)
{
    va_list arguments;
    va_start(arguments, format);
    pythia__html_attribute(h, name, format_into_scratch(h, format, arguments));
    va_end(arguments);
}

void pythia__html_text(struct pythia__html *h, const char *text)
{
    end_tag(h);
    pythia_shown_markup(h->out, pythia_text_of(text));
}

void pythia__html_printf(struct pythia__html *h, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pythia__html_text(h, format_into_scratch(h, format, arguments));
    va_end(arguments);
}

void pythia__html_leaf(struct pythia__html *h, const char *element, const char *class,
                       const char *text)
{
    pythia__html_open(h, element, NULL);
    if (class)
        pythia__html_attribute(h, "class", class);
    pythia__html_text(h, text);
    pythia__html_close(h);
}

void pythia__html_style(struct pythia__html *h, const char *const *rules, size_t count)
{
    end_tag(h);
    for (size_t i = 0; i < count; i++) {
        assert(!strpbrk(rules[i], "<&"));
        pythia_buf_puts(h->out, rules[i]);
        pythia_buf_putc(h->out, '\n');
    }
}
