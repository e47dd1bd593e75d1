/* SPDX-License-Identifier: MIT */
/* The objects that are loaded, and the entries of their global offset tables that calls go through.
 *
 * An entry holds the address of the function, once it is bound, or that of code which will bind it
 * at its first call. So what it will be is asked of the dynamic linker, as it would look it up
 * itself: with the version that the object wants, first in the program and what came with it, then
 * in the object and what it needs. Where the table is read-only after relocation it is made
 * writable for as long as an entry is changed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hooks.h"

#define OBJECTS_MAX 65536

struct object {
    uintptr_t base, low, high; /* high: after the last byte */
    const ElfW(Dyn) * dynamic;
    uintptr_t relro_low, relro_high;
    char *path; /* owned */
    int looked_at, seen, gone;
    int instrumented; /* its functions tell when they are called */
};

static struct {
    struct object *all[OBJECTS_MAX]; /* never freed: pythia__object_at takes no lock */
    uint32_t count;
    unsigned long long added, removed;
} objects;

/* ---- what is loaded ---- */

struct listing {
    struct object *found;
    size_t count, capacity;
};

static void read_segments(const struct dl_phdr_info *info, struct object *o)
{
    o->low = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD) {
            o->low = at < o->low ? at : o->low;
            o->high = at + p->p_memsz > o->high ? at + p->p_memsz : o->high;
        } else if (p->p_type == PT_DYNAMIC) {
            o->dynamic = (const ElfW(Dyn) *)at; /* NOLINT(performance-no-int-to-ptr) */
        } else if (p->p_type == PT_GNU_RELRO) {
            uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
            o->relro_low = at & ~(page - 1);
            o->relro_high = (at + p->p_memsz) & ~(page - 1);
        }
    }
}

/* The dynamic linker holds a lock meanwhile: only note what there is. */
static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct listing *l = context;
    (void)size;
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 64;
        struct object *more = realloc(l->found, capacity * sizeof(*more));
        if (!more)
            return 1;
        l->found = more;
        l->capacity = capacity;
    }
    struct object *o = &l->found[l->count];
    *o = (struct object){.base = info->dlpi_addr};
    read_segments(info, o);
    o->path = strdup(info->dlpi_name ? info->dlpi_name : "");
    l->count += o->path != NULL;
    objects.added = info->dlpi_adds;
    objects.removed = info->dlpi_subs;
    return 0;
}

static int note_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    unsigned long long *counts = context;
    (void)size;
    counts[0] = info->dlpi_adds;
    counts[1] = info->dlpi_subs;
    return 1;
}

int pythia__objects_changed(void)
{
    unsigned long long counts[2] = {0, 0};
    dl_iterate_phdr(note_counts, counts);
    return counts[0] != objects.added || counts[1] != objects.removed;
}

static const char *find_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Objects whose calls are left alone: this one and its library, which calls would come back to; the
 * C library and the dynamic linker, which call in the middle of what they do; and what unwinds. */
static int is_left_alone(const struct object *o)
{
    static const char *const names[] = {"libpythia-preload.so",
                                        "libpythia-tracepoints.so",
                                        "libc.so.",
                                        "ld-linux",
                                        "libgcc_s.so.",
                                        "libpthread.so.",
                                        "libdl.so.",
                                        "linux-vdso.so.",
                                        "libasan.so.",
                                        "libtsan.so.",
                                        "libubsan.so.",
                                        "ld.so"};
    const char *name = find_file_name(o->path);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return 1;
    return !o->dynamic;
}

static struct object *find_same_object(const struct object *o)
{
    for (uint32_t i = 0; i < objects.count; i++) {
        struct object *known = objects.all[i];
        if (known->base == o->base && known->dynamic == o->dynamic && known->low == o->low &&
            known->high == o->high && strcmp(known->path, o->path) == 0)
            return known;
    }
    return NULL;
}

/* The program itself has no name there. */
static void name_program(struct object *o)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (*o->path || size <= 0)
        return;
    path[size] = '\0';
    char *copy = strdup(path);
    if (copy) {
        free(o->path);
        o->path = copy;
    }
}

static void keep_object(struct object *found)
{
    struct object *o = objects.count < OBJECTS_MAX ? malloc(sizeof(*o)) : NULL;
    if (!o) {
        free(found->path);
        return;
    }
    *o = *found;
    objects.all[objects.count] = o;
    __atomic_store_n(&objects.count, objects.count + 1, __ATOMIC_RELEASE);
}

