#include "help.h"

#include <stdio.h>
#include <string.h>

#include "completion.h"
#include "pythia/log.h"
#include "pythia/nearest.h"
#include "pythia/status.h"

#ifndef PYTHIA_BUILD
#error "the build names the version"
#endif

static const char about[] = "Finds where the latency variance of similar requests arises in a "
                            "distributed system, which trace points would show more, and which "
                            "variable explains it.";

static const char *exits_of(const struct pythia__command *c)
{
    return c && c->exits ? c->exits : PYTHIA__EXITS_DIAGNOSIS;
}

static int print_help_text(struct pythia_buf *text)
{
    int status = pythia__write_text(NULL, pythia_buf_status(text), text);
    return status == PYTHIA_OK ? PYTHIA__EXIT_DONE : PYTHIA__EXIT_FAILED;
}

/* Words of `text` in lines of at most 100 characters; a blank line in it stays one. */
static void wrap_words(struct pythia_buf *to, const char *text)
{
    size_t column = 0;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (column > 0 && column + 1 + word > 100) {
            pythia_buf_putc(to, '\n');
            column = 0;
        } else if (column > 0 && word > 0) {
            pythia_buf_putc(to, ' ');
            column++;
        }
        pythia_buf_add(to, text, word);
        column += word;
        text += word;
        if (strncmp(text, "\n\n", 2) == 0) {
            pythia_buf_puts(to, "\n\n");
            column = 0;
        }
        text += strspn(text, " \n");
    }
    pythia_buf_putc(to, '\n');
}

static void exit_line(struct pythia_buf *to, const struct pythia__command *c)
{
    struct pythia_buf line = {0};
    pythia_buf_printf(&line, "Exit status: %s", exits_of(c));
    pythia_buf_putc(to, '\n');
    wrap_words(to, line.bytes ? line.bytes : "");
    pythia_buf_free(&line);
}

int pythia__help_command(const struct pythia__command *c)
{
    struct pythia_option options[PYTHIA__OPTIONS_MAX];
    struct pythia_buf text = {0};
    pythia_buf_printf(&text, "usage: pythia %s [OPTION...]%s%s\n\n%s.\n\n", c->name,
                      *c->operands ? " " : "", c->operands, c->summary);
    wrap_words(&text, c->description);
    pythia_buf_puts(&text, "\nOptions\n");
    pythia__options_of(c, options);
    pythia_options_help(options, &text);
    pythia_buf_puts(&text, "  -h, --help                Show this help\n\n"
                           "Examples\n");
    for (const char *line = c->examples; *line;) {
        size_t size = strcspn(line, "\n");
        pythia_buf_printf(&text, "  %.*s\n", (int)size, line);
        line += size + (line[size] == '\n');
    }
    exit_line(&text, c);
    return print_help_text(&text);
}

static int help_all(void)
{
    struct pythia_buf text = {0};
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    pythia_buf_puts(&text, "usage: pythia COMMAND [OPTION...] [OPERAND...]\n\n");
    wrap_words(&text, about);
    pythia_buf_puts(&text, "\nCommands\n");
    for (size_t i = 0; i < count; i++)
        pythia_buf_printf(&text, "  %-14s%s\n", commands[i]->name, commands[i]->summary);
    pythia_buf_puts(&text, "\n"
                           "Run pythia COMMAND --help for the options of a command, and pythia "
                           "--version for the version.\n");
    exit_line(&text, NULL);
    return print_help_text(&text);
}

static const struct pythia__command *find_command(const char *name)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* ---- manual pages ---- */

/* scdoc's marks must not be made by chance. */
static void escape_scdoc(struct pythia_buf *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("_*#\\[]|<>~", *text))
            pythia_buf_putc(to, '\\');
        pythia_buf_putc(to, *text);
    }
}

/* "space build" is page pythia-space-build(1). */
static void page_name(struct pythia_buf *to, const char *command)
{
    pythia_buf_puts(to, "pythia");
    if (*command)
        pythia_buf_putc(to, '-');
    for (; *command; command++)
        pythia_buf_putc(to, (char)(*command == ' ' ? '-' : *command));
}

/* A line of a literal block, in which scdoc takes a single backslash away. */
static void put_literal(struct pythia_buf *to, const char *line)
{
    for (; *line; line++) {
        if (*line == '\\')
            pythia_buf_putc(to, '\\');
        pythia_buf_putc(to, *line);
    }
}

