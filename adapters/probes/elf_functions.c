/* A stripped program has the symbols that it exports (.dynsym); all others are in a file of debug
 * symbols, which Debian ships as packages of their own. Its addresses are those of the program,
 * whose segments say where in the file they are. The build id of both must be the same: otherwise
 * probes would land in the middle of instructions, and break the program. */
#include "pythia/elf_functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_file.h"
#include "pythia/mem.h"
#include "pythia/status.h"

#define TABLES_MAX     4
#define TABLE_BYTES    (64u << 20) /* of symbols, and of their names */
#define BUILD_ID_BYTES 64
#define ARGUMENTS      6

struct table {
    Elf64_Sym *symbols; /* owned */
    size_t count;
    char *names; /* owned: names_bytes and a NUL */
    uint64_t names_bytes;
};

struct functions {
    const struct pythia__elf *program;
    bool (*wanted)(const void *context, const char *name);
    const void *context;
    struct table tables[TABLES_MAX];
    size_t table_count;
    struct pythia_usdt_notes out;
    size_t name_bytes; /* of all names that were accepted */
    char *next_name;   /* within out.texts */
};

/* Read the build id; *size 0 if the file has none. */
static int read_build_id(const struct pythia__elf *f, unsigned char out[BUILD_ID_BYTES],
                         size_t *size)
{
    const Elf64_Shdr *section = pythia__elf_section(f, ".note.gnu.build-id");
    struct {
        Elf64_Nhdr head;
        char owner[4];
    } note;
    *size = 0;
    if (!section || section->sh_type != SHT_NOTE || section->sh_size < sizeof(note))
        return PYTHIA_OK;
    int status = pythia__elf_read(f, section->sh_offset, &note, sizeof(note));
    if (status != PYTHIA_OK || note.head.n_namesz != sizeof(note.owner) ||
        memcmp(note.owner, ELF_NOTE_GNU, sizeof(note.owner)) != 0 ||
        note.head.n_type != NT_GNU_BUILD_ID || note.head.n_descsz < 2 ||
        note.head.n_descsz > BUILD_ID_BYTES || note.head.n_descsz > section->sh_size - sizeof(note))
        return status;
    *size = note.head.n_descsz;
    return pythia__elf_read(f, section->sh_offset + sizeof(note), out, *size);
}

int pythia_elf_debug_path(int file, char out[PYTHIA_DEBUG_PATH_BYTES], struct pythia_error *e)
{
    struct pythia__elf f = {.file = file, .e = e};
    unsigned char id[BUILD_ID_BYTES];
    size_t size = 0;
    int status = pythia__elf_open(&f);
    if (status == PYTHIA_OK)
        status = read_build_id(&f, id, &size);
    pythia__elf_close(&f);
    out[0] = '\0';
    if (status != PYTHIA_OK || size == 0)
        return status;
    int used = snprintf(out, PYTHIA_DEBUG_PATH_BYTES, "/usr/lib/debug/.build-id/%02x/", id[0]);
    for (size_t i = 1; i < size; i++)
        used += snprintf(out + used, PYTHIA_DEBUG_PATH_BYTES - (size_t)used, "%02x", id[i]);
    snprintf(out + used, PYTHIA_DEBUG_PATH_BYTES - (size_t)used, ".debug");
    return PYTHIA_OK;
}

/* ---- tables of symbols ---- */

static int read_table(struct functions *n, const struct pythia__elf *f, const Elf64_Shdr *section)
{
    struct table *t = &n->tables[n->table_count];
    if (section->sh_entsize != sizeof(Elf64_Sym) || section->sh_link >= f->head.e_shnum ||
        (section->sh_flags & SHF_COMPRESSED))
        return pythia_error_set(f->e, PYTHIA_EFORMAT, "a table of symbols is malformed");
    const Elf64_Shdr *names = &f->sections[section->sh_link];
    if (section->sh_size > TABLE_BYTES || names->sh_size > TABLE_BYTES)
        return pythia_error_set(f->e, PYTHIA_ELIMIT, "a table of symbols is longer than 64 MiB");
    n->table_count++;
    t->count = section->sh_size / sizeof(Elf64_Sym);
    t->names_bytes = names->sh_size;
    t->symbols = pythia__elf_part(f, section->sh_offset, section->sh_size);
    if (t->symbols)
        t->names = pythia__elf_part(f, names->sh_offset, names->sh_size);
    return f->e->status;
}

