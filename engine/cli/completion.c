/* bash and zsh get one function, in which only the reply is written another way; fish a line an
 * option. Ids of trace points come from a running pythiad. They are data of strangers, so no shell
 * may expand them: bash's compgen would. */
#include "completion.h"

#include <string.h>

#include "shared/command.h"

#define IDS     "pythia ctl points --ids 2>/dev/null"
#define TAKE_ID "open close unpin plan" /* actions of ctl that ids of trace points stand behind */

struct shell {
    const char *head, *tail;
    const char *before, *after; /* a reply: words stand between them */
};

static const struct shell bash = {
    "# bash completion of pythia, made of its tables of commands and options\n"
    "_pythia()\n{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options= operands= "
    "command=\n"
    "    local first=${COMP_WORDS[1]} second=${COMP_WORDS[2]} at=$COMP_CWORD id\n"
    "    COMPREPLY=()\n",
    "    if [[ $cur == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
    "    elif [[ $command == ctl && $at -gt 2 && ' " TAKE_ID " ' == *\" $second \"* ]]; then\n"
    "        local line=${COMP_LINE:0:COMP_POINT}\n"
    "        cur=${line##* }\n"
    "        while IFS= read -r id; do\n"
    "            [[ $id != \"$cur\"* ]] || COMPREPLY+=(\"$(printf %q "
    "\"${id#\"${cur%\"${cur##*:}\"}\"}\")\")\n"
    "        done < <(" IDS ")\n"
    "    elif [[ -n $operands || $command == help ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
    "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
    "complete -o filenames -F _pythia pythia\n",
    "COMPREPLY=($(compgen -W '", "' -- \"$cur\"))"};

static const struct shell zsh = {
    "#compdef pythia\n# zsh completion of pythia, made of its tables of commands and options\n"
    "_pythia()\n{\n"
    "    local prev=$words[CURRENT-1] cur=$PREFIX options= operands= command=\n"
    "    local first=$words[2] second=$words[3]\n    local -i at=CURRENT-1\n",
    "    if [[ $cur == -* ]]; then\n        compadd -- ${=options}\n"
    "    elif [[ $command == ctl && $at -gt 2 && ' " TAKE_ID " ' == *\" $second \"* ]]; then\n"
    "        compadd -- \"${(@f)$(" IDS ")}\"\n"
    "    elif [[ -n $operands || $command == help ]]; then\n        compadd -- ${=operands}\n"
    "    else\n        _files\n    fi\n}\n"
    "[[ $zsh_eval_context[-1] == loadautofunc ]] && _pythia \"$@\" || compdef _pythia pythia\n",
    "compadd -- ", ""};

/* ---- bash and zsh ---- */

static void complete_options(struct pythia_buf *to, const struct shell *s,
                             const struct pythia__command *c)
{
    struct pythia_option options[PYTHIA__OPTIONS_MAX];
    pythia__options_of(c, options);
    pythia_options_completion(options, s->before, s->after, to);
}

/* The first words of all commands, each once: those of one command stand together. */
static void complete_names(struct pythia_buf *to)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(commands[i]->name, " ");
        if (strcspn(before, " ") != size || strncmp(before, commands[i]->name, size) != 0)
            pythia_buf_printf(to, " %.*s", (int)size, commands[i]->name);
        before = commands[i]->name;
    }
}

/* A line for each first word of commands of two words: `before`, that word, `between`, the second
 * words, `after`. */
static void complete_second_words(struct pythia_buf *to, const char *before, const char *between,
                                  const char *after)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    for (size_t i = 0; i < count; i++) {
        size_t size = strcspn(commands[i]->name, " ");
        if (!commands[i]->name[size])
            continue;
        pythia_buf_printf(to, "%s%.*s%s%s", before, (int)size, commands[i]->name, between,
                          commands[i]->name + size + 1);
        while (i + 1 < count && strncmp(commands[i + 1]->name, commands[i]->name, size + 1) == 0)
            pythia_buf_printf(to, " %s", commands[++i]->name + size + 1);
        pythia_buf_puts(to, after);
    }
}

/* bash and zsh share the body, because both understand this subset; only what surrounds it
 * differs. */
