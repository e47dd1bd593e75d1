/* SPDX-License-Identifier: MIT */
/* What clients talk to: looks whether the tenant may, asks the store, and makes an answer of it. */
#include "caller.h"
#include "service.h"
#include "work.h"

static void render(const struct settings *s, const struct bytes *answer)
{
    PYTHIA_SPAN_AS(span, "render");
    PYTHIA_SET(span, "answer_bytes", answer->used);
    work_do(s->work, answer->data, answer->used);
}

static enum status handle(struct worker *worker, unsigned method, unsigned attempt,
                          const struct request *request, struct bytes *answer)
{
    const struct settings *s = &worker->service->settings;
    (void)attempt;
    {
        PYTHIA_SPAN_AS(span, "authorize");
        PYTHIA_SET(span, "tenant", tenant_name(request->tenant));
        if (request->tenant >= TENANTS)
            return STATUS_BROKEN;
    }
    enum status status = caller_call(worker->callers[0], method, request, answer);
    render(s, answer);
    return status;
}

const struct service_kind front_kind = {.name = "front", .handle = handle};
