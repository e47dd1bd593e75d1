/* Places are few, since they are calls in the source, and come again and again: what was found is
 * kept under its text. Libdw is not made for threads, so one lock is held for all of it. */
#define _GNU_SOURCE
#include "pythia/symbols.h"

#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pythia/late_library.h"
#include "pythia/log.h"
#include "pythia/mem.h"
#include "pythia/status.h"
#include "pythia/strtab.h"

#define PLACE_MAX   320  /* bytes, as the shim writes them */
#define MANGLED_MAX 4096 /* bytes of a name that is demangled */

/* __cxa_demangle of the C++ library, which <cxxabi.h> declares for C++ alone: the demangled name
 * (to be freed), NULL if it is none. Without that library there is no such function. */
static char *(*demangle)(const char *mangled, char *buffer, size_t *size, int *status);

static struct {
    __typeof__(dwfl_begin) *begin;
    __typeof__(dwfl_end) *end;
    __typeof__(dwfl_report_begin_add) *report_begin_add;
    __typeof__(dwfl_report_offline) *report_offline;
    __typeof__(dwfl_report_end) *report_end;
    __typeof__(dwfl_module_getelf) *module_getelf;
    __typeof__(dwfl_module_addrinfo) *module_addrinfo;
    __typeof__(dwfl_module_getsrc) *module_getsrc;
    __typeof__(dwfl_lineinfo) *lineinfo;
    __typeof__(dwfl_standard_find_debuginfo) *find_debuginfo;
    __typeof__(dwfl_offline_section_address) *section_address;
} dw;

struct object {
    char *path;       /* owned */
    const char *name; /* in it, without folders */
    Dwfl *dwfl;       /* owned; NULL: not opened yet, or it cannot be */
    Dwfl_Module *module;
    bool opened;
};

/* The text that replaces a place; no bytes: the place itself. */
struct shown_place {
    char *bytes; /* owned */
    size_t size;
};

struct pythia_symbols {
    struct object *objects; /* owned */
    size_t count, capacity;
    pthread_mutex_t lock;         /* of all that follows, and of libdw */
    struct pythia_strtab *places; /* that were looked up */
    struct shown_place *shown;    /* owned; by the number of the place */
    size_t shown_capacity;
    bool loaded, is_there; /* libdw */
};

/* ---- programs and libraries ---- */

static int add_object(struct pythia_symbols *s, const char *path)
{
    if (pythia_grow(&s->objects, &s->capacity, s->count, sizeof(*s->objects)) != PYTHIA_OK)
        return PYTHIA_ENOMEM;
    char *copy = pythia_strndup(path, strlen(path));
    if (!copy)
        return PYTHIA_ENOMEM;
    const char *slash = strrchr(copy, '/');
    s->objects[s->count++] = (struct object){.path = copy, .name = slash ? slash + 1 : copy};
    return PYTHIA_OK;
}

static bool is_elf(const char *path)
{
    char head[4] = "";
    FILE *file = fopen(path, "rb");
    bool is = file && fread(head, 1, 4, file) == 4 && memcmp(head, "\177ELF", 4) == 0;
    if (file)
        fclose(file);
    return is;
}

/* Whatever else is in a folder is passed over. */
static int add_folder(struct pythia_symbols *s, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), status = PYTHIA_OK;
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        struct stat about;
        if (status == PYTHIA_OK && asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0) {
            if (stat(path, &about) == 0 && S_ISREG(about.st_mode) && is_elf(path))
                status = add_object(s, path);
            free(path);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return status;
}

static int add_path(struct pythia_symbols *s, const char *path, struct pythia_error *e)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return add_folder(s, path);
    errno = 0;
    if (is_elf(path))
        return add_object(s, path);
    pythia_error_place(e, path, 0, 0);
    return pythia_error_set(e, PYTHIA_EIO, "%s",
                            errno ? strerror(errno)
                                  : "is neither a program, nor a library, nor a folder of them");
}

