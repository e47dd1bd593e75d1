/* One table describes an option: parsing, defaults, checks, --help, manual pages and completion are
 * made from its row, so that they cannot disagree. */
#include "pythia/option.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pythia/nearest.h"
#include "pythia/status.h"

#define OPTIONS_MAX 96
#define HELP_COLUMN 28
#define HELP_WIDTH  100

/* The value of getopt_long for the first long option, above all letters. Each has a number of its
 * own: a name cut so short that it fits two options with the same number would be taken for the
 * first of them. */
#define LONG_OPTION 256

/* Which word of "text|json|…" `text` is; -1: none. */
int pythia_option_choice_index(const char *choices, const char *text)
{
    size_t size = strlen(text);
    for (int index = 0;; index++) {
        size_t word = strcspn(choices, "|");
        if (word == size && memcmp(choices, text, size) == 0)
            return index;
        if (choices[word] == '\0')
            return -1;
        choices += word + 1;
    }
}

/* "64M": with the largest unit that needs no fraction. */
static void show_bytes(uint64_t bytes, struct pythia_buf *to)
{
    static const char *const units[] = {"", "K", "M", "G"};
    size_t unit = 0;
    for (; bytes > 0 && bytes % 1024 == 0 && unit < 3; unit++)
        bytes /= 1024;
    pythia_buf_printf(to, "%" PRIu64 "%s", bytes, units[unit]);
}

static int bad_bytes(const struct pythia_option *o, const char *text, struct pythia_error *e)
{
    struct pythia_buf range = {0};
    if (o->high > 0) {
        pythia_buf_puts(&range, " from ");
        show_bytes((uint64_t)o->low, &range);
        pythia_buf_puts(&range, " to ");
        show_bytes((uint64_t)o->high, &range);
    }
    int status =
        pythia_error_set(e, PYTHIA_EUSAGE, "--%s requires a number of bytes%s%s, not '%s'", o->name,
                         range.bytes ? range.bytes : "", o->high > 0 ? "" : " such as 64M", text);
    pythia_buf_free(&range);
    return status;
}

static int bad_value(const struct pythia_option *o, const char *text, struct pythia_error *e)
{
    switch (o->type) {
    case PYTHIA_OPTION_CHOICE:
        return pythia_error_set(e, PYTHIA_EUSAGE, "--%s must be one of %s, not '%s'", o->name,
                                o->choices, text);
    case PYTHIA_OPTION_BYTES:
        return bad_bytes(o, text, e);
    default:
        return pythia_error_set(e, PYTHIA_EUSAGE,
                                "--%s requires a number from %.15g to %.15g, not '%s'", o->name,
                                o->low, o->high, text);
    }
}

static bool parse_bytes(const char *text, double low, double high, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || strchr(text, '-')) /* strtoull takes " -1" for 2^64 - 1 */
        return false;
    const char *suffixes = "KMG", *suffix = *end ? strchr(suffixes, *end) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    if (end[suffix ? 1 : 0] != '\0' || number > UINT64_MAX >> shift)
        return false;
    uint64_t bytes = (uint64_t)number << shift;
    if (high > 0 && ((double)bytes < low || (double)bytes > high))
        return false;
    *out = bytes;
    return true;
}

static bool parse_integer(const char *text, double low, double high, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end != '\0' || (double)number < low || (double)number > high)
        return false;
    *out = number;
    return true;
}

static bool parse_real(const char *text, double low, double high, double *out)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (errno || end == text || *end != '\0' || !(number >= low && number <= high))
        return false;
    *out = number;
    return true;
}

/* The type of the option decides how its text is read, so that all commands and the configuration
 * accept the same spellings. */
