/* The problems for strategies. The causes are those of VAIF and what a search that only knows
 * these would miss; sizes, shapes and what disturbs are varied one at a time, so that a row says
 * what is hard. */
#include <math.h>
#include <stdio.h>

#include "pythia/trial.h"

#define SLEEP                                                                                      \
    {                                                                                              \
        PYTHIA_PLANTED_SLEEP, .3, .3, 0                                                            \
    }
#define ONE_SLEEP            .cause_count = 1, .causes = {SLEEP}
#define ONE(kind, parameter) .cause_count = 1, .causes = {{PYTHIA_PLANTED_##kind, parameter, .3, 0}}
#define NOTHING                                                                                    \
    {                                                                                              \
        PYTHIA_PLANTED_MIDDLE, 0, 0, 0                                                             \
    }
#define UNKEYED                                                                                    \
    {                                                                                              \
        PYTHIA_PLANTED_TENANT, 0, 0, 0                                                             \
    }
#define REQUESTS 50

/* Calls vary independently by half of their mean. With 100 calls and a spread of .5 they add up to
 * a variance of .5^2 exp(.5^2) / 100 squared mean durations, and a sleep in 30 % of requests has
 * .21 strength^2: the strengths follow from the share that noise is to have. */
#define NOISE(strength)                                                                            \
    .noise = .5, .spread = .5, .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLEEP, .3, strength, 0}}

