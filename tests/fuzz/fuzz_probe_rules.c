/* Rules by which probes and events become spans: whatever a file has, it is read, or refused with
 * its line and a reason; and what was read has what its readers rely on. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "pythia/log.h"
#include "pythia/lttng_rules.h"
#include "pythia/probe_rules.h"
#include "pythia/status.h"

static void check_failure(int status, const struct pythia_error *e)
{
    /* EIO: a file to include that is not there. */
    MUST(status == PYTHIA_EFORMAT || status == PYTHIA_EUSAGE || status == PYTHIA_ELIMIT ||
         status == PYTHIA_EIO);
    MUST(e->status == status && e->sentence[0] && e->source[0]);
}

static void check_rules(const struct pythia_probe_rules *rules)
{
    MUST(rules->service && rules->point_count > 0);
    MUST(rules->program_count <= PYTHIA_PROBE_PROGRAMS_MAX);
    for (size_t i = 0; i < rules->point_count; i++) {
        const struct pythia_probe_point *p = &rules->points[i];
        MUST(p->name && p->name[0] && p->key_count <= PYTHIA_PROBE_KEYS_MAX);
        MUST(p->is_wait || (p->provider && p->probes[0] && p->probes[1]));
        for (size_t k = 0; k < p->key_count; k++)
            MUST(p->keys[k].name && p->keys[k].name[0]);
    }
}

/* The events of rules are found by their names. */
static void check_events(const struct pythia_lttng_rules *rules)
{
    const struct pythia_probe_rules *of = pythia_lttng_rules_of(rules);
    check_rules(of);
    for (size_t i = 0; i < of->point_count; i++)
        for (unsigned done = 0; done < 2 && pythia_lttng_rules_has_events(rules, i); done++) {
            char name[PYTHIA_LTTNG_EVENT_BYTES];
            bool found_done;
            pythia_lttng_rules_event(rules, i, done, name);
            MUST(pythia_lttng_rules_find(rules, name, &found_done) < of->point_count);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pythia_probe_rules rules;
    struct pythia_lttng_rules *events = NULL;
    struct pythia_error e = {0}, why = {0};
    char path[32];
    pythia_log_setup("fuzz", PYTHIA_LOG_ERROR);
    int status = pythia_probe_rules_parse("rules", (const char *)bytes, size, &rules, &e);
    if (status == PYTHIA_OK) {
        check_rules(&rules);
        pythia_probe_rules_free(&rules);
    } else {
        check_failure(status, &e);
    }
    int file = memfd_create("rules", MFD_CLOEXEC);
    MUST(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    status = pythia_lttng_rules_read(path, &events, &why);
    if (status == PYTHIA_OK)
        check_events(events);
    else
        check_failure(status, &why);
    pythia_lttng_rules_free(events);
    close(file);
    return 0;
}