/* Bring what is known up to date. What was unloaded may come back at the same place, so once
 * anything has gone all is looked at anew: entries that are hooked already are recognised. */
static void list_objects(void)
{
    struct listing l = {0};
    unsigned long long removed = objects.removed;
    dl_iterate_phdr(note_object, &l);
    for (uint32_t i = 0; i < objects.count; i++)
        objects.all[i]->seen = 0;
    for (size_t i = 0; i < l.count; i++) {
        if (i == 0)
            name_program(&l.found[i]);
        struct object *same = find_same_object(&l.found[i]);
        if (!same) {
            l.found[i].seen = 1;
            keep_object(&l.found[i]);
            continue;
        }
        free(l.found[i].path);
        same->seen = 1;
        same->looked_at = same->looked_at && !same->gone && removed == objects.removed;
        __atomic_store_n(&same->gone, 0, __ATOMIC_RELEASE);
    }
    for (uint32_t i = 0; i < objects.count; i++)
        if (!objects.all[i]->seen)
            __atomic_store_n(&objects.all[i]->gone, 1, __ATOMIC_RELEASE);
    free(l.found);
}

static const struct object *object_of(uintptr_t address)
{
    for (uint32_t i = __atomic_load_n(&objects.count, __ATOMIC_ACQUIRE); i-- > 0;) {
        const struct object *o = objects.all[i];
        if (!__atomic_load_n(&o->gone, __ATOMIC_ACQUIRE) && address - o->low < o->high - o->low)
            return o;
    }
    return NULL;
}

const char *pythia__object_at(uintptr_t address, uintptr_t *begin)
{
    const struct object *o = object_of(address);
    if (!o)
        return NULL;
    *begin = o->base;
    return find_file_name(o->path);
}

/* ---- relocations ---- */

/* The needed entries of an object's dynamic section. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * calls, *others;
    size_t call_count, other_count, string_bytes;
    const ElfW(Half) * versions;
    const ElfW(Verneed) * needs;
    size_t need_count;
    int symbolic;
};

static const void *rebase_address(const struct object *o, ElfW(Addr) value)
{
    /* glibc has added the base to some of them already, and left others as they are in the file. */
    return (const void *)(value < o->base ? value + o->base : value); /* NOLINT: an address */
}

/* The dynamic section is read instead of the section headers, which a stripped object may not have.
 */
static int read_object_tables(const struct object *o, struct tables *t)
{
    *t = (struct tables){0};
    for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
        ElfW(Addr) value = d->d_un.d_ptr;
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = rebase_address(o, value);
            break;
        case DT_STRTAB:
            t->strings = rebase_address(o, value);
            break;
        case DT_STRSZ:
            t->string_bytes = value;
            break;
        case DT_JMPREL:
            t->calls = rebase_address(o, value);
            break;
        case DT_PLTRELSZ:
            t->call_count = value / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            t->others = rebase_address(o, value);
            break;
        case DT_RELASZ:
            t->other_count = value / sizeof(ElfW(Rela));
            break;
        case DT_VERSYM:
            t->versions = rebase_address(o, value);
            break;
        case DT_VERNEED:
            t->needs = rebase_address(o, value);
            break;
        case DT_VERNEEDNUM:
            t->need_count = value;
            break;
        case DT_SYMBOLIC:
            t->symbolic = 1;
            break;
        case DT_FLAGS:
            t->symbolic |= (value & DF_SYMBOLIC) != 0;
            break;
        default:
            break;
        }
    }
    return t->symbols && t->strings;
}

/* The version that an object wants of a symbol; NULL: any. */
static const char *version_of(const struct tables *t, size_t symbol)
{
    unsigned wanted = t->versions ? t->versions[symbol] & 0x7fff : 0;
    const char *at = (const char *)t->needs;
    for (size_t i = 0; at && wanted > 1 && i < t->need_count; i++) {
        const ElfW(Verneed) *need = (const ElfW(Verneed) *)at;
        const char *entry = at + need->vn_aux;
        for (unsigned j = 0; j < need->vn_cnt; j++) {
            const ElfW(Vernaux) *aux = (const ElfW(Vernaux) *)entry;
            if ((aux->vna_other & 0x7fff) == wanted && aux->vna_name < t->string_bytes)
                return t->strings + aux->vna_name;
            entry += aux->vna_next;
        }
        at += need->vn_next;
    }
    return NULL;
}

