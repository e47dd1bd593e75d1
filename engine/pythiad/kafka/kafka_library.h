/* librdkafka, which is loaded when --kafka is given (pythia/late_library.h). If it were linked,
 * `pythiad --version` would take 19 ms instead of 10, and the package would need OpenSSL and SASL
 * where nobody has Kafka. */
#ifndef PYTHIA_PYTHIAD_KAFKA_LIBRARY_H
#define PYTHIA_PYTHIAD_KAFKA_LIBRARY_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/* Each function under its own name, without "rd_kafka_". */
#define PYTHIA__KAFKA_FUNCTIONS(X)                                                                 \
    X(abort_transaction)                                                                           \
    X(assign)                                                                                      \
    X(assignment)                                                                                  \
    X(conf_destroy)                                                                                \
    X(conf_new)                                                                                    \
    X(conf_set)                                                                                    \
    X(conf_set_dr_msg_cb)                                                                          \
    X(conf_set_error_cb)                                                                           \
    X(conf_set_log_cb)                                                                             \
    X(conf_set_offset_commit_cb)                                                                   \
    X(conf_set_opaque)                                                                             \
    X(conf_set_rebalance_cb)                                                                       \
    X(consume_queue)                                                                               \
    X(consumer_close)                                                                              \
    X(consumer_close_queue)                                                                        \
    X(consumer_closed)                                                                             \
    X(consumer_poll)                                                                               \
    X(destroy)                                                                                     \
    X(err2str)                                                                                     \
    X(error_destroy)                                                                               \
    X(error_string)                                                                                \
    X(fatal_error)                                                                                 \
    X(flush)                                                                                       \
    X(get_watermark_offsets)                                                                       \
    X(group_list_destroy)                                                                          \
    X(incremental_assign)                                                                          \
    X(incremental_unassign)                                                                        \
    X(last_error)                                                                                  \
    X(list_groups)                                                                                 \
    X(mem_free)                                                                                    \
    X(memberid)                                                                                    \
    X(message_destroy)                                                                             \
    X(metadata)                                                                                    \
    X(metadata_destroy)                                                                            \
    X(new)                                                                                         \
    X(offsets_for_times)                                                                           \
    X(offsets_store)                                                                               \
    X(pause_partitions)                                                                            \
    X(poll_set_consumer)                                                                           \
    X(produce)                                                                                     \
    X(queue_cb_event_enable)                                                                       \
    X(queue_destroy)                                                                               \
    X(queue_get_consumer)                                                                          \
    X(queue_new)                                                                                   \
    X(resume_partitions)                                                                           \
    X(seek_partitions)                                                                             \
    X(subscribe)                                                                                   \
    X(topic_destroy)                                                                               \
    X(topic_new)                                                                                   \
    X(topic_partition_list_add)                                                                    \
    X(topic_partition_list_destroy)                                                                \
    X(topic_partition_list_new)                                                                    \
    X(unsubscribe)

struct pythia__kafka_library {
#define X(name) __typeof__(rd_kafka_##name) *(name);
    PYTHIA__KAFKA_FUNCTIONS(X)
#undef X
};
extern struct pythia__kafka_library pythia__kafka_library;

/* Load it, once. False: it cannot be had, which is logged. */
bool pythia__kafka_library_load(void);

#endif
