#include "gain.h"

#include <math.h>
#include <string.h>

#include "pythia/mem.h"
#include "pythia/status.h"

#define BITS_MIN 1e-9 /* of a point that is worth opening at all */
/* A point that is all that there is between two open ones tells nothing about where the cause is,
 * as far as the search space goes; and yet nothing else can give the place a name. It counts as
 * this many bits where nothing tells more, if so much of what lies there is in it. With .01 in
 * place of .05 all results of the command in search_place.c stay the same. */
#define BITS_FILL .05
#define FILL_MIN  .9
#define ONCE      1.5 /* calls in a request that count as one: there is a before and an after */

/* Scratch of one choice. A block is a set of nodes that nothing tells apart yet. */
struct choosing {
    const struct pythia__belief *b;
    const struct pythia_cct *cct;
    uint32_t *block; /* by node */
    uint32_t blocks;
    double *whole, *below, *before, *around; /* mass: of a block; in a node's block, of the node and
                                                 all below it, of what comes before it in the order,
                                                 and of the nodes above it */
    double *calls;                           /* by trace point, in a request */
    uint32_t *first, *next;                  /* nodes by trace point: index lists, + 0 is none */
    uint32_t *touched;                       /* blocks of the current point */
    double *inside;                          /* by block */
    uint32_t *nodes_in;                      /* by block: nodes of the point */
};

static int allocate_gain(struct choosing *c, size_t nodes, size_t points, size_t blocks)
{
    const struct pythia_array arrays[] = {
        {&c->block, nodes, sizeof(uint32_t)},     {&c->whole, blocks, sizeof(double)},
        {&c->below, nodes, sizeof(double)},       {&c->before, nodes, sizeof(double)},
        {&c->around, nodes, sizeof(double)},      {&c->calls, points, sizeof(double)},
        {&c->first, points, sizeof(uint32_t)},    {&c->next, nodes, sizeof(uint32_t)},
        {&c->touched, blocks, sizeof(uint32_t)},  {&c->inside, blocks, sizeof(double)},
        {&c->nodes_in, blocks, sizeof(uint32_t)},
    };
    return pythia_calloc_arrays(arrays, sizeof(arrays) / sizeof(arrays[0]));
}

static void free_gain(struct choosing *c)
{
    void *const owned[] = {c->block, c->whole, c->below,   c->before, c->around,  c->calls,
                           c->first, c->next,  c->touched, c->inside, c->nodes_in};
    for (size_t i = 0; i < sizeof(owned) / sizeof(owned[0]); i++)
        pythia_free(owned[i]);
}

/* Masses of the blocks as they are. */
static void measure_block_mass(struct choosing *c)
{
    const struct pythia__belief *b = c->b;
    memset(c->whole, 0, c->blocks * sizeof(*c->whole));
    /* Parents come before children in this order, so one pass down gives what is before and
     * around a node, and one pass up what is below it: linear in the nodes, once for each pick. */
    for (uint32_t place = 1; place < b->nodes; place++) {
        uint32_t node = b->order[place], parent = pythia_cct_parent(c->cct, node);
        c->before[node] = c->whole[c->block[node]];
        c->whole[c->block[node]] += b->mass[node];
        c->below[node] = b->mass[node];
        c->around[node] = parent != PYTHIA_CCT_ROOT && c->block[parent] == c->block[node]
                              ? c->around[parent] + b->mass[parent]
                              : 0;
    }
    for (uint32_t place = b->nodes; place-- > 1;) {
        uint32_t node = b->order[place], parent = pythia_cct_parent(c->cct, node);
        if (parent != PYTHIA_CCT_ROOT && c->block[parent] == c->block[node])
            c->below[parent] += c->below[node];
    }
}

/* -p log p, of a part of a whole. */
static double entropy_term(double part, double whole)
{
    double p = part / whole;
    return p > 0 ? -p * log2(p) : 0;
}

/* The information of one point, and where most of it is; *filled: its share of what lies there. */
static double gain_of_point(struct choosing *c, uint32_t point, uint32_t *main_block,
                            double *filled)
{
    uint32_t count = 0, last = 0;
    double bits = 0, most = -1;
    *filled = 0;
    for (uint32_t node = c->first[point]; node; node = c->next[node]) {
        uint32_t block = c->block[node];
        if (c->b->nested[node] && c->block[pythia_cct_parent(c->cct, node)] == block)
            continue; /* in what another node of the point shows */
        if (c->nodes_in[block]++ == 0)
            c->touched[count++] = block;
        c->inside[block] += c->below[node];
        last = node;
    }
    /* A point that is hit once divides its block into before, inside and after; with several
     * hits, before one of them is after another and only inside and outside can be
     * distinguished. */
    bool once = count == 1 && c->nodes_in[c->touched[0]] == 1 && c->calls[point] <= ONCE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = c->touched[i];
        double whole = c->whole[block], in = fmin(c->inside[block], whole), rest = whole - in;
        if (whole > 0 && once) {
            double around = c->around[last], before = fmax(c->before[last] - around, 0),
                   after = fmax(rest - around - before, 0);
            /* The nodes around the point have time on both sides of it; half of their mass goes
             * to each. */
            bits += whole * (entropy_term(in, whole) + entropy_term(before + around / 2, whole) +
                             entropy_term(after + around / 2, whole));
        } else if (whole > 0) {
            bits += whole * (entropy_term(in, whole) + entropy_term(rest, whole));
        }
        if (in > most) {
            most = in;
            *filled = whole > 0 ? in / whole : 0;
            *main_block = block;
        }
        /* Reset only the blocks that were touched: the scratch is shared by all points. */
        c->inside[block] = 0;
        c->nodes_in[block] = 0;
    }
    return bits;
}