static void page_examples(struct pythia_buf *to, const char *examples)
{
    pythia_buf_puts(to, "\n# EXAMPLES\n\n");
    for (const char *line = examples; *line;) {
        size_t size = strcspn(line, "\n");
        struct pythia_buf one = {0};
        pythia_buf_add(&one, line + (*line == '#' ? 2 : 0), size - (*line == '#' ? 2 : 0));
        if (*line == '#') {
            escape_scdoc(to, one.bytes);
            pythia_buf_puts(to, one.bytes[one.size - 1] == '?' ? "\n\n" : ":\n\n");
        } else {
            pythia_buf_puts(to, "```\n");
            put_literal(to, one.bytes);
            pythia_buf_puts(to, "\n```\n\n");
        }
        pythia_buf_free(&one);
        line += size + (line[size] == '\n');
    }
}

/* "a(1), b(5)", the names in bold. */
static void page_list(struct pythia_buf *to, const char *pages)
{
    while (*pages) {
        size_t name = strcspn(pages, "(");
        pythia_buf_printf(to, "*%.*s*", (int)name, pages);
        size_t rest = strcspn(pages + name, " ");
        rest += strspn(pages + name + rest, " ");
        pythia_buf_add(to, pages + name, rest);
        pages += name + rest;
    }
}

static void page_end(struct pythia_buf *to, const char *exits, const char *first,
                     const char *see_also)
{
    pythia_buf_puts(to, "# EXIT STATUS\n\n");
    escape_scdoc(to, exits);
    pythia_buf_puts(to, "\n\n# SEE ALSO\n\n");
    page_list(to, first);
    if (see_also) {
        pythia_buf_puts(to, ", ");
        page_list(to, see_also);
    }
    pythia_buf_putc(to, '\n');
}

static void page_of_command(struct pythia_buf *to, const struct pythia__command *c)
{
    struct pythia_option options[PYTHIA__OPTIONS_MAX];
    page_name(to, c->name);
    pythia_buf_puts(to, "(1)\n\n# NAME\n\n");
    page_name(to, c->name);
    pythia_buf_puts(to, " - ");
    escape_scdoc(to, c->summary);
    pythia_buf_printf(to, "\n\n# SYNOPSIS\n\n*pythia %s* [_option_...]%s", c->name,
                      *c->operands ? " " : "");
    escape_scdoc(to, c->operands);
    pythia_buf_puts(to, "\n\n# DESCRIPTION\n\n");
    escape_scdoc(to, c->description);
    pythia_buf_puts(to, "\n\n# OPTIONS\n\n");
    pythia__options_of(c, options);
    pythia_options_scdoc(options, to);
    pythia_buf_puts(to, "*-h*, *--help*\n"
                        "\tShow this help.\n");
    page_examples(to, c->examples);
    page_end(to, exits_of(c), "pythia(1)", c->see_also);
}

static void page_of_all(struct pythia_buf *to)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    pythia_buf_puts(to, "pythia(1)\n\n"
                        "# NAME\n\n"
                        "pythia - explain why similar requests take different times\n\n"
                        "# SYNOPSIS\n\n"
                        "*pythia* _command_ [_option_...] [_operand_...]\n\n"
                        "# DESCRIPTION\n\n");
    escape_scdoc(to, about);
    pythia_buf_puts(to, "\n\n# COMMANDS\n\n");
    for (size_t i = 0; i < count; i++) {
        pythia_buf_putc(to, '*');
        page_name(to, commands[i]->name);
        pythia_buf_puts(to, "*(1)\n\t");
        escape_scdoc(to, commands[i]->summary);
        pythia_buf_puts(to, ".\n\n");
    }
    pythia_buf_puts(to, "# OPTIONS\n\n"
                        "*-h*, *--help*\n"
                        "\tList the commands. *pythia* _command_ *--help* and *pythia help* "
                        "_command_ list the options of a command.\n\n"
                        "*-V*, *--version*\n"
                        "\tShow the version.\n");
    page_examples(to, "# Why does the latency of captured requests vary?\n"
                      "pythia replay traces.jsonl\n"
                      "# What has changed since yesterday?\n"
                      "pythia compare monday tuesday\n"
                      "# The report of a running pythiad\n"
                      "pythia ctl report\n");
    page_end(to, exits_of(NULL), "pythiad(8)", "libpythia-tracepoints(3), pythia-report(5)");
}

