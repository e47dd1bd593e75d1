/* The members of the live engine, for live.c, which changes them, and live_queries.c, which reads
 * them. */
#ifndef PYTHIA_CORE_LIVE_PARTS_H
#define PYTHIA_CORE_LIVE_PARTS_H

#include <jansson.h>

#include "evidence.h"
#include "live_phase.h"
#include "pythia/buf.h"
#include "pythia/live.h"
#include "pythia/live_shared.h"
#include "pythia/live_snapshot.h"
#include "pythia/request_variables.h"
#include "types/late_learning.h"
#include "types/live_types.h"

/* Evidence of one cycle. */
struct pythia__live_stage {
    struct pythia__evidence evidence;
    uint64_t number, begun_ns; /* by the caller's clock; number 0: it has not begun */
    uint64_t most;             /* requests of the type that has most */
    uint64_t together;         /* the same with the requests carried from earlier cycles */
    uint64_t looked;           /* number of spans when its memory was last looked at */
    size_t types;
    bool full, heavy; /* heavy: its memory is used up */
};

/* Both owned, or NULL while learning. */
struct pythia__live_points {
    struct pythia_open_points *open; /* what the search wants open */
    struct pythia_open_points *skeleton;
};

/* Evidence of a member of a group, as its message has it, until the round is decided. */
struct pythia__live_part {
    char *member;           /* owned */
    json_t *head;           /* owned: its numbers */
    struct pythia_buf file; /* of evidence; empty: none that counts */
};

/* A search that several engines make together: live_shared.h. */
struct pythia__live_share {
    struct pythia_layers *layers; /* owned: those of the log, which are the same at all engines */
    bool on;
    char *group;        /* owned; NULL: the engine is alone */
    char *settings;     /* owned; of an engine alone those of what it saves (live_snapshot.h) */
    char *log_settings; /* owned: of the first message; NULL: none was read */
    uint64_t own, all;  /* parts of the requests that this engine sees, and that are */
    uint64_t set;       /* searches begun and rounds that switched, so far */
    struct pythia_open_points *always, *never; /* borrowed: pins that all members have */
    bool complete, learning_over;              /* the evidence of the stage; the first types */
    bool offered;                              /* types were sent that began no search yet */
    bool differs;                              /* the settings of the log are not ours */
    struct pythia__live_part *parts;           /* owned: of the round */
    size_t part_count, part_capacity;
    struct pythia__live_part *offers; /* owned: of first types, until the search begins */
    size_t offer_count, offer_capacity;
    struct pythia__live_stage round; /* while it is decided and reported */
    bool deciding;
    struct pythia_live_shared_numbers numbers;
};

struct pythia_live {
    struct pythia_vocabulary *vocabulary;
    struct pythia_live_options o;
    struct pythia_live_taker taker;
    int (*watch)(void *context, uint32_t type, const struct pythia_trace *trace); /* or NULL */
    void *watch_context;
    /* NULL: nobody watches. */
    int (*watch_span)(void *context, const struct pythia_trace_id *trace,
                      const struct pythia_span *span);
    void *watch_span_context;
    struct pythia_space *space;
    bool owns_space;
    struct pythia_window *window;
    struct pythia_counts counts;
    struct pythia_request_types *namer;
    struct pythia_path_templates *templates;
    uint64_t template_changes; /* number of changes at which types were last merged */
    struct pythia_request_variables *variables;
    struct pythia__live_types types;
    struct pythia__late_learning late;
    uint32_t other; /* the name of the type that stands for all beyond the limit */
    struct pythia__evidence_context context;
    struct pythia_search *search;              /* NULL: learning */
    struct pythia__live_points points, former; /* former: of evidence that is being reported */
    struct pythia_cycle last;                  /* decisions */
    struct pythia__live_stage stages[PYTHIA__STAGES];
    int now; /* index of the stage of the current cycle */
    uint64_t stage_numbers;
    uint64_t cut_ns, settling_since_ns, patience_ns;
    uint64_t now_ns;
    uint64_t first_ns, learnt_ns;  /* the first request arrived, the first type was learnt */
    uint64_t since_ns, applied_ns; /* when the set was applied, by the clock of spans and by ours */
    uint64_t longest_ns;           /* the longest request while everything was open for learning */
    uint32_t learnt_points;        /* trace points that there were when the set was applied */
    bool *entries; /* owned, by trace point, while learning: it begins requests, or is
                                      called by another service, and stays open whatever pins say */
    size_t entries_capacity;
    uint64_t heard_ns;       /* the last such time that the owner reported */
    uint64_t late_looked_ns; /* when types to learn were last looked for */
    enum pythia__live_phase phase;
    enum pythia__set_state set;
    uint32_t *partial; /* owned: points that are wanted open at one instance only */
    size_t partial_count, partial_capacity;
    bool paused;              /* by its owner, whatever the phase */
    uint64_t wish;            /* number of the desired set */
    uint64_t apart;           /* requests set apart since the last cycle */
    uint64_t reported_hidden; /* requests hidden until the last cycle */
    struct pythia_live_numbers numbers;
    struct pythia__live_share share;
};