static const struct pythia_trial_problem problems[] = {
    {"bushy-100", "a bushy tree of 100 nodes", PYTHIA_WORKFLOW_BUSHY, 100, REQUESTS, ONE_SLEEP},
    {"bushy", "a bushy tree of 500 nodes", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, ONE_SLEEP},
    {"bushy-5000", "a bushy tree of 5000 nodes", PYTHIA_WORKFLOW_BUSHY, 5000, REQUESTS, ONE_SLEEP},
    {"bushy-50000", "a bushy tree of 50 000 nodes", PYTHIA_WORKFLOW_BUSHY, 50000, REQUESTS,
     ONE_SLEEP},
    {"deep-100", "a deep tree of 100 nodes", PYTHIA_WORKFLOW_DEEP, 100, REQUESTS, ONE_SLEEP},
    {"deep", "a deep tree of 500 nodes", PYTHIA_WORKFLOW_DEEP, 500, REQUESTS, ONE_SLEEP},
    {"deep-5000", "a deep tree of 5000 nodes", PYTHIA_WORKFLOW_DEEP, 5000, REQUESTS, ONE_SLEEP},
    {"deep-50000", "a deep tree of 50 000 nodes", PYTHIA_WORKFLOW_DEEP, 50000, REQUESTS, ONE_SLEEP},
    {"openstack", "500 nodes like OpenStack's", PYTHIA_WORKFLOW_OPENSTACK, 500, REQUESTS,
     ONE_SLEEP},
    {"openstack-5000", "5000 nodes like OpenStack's", PYTHIA_WORKFLOW_OPENSTACK, 5000, REQUESTS,
     ONE_SLEEP},
    {"two-causes", "two causes of the same size", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     .cause_count = 2, .causes = {SLEEP, {PYTHIA_PLANTED_UNIFORM, 1, .3, 0}}},
    {"three-causes", "three causes of the same size", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     .cause_count = 3,
     .causes = {SLEEP, {PYTHIA_PLANTED_UNIFORM, 1, .3, 0}, {PYTHIA_PLANTED_SLEEP, .5, .3, 0}}},
    {"forks", "a third of the nodes call what they call all at once", PYTHIA_WORKFLOW_BUSHY, 500,
     REQUESTS, .forks = .3, ONE_SLEEP},
    {"async", "a tenth of the nodes outlive what called them", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     .async = .1, ONE_SLEEP},
    {"retries", "a fifth of the small subtrees fails at times and is called again",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .retries = .2, ONE_SLEEP},
    {"loops", "a fifth of the small subtrees runs 1 to 5 times", PYTHIA_WORKFLOW_BUSHY, 500,
     REQUESTS, .loops = .2, ONE_SLEEP},
    {"unknown", "a tenth of the nodes is not in the search space", PYTHIA_WORKFLOW_BUSHY, 500,
     REQUESTS, .unknown = .1, ONE_SLEEP},
    {"drift-move", "the cause moves to another node in the third cycle of 50 requests",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .drift = PYTHIA_DRIFT_MOVE, .drift_requests = 2000,
     .first_request = 1900, ONE_SLEEP},
    {"drift-found", "the cause moves in the ninth cycle of 50 requests, when it has been found",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .drift = PYTHIA_DRIFT_MOVE, .drift_requests = 2000,
     .first_request = 1600, .through = true, ONE_SLEEP},
    {"drift-grow", "the cause grows from nothing in 500 requests", PYTHIA_WORKFLOW_BUSHY, 500,
     REQUESTS, .drift = PYTHIA_DRIFT_GROW, .drift_requests = 500, ONE_SLEEP},
    {"spikes", "each call takes very much longer once in 250 times", PYTHIA_WORKFLOW_BUSHY, 500,
     100, .spikes = .004, ONE_SLEEP},
    {"ticks", "clocks that count in steps of 1 ms, a thousandth of a request",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .tick_ns = 1000000, ONE_SLEEP},
    {"load", "all calls of a request are slow or fast together (a fifth of the mean)",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .load = .2, ONE_SLEEP},
    {"half", "a cause of 0.15 mean durations instead of 0.3", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLEEP, .3, .15, 0}}},
    {"weak", "a cause of 0.06 mean durations instead of 0.3", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLEEP, .3, .06, 0}}},
    {"sleep-5", "5 % of the requests take twice as long", PYTHIA_WORKFLOW_BUSHY, 500, 100,
     .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLEEP, .05, 1, 0}}},
    {"sleep-2", "2 % of the requests take twice as long", PYTHIA_WORKFLOW_BUSHY, 500, 200,
     .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLEEP, .02, 1, 0}}},
    {"exponential", "an exponential time in all requests", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     ONE(EXPONENTIAL, 1)},
    {"uniform", "a uniform time in all requests", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     ONE(UNIFORM, 1)},
    {"contention", "a lock, waited for at three nodes; the key queue_length", PYTHIA_WORKFLOW_BUSHY,
     500, REQUESTS, ONE(CONTENTION, .6)},
    {"host", "one of four hosts is slow; the key host.name", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     ONE(HOST, 0)},
    {"numeric", "a time that grows with the key item_count", PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS,
     ONE(NUMERIC, 0)},
    {"categorical", "a time that one of five values of the key plan takes", PYTHIA_WORKFLOW_BUSHY,
     500, REQUESTS, ONE(CATEGORICAL, .2)},
    {"shift", "a time at one node or at another, by the key cache: the total stays",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, ONE(SHIFT, .5)},
    {"compensating", "what one node takes longer, another makes up for by a third",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .cause_count = 1,
     .causes = {{PYTHIA_PLANTED_COMPENSATING, .33, .5, 0}}},
    {"null", "nothing to find, in a bushy tree under a load that varies", PYTHIA_WORKFLOW_BUSHY,
     500, REQUESTS, .load = .2},
    {"null-deep", "nothing to find, in a deep tree under a load that varies", PYTHIA_WORKFLOW_DEEP,
     500, REQUESTS, .load = .2},
    {"null-openstack", "nothing to find, in a system like OpenStack under a load that varies",
     PYTHIA_WORKFLOW_OPENSTACK, 500, REQUESTS, .load = .2},
    {"noise-10", "a cause beside independent noise of all calls: a tenth of the variance",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, NOISE(.371)},
    {"noise-20", "the same with a fifth of the variance", PYTHIA_WORKFLOW_BUSHY, 100, 100,
     NOISE(.247)},
    {"noise-40", "the same with two fifths of the variance", PYTHIA_WORKFLOW_BUSHY, 100, 100,
     NOISE(.151)},
    {"null-noise", "nothing but independent noise of all calls", PYTHIA_WORKFLOW_BUSHY, 80, 100,
     .noise = .5, .spread = .5},
    {"again", "bushy, with the cause in another node for each request in the first 4 cycles",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, .again = true, .scattered = 200, ONE_SLEEP},
    {"null-noise-again", "null-noise, and the search goes on after it was given up",
     PYTHIA_WORKFLOW_BUSHY, 80, 100, .noise = .5, .spread = .5, .again = true},
    {"null-again", "null, and the search goes on after it was given up", PYTHIA_WORKFLOW_BUSHY, 500,
     REQUESTS, .load = .2, .again = true},
    {"null-spikes-again", "null-spikes, and the search goes on after it was given up",
     PYTHIA_WORKFLOW_BUSHY, 500, 100, .spikes = .004, .again = true},
    {"failing-path", "half of the requests fail and end early; a number that only the others have",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .captured = true, ONE(FAILING, .5)},
    {"own-time", "a time in one call, in many segments between the calls that it makes",
     PYTHIA_WORKFLOW_BUSHY, 500, REQUESTS, ONE(OWN_TIME, 1)},
    {"two-keys", "a time that goes with the difference of two keys, beside 20 that mean nothing",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .captured = true, .distractors = 20, ONE(DIFFERENCE, 0)},
    {"null-spikes", "nothing to find but spikes", PYTHIA_WORKFLOW_BUSHY, 500, 100, .spikes = .004},
    {"slow-host", "3 of 12 hosts serve each request, and one of them is slow; the key host.name",
     PYTHIA_WORKFLOW_BUSHY, 100, 200, .hosts = 12, .captured = true, ONE(REPLICA, 0)},
    {"slow-all", "one of four hosts takes three times as long in all it does; the key host.name",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .cause_count = 1, .causes = {{PYTHIA_PLANTED_SLOW, 0, 2, 0}}},
    {"rare-edge", "a cause, and a call that 2 of 200 requests make, for most of the variance",
     PYTHIA_WORKFLOW_BUSHY, 100, 200, .captured = true, .cause_count = 2,
     .causes = {SLEEP, {PYTHIA_PLANTED_RARE, .01, 10, 0}}},
    {"middle-value", "one of ten shards is slow, in the middle of their numbers; the key shard",
     PYTHIA_WORKFLOW_BUSHY, 100, 200, .captured = true, ONE(MIDDLE, 0)},
    {"measured", "categorical, and each span has keys that measure its time, busy_ns and idle_ns",
     PYTHIA_WORKFLOW_BUSHY, 100, REQUESTS, .timed = true, ONE(CATEGORICAL, .2)},
    {"setting", "a wait of one of four lengths, which the key pause_ms sets; spans as in measured",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .timed = true, .captured = true, ONE(SETTING, 0)},
    {"tenants", "four of 40 tenants are slow, of two or three requests each; the key tenant",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .captured = true, ONE(TENANT, 0)},
    {"null-tenants", "a load that varies, and 8 keys of 40 values each that mean nothing",
     PYTHIA_WORKFLOW_BUSHY, 100, 100, .captured = true, .load = .2, .cause_count = 8,
     .causes = {UNKEYED, UNKEYED, UNKEYED, UNKEYED, UNKEYED, UNKEYED, UNKEYED, UNKEYED}},
    {"null-values", "a load that varies, and 8 keys of ten numbers each that mean nothing",
     PYTHIA_WORKFLOW_BUSHY, 100, 200, .captured = true, .load = .2, .cause_count = 8,
     .causes = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING}},
};

