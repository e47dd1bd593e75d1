#include "base64_id.h"

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool pythia__parse_base64_id(struct pythia_text text, size_t wanted, uint64_t *high, uint64_t *low)
{
    while (text.size > 0 && text.bytes[text.size - 1] == '=')
        text.size--;
    if (text.size != (wanted * 8 + 5) / 6)
        return false;
    *high = *low = 0;
    size_t bits = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = base64_digit(text.bytes[i]);
        if (digit < 0)
            return false;
        size_t take = wanted * 8 - bits < 6 ? wanted * 8 - bits : 6;
        *high = *high << take | *low >> (64 - take);
        *low = *low << take | (uint64_t)digit >> (6 - take);
        bits += take;
    }
    return true;
}