static void write_function(struct pythia_buf *to, const struct shell *s)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    pythia_buf_puts(to, s->head);
    pythia_buf_puts(to, "    case \"$first $second\" in\n");
    for (size_t i = 0; i < count; i++)
        if (strchr(commands[i]->name, ' '))
            pythia_buf_printf(to, "    '%s') command='%s' ;;\n", commands[i]->name,
                              commands[i]->name);
    pythia_buf_printf(to,
                      "    *) command=$first ;;\n    esac\n    if [[ $at -eq 1 ]]; then\n        "
                      "%s--help --version help",
                      s->before);
    complete_names(to);
    pythia_buf_printf(to, "%s\n        return\n    fi\n    case $command in\n", s->after);
    for (size_t i = 0; i < count; i++) {
        pythia_buf_printf(to, "    '%s')\n", commands[i]->name);
        complete_options(to, s, commands[i]);
        pythia_buf_printf(to, "        operands='%s' ;;\n",
                          commands[i]->words ? commands[i]->words : "");
    }
    complete_second_words(to, "    ", ") operands='", "' ;;\n");
    pythia_buf_puts(to, "    help)\n        operands='");
    complete_names(to);
    pythia_buf_puts(to, "'\n        [[ $at -eq 2 ]] || operands=\n");
    complete_second_words(to, "        [[ $prev != ", " ]] || operands='", "'\n");
    pythia_buf_puts(to, "        ;;\n    esac\n");
    pythia_buf_puts(to, s->tail);
}

/* ---- fish ---- */

/* When the words of a command stand on the line. */
static void add_fish_condition(struct pythia_buf *to, const char *name)
{
    const char *blank = strchr(name, ' ');
    pythia_buf_printf(to, "complete -c pythia -n '__fish_seen_subcommand_from %.*s",
                      (int)strcspn(name, " "), name);
    if (blank)
        pythia_buf_printf(to, "; and __fish_seen_subcommand_from%s", blank);
    pythia_buf_puts(to, "'");
}

static void write_fish_command(struct pythia_buf *to, const struct pythia__command *c)
{
    struct pythia_option options[PYTHIA__OPTIONS_MAX];
    pythia__options_of(c, options);
    for (const struct pythia_option *o = options; o->name; o++) {
        add_fish_condition(to, c->name);
        pythia_option_fish(o, to);
    }
    if (c->words) /* before one of them is there */
        pythia_buf_printf(to,
                          "complete -c pythia -n '__fish_seen_subcommand_from %s; and not "
                          "__fish_seen_subcommand_from %s' -f -a '%s'\n",
                          c->name, c->words, c->words);
}

/* fish has conditions for each completion instead of a function, so its lines share nothing with
 * those of the other shells. */
static void write_fish_completion(struct pythia_buf *to)
{
    size_t count;
    const struct pythia__command *const *commands = pythia__commands(&count);
    pythia_buf_puts(to, "# fish completion of pythia, made of its tables of commands and options\n"
                        "complete -c pythia -n __fish_use_subcommand -f -l help\n"
                        "complete -c pythia -n __fish_use_subcommand -f -l version\n"
                        "complete -c pythia -n __fish_use_subcommand -f -a 'help");
    complete_names(to);
    pythia_buf_puts(to, "'\n");
    pythia_buf_puts(to, "complete -c pythia -n '__fish_seen_subcommand_from help' -f -a '");
    complete_names(to);
    pythia_buf_puts(to, "'\n");
    for (size_t i = 0; i < count; i++) {
        const char *blank = strchr(commands[i]->name, ' ');
        if (blank)
            pythia_buf_printf(
                to, "complete -c pythia -n '__fish_seen_subcommand_from %.*s' -f -a '%s'\n",
                (int)(blank - commands[i]->name), commands[i]->name, blank + 1);
        write_fish_command(to, commands[i]);
    }
    pythia_buf_puts(to, "complete -c pythia -n '__fish_seen_subcommand_from " TAKE_ID "' -f -a "
                        "'(" IDS ")'\n");
}

bool pythia__completion_write(const char *option, struct pythia_buf *to)
{
    if (strcmp(option, "--bash-completion") == 0)
        write_function(to, &bash);
    else if (strcmp(option, "--zsh-completion") == 0)
        write_function(to, &zsh);
    else if (strcmp(option, "--fish-completion") == 0)
        write_fish_completion(to);
    else
        return false;
    return true;
}