/* The point is as good as open: what it tells apart is in blocks of its own. */
static void split_blocks_at(struct choosing *c, uint32_t point)
{
    const struct pythia__belief *b = c->b;
    uint32_t nodes = 0, only = 0;
    for (uint32_t node = c->first[point]; node; node = c->next[node]) {
        nodes++;
        only = node;
    }
    if (nodes == 1 && c->calls[point] <= ONCE) { /* what comes before it */
        uint32_t old = c->block[only], earlier = c->blocks++;
        for (uint32_t place = 1; place < b->place[only]; place++)
            if (c->block[b->order[place]] == old && b->behind[b->order[place]] <= b->place[only])
                c->block[b->order[place]] = earlier;
    }
    /* Opened points are taken as open for the rest of the choice, so that the next pick is not
     * another point with the same information. */
    uint32_t inner = c->blocks++;
    for (uint32_t node = c->first[point]; node; node = c->next[node]) {
        uint32_t old = c->block[node];
        for (uint32_t place = b->place[node]; place < b->behind[node]; place++)
            if (c->block[b->order[place]] == old)
                c->block[b->order[place]] = inner;
    }
}

/* The mass in a point and below it, whatever else is open. */
static double mass_inside(const struct choosing *c, uint32_t point)
{
    const struct pythia__belief *b = c->b;
    double sum = 0;
    for (uint32_t node = c->first[point]; node; node = c->next[node])
        for (uint32_t place = b->place[node]; !b->nested[node] && place < b->behind[node]; place++)
            sum += b->mass[b->order[place]];
    return sum;
}

static void list_nodes(struct choosing *c)
{
    double requests = c->b->type->requests ? (double)c->b->type->requests : 1;
    for (uint32_t place = c->b->nodes; place-- > 1;) {
        uint32_t node = c->b->order[place];
        uint32_t point = pythia_cct_tracepoint(c->cct, node);
        c->calls[point] += (double)c->b->type->nodes[node].calls / requests;
        c->next[node] = c->first[point];
        c->first[point] = node;
    }
}

int pythia__gain_choose(const struct pythia__belief *b, const bool *closed, double weight,
                        const double *prices, size_t budget, struct pythia__pick *out,
                        size_t *count)
{
    struct choosing c = {.b = b, .cct = b->type->cct, .blocks = b->region_count + 1};
    const struct pythia_vocabulary *v = pythia_cct_vocabulary(c.cct);
    uint32_t points = pythia_vocabulary_tracepoints(v);
    int status = allocate_gain(&c, b->nodes, points, b->region_count + 1 + 2 * budget);
    *count = 0;
    if (status != PYTHIA_OK)
        goto out;
    memcpy(c.block, b->block, b->nodes * sizeof(*c.block));
    list_nodes(&c);
    while (*count < budget) {
        struct pythia__pick best = {.tracepoint = PYTHIA_NONE};
        double most = 0;
        measure_block_mass(&c);
        for (uint32_t point = 0; point < points; point++) {
            struct pythia__pick pick = {.tracepoint = point, .calls = c.calls[point]};
            bool taken = !c.first[point] || !closed[point]; /* flags may end before new points */
            for (size_t i = 0; i < *count && !taken; i++)
                taken = out[i].tracepoint == point;
            if (taken)
                continue;
            double filled;
            pick.bits = gain_of_point(&c, point, &pick.block, &filled);
            /* A point that fills its block has no entropy to reduce, but it may be all there is
             * left to open and its inside may still be shown. Only as the first pick. */
            if (!(pick.bits > BITS_MIN) && *count == 0 && filled >= FILL_MIN)
                pick.bits = BITS_FILL * c.whole[pick.block];
            double price = prices ? prices[point] : 1;
            double worth = pick.bits / (1 + weight * price * pick.calls);
            /* Ties are decided by name, not by number: numbers depend on the order in which
             * spans arrived. The tolerance covers the rounding of sums in another order. */
            bool equal = best.tracepoint != PYTHIA_NONE && fabs(worth - most) <= 1e-12 * most;
            if (equal ? pythia_text_compare(pythia_vocabulary_tracepoint_id(v, point),
                                            pythia_vocabulary_tracepoint_id(v, best.tracepoint)) < 0
                      : worth > most) {
                best = pick;
                most = worth;
            }
        }
        /* A second pick must be worth a share of the first: after next cycle's evidence a better
         * choice can be made. */
        if (best.tracepoint == PYTHIA_NONE || !(best.bits > BITS_MIN) ||
            (*count > 0 && best.bits < PYTHIA__PART_MIN * out[0].bits))
            break;
        split_blocks_at(&c, best.tracepoint);
        best.inside = mass_inside(&c, best.tracepoint);
        if (best.block >=
            b->region_count) /* a block of this choice is part of a region, or of none */
            best.block = b->block[c.first[best.tracepoint]];
        out[(*count)++] = best;
    }
out:
    free_gain(&c);
    return status;
}
