/* What a hit costs depends on the machine as much as on the instruction: an instruction that is
 * executed in a single step costs half a microsecond on one and 17 in a virtual machine on another.
 * So functions of this program with each kind of instruction are probed by the same kind of event
 * and program as any other, and called some thousand times. */
#include <unistd.h>

#include "attach.h"
#include "pythia/priced_functions.h"
#include "pythia/status.h"

static void rest(void *context)
{
    (void)context;
}

/* What a call of a function takes while `count` kinds of its sites are open, in `best_ns`: negative
 * with the reason in `e` if they cannot be opened. */
static int time_open(const struct pythia__rings *r, const struct pythia_probe_message *m,
                     const enum pythia_usdt_instruction *kinds, int count, double *best_ns,
                     struct pythia_error *e)
{
    int events[2], opened = 0;
    for (; opened < count; opened++) {
        const struct pythia_usdt_site site = {.offset = pythia_priced_offset(kinds[opened]),
                                              .instruction = kinds[opened],
                                              .operand_count = 1,
                                              .operands = {{.kind = PYTHIA_USDT_REGISTER,
                                                            .bytes = 8,
                                                            .base = 112,
                                                            .index = PYTHIA_USDT_NO_REGISTER}}};
        events[opened] = pythia__site_open(r, m, &site, 0, 0, e);
        if (events[opened] < 0)
            break;
    }
    if (opened == count)
        *best_ns = pythia_priced_time(kinds[0], rest, NULL);
    for (int i = 0; i < opened; i++)
        close(events[i]);
    return opened == count ? PYTHIA_OK : PYTHIA_EIO;
}

/* The kernel goes to a function's begin for its return, too: what the return costs is what it adds
 * to an open begin. */
int pythia__prices_measure(struct pythia__rings *r, struct pythia_error *e)
{
    struct pythia_probe_message m = {.role = PYTHIA_PROBE_ENTER};
    double open_ns = 0, closed_ns = 0;
    ssize_t size = readlink("/proc/self/exe", m.id.path, sizeof(m.id.path) - 1);
    if (size < 0)
        return pythia_error_set(e, PYTHIA_EIO, "/proc/self/exe cannot be read");
    for (int i = 0; i < PYTHIA_USDT_INSTRUCTIONS; i++) {
        bool is_return = i == PYTHIA_USDT_RETURN;
        const enum pythia_usdt_instruction kinds[] = {
            is_return ? PYTHIA_USDT_PUSH : (enum pythia_usdt_instruction)i, PYTHIA_USDT_RETURN};
        if (time_open(r, &m, kinds, 1 + is_return, &open_ns, e) != PYTHIA_OK ||
            time_open(r, &m, kinds, is_return, &closed_ns, e) != PYTHIA_OK)
            return PYTHIA_EIO;
        r->prices_ns[i] = open_ns - closed_ns;
    }
    return PYTHIA_OK;
}
