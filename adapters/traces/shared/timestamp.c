#include "timestamp.h"

#include <stddef.h>
#include <string.h>

#include "decoder.h"

static bool parse_digits(const char *from, size_t count, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < count; i++) {
        if (from[i] < '0' || from[i] > '9')
            return false;
        *out = *out * 10 + (from[i] - '0');
    }
    return true;
}

/* Days from 1970-01-01 to a date of the Gregorian calendar; months are counted from March, so that
 * a leap day is the last of its year. */
static int64_t count_days(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The date that `text` begins with, as seconds since 1970. */
static bool parse_date(struct pythia__day *known, const char *text, int64_t *out)
{
    if (!known->known || memcmp(known->text, text, sizeof(known->text)) != 0) {
        int64_t year, month, day;
        if (!parse_digits(text, 4, &year) || text[4] != '-' || !parse_digits(text + 5, 2, &month) ||
            text[7] != '-' || !parse_digits(text + 8, 2, &day) || month < 1 || month > 12 ||
            day < 1 || day > 31 || year < 1970)
            return false;
        memcpy(known->text, text, sizeof(known->text));
        known->begin_s = count_days(year, month, day) * 86400;
        known->known = true;
    }
    *out = known->begin_s;
    return true;
}

/* How many seconds a zone is ahead of UTC. */
static bool parse_zone(struct pythia_text zone, int64_t *out)
{
    int64_t hours, minutes;
    *out = 0;
    if (zone.size == 0 || PYTHIA_TEXT_IS(zone, "Z"))
        return true;
    const char *z = zone.bytes;
    if (zone.size != 6 || (z[0] != '+' && z[0] != '-') || !parse_digits(z + 1, 2, &hours) ||
        z[3] != ':' || !parse_digits(z + 4, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *out = (hours * 60 + minutes) * (z[0] == '-' ? -60 : 60);
    return true;
}

/* Written by hand, because strptime depends on the locale and knows no fractions. The last date is
 * remembered: most timestamps of a file have the same. */
bool pythia__parse_timestamp(struct pythia__day *day, struct pythia_text text, uint64_t *out_ns)
{
    const char *t = text.bytes;
    int64_t day_s, hour, minute, second, fraction = 0, ahead_s;
    if (text.size < 19 || !parse_date(day, t, &day_s) || (t[10] != 'T' && t[10] != ' ') ||
        !parse_digits(t + 11, 2, &hour) || t[13] != ':' || !parse_digits(t + 14, 2, &minute) ||
        t[16] != ':' || !parse_digits(t + 17, 2, &second) || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    size_t at = 19, count = 0;
    if (at < text.size && t[at] == '.') {
        at++;
        while (at + count < text.size && t[at + count] >= '0' && t[at + count] <= '9')
            count++;
        if (count == 0 || count > 9 || !parse_digits(t + at, count, &fraction))
            return false;
        at += count;
    }
    for (; count < 9; count++)
        fraction *= 10;
    if (!parse_zone((struct pythia_text){t + at, text.size - at}, &ahead_s))
        return false;
    int64_t seconds = day_s + hour * 3600 + minute * 60 + second - ahead_s;
    if (seconds < 0 || (uint64_t)seconds > PYTHIA__TIME_MAX / 1000000000 - 1)
        return false;
    *out_ns = (uint64_t)seconds * 1000000000 + (uint64_t)fraction;
    return true;
}