int pythia_option_set(const struct pythia_option *o, void *settings, const char *text,
                      struct pythia_error *e)
{
    void *member = (char *)settings + o->offset;
    int index;
    switch (o->type) {
    case PYTHIA_OPTION_FLAG:
        *(bool *)member = true;
        return PYTHIA_OK;
    case PYTHIA_OPTION_TEXT:
        *(const char **)member = text;
        return PYTHIA_OK;
    case PYTHIA_OPTION_TEXTS: {
        struct pythia_option_texts *list = member;
        if (list->count == PYTHIA_OPTION_TEXTS_MAX)
            return pythia_error_set(e, PYTHIA_EUSAGE, "--%s may be given %d times at most", o->name,
                                    PYTHIA_OPTION_TEXTS_MAX);
        list->texts[list->count++] = text;
        return PYTHIA_OK;
    }
    case PYTHIA_OPTION_CHOICE:
        index = pythia_option_choice_index(o->choices, text);
        if (index < 0)
            return bad_value(o, text, e);
        *(int *)member = index;
        return PYTHIA_OK;
    case PYTHIA_OPTION_INTEGER:
        return parse_integer(text, o->low, o->high, member) ? PYTHIA_OK : bad_value(o, text, e);
    case PYTHIA_OPTION_REAL:
        return parse_real(text, o->low, o->high, member) ? PYTHIA_OK : bad_value(o, text, e);
    case PYTHIA_OPTION_BYTES:
        return parse_bytes(text, o->low, o->high, member) ? PYTHIA_OK : bad_value(o, text, e);
    }
    return PYTHIA_EINVAL;
}

static void show_texts(const struct pythia_option_texts *list, struct pythia_buf *to)
{
    for (size_t i = 0; i < list->count; i++)
        pythia_buf_printf(to, "%s%s", i ? "," : "", list->texts[i]);
}

/* Writes a value so that pythia_option_set reads the same value again. */
void pythia_option_show(const struct pythia_option *o, const void *settings, struct pythia_buf *to)
{
    const void *member = (const char *)settings + o->offset;
    const char *text, *word;
    switch (o->type) {
    case PYTHIA_OPTION_FLAG:
        pythia_buf_puts(to, *(const bool *)member ? "true" : "false");
        break;
    case PYTHIA_OPTION_TEXT:
        text = *(const char *const *)member;
        pythia_buf_puts(to, text ? text : "");
        break;
    case PYTHIA_OPTION_TEXTS:
        show_texts(member, to);
        break;
    case PYTHIA_OPTION_CHOICE:
        word = o->choices;
        for (int i = *(const int *)member; i > 0; i--)
            word += strcspn(word, "|") + 1;
        pythia_buf_add(to, word, strcspn(word, "|"));
        break;
    case PYTHIA_OPTION_INTEGER:
        pythia_buf_printf(to, "%" PRId64, *(const int64_t *)member);
        break;
    case PYTHIA_OPTION_REAL:
        pythia_buf_printf(to, "%.15g", *(const double *)member);
        break;
    case PYTHIA_OPTION_BYTES:
        show_bytes(*(const uint64_t *)member, to);
        break;
    }
}

/* Make a member what it is without a default and without being set. */
static void set_nothing(const struct pythia_option *o, void *settings)
{
    void *member = (char *)settings + o->offset;
    switch (o->type) {
    case PYTHIA_OPTION_FLAG:
        *(bool *)member = false;
        break;
    case PYTHIA_OPTION_TEXT:
        *(const char **)member = NULL;
        break;
    case PYTHIA_OPTION_TEXTS:
        ((struct pythia_option_texts *)member)->count = 0;
        break;
    case PYTHIA_OPTION_CHOICE:
        *(int *)member = 0;
        break;
    case PYTHIA_OPTION_INTEGER:
        *(int64_t *)member = 0;
        break;
    case PYTHIA_OPTION_REAL:
        *(double *)member = 0;
        break;
    case PYTHIA_OPTION_BYTES:
        *(uint64_t *)member = 0;
        break;
    }
}

void pythia_options_default(const struct pythia_option *table, void *settings)
{
    for (const struct pythia_option *o = table; o->name; o++) {
        set_nothing(o, settings);
        if (o->fallback)
            pythia_option_set(o, settings, o->fallback, NULL);
    }
}

static const struct pythia_option *find_letter(const struct pythia_option *table, int letter)
{
    for (const struct pythia_option *o = table; o->name; o++)
        if (o->letter && o->letter == letter)
            return o;
    return NULL;
}

