#define _GNU_SOURCE
#include "pythia/run_context.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ---- the machine ---- */

/* The first line of a file without its newline; "" if it cannot be read. */
static void read_first_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    out[0] = '\0';
    if (!file)
        return;
    if (!fgets(out, (int)size, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

/* x86 says "model name", ARM says "Model" or nothing. */
static void read_cpu_model(char *out, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[512];
    out[0] = '\0';
    while (file && !out[0] && fgets(line, sizeof(line), file)) {
        char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model", 5) != 0))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(out, size, "%s", colon + 1 + strspn(colon + 1, " "));
    }
    if (file)
        fclose(file);
}

void pythia_run_context_read(struct pythia_run_context *c)
{
    struct utsname system;
    struct sysinfo memory;
    *c = (struct pythia_run_context){0};
    if (uname(&system) == 0) {
        snprintf(c->name, sizeof(c->name), "%s", system.nodename);
        snprintf(c->uname, sizeof(c->uname), "%s %s %s %s", system.sysname, system.release,
                 system.version, system.machine);
    }
    read_cpu_model(c->cpu_model, sizeof(c->cpu_model));
    read_first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", c->governor,
                    sizeof(c->governor));
    c->host = (struct pythia_run_host){
        c->name[0] ? c->name : NULL,
        c->uname[0] ? c->uname : NULL,
        c->cpu_model[0] ? c->cpu_model : NULL,
        c->governor[0] ? c->governor : NULL,
        sysconf(_SC_NPROCESSORS_ONLN),
        -1,
        -1,
    };
    if (sysinfo(&memory) == 0) {
        c->host.memory_bytes = (int64_t)memory.totalram * memory.mem_unit;
        c->host.swap_bytes = (int64_t)memory.totalswap * memory.mem_unit;
    }
}