static void *look_up(void *where, const char *name, const char *version)
{
    return version ? dlvsym(where, name, version) : pythia__real_dlsym(where, name);
}

/* The function that an entry stands for. */
static uintptr_t resolve_entry(const struct tables *t, size_t symbol, const char *name,
                               void *handle)
{
    const char *version = version_of(t, symbol);
    void *found = t->symbolic && handle ? look_up(handle, name, version) : NULL;
    if (!found)
        found = look_up(RTLD_DEFAULT, name, version);
    if (!found && handle)
        found = look_up(handle, name, version);
    return (uintptr_t)found;
}

/* ---- hooking ---- */

static int write_entry(const struct object *o,
                       uintptr_t *entry, /* NOLINT(readability-non-const-parameter): written to */
                       uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)entry & ~(page - 1);
    int locked = (uintptr_t)entry >= o->relro_low && (uintptr_t)entry < o->relro_high;
    void *start = (void *)at; /* NOLINT(performance-no-int-to-ptr) */
    if (locked && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return -errno;
    __atomic_store_n(entry, value, __ATOMIC_RELEASE);
    if (locked)
        mprotect(start, page, PROT_READ);
    return 0;
}

/* Hook one entry if its function was declared. */
static size_t hook_entry(struct object *o, const struct tables *t, const ElfW(Rela) * r,
                         void *handle)
{
    size_t symbol = ELF64_R_SYM(r->r_info);
    const ElfW(Sym) *s = &t->symbols[symbol];
    unsigned kind = ELF64_ST_TYPE(s->st_info);
    uintptr_t *entry = (uintptr_t *)(o->base + r->r_offset); /* NOLINT: an address */
    if (symbol == 0 || s->st_name >= t->string_bytes ||
        (kind != STT_FUNC && kind != STT_NOTYPE && kind != STT_GNU_IFUNC))
        return 0;
    const char *name = t->strings + s->st_name;
    if (strcmp(name, "__cyg_profile_func_enter") == 0)
        o->instrumented = 1;
    for (struct pythia__hooked *h = pythia__declared_first(name); h;
         h = pythia__declared_next(h, name)) {
        if (pythia__is_stub(__atomic_load_n(entry, __ATOMIC_ACQUIRE)))
            return 0;
        uintptr_t target = resolve_entry(t, symbol, name, handle);
        const struct object *definer = target ? object_of(target) : NULL;
        if (!definer || !pythia__module_is(h->declared.module, definer->path))
            continue;
        const struct pythia__hook *hook = pythia__hook_of(h, target);
        int status = hook ? write_entry(o, entry, hook->stub) : -ENOMEM;
        if (status != 0) {
            pythia__tell("problem\t%s cannot be hooked in %s: %s", name, find_file_name(o->path),
                         strerror(-status));
            return 0;
        }
        h->places++;
        return 1;
    }
    return 0;
}

static size_t hook_object(struct object *o, void *handle)
{
    struct tables t;
    size_t hooked = 0;
    if (!read_object_tables(o, &t))
        return 0;
    for (size_t i = 0; t.calls && i < t.call_count; i++)
        if (ELF64_R_TYPE(t.calls[i].r_info) == R_X86_64_JUMP_SLOT)
            hooked += hook_entry(o, &t, &t.calls[i], handle);
    for (size_t i = 0; t.others && i < t.other_count; i++)
        if (ELF64_R_TYPE(t.others[i].r_info) == R_X86_64_GLOB_DAT)
            hooked += hook_entry(o, &t, &t.others[i], handle);
    return hooked;
}

size_t pythia__objects_look(void (*instrumented)(const char *path, uintptr_t base))
{
    size_t hooked = 0;
    list_objects();
    for (uint32_t i = 0; i < objects.count; i++) {
        struct object *o = objects.all[i];
        if (o->gone || o->looked_at)
            continue;
        o->looked_at = 1;
        if (is_left_alone(o))
            continue;
        /* Held, so that it is not unloaded meanwhile. */
        void *handle = pythia__real_dlopen(i == 0 ? NULL : o->path, RTLD_LAZY | RTLD_NOLOAD);
        if (!handle)
            continue;
        hooked += hook_object(o, handle);
        if (o->instrumented)
            instrumented(o->path, o->base);
        dlclose(handle);
    }
    return hooked;
}
