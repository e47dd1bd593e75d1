/* libbabeltrace2, which is loaded when a trace is first read (pythia/late_library.h): with it come
 * GLib and PCRE, which few have a use for. */
#ifndef PYTHIA_LTTNG_BABELTRACE_H
#define PYTHIA_LTTNG_BABELTRACE_H

#include <babeltrace2/babeltrace.h>

#include "pythia/error.h"

/* Each function under its own name, without "bt_". */
#define PYTHIA__BABELTRACE_FUNCTIONS(X)                                                            \
    X(clock_snapshot_get_ns_from_origin)                                                           \
    X(component_filter_borrow_input_port_by_index_const)                                           \
    X(component_filter_borrow_output_port_by_index_const)                                          \
    X(component_sink_borrow_input_port_by_index_const)                                             \
    X(component_source_borrow_output_port_by_index_const)                                          \
    X(component_source_get_output_port_count)                                                      \
    X(current_thread_take_error)                                                                   \
    X(error_borrow_cause_by_index)                                                                 \
    X(error_cause_get_message)                                                                     \
    X(error_get_cause_count)                                                                       \
    X(error_release)                                                                               \
    X(event_borrow_class_const)                                                                    \
    X(event_borrow_common_context_field_const)                                                     \
    X(event_borrow_payload_field_const)                                                            \
    X(event_class_get_name)                                                                        \
    X(field_bool_get_value)                                                                        \
    X(field_class_structure_borrow_member_by_index_const)                                          \
    X(field_class_structure_get_member_count)                                                      \
    X(field_class_structure_member_get_name)                                                       \
    X(field_enumeration_signed_get_mapping_labels)                                                 \
    X(field_enumeration_unsigned_get_mapping_labels)                                               \
    X(field_borrow_class_const)                                                                    \
    X(field_get_class_type)                                                                        \
    X(field_integer_signed_get_value)                                                              \
    X(field_integer_unsigned_get_value)                                                            \
    X(field_real_double_precision_get_value)                                                       \
    X(field_real_single_precision_get_value)                                                       \
    X(field_string_get_length)                                                                     \
    X(field_string_get_value)                                                                      \
    X(field_structure_borrow_member_field_by_index_const)                                          \
    X(field_structure_borrow_member_field_by_name_const)                                           \
    X(graph_add_filter_component)                                                                  \
    X(graph_add_simple_sink_component)                                                             \
    X(graph_add_source_component)                                                                  \
    X(graph_connect_ports)                                                                         \
    X(graph_create)                                                                                \
    X(graph_put_ref)                                                                               \
    X(graph_run_once)                                                                              \
    X(message_discarded_events_borrow_end_default_clock_snapshot_const)                            \
    X(message_discarded_events_borrow_stream_const)                                                \
    X(message_discarded_events_get_count)                                                          \
    X(message_discarded_packets_borrow_end_default_clock_snapshot_const)                           \
    X(message_discarded_packets_borrow_stream_const)                                               \
    X(message_discarded_packets_get_count)                                                         \
    X(message_event_borrow_default_clock_snapshot_const)                                           \
    X(message_event_borrow_event_const)                                                            \
    X(message_get_type)                                                                            \
    X(message_iterator_get_ref)                                                                    \
    X(message_iterator_next)                                                                       \
    X(message_iterator_put_ref)                                                                    \
    X(message_put_ref)                                                                             \
    X(message_stream_beginning_borrow_stream_const)                                                \
    X(plugin_borrow_filter_component_class_by_name_const)                                          \
    X(plugin_borrow_source_component_class_by_name_const)                                          \
    X(plugin_find)                                                                                 \
    X(plugin_put_ref)                                                                              \
    X(stream_borrow_class_const)                                                                   \
    X(stream_borrow_trace_const)                                                                   \
    X(stream_class_borrow_default_clock_class_const)                                               \
    X(stream_class_borrow_event_class_by_index_const)                                              \
    X(stream_class_borrow_event_common_context_field_class_const)                                  \
    X(stream_class_discarded_events_have_default_clock_snapshots)                                  \
    X(stream_class_discarded_packets_have_default_clock_snapshots)                                 \
    X(stream_class_get_event_class_count)                                                          \
    X(trace_borrow_environment_entry_value_by_name_const)                                          \
    X(value_array_append_string_element)                                                           \
    X(value_get_type)                                                                              \
    X(value_map_create)                                                                            \
    X(value_map_insert_empty_array_entry)                                                          \
    X(value_map_insert_string_entry)                                                               \
    X(value_put_ref)                                                                               \
    X(value_string_get)

struct pythia__babeltrace {
#define X(name) __typeof__(bt_##name) *(name);
    PYTHIA__BABELTRACE_FUNCTIONS(X)
#undef X
};
extern struct pythia__babeltrace pythia__bt;

/* Load it, once. One thread at a time, here and below. PYTHIA_OK, or PYTHIA_EIO with what to
 * install. */
int pythia__babeltrace_load(struct pythia_error *e);

/* Set an error from what went wrong last in this thread, and forget that. Returns `status`. */
int pythia__babeltrace_fail(struct pythia_error *e, int status, const char *what);

/* Has anything gone wrong in this thread, although the last call says that nothing has? The muxer
 * of 2.0.4 gives the messages before a broken one, and then so; any further call ends the process.
 * PYTHIA_OK, or as above. */
int pythia__babeltrace_check(struct pythia_error *e, int status, const char *what);

#endif