const struct pythia_trial_problem *pythia_trial_problems(size_t *count)
{
    *count = sizeof(problems) / sizeof(problems[0]);
    return problems;
}

#define DISTRACTORS 2

/* A problem states only what differs from the default workflow. */
void pythia_trial_workflow(const struct pythia_trial_problem *problem, uint64_t seed,
                           struct pythia_workflow_options *out)
{
    pythia_workflow_options_default(out);
    out->shape = problem->shape;
    out->nodes = problem->nodes;
    out->seed = seed;
    out->forks = problem->forks;
    out->async = problem->async;
    out->retries = problem->retries;
    out->loops = problem->loops;
    out->unknown = problem->unknown;
    out->spikes = problem->spikes;
    out->load = problem->load;
    out->noise = problem->noise > 0 ? problem->noise : out->noise;
    out->spread = problem->spread > 0 ? problem->spread : out->spread;
    out->hosts = problem->hosts ? problem->hosts : out->hosts;
    out->tick_ns = problem->tick_ns ? problem->tick_ns : out->tick_ns;
    out->timed = problem->timed;
    out->drift = problem->drift;
    out->drift_requests = problem->drift ? problem->drift_requests : out->drift_requests;
    out->distractors = problem->distractors ? problem->distractors : DISTRACTORS;
    out->cause_count = problem->cause_count;
    for (size_t i = 0; i < problem->cause_count; i++)
        out->causes[i] = problem->causes[i];
}

static void add_real(struct pythia_buf *to, const char *name, double value)
{
    if (value != 0)
        pythia_buf_printf(to, " --%s %g", name, value);
}

void pythia_trial_generate_options(const struct pythia_trial_problem *p, struct pythia_buf *to)
{
    static const char *const shapes[] = {"bushy", "deep", "openstack"};
    static const char *const drifts[] = {"none", "grow", "move"};
    pythia_buf_printf(to, "--shape %s --nodes %u --distractors %u", shapes[p->shape],
                      (unsigned)p->nodes,
                      (unsigned)(p->distractors ? p->distractors : DISTRACTORS));
    add_real(to, "hosts", p->hosts);
    add_real(to, "forks", p->forks);
    add_real(to, "async", p->async);
    add_real(to, "retries", p->retries);
    add_real(to, "loops", p->loops);
    add_real(to, "unknown", p->unknown);
    add_real(to, "spikes", p->spikes);
    add_real(to, "load", p->load);
    add_real(to, "noise", p->noise);
    add_real(to, "spread", p->spread);
    if (p->tick_ns)
        pythia_buf_printf(to, " --tick %llu", (unsigned long long)p->tick_ns);
    if (p->timed)
        pythia_buf_puts(to, " --timed");
    if (p->drift)
        pythia_buf_printf(to, " --drift %s --drift-requests %llu", drifts[p->drift],
                          (unsigned long long)p->drift_requests);
    pythia_buf_puts(to, p->cause_count ? " --causes " : " --causes none");
    for (size_t i = 0; i < p->cause_count; i++) {
        const struct pythia_workflow_cause *c = &p->causes[i];
        pythia_buf_printf(to, "%s%s:", i ? "," : "", pythia_planted_name(c->kind));
        if (c->parameter != 0) /* 0: what the kind has by default */
            pythia_buf_printf(to, "%g", c->parameter);
        pythia_buf_printf(to, ":%g", c->strength);
    }
}