static inline void pythia__live_advance_phase(struct pythia_live *l, enum pythia__live_event event)
{
    l->phase = pythia__live_phase_next(l->phase, event);
}

static inline void pythia__live_advance_set(struct pythia_live *l, enum pythia__set_event event)
{
    l->set = pythia__set_state_next(l->set, event);
}

static inline bool pythia__live_is_searching(const struct pythia_live *l)
{
    return l->search && !l->paused;
}

/* The number of requests that suffices for a type when the others have been learnt. */
static inline uint64_t pythia__live_few_to_learn(const struct pythia_live *l)
{
    return l->o.learn_requests < 5 ? l->o.learn_requests : 5;
}

/* live_instances.c: note which points are wanted open at one instance only, PYTHIA_OK or
 * PYTHIA_ENOMEM; and does a request of a type lack such a point because it hit another instance, or
 * may it? */
int pythia__live_find_partial(struct pythia_live *l);
bool pythia__live_was_elsewhere(const struct pythia_live *l, const struct pythia__live_type *type,
                                const struct pythia_trace *trace);

/* Is a trace point open for requests of all types? A search must have begun. */
bool pythia__live_opens_for_all(const struct pythia_live *l, uint32_t point);

/* live.c, for live_shared.c: begin the search with the space that there is; desire what it wants
 * open now; report a cycle; empty a stage; drop all evidence that was gathered with the previous
 * set, or with any; count requests that are evidence of nothing. */
int pythia__live_begin_search(struct pythia_live *l);
int pythia__live_desire(struct pythia_live *l);
int pythia__live_report(struct pythia_live *l, const struct pythia__live_stage *s);
void pythia__live_empty_stage(struct pythia_live *l, struct pythia__live_stage *s);
void pythia__live_drop_evidence(struct pythia_live *l);
void pythia__live_set_apart(struct pythia_live *l, uint64_t requests);
void pythia__live_end_stage(struct pythia_live *l); /* it was taken: the next begins empty */
double pythia__live_seconds(const struct pythia__evidence *e);

/* live_learning.c: learn a type, or a known one once more, from a request. PYTHIA_OK or
 * PYTHIA_ENOMEM. */
int pythia__live_learn_request(struct pythia_live *l, struct pythia__live_type *type,
                               const struct pythia_trace *trace);
int pythia__live_learn_again(struct pythia_live *l, struct pythia__live_type *type,
                             const struct pythia_trace *whole);
/* Have the first types been learnt? */
bool pythia__live_is_learning_over(const struct pythia_live *l);
/* The desired set came into force: learn the first types anew if trace points turned up since. */
void pythia__live_learn_with_new_points(struct pythia_live *l);
/* Open trace points for types and points that turned up, and close them again. Requests of searched
 * types look the same meanwhile, so that their evidence goes on. PYTHIA_OK or PYTHIA_ENOMEM. */
int pythia__live_step_late_learning(struct pythia_live *l);
/* Known types may hit points that their trees lack (types/late_learning.h): a request whose hidden
 * spans may show it; searches that began again. */
void pythia__live_note_strays(struct pythia_live *l, struct pythia__live_type *type,
                              const struct pythia_trace *whole);
void pythia__live_review_retried(struct pythia_live *l);
/* Another set is desired, in which searched types look the same: their evidence stays. */
void pythia__live_desire_alike(struct pythia_live *l);

/* live_share.c: the share as the options say, before anything else is made; free it; the options
 * of the search, which must be the same at all members. */
int pythia__live_share_init(struct pythia_live *l);
void pythia__live_share_free(struct pythia__live_share *share);
void pythia__live_part_free(struct pythia__live_part *part);
void pythia__live_share_clear(struct pythia__live_share *share); /* its parts */
void pythia__live_share_clear_offers(struct pythia__live_share *share);
struct pythia_search_options pythia__live_share_search(const struct pythia_live *l);
/* The layers that this engine knows and the log lacks, as an object by the ids of points (NULL when
 * out of memory); or all that the log has. Add those of a message, of which the first counts for
 * each point. PYTHIA_OK, PYTHIA_EFORMAT with the reason in `e`, or PYTHIA_ENOMEM. */
json_t *pythia__live_pack_layers(const struct pythia_live *l, bool of_log);
int pythia__live_take_layers(const struct pythia_live *l, json_t *packed, struct pythia_layers *to,
                             struct pythia_error *e);

/* live_shared.c, for live_snapshot.c: move the types of a space's text that are not known yet to
 * our space, *moved rises by their number; look at a file of evidence alone, before it counts; add
 * a part to the round (`head` is borrowed). */
int pythia__live_adopt_types(struct pythia_live *l, const char *member, const char *text,
                             size_t *moved, struct pythia_error *why);
int pythia__live_check_file(const struct pythia_live *l, const char *member,
                            struct pythia_text file, struct pythia_error *e);
int pythia__live_add_part(struct pythia__live_share *share, json_t *head, struct pythia_text file);
#endif
