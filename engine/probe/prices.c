/* What a hit costs depends on the machine as much as on the instruction: an instruction that is
 * executed in a single step costs half a microsecond on one and 17 in a virtual machine on another,
 * and a machine that is shared is twice as fast in one minute as in the next. So functions of this
 * program with each kind of instruction have probes of the same kind as any other, in this process
 * alone, that stay open: they are called some hundred times every second. */
#include <unistd.h>

#include "attach.h"
#include "pythia/priced_functions.h"
#include "pythia/status.h"

int pythia__prices_open(struct pythia__prices *p, struct pythia_error *e)
{
    struct pythia_probe_message m = {.role = PYTHIA_PROBE_ENTER, .id = {.pid = (uint32_t)getpid()}};
    ssize_t size = readlink("/proc/self/exe", m.id.path, sizeof(m.id.path) - 1);
    int copies[PYTHIA__RINGS_MAX], status = pythia__rings_open(&p->rings, e);
    if (status != PYTHIA_OK)
        return status;
    if (size < 0)
        return pythia_error_set(e, PYTHIA_EIO, "/proc/self/exe cannot be read");
    for (size_t i = 0; i < p->rings.count; i++)
        copies[i] = dup(p->rings.rings[i]);
    status = pythia_probe_rings_open(copies, p->rings.count, &p->mapped, e);
    for (unsigned i = 0; i <= PYTHIA_USDT_INSTRUCTIONS && status == PYTHIA_OK; i++) {
        bool last = i == PYTHIA_USDT_INSTRUCTIONS; /* that with a return has two */
        const struct pythia_usdt_site site =
            pythia_priced_site(last ? PYTHIA_USDT_RETURN : i, last ? PYTHIA_USDT_PUSH : i);
        status = pythia__site_open(&p->rings, &m, &site, 0, 0, e) < 0 ? PYTHIA_EIO : PYTHIA_OK;
    }
    if (status == PYTHIA_OK)
        pythia__prices_measure(p);
    return status;
}

void pythia__prices_measure(struct pythia__prices *p)
{
    double now_ns[PYTHIA_USDT_INSTRUCTIONS];
    pythia_priced_measure(p->mapped, now_ns);
    pythia_hit_prices_add(&p->of_hits, now_ns);
}