int pythia_symbols_create(const char *const *paths, size_t count, struct pythia_symbols **out,
                          struct pythia_error *e)
{
    struct pythia_symbols *s = pythia_calloc(1, sizeof(*s));
    if (!s)
        return pythia_error_set(e, PYTHIA_ENOMEM, "out of memory");
    pthread_mutex_init(&s->lock, NULL);
    int status = pythia_strtab_create(&s->places);
    for (size_t i = 0; i < count && status == PYTHIA_OK; i++)
        status = add_path(s, paths[i], e);
    if (status != PYTHIA_OK) {
        pythia_symbols_destroy(s);
        return e->status ? e->status : pythia_error_set(e, status, "out of memory");
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia_symbols_destroy(struct pythia_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        if (s->objects[i].dwfl)
            dw.end(s->objects[i].dwfl);
        pythia_free(s->objects[i].path);
    }
    for (size_t i = 0; i < s->shown_capacity; i++)
        pythia_free(s->shown[i].bytes);
    pythia_free(s->objects);
    pythia_free(s->shown);
    pythia_strtab_destroy(s->places);
    pthread_mutex_destroy(&s->lock);
    pythia_free(s);
}

/* ---- looking up ---- */

/* Libdw would ask servers for debug information if the environment names some. */
static bool load_libdw(struct pythia_symbols *s)
{
    const struct pythia_late_function functions[] = {
        {"dwfl_begin", &dw.begin},
        {"dwfl_end", &dw.end},
        {"dwfl_report_begin_add", &dw.report_begin_add},
        {"dwfl_report_offline", &dw.report_offline},
        {"dwfl_report_end", &dw.report_end},
        {"dwfl_module_getelf", &dw.module_getelf},
        {"dwfl_module_addrinfo", &dw.module_addrinfo},
        {"dwfl_module_getsrc", &dw.module_getsrc},
        {"dwfl_lineinfo", &dw.lineinfo},
        {"dwfl_standard_find_debuginfo", &dw.find_debuginfo},
        {"dwfl_offline_section_address", &dw.section_address},
    };
    const struct pythia_late_function demangler[] = {{"__cxa_demangle", &demangle}};
    if (!s->loaded) {
        unsetenv("DEBUGINFOD_URLS");
        (void)pythia_late_load(PYTHIA_STDCXX_LIBRARY, false, demangler, 1);
        s->is_there = pythia_late_load(PYTHIA_DW_LIBRARY, false, functions,
                                       sizeof(functions) / sizeof(functions[0]));
    }
    s->loaded = true;
    return s->is_there;
}

static void open_object(struct object *o)
{
    static Dwfl_Callbacks callbacks; /* libdw keeps the address */
    callbacks.find_debuginfo = dw.find_debuginfo;
    callbacks.section_address = dw.section_address;
    o->opened = true;
    o->dwfl = dw.begin(&callbacks);
    if (!o->dwfl)
        return;
    dw.report_begin_add(o->dwfl);
    o->module = dw.report_offline(o->dwfl, o->name, o->path, -1);
    dw.report_end(o->dwfl, NULL, NULL);
    if (!o->module)
        pythia_log(PYTHIA_LOG_WARNING, "Symbols cannot be read: file=%s", o->path);
}

static struct object *find_object(struct pythia_symbols *s, struct pythia_text name)
{
    for (size_t i = 0; i < s->count; i++)
        if (pythia_text_equal(pythia_text_of(s->objects[i].name), name))
            return &s->objects[i];
    return NULL;
}

/* Write a function as its source has it: "shop::total(shop::order const&)". The demangler takes a
 * name without its prefix for that of a type. */
static void describe_function(const char *name, struct pythia_buf *to)
{
    bool mangled = strncmp(name, "_Z", 2) == 0 && strlen(name) <= MANGLED_MAX;
    char *shown = mangled && demangle ? demangle(name, NULL, NULL, NULL) : NULL;
    pythia_buf_puts(to, shown ? shown : name);
    free(shown);
}

static void describe_address(const struct object *o, uint64_t address, struct pythia_buf *to)
{
    GElf_Addr bias = 0;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    int line = 0;
    if (!dw.module_getelf(o->module, &bias))
        return;
    Dwarf_Addr at = address + bias - 1;
    const char *name = dw.module_addrinfo(o->module, at, &offset, &symbol, NULL, NULL, NULL);
    Dwfl_Line *found = dw.module_getsrc(o->module, at);
    const char *file = found ? dw.lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (name)
        describe_function(name, to);
    if (file)
        pythia_buf_printf(to, "%s%s:%d", name ? " at " : "", slash ? slash + 1 : file, line);
    else if (name)
        pythia_buf_printf(to, "+0x%" PRIx64, (uint64_t)offset + 1);
}

/* "shop+0x1a2b": where its number begins; 0: it is no place. */
static size_t find_place_number(struct pythia_text text)
{
    if (text.size < 5 || text.size > PLACE_MAX)
        return 0;
    size_t at = text.size;
    while (at > 0 && strchr("0123456789abcdef", text.bytes[at - 1]) && text.bytes[at - 1])
        at--;
    return at > 3 && at < text.size && text.size - at <= 16 &&
                   memcmp(text.bytes + at - 3, "+0x", 3) == 0
               ? at
               : 0;
}

/* With the lock held. */
static struct shown_place look_up_place(struct pythia_symbols *s, struct pythia_text text,
                                        size_t number)
{
    struct pythia_buf made = {0};
    char digits[20] = "";
    struct object *o = find_object(s, (struct pythia_text){text.bytes, number - 3});
    if (!o || !load_libdw(s))
        return (struct shown_place){0};
    if (!o->opened)
        open_object(o);
    memcpy(digits, text.bytes + number, text.size - number);
    if (o->module)
        describe_address(o, strtoull(digits, NULL, 16), &made);
    struct shown_place shown = {0};
    if (made.size > 0 && pythia_buf_status(&made) == PYTHIA_OK)
        shown = (struct shown_place){pythia_strndup(made.bytes, made.size), made.size};
    pythia_buf_free(&made);
    return shown;
}

struct pythia_text pythia_symbols_of(struct pythia_symbols *s, struct pythia_text text)
{
    size_t number = find_place_number(text);
    if (number == 0)
        return text;
    pthread_mutex_lock(&s->lock);
    uint32_t place = pythia_strtab_find(s->places, text);
    if (place == PYTHIA_STRTAB_NONE) {
        place = pythia_strtab_intern(s->places, text);
        if (place != PYTHIA_STRTAB_NONE &&
            pythia_reach(&s->shown, &s->shown_capacity, place, sizeof(*s->shown)) == PYTHIA_OK)
            s->shown[place] = look_up_place(s, text, number);
    }
    if (place < s->shown_capacity && s->shown[place].bytes)
        text = (struct pythia_text){s->shown[place].bytes, s->shown[place].size};
    pthread_mutex_unlock(&s->lock);
    return text;
}