/* A debug file has its .dynsym without content (SHT_NOBITS), so that it has one table. */
static int read_tables(struct functions *n, const struct pythia__elf *f)
{
    for (size_t i = 0; f->sections && i < f->head.e_shnum; i++) {
        const Elf64_Shdr *section = &f->sections[i];
        if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)
            continue;
        if (n->table_count == TABLES_MAX)
            return pythia_error_set(f->e, PYTHIA_ELIMIT, "more than %d tables of symbols",
                                    TABLES_MAX);
        int status = read_table(n, f, section);
        if (status != PYTHIA_OK)
            return status;
    }
    return PYTHIA_OK;
}

static int read_debug_tables(struct functions *n, int debug)
{
    struct pythia__elf f = {.file = debug, .e = n->program->e};
    unsigned char ids[2][BUILD_ID_BYTES];
    size_t sizes[2];
    int status = pythia__elf_open(&f);
    if (status != PYTHIA_OK ||
        (status = read_build_id(n->program, ids[0], &sizes[0])) != PYTHIA_OK ||
        (status = read_build_id(&f, ids[1], &sizes[1])) != PYTHIA_OK)
        goto out;
    if (sizes[0] == 0 || sizes[0] != sizes[1] || memcmp(ids[0], ids[1], sizes[0]) != 0) {
        status = pythia_error_set(f.e, PYTHIA_EFORMAT,
                                  "the file with its debug symbols belongs to another build");
        goto out;
    }
    status = read_tables(n, &f);
out:
    pythia__elf_close(&f);
    return status;
}

/* ---- functions ---- */

bool pythia_elf_function_is(const void *probe, const char *name)
{
    const struct pythia_text *wanted = probe, text = pythia_text_of(name),
                             suffix = PYTHIA_TEXT(PYTHIA_FUNCTION_RETURN);
    if (!pythia_text_starts(*wanted, text))
        return false;
    struct pythia_text rest = {wanted->bytes + text.size, wanted->size - text.size};
    return rest.size == 0 || pythia_text_equal(rest, suffix);
}

static bool is_name(const char *name)
{
    size_t size = 0;
    for (; name[size]; size++)
        if (name[size] <= ' ' || name[size] > '~' || name[size] == ':' || name[size] == '%')
            return false;
    return size > 0 && size <= PYTHIA_USDT_NAME_MAX - (sizeof(PYTHIA_FUNCTION_RETURN) - 1);
}

/* The name of a symbol that is a wanted function; NULL: it is not. */
static const char *find_wanted_name(const struct functions *n, const struct table *t,
                                    const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= t->names_bytes)
        return NULL;
    const char *name = t->names + symbol->st_name;
    return is_name(name) && (!n->wanted || n->wanted(n->context, name)) ? name : NULL;
}

static const char *add_name(struct functions *n, const char *name, const char *suffix)
{
    char *at = n->next_name;
    n->next_name = stpcpy(stpcpy(at, name), suffix) + 1;
    return at;
}

/* Add where a function begins and where it returns. A uprobe of a return is placed where the
 * function begins, too: the kernel changes the return address there. */
static int add_function(struct functions *n, const char *name, uint64_t address)
{
    static const uint8_t registers[ARGUMENTS] = {112, 104, 96,
                                                 88,  72,  64}; /* rdi rsi rdx rcx r8 r9 */
    const struct pythia_usdt_operand in_register = {
        .kind = PYTHIA_USDT_REGISTER, .bytes = 8, .index = PYTHIA_USDT_NO_REGISTER, .scale = 1};
    unsigned char code[PYTHIA__ELF_CODE_BYTES];
    struct pythia_usdt_site begin = {
        .provider = PYTHIA_FUNCTION_PROVIDER,
        .arguments = "",
        .offset = pythia__elf_offset(n->program, address, PF_X, PYTHIA__ELF_CODE_BYTES),
        .operand_count = ARGUMENTS};
    if (!begin.offset) {
        n->out.refused++;
        return PYTHIA_OK;
    }
    int status = pythia__elf_read(n->program, begin.offset, code, sizeof(code));
    if (status != PYTHIA_OK)
        return status;
    for (size_t i = 0; i < ARGUMENTS; i++) {
        begin.operands[i] = in_register;
        begin.operands[i].base = registers[i];
    }
    struct pythia_usdt_site end = begin;
    begin.name = add_name(n, name, "");
    begin.instruction = begin.trap = end.trap = pythia__elf_instruction(code);
    end.name = add_name(n, name, PYTHIA_FUNCTION_RETURN);
    end.instruction = PYTHIA_USDT_RETURN;
    end.operand_count = 1;
    end.operands[0].base = 80; /* rax */
    n->out.sites[n->out.count++] = begin;
    n->out.sites[n->out.count++] = end;
    return PYTHIA_OK;
}

