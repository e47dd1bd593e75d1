/* Text in JSON. */
#ifndef PYTHIA_CONTROLS_JSON_TEXT_H
#define PYTHIA_CONTROLS_JSON_TEXT_H

#include "pythia/buf.h"

/* Append a string with its quotes. What is not UTF-8 was refused before. */
static inline void pythia__json_text(struct pythia_buf *to, struct pythia_text text)
{
    pythia_buf_putc(to, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (c == '"' || c == '\\')
            pythia_buf_putc(to, '\\');
        if (c < ' ')
            pythia_buf_printf(to, "\\u%04x", c);
        else
            pythia_buf_putc(to, (char)c);
    }
    pythia_buf_putc(to, '"');
}

#endif
