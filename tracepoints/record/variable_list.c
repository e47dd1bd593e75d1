/* SPDX-License-Identifier: MIT */
/* The variables of other processes, as their areas show them. Nothing there is believed: each is
 * looked at as a reader of rings does, and what does not fit is passed over. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "memory/area.h"
#include "memory/directory.h"
#include "pythia/variable.h"

#define FILE_BYTES 64

struct listing {
    int (*each)(void *context, int process, const char *service,
                const struct pythia_variable_info *variable);
    void *context;
    char service[PYTHIA_SERVICE_BYTES + 1];
};

static void read_process(struct listing *l, const unsigned char *at, size_t bytes)
{
    struct pythia_record_process record;
    if (bytes < sizeof(record))
        return;
    memcpy(&record, at, sizeof(record));
    if (record.service_bytes > PYTHIA_SERVICE_BYTES ||
        record.service_bytes > bytes - sizeof(record))
        return;
    memcpy(l->service, at + sizeof(record), record.service_bytes);
    l->service[record.service_bytes] = '\0';
}

static int read_variable(const struct listing *l, const struct pythia__area *a, int process,
                         const unsigned char *at, size_t bytes)
{
    struct pythia_record_variable record;
    struct pythia_variable_info info = {.name = ""};
    if (bytes < sizeof(record))
        return 0;
    memcpy(&record, at, sizeof(record));
    if (record.head.number < 1 || record.head.number > PYTHIA_VARIABLES ||
        record.name_bytes > PYTHIA_VARIABLE_NAME_BYTES ||
        record.name_bytes > bytes - sizeof(record) || record.of_class > PYTHIA_CLASS_LOWWATERMARK ||
        record.binding > PYTHIA_BIND_REQUEST || record.type > PYTHIA_VARIABLE_ASKED)
        return 0;
    memcpy(info.name, at + sizeof(record), record.name_bytes);
    info.of_class = (enum pythia_variable_class)record.of_class;
    info.binding = (enum pythia_variable_binding)record.binding;
    info.type = (enum pythia_variable_type)record.type;
    uint64_t bits =
        __atomic_load_n(&a->header->variables[record.head.number - 1], __ATOMIC_RELAXED);
    memcpy(&info.value, &bits, sizeof(bits));
    return l->each(l->context, process, l->service, &info);
}

static int read_definitions(struct listing *l, const struct pythia__area *a, int process)
{
    uint64_t defined = __atomic_load_n(&a->header->defined, __ATOMIC_ACQUIRE), at = 0;
    int status = 0;
    defined = defined < a->definition_bytes ? defined : a->definition_bytes;
    while (status == 0 && defined - at >= sizeof(struct pythia_record)) {
        struct pythia_record head;
        memcpy(&head, a->definitions + at, sizeof(head));
        if (head.bytes < sizeof(head) || head.bytes % 8 || head.bytes > defined - at)
            break;
        if (head.kind == PYTHIA_RECORD_PROCESS)
            read_process(l, a->definitions + at, head.bytes);
        else if (head.kind == PYTHIA_RECORD_VARIABLE)
            status = read_variable(l, a, process, a->definitions + at, head.bytes);
        at += head.bytes;
    }
    return status;
}

static int list_area(struct listing *l, const struct pythia__directory *d, const char *file)
{
    struct pythia__entry entry;
    struct pythia__area area;
    size_t bytes;
    void *at;
    int status = 0;
    if (pythia__entry_read(d, file, "area", &entry, NULL) != 0 ||
        pythia__segment_attached(entry.segment) < 1 || /* its process has ended */
        pythia__segment_attach(entry.segment, d->owner, &bytes, &at, NULL) != 0)
        return 0;
    l->service[0] = '\0';
    if (pythia__area_check(&area, at, bytes, entry.id_high, entry.id_low, NULL) == 0)
        status = read_definitions(l, &area, entry.pid);
    pythia__segment_detach(at);
    return status;
}

int pythia_variables_list(const char *directory,
                          int (*each)(void *context, int process, const char *service,
                                      const struct pythia_variable_info *variable),
                          void *context, char *why)
{
    struct pythia__directory d;
    struct listing l = {.each = each, .context = context};
    int status = pythia__directory_find(directory, 1, &d, why);
    if (status != 0)
        return status;
    DIR *folder = opendir(d.path);
    if (!folder)
        return pythia__why(why, -errno, "%.150s cannot be read: %s", d.path, strerror(errno));
    for (const struct dirent *e; status == 0 && (e = readdir(folder));)
        if (strncmp(e->d_name, "area-", 5) == 0 && strlen(e->d_name) < FILE_BYTES)
            status = list_area(&l, &d, e->d_name);
    closedir(folder);
    return status;
}