/* Why getopt_long gave '?': `wrong` is its optopt, and `word` what it stopped at. */
static int bad_option(const struct pythia_option *table, int wrong, const char *word,
                      struct pythia_error *e)
{
    if (wrong >= LONG_OPTION)
        return pythia_error_set(e, PYTHIA_EUSAGE, "--%s takes no value",
                                table[wrong - LONG_OPTION].name);
    if (wrong)
        return pythia_error_set(e, PYTHIA_EUSAGE, "there is no option -%c", wrong);
    int size = (int)strcspn(word, "=");
    for (const struct pythia_option *o = table; o->name; o++)
        if (strncmp(o->name, word + 2, (size_t)size - 2) == 0)
            return pythia_error_set(e, PYTHIA_EUSAGE, "%.*s is ambiguous", size, word);
    struct pythia_nearest near = {.wanted = {word + 2, (size_t)size - 2}};
    for (const struct pythia_option *o = table; o->name; o++)
        pythia_nearest_offer(&near, pythia_text_of(o->name));
    if (near.best.size > 0)
        return pythia_error_set(e, PYTHIA_EUSAGE, "there is no option %.*s, did you mean --%s?",
                                size, word, near.best.bytes);
    return pythia_error_set(e, PYTHIA_EUSAGE, "there is no option %.*s", size, word);
}

static int missing_value(const struct pythia_option *table, int option, struct pythia_error *e)
{
    if (option >= LONG_OPTION)
        return pythia_error_set(e, PYTHIA_EUSAGE, "--%s requires a value",
                                table[option - LONG_OPTION].name);
    return pythia_error_set(e, PYTHIA_EUSAGE, "-%c requires a value", option);
}

int pythia_options_parse(const struct pythia_option *table, void *settings, int argc, char **argv,
                         int *first, struct pythia_error *e)
{
    struct option longs[OPTIONS_MAX + 1] = {{0}};
    char shorts[2 * OPTIONS_MAX + 2] =
        ":"; /* ':' first: a missing value is told from an unknown option */
    size_t count = 0, letters = 1;
    for (const struct pythia_option *o = table; o->name && count < OPTIONS_MAX; o++, count++) {
        bool takes = o->type != PYTHIA_OPTION_FLAG;
        longs[count] = (struct option){o->name, takes ? required_argument : no_argument, NULL,
                                       LONG_OPTION + (int)count};
        if (o->letter)
            shorts[letters++] = o->letter;
        if (o->letter && takes)
            shorts[letters++] = ':';
    }
    opterr = 0;
    optind = 0; /* of glibc: begin afresh, with permutation */
    for (int found; (found = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (found == ':')
            return missing_value(table, optopt, e);
        if (found == '?')
            return bad_option(table, optopt, argv[optind - 1], e);
        const struct pythia_option *o =
            found >= LONG_OPTION ? &table[found - LONG_OPTION] : find_letter(table, found);
        int status = pythia_option_set(o, settings, optarg, e);
        if (status != PYTHIA_OK)
            return status;
    }
    *first = optind;
    return PYTHIA_OK;
}

/* Append `text`, broken between words at HELP_WIDTH, continued at HELP_COLUMN; `column` is where
 * the line is. */
static void add_wrapped(struct pythia_buf *to, size_t column, const char *text)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + word > HELP_WIDTH) {
            pythia_buf_printf(to, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            pythia_buf_putc(to, ' ');
            column++;
        }
        pythia_buf_add(to, text, word);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
}

/* The text after the name of an option: " FILE", or " text|json" for a choice. */
static const char *value_name(const struct pythia_option *o)
{
    return o->type == PYTHIA_OPTION_CHOICE && !o->value ? o->choices : o->value;
}

/* "Sentence (default 4)" */
static void describe_option(const struct pythia_option *o, struct pythia_buf *to)
{
    pythia_buf_puts(to, o->help);
    if (o->type == PYTHIA_OPTION_CHOICE && o->value)
        pythia_buf_printf(to, ": %s", o->choices);
    if (o->fallback)
        pythia_buf_printf(to, " (default %s)", o->fallback);
}

