/* Pages read as XML. */
#ifndef PAGE_READER_H
#define PAGE_READER_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pythia/buf.h"

/* Reads a page as XML, which is stricter than HTML: what it takes, every browser takes in the same
 * way. What it saw of tags and names of attributes is gathered in `tags`, without the places where
 * lines may break. */
struct xml_reader {
    const char *at;
    struct pythia_buf tags;
    char open[64][24];
    size_t depth;
};

static inline size_t xml_name_size(const char *at)
{
    size_t size = 0;
    while (isalnum((unsigned char)at[size]) || (size > 0 && at[size] == '-'))
        size++;
    return size;
}

/* Text or the value of an attribute up to `end`: references are known ones, and there is no control
 * character. */
static inline void xml_read_text(struct xml_reader *r, char end)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *r->at && *r->at != end; r->at++) {
        size_t found = 0;
        for (size_t i = 0; i < 5; i++)
            found += strncmp(r->at, known[i], strlen(known[i])) == 0;
        if (*r->at == '&' && !found)
            fail_msg("no reference: %.40s", r->at);
        if (((unsigned char)*r->at < ' ' && *r->at != '\n') || *r->at == '<' || *r->at == 0x7F)
            fail_msg("a character that must not be here: %.40s", r->at);
    }
}

static inline void xml_read_attributes(struct xml_reader *r)
{
    const char *first = r->at;
    while (*r->at == ' ') {
        size_t size = xml_name_size(++r->at);
        assert_true(size > 0 && r->at[size] == '=' && r->at[size + 1] == '"');
        char again[32];
        assert_true(size + 4 < sizeof(again));
        snprintf(again, sizeof(again), " %.*s=\"", (int)size, r->at);
        const char *same = strstr(first, again);
        assert_ptr_equal(same, r->at - 1); /* no attribute stands twice */
        pythia_buf_printf(&r->tags, " %.*s", (int)size, r->at);
        r->at += size + 2;
        xml_read_text(r, '"');
        assert_int_equal(*r->at++, '"');
    }
}

static inline void xml_read_tag(struct xml_reader *r)
{
    bool closing = r->at[1] == '/';
    r->at += 1 + closing;
    size_t size = xml_name_size(r->at);
    assert_in_range(size, 1, 23);
    size_t before = r->tags.size;
    pythia_buf_printf(&r->tags, "<%s%.*s", closing ? "/" : "", (int)size, r->at);
    bool is_break = size == 3 && strncmp(r->at, "wbr", 3) == 0;
    if (closing) {
        assert_true(r->depth > 0);
        const char *open = r->open[--r->depth];
        assert_int_equal(strlen(open), size);
        assert_memory_equal(open, r->at, size);
        r->at += size;
    } else {
        assert_true(r->depth < 64);
        snprintf(r->open[r->depth++], sizeof(r->open[0]), "%.*s", (int)size, r->at);
        r->at += size;
        xml_read_attributes(r);
        if (*r->at == '/') {
            r->at++;
            r->depth--;
        }
    }
    assert_int_equal(*r->at++, '>');
    if (is_break) {
        r->tags.size = before;
        r->tags.bytes[before] = '\0';
    }
}

/* The tags of a page. The caller frees them. */
static inline struct pythia_buf tags_of(const char *page)
{
    static const char doctype[] = "<!DOCTYPE html>\n";
    struct xml_reader r = {0};
    assert_memory_equal(page, doctype, sizeof(doctype) - 1);
    r.at = page + sizeof(doctype) - 1;
    while (*r.at) {
        if (*r.at == '<')
            xml_read_tag(&r);
        else
            xml_read_text(&r, '<');
    }
    assert_int_equal(r.depth, 0);
    return r.tags;
}

/* The page without <wbr/>, so that names in it can be looked for. */
static inline char *without_breaks(const char *page)
{
    char *out = malloc(strlen(page) + 1), *to = out;
    while (*page) {
        if (strncmp(page, "<wbr/>", 6) == 0)
            page += 6;
        else
            *to++ = *page++;
    }
    *to = '\0';
    return out;
}

#endif
