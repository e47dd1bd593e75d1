#include "environment.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pythia/mem.h"
#include "pythia/status.h"

extern char **environ;

static int add_word(struct pythia__environment *e, char *word)
{
    int status = pythia_grow(&e->words, &e->capacity, e->count, sizeof(*e->words));
    if (status == PYTHIA_OK)
        e->words[e->count++] = word;
    return status;
}

/* Our own variables, ended by NULL as execve(2) wants them. */
static int copy_environment(struct pythia__environment *e)
{
    int status = PYTHIA_OK;
    for (char **word = environ; *word && status == PYTHIA_OK; word++)
        status = add_word(e, *word);
    return status == PYTHIA_OK ? add_word(e, NULL) : status;
}

static void remove_variable(struct pythia__environment *e, const char *name, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++)
        if (!e->words[i] || strncmp(e->words[i], name, size) != 0 || e->words[i][size] != '=')
            e->words[kept++] = e->words[i];
    e->count = kept;
}

void pythia__environment_set(struct pythia__environment *e, const char *name, const char *value)
{
    size_t size = strlen(name);
    if (e->status == PYTHIA_OK && !e->words)
        e->status = copy_environment(e);
    if (e->status != PYTHIA_OK)
        return;
    remove_variable(e, name, size);
    if (!value)
        return;
    size_t bytes = size + 1 + strlen(value) + 1;
    char *word = pythia_arena_alloc(&e->memory, bytes);
    if (!word) {
        e->status = PYTHIA_ENOMEM;
        return;
    }
    snprintf(word, bytes, "%s=%s", name, value);
    e->words[e->count - 1] = word; /* where NULL was */
    e->status = add_word(e, NULL);
}

void pythia__environment_free(struct pythia__environment *e)
{
    pythia_free(e->words);
    pythia_arena_free(&e->memory);
    *e = (struct pythia__environment){0};
}
