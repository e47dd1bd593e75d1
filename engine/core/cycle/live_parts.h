/* The members of the live engine, for live.c, which changes them, and live_queries.c, which reads
 * them. */
#ifndef PYTHIA_CORE_LIVE_PARTS_H
#define PYTHIA_CORE_LIVE_PARTS_H

#include "evidence.h"
#include "live_lesson.h"
#include "live_phase.h"
#include "live_types.h"
#include "pythia/live.h"
#include "pythia/request_variables.h"

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
    struct pythia__lesson lesson;
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
    uint64_t heard_ns;             /* the last such time that the owner reported */
    uint64_t taught_ns;            /* when types to learn were last looked for */
    enum pythia__live_phase phase;
    enum pythia__set_state set;
    bool paused;              /* by its owner, whatever the phase */
    uint64_t wish;            /* number of the desired set */
    uint64_t apart;           /* requests set apart since the last cycle */
    uint64_t reported_hidden; /* requests hidden until the last cycle */
    struct pythia_live_numbers numbers;
};

/* Is a trace point open for requests of all types? A search must have begun. */
bool pythia__live_opens_for_all(const struct pythia_live *l, uint32_t point);
#endif
