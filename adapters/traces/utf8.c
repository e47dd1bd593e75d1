#include "utf8.h"

/* Bytes of the character that begins a text; 0 if none does, or it is NUL. */
static size_t character(struct pythia_text text)
{
    const unsigned char *at = (const unsigned char *)text.bytes;
    unsigned char lead = at[0], low = 0x80, high = 0xBF;
    if (lead < 0x80)
        return lead != 0;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (size > text.size)
        return 0;
    if (lead == 0xE0) /* what fewer bytes can say */
        low = 0xA0;
    else if (lead == 0xED) /* halves of surrogate pairs */
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4) /* beyond U+10FFFF */
        high = 0x8F;
    for (size_t i = 1; i < size; i++, low = 0x80, high = 0xBF)
        if (at[i] < low || at[i] > high)
            return 0;
    return size;
}

bool pythia__utf8_is_clean(struct pythia_text text)
{
    while (text.size > 0) {
        size_t size = character(text);
        if (size == 0)
            return false;
        text.bytes += size;
        text.size -= size;
    }
    return true;
}

void pythia__utf8_repair(struct pythia_text text, struct pythia_buf *out)
{
    while (text.size > 0) {
        size_t size = character(text), step = size ? size : 1;
        if (size)
            pythia_buf_add(out, text.bytes, size);
        else
            pythia_buf_puts(out, "\xEF\xBF\xBD");
        text.bytes += step;
        text.size -= step;
    }
}