/* Reserve what the wanted functions need: names are in one piece of memory that may not move. */
static int reserve_functions(struct functions *n)
{
    size_t count = 0, bytes = 1;
    for (size_t i = 0; i < n->table_count; i++)
        for (size_t k = 0; k < n->tables[i].count; k++) {
            const char *name = find_wanted_name(n, &n->tables[i], &n->tables[i].symbols[k]);
            bytes += name ? 2 * (strlen(name) + 1) + sizeof(PYTHIA_FUNCTION_RETURN) : 0;
            count += name ? 2 : 0;
        }
    if (count > PYTHIA_USDT_SITES_MAX)
        return pythia_error_set(n->program->e, PYTHIA_ELIMIT, "more than %d functions",
                                PYTHIA_USDT_SITES_MAX / 2);
    n->out.sites = pythia_calloc(count + 1, sizeof(*n->out.sites));
    n->next_name = n->out.texts = pythia_calloc(bytes, 1);
    return n->out.sites && n->out.texts
               ? PYTHIA_OK
               : pythia_error_set(n->program->e, PYTHIA_ENOMEM, "out of memory");
}

static int compare_functions(const void *a, const void *b)
{
    const struct pythia_usdt_site *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sort the sites, and leave out those that are in two tables: exported functions are, if a program
 * has all its symbols. */
static void sort_functions(struct pythia_usdt_notes *out)
{
    size_t kept = 0;
    if (out->count > 0)
        qsort(out->sites, out->count, sizeof(*out->sites), compare_functions);
    for (size_t i = 0; i < out->count; i++)
        if (kept == 0 || compare_functions(&out->sites[kept - 1], &out->sites[i]) != 0)
            out->sites[kept++] = out->sites[i];
    out->count = kept;
}

static int add_wanted_functions(struct functions *n)
{
    for (size_t i = 0; i < n->table_count; i++) {
        const struct table *t = &n->tables[i];
        for (size_t k = 0; k < t->count; k++) {
            const char *name = find_wanted_name(n, t, &t->symbols[k]);
            int status = name ? add_function(n, name, t->symbols[k].st_value) : PYTHIA_OK;
            if (status != PYTHIA_OK)
                return status;
        }
    }
    return PYTHIA_OK;
}

int pythia_elf_functions_read(int file, int debug,
                              bool (*wanted)(const void *context, const char *name),
                              const void *context, struct pythia_usdt_notes *out,
                              struct pythia_error *e)
{
    struct pythia__elf program = {.file = file, .e = e};
    struct functions n = {.program = &program, .wanted = wanted, .context = context};
    int status = pythia__elf_open(&program);
    if (status != PYTHIA_OK || (status = read_tables(&n, &program)) != PYTHIA_OK)
        goto out;
    if (debug >= 0 && (status = read_debug_tables(&n, debug)) != PYTHIA_OK)
        goto out;
    if ((status = reserve_functions(&n)) != PYTHIA_OK ||
        (status = add_wanted_functions(&n)) != PYTHIA_OK)
        goto out;
    sort_functions(&n.out);
    *out = n.out;
    n.out = (struct pythia_usdt_notes){0};
out:
    for (size_t i = 0; i < n.table_count; i++) {
        pythia_free(n.tables[i].symbols);
        pythia_free(n.tables[i].names);
    }
    pythia_usdt_notes_free(&n.out);
    pythia__elf_close(&program);
    return status;
}
