#include "completion.h"

#include <string.h>

#include "pythia/option.h"
#include "shared/settings.h"

static void write_bash(struct pythia_buf *to)
{
    pythia_buf_puts(to, "# bash completion of pythiad, made of its table of settings\n"
                        "_pythiad()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} "
                        "prev=${COMP_WORDS[COMP_CWORD-1]} options=\n    COMPREPLY=()\n");
    pythia_options_completion(pythia__settings_table, "COMPREPLY=($(compgen -W '",
                              "' -- \"$cur\"))", to);
    pythia_buf_puts(to, "    if [[ $cur == -* ]]; then\n"
                        "        COMPREPLY=($(compgen -W \"$options --version\" -- \"$cur\"))\n"
                        "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
                        "complete -o filenames -F _pythiad pythiad\n");
}

/* zsh finds the file by its first line and runs it as the function, so it calls itself at its end,
 * unless it was sourced by hand. */
static void write_zsh(struct pythia_buf *to)
{
    pythia_buf_puts(to, "#compdef pythiad\n"
                        "# zsh completion of pythiad, made of its table of settings\n"
                        "_pythiad()\n{\n    local cur=$PREFIX prev=$words[CURRENT-1] options=\n");
    pythia_options_completion(pythia__settings_table, "compadd -- ", "", to);
    pythia_buf_puts(to, "    if [[ $cur == -* ]]; then\n"
                        "        compadd -- ${=options} --version\n"
                        "    else\n        _files\n    fi\n}\n"
                        "[[ $zsh_eval_context[-1] == loadautofunc ]] && _pythiad \"$@\" || "
                        "compdef _pythiad pythiad\n");
}

static void write_fish(struct pythia_buf *to)
{
    pythia_buf_puts(to, "# fish completion of pythiad, made of its table of settings\n"
                        "complete -c pythiad -s h -l help -d 'Show this help'\n"
                        "complete -c pythiad -s V -l version -d 'Show the version'\n");
    for (const struct pythia_option *o = pythia__settings_table; o->name; o++) {
        pythia_buf_puts(to, "complete -c pythiad");
        pythia_option_fish(o, to);
    }
}

bool pythia__completion_write(const char *option, struct pythia_buf *to)
{
    if (strcmp(option, "--bash-completion") == 0)
        write_bash(to);
    else if (strcmp(option, "--zsh-completion") == 0)
        write_zsh(to);
    else if (strcmp(option, "--fish-completion") == 0)
        write_fish(to);
    else
        return false;
    return true;
}
