#include "span_rate.h"

#include <math.h>

#define TAU_S     2.  /* of the smoothing: a burst of a second is no load */
#define SETTLED_S 10. /* five times that: what was before closing is below 1 % of the rate then */
#define CALM      .8  /* of the limit: a rate at the limit must not open and close */
#define SHARE_MIN .01 /* less says that nothing arrives at all, and nothing of what would */

static void learn_share(struct pythia__span_rate *r)
{
    double share = r->open_rate > 0 ? r->rate / r->open_rate : 1;
    r->share = share < SHARE_MIN ? SHARE_MIN : share > 1 ? 1 : share;
}

bool pythia__span_rate_look(struct pythia__span_rate *r, double limit, uint64_t spans,
                            double seconds)
{
    double now = r->begun && spans > r->spans ? (double)(spans - r->spans) / seconds : 0;
    r->rate += (1 - exp(-seconds / TAU_S)) * (now - r->rate);
    r->spans = spans;
    r->begun = true;
    if (!r->exceeded) {
        r->exceeded = limit > 0 && r->rate > limit;
        r->open_rate = r->rate;
        r->share = 1;
        r->closed_s = 0;
        return r->exceeded;
    }
    bool settled = r->closed_s >= SETTLED_S;
    r->closed_s += seconds;
    if (!settled && r->closed_s >= SETTLED_S)
        learn_share(r);
    r->exceeded = limit > 0 && (r->closed_s < SETTLED_S || r->rate / r->share > CALM * limit);
    return r->exceeded;
}
