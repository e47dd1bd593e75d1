#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH     100
#define WIDTH_MIN 72
#define WIDTH_MAX 120

static bool is_dumb(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") == 0;
}

/* A locale without a charset, as C, is most often that of a container, whose terminal is one for
 * UTF-8 all the same. */
static bool has_other_charset(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (!value || !value[0])
            continue;
        const char *charset = strchr(value, '.');
        return charset && strncasecmp(charset + 1, "utf-8", 5) != 0 &&
               strncasecmp(charset + 1, "utf8", 4) != 0;
    }
    return false;
}

/* The terminal's own answer has precedence over COLUMNS, which shells do not always export. */
static size_t find_width(bool terminal)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    size_t width = columns ? (size_t)strtoul(columns, NULL, 10) : 0;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    if (width == 0)
        return WIDTH;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

struct pythia__terminal pythia__terminal_of(const char *output)
{
    const char *no_colour = getenv("NO_COLOR");
    bool file = output && strcmp(output, "-") != 0;
    bool terminal = !file && isatty(STDOUT_FILENO);
    return (struct pythia__terminal){
        .width = find_width(terminal),
        .colour = terminal && !is_dumb() && !(no_colour && no_colour[0]),
        .screen = terminal && !is_dumb(),
        .ascii = (!file && is_dumb()) || has_other_charset(),
    };
}
