/* Text from traces in GitHub-flavoured Markdown (GitHub Flavored Markdown Spec, version 0.29). */
#include "markdown_writer.h"

#include <stdint.h>
#include <string.h>

#include "pythia/shown_text.h"

#define NAME_LIMIT  160 /* characters of a name */
#define PROSE_LIMIT 600 /* of what stands between names */

/* The longest run of backticks. */
static size_t longest_run(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t run = strspn(text, "`");
        longest = run > longest ? run : longest;
        text += run + strcspn(text + run, "`");
    }
    return longest;
}

static void add_fence(struct pythia_buf *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        pythia_buf_putc(to, '`');
}

/* A pipe would end the cell of a table, even in a code span. Behind a backslash it cannot be
 * escaped: tables and code spans read two backslashes in different ways; there stands its code. */
static void add_without_pipes(struct pythia_buf *to, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        if (text[i] != '|')
            pythia_buf_putc(to, text[i]);
        else
            pythia_buf_puts(to, i > 0 && text[i - 1] == '\\' ? "x7c" : "\\|");
    }
}

/* The span is fenced by one backtick more than the name has in a row, and spaces keep those at its
 * ends apart from the fence; the reader takes them away again. */
static void add_markdown_code(struct pythia_buf *to, const char *name, size_t limit, bool in_table)
{
    struct pythia_buf shown = {0};
    pythia_shown_add(&shown, pythia_text_of(name[0] ? name : "(no name)"), limit);
    const char *text = shown.bytes ? shown.bytes : "";
    size_t backticks = longest_run(text);
    bool pad = backticks > 0 || text[0] == ' ';
    add_fence(to, backticks + 1);
    pythia_buf_puts(to, pad ? " " : "");
    if (in_table)
        add_without_pipes(to, text);
    else
        pythia_buf_puts(to, text);
    pythia_buf_puts(to, pad ? " " : "");
    add_fence(to, backticks + 1);
    if (shown.failed)
        to->failed = 1;
    pythia_buf_free(&shown);
}

void pythia__markdown_name(struct pythia_buf *to, const char *name, bool in_table)
{
    add_markdown_code(to, name, NAME_LIMIT, in_table);
}

void pythia__markdown_code(struct pythia_buf *to, const char *text)
{
    add_markdown_code(to, text, SIZE_MAX, false);
}

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_ascii_digit(c);
}

/* Would GitHub read more than itself in a character of a sentence? A '.' or ':' is a part of a link
 * or a picture ("www." alone is a link), unless a word ends there or it is in a number; an '@' or
 * '#' begins a mention or a reference, unless nothing follows. */
static bool is_linking(char last, char c, char next)
{
    bool ends = next == '\0' || next == ' ';
    if (c == '.')
        return ends ? last == 'w' || last == 'W' : !(is_ascii_digit(last) && is_ascii_digit(next));
    return strchr(":@#", c) && !ends;
}

/* Text between names. It never begins a line, so what is markup only there may stay. An
 * underscore between letters is none of GitHub's emphasis. A comment without text breaks links
 * before their '.' or ':', and mentions and references behind their '@' or '#'. */
void pythia__markdown_prose(struct pythia_buf *to, const char *text)
{
    static const char markup[] = "\\`*_[]<#|~&$", comment[] = "<!-- -->";
    struct pythia_glyph glyph;
    struct pythia_buf shown = {0};
    char last = ' ';
    pythia_shown_add(&shown, pythia_text_of(text), PROSE_LIMIT);
    for (struct pythia_text rest = {shown.bytes, shown.size}; pythia_glyph_next(&rest, &glyph);) {
        char c = 'a'; /* No character outside of ASCII is markup. */
        char next = (char)(rest.size > 0 ? rest.bytes[0] : '\0');
        if (glyph.size == 1)
            c = glyph.bytes[0];
        bool inside = c == '_' && is_letter(last) && is_letter(next);
        bool linking = is_linking(last, c, next), before = c == '.' || c == ':';
        pythia_buf_puts(to, linking && before ? comment : "");
        pythia_buf_puts(to, strchr(markup, c) && !inside ? "\\" : "");
        pythia_buf_add(to, glyph.bytes, glyph.size);
        pythia_buf_puts(to, linking && !before ? comment : "");
        last = c;
    }
    if (shown.failed)
        to->failed = 1;
    pythia_buf_free(&shown);
}