void pythia_options_help(const struct pythia_option *table, struct pythia_buf *to)
{
    for (const struct pythia_option *o = table; o->name; o++) {
        struct pythia_buf head = {0}, body = {0};
        if (o->letter)
            pythia_buf_printf(&head, "  -%c, --%s", o->letter, o->name);
        else
            pythia_buf_printf(&head, "      --%s", o->name);
        if (o->type != PYTHIA_OPTION_FLAG)
            pythia_buf_printf(&head, " %s", value_name(o));
        describe_option(o, &body);
        pythia_buf_text_add(to, pythia_buf_text(&head));
        if (head.size + 2 > HELP_COLUMN)
            pythia_buf_printf(to, "\n%*s", HELP_COLUMN, "");
        else
            pythia_buf_printf(to, "%*s", (int)(HELP_COLUMN - head.size), "");
        add_wrapped(to, HELP_COLUMN, body.bytes ? body.bytes : "");
        pythia_buf_putc(to, '\n');
        pythia_buf_free(&head);
        pythia_buf_free(&body);
    }
}

/* scdoc takes '_', '*', '#' and '\' for marks. */
static void add_scdoc(struct pythia_buf *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("_*#\\[]|<>~", *text))
            pythia_buf_putc(to, '\\');
        pythia_buf_putc(to, *text);
    }
}

void pythia_options_scdoc(const struct pythia_option *table, struct pythia_buf *to)
{
    for (const struct pythia_option *o = table; o->name; o++) {
        struct pythia_buf body = {0};
        if (o->letter)
            pythia_buf_printf(to, "*-%c*, ", o->letter);
        pythia_buf_printf(to, "*--%s*", o->name);
        if (o->type != PYTHIA_OPTION_FLAG) {
            pythia_buf_puts(to, " _");
            add_scdoc(to, value_name(o));
            pythia_buf_putc(to, '_');
        }
        describe_option(o, &body);
        pythia_buf_puts(to, "\n\t");
        add_scdoc(to, body.bytes ? body.bytes : "");
        pythia_buf_puts(to, ".\n\n");
        pythia_buf_free(&body);
    }
}

/* ---- completion for shells ---- */

/* Are its words all that it takes, or those that are taken most? */
static bool has_words(const struct pythia_option *o)
{
    return o->type == PYTHIA_OPTION_CHOICE || (o->type == PYTHIA_OPTION_TEXT && o->choices);
}

static void add_choices(const struct pythia_option *o, struct pythia_buf *to)
{
    for (const char *word = o->choices; *word; word++)
        pythia_buf_putc(to, (char)(*word == '|' ? ' ' : *word));
}

void pythia_options_completion(const struct pythia_option *table, const char *before,
                               const char *after, struct pythia_buf *to)
{
    pythia_buf_puts(to, "        case $prev in\n");
    for (const struct pythia_option *o = table; o->name; o++) {
        if (!has_words(o))
            continue;
        pythia_buf_puts(to, "        ");
        if (o->letter)
            pythia_buf_printf(to, "-%c|", o->letter);
        pythia_buf_printf(to, "--%s) %s", o->name, before);
        add_choices(o, to);
        pythia_buf_printf(to, "%s; return ;;\n", after);
    }
    pythia_buf_puts(to, "        esac\n        options='--help");
    for (const struct pythia_option *o = table; o->name; o++)
        pythia_buf_printf(to, " --%s", o->name);
    pythia_buf_puts(to, "'\n");
}

/* A text in quotes that fish does not expand. */
static void add_fish_quoted(const char *text, struct pythia_buf *to)
{
    pythia_buf_putc(to, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            pythia_buf_putc(to, '\\');
        pythia_buf_putc(to, *text);
    }
    pythia_buf_putc(to, '\'');
}

void pythia_option_fish(const struct pythia_option *option, struct pythia_buf *to)
{
    pythia_buf_printf(to, " -l %s", option->name);
    if (option->letter)
        pythia_buf_printf(to, " -s %c", option->letter);
    if (has_words(option)) {
        pythia_buf_puts(to, " -x -a '");
        add_choices(option, to);
        pythia_buf_putc(to, '\'');
    } else if (option->type != PYTHIA_OPTION_FLAG) {
        pythia_buf_puts(to, " -r");
    }
    pythia_buf_puts(to, " -d ");
    add_fish_quoted(option->help, to);
    pythia_buf_putc(to, '\n');
}