/* ---- what is asked ---- */

/* The command that was meant, or of its words the first that was; empty: none is near. */
static struct pythia_text find_meant(const char *name)
{
    struct pythia_nearest near = {.wanted = pythia_text_of(name)};
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++) {
        const char *words = commands[i]->name;
        pythia_nearest_offer(&near, pythia_text_of(words));
        pythia_nearest_offer(&near, (struct pythia_text){words, strcspn(words, " ")});
    }
    return near.best;
}

/* "space" is the family of "space build" and "space show". */
static bool is_of_family(const struct pythia__command *c, const char *word)
{
    size_t size = strlen(word);
    return size > 0 && strncmp(c->name, word, size) == 0 && c->name[size] == ' ';
}

static bool has_family(const char *word)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++)
        if (is_of_family(commands[i], word))
            return true;
    return false;
}

/* "usage: pythia space build or show" */
static void list_family(const char *word, struct pythia_buf *to)
{
    size_t count, family = 0, listed = 0;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++)
        family += is_of_family(commands[i], word);
    for (size_t i = 0; i < count; i++) {
        if (!is_of_family(commands[i], word))
            continue;
        if (listed == 0)
            pythia_buf_printf(to, "usage: pythia %s", commands[i]->name);
        else
            pythia_buf_printf(to, "%s%s", listed + 1 == family ? " or " : ", ",
                              commands[i]->name + strlen(word) + 1);
        listed++;
    }
}

/* The first word of a two-word command alone is answered with its second words, because the name
 * was right so far. */
int pythia__help_unknown(const char *name, const char *second)
{
    struct pythia_buf text = {0}, full = {0};
    bool family = has_family(name);
    pythia_buf_puts(&full, name);
    if (family && second)
        pythia_buf_printf(&full, " %s", second);
    struct pythia_text meant = find_meant(full.bytes ? full.bytes : "");
    if (family && (!second || meant.size == 0)) {
        list_family(name, &text);
    } else {
        pythia_buf_printf(&text, full.size ? "there is no command %s" : "expected a command",
                          full.bytes ? full.bytes : "");
        if (meant.size > 0)
            pythia_buf_printf(&text, ", did you mean %.*s?", (int)meant.size, meant.bytes);
    }
    pythia_log(PYTHIA_LOG_ERROR, "%s (pythia --help lists the commands)",
               text.bytes ? text.bytes : "");
    pythia_buf_free(&full);
    pythia_buf_free(&text);
    return PYTHIA__EXIT_USAGE;
}

int pythia__help_family(const char *word)
{
    struct pythia_buf text = {0};
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++)
        if (is_of_family(commands[i], word))
            pythia_buf_printf(&text, "  pythia %-14s%s\n", commands[i]->name, commands[i]->summary);
    if (text.size == 0)
        return pythia__help_unknown(word, NULL);
    return print_help_text(&text);
}

/* `help` and what stands behind it. */
static int help_words(int argc, char **argv)
{
    struct pythia_buf name = {0}, text = {0};
    bool scdoc = argc > 2 && strcmp(argv[2], "--scdoc") == 0;
    if (argc > 2 && pythia__completion_write(argv[2], &text))
        return print_help_text(&text);
    for (int i = scdoc ? 3 : 2; i < argc; i++) /* of two words: space build */
        pythia_buf_printf(&name, "%s%s", name.size ? " " : "", argv[i]);
    const struct pythia__command *c = name.size ? find_command(name.bytes) : NULL;
    int code;
    if (name.size && !c) {
        code = pythia__help_family(name.bytes);
    } else if (scdoc) {
        if (c)
            page_of_command(&text, c);
        else
            page_of_all(&text);
        code = print_help_text(&text);
    } else {
        code = c ? pythia__help_command(c) : help_all();
    }
    pythia_buf_free(&name);
    return code;
}

bool pythia__help_asked(int argc, char **argv, int *code)
{
    struct pythia_buf text = {0};
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        pythia_buf_puts(&text, "pythia " PYTHIA_BUILD "\n");
        *code = print_help_text(&text);
    } else if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        *code = help_all();
    } else if (strcmp(argv[1], "help") == 0) {
        *code = help_words(argc, argv);
    } else {
        return false;
    }
    return true;
}
