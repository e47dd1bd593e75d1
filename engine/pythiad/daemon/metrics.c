#include "metrics.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "feeding.h"
#include "pythia/control_http.h"
#include "switching/budget.h"

static void write_metric_head(struct pythia_buf *to, const char *name, const char *type,
                              const char *help)
{
    pythia_buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_counter(struct pythia_buf *to, const char *name, const char *help, uint64_t value)
{
    write_metric_head(to, name, "counter", help);
    pythia_buf_printf(to, "%s %" PRIu64 "\n", name, value);
}

static void write_gauge(struct pythia_buf *to, const char *name, const char *help, double value)
{
    write_metric_head(to, name, "gauge", help);
    pythia_buf_printf(to, "%s %.17g\n", name, value);
}

static void write_span_metrics(const struct pythia__daemon *d, struct pythia_buf *to)
{
    const struct pythia_counts *live = pythia_live_counts(d->engine.live);
    struct pythia_counts all = *pythia__intake_counts(d->intake);
    struct pythia_window_numbers w = pythia_live_window(d->engine.live);
    pythia_counts_add(&all, pythia__feeds_counts(d->feeds));
    pythia_counts_add(&all, live);
    write_metric_head(to, "pythia_spans_dropped_total", "counter",
                      "Spans and records left out, by reason.");
    for (int i = 0; i < PYTHIA_DROPS; i++)
        pythia_buf_printf(to, "pythia_spans_dropped_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia_drop_name((enum pythia_drop)i), all.dropped[i]);
    write_metric_head(to, "pythia_spans_repaired_total", "counter",
                      "Repairs made to spans, by kind.");
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        pythia_buf_printf(to, "pythia_spans_repaired_total{kind=\"%s\"} %" PRIu64 "\n",
                          pythia_repair_name((enum pythia_repair)i), all.repaired[i]);
    write_metric_head(
        to, "pythia_requests_incomplete_total", "counter",
        "Requests that were finished before all of their spans can have come, by reason.");
    for (int i = 0; i < PYTHIA_INCOMPLETES; i++)
        pythia_buf_printf(to, "pythia_requests_incomplete_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia_incomplete_name((enum pythia_incomplete)i), all.incomplete[i]);
    write_metric_head(to, "pythia_signals_dropped_total", "counter",
                      "Bodies of other signals than traces, which are answered and dropped.");
    for (int i = 0; i < PYTHIA__SIGNALS; i++)
        pythia_buf_printf(to, "pythia_signals_dropped_total{signal=\"%s\"} %" PRIu64 "\n",
                          pythia__signal_name((enum pythia__signal)i),
                          pythia__receive_dropped(d->receive, (enum pythia__signal)i));
    write_metric_head(to, "pythia_values_cut_total", "counter",
                      "Values of key-values of which less than all is kept, by reason.");
    pythia_buf_printf(to, "pythia_values_cut_total{reason=\"length\"} %" PRIu64 "\n",
                      all.long_values);
    pythia_buf_printf(to, "pythia_values_cut_total{reason=\"source\"} %" PRIu64 "\n",
                      all.dropped[PYTHIA_DROP_CUT_TEXT]);
    write_counter(to, "pythia_values_hashed_total", "Values of which only a hash is kept.",
                  all.hashed_values);
    write_metric_head(to, "pythia_requests_finished_total", "counter",
                      "Requests finished, and by what.");
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"any\"} %" PRIu64 "\n", w.finished);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"rootless\"} %" PRIu64 "\n",
                      w.finished_rootless);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"age\"} %" PRIu64 "\n",
                      w.finished_by_age);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"size\"} %" PRIu64 "\n",
                      w.finished_by_size);
    struct pythia_live_numbers n = pythia_live_numbers(d->engine.live);
    write_counter(to, "pythia_requests_grouped_total",
                  "Requests of the cycles that were worked out.", n.requests);
    write_counter(
        to, "pythia_requests_apart_total",
        "Requests kept apart: a switch was under way, a target joined or lost what it had, or "
        "there was no memory for more of them.",
        n.under_way);
    write_counter(to, "pythia_requests_hidden_total", "Requests whose root is not wanted.",
                  n.hidden_requests);
    write_counter(to, "pythia_requests_other_total", "Requests whose type was taken for (other).",
                  n.other_requests);
    write_counter(to, "pythia_requests_carried_total",
                  "Times that a request of a rare type was evidence of one cycle more.",
                  n.carried_requests);
    write_counter(to, "pythia_requests_not_carried_total",
                  "Requests of rare types that there was no room to keep for the next cycle.",
                  n.not_carried);
    write_counter(
        to, "pythia_lessons_total",
        "Times that closed trace points were opened to learn request types that turned up.",
        n.lessons);
    write_counter(to, "pythia_lessons_cut_total",
                  "Those in which points stayed closed, because no more may be open at once.",
                  n.lessons_cut);
    write_gauge(
        to, "pythia_request_types_waiting",
        "Request types that wait to be learnt, because that was done too often in the last hour.",
        (double)n.types_waiting);
    write_counter(
        to, "pythia_request_types_merged_total",
        "Types that were being learnt when a segment of their paths was found to be a variable.",
        n.merged_types);
    write_gauge(to, "pythia_points_unknown",
                "Trace points of requests of known types that the search space does not know.",
                (double)n.unknown_points);
    write_counter(to, "pythia_spans_unknown_total", "Spans of such points, which are left out.",
                  n.unknown_spans);
    write_counter(to, "pythia_requests_shed_total", "Requests shed above the hard mark of memory.",
                  w.shed_traces);
    write_gauge(to, "pythia_open_spans", "Spans of unfinished requests.", (double)w.open_spans);
    write_gauge(to, "pythia_open_requests", "Unfinished requests.", (double)w.open_traces);
    write_gauge(to, "pythia_window_bytes", "Memory of unfinished requests.", (double)w.bytes);
}

static void write_intake(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__intake_numbers in = pythia__intake_numbers(d->intake);
    struct pythia__feeds_numbers feeds = pythia__feeds_numbers(d->feeds);
    write_counter(to, "pythia_bodies_total", "Bodies taken in.", in.bodies);
    write_counter(to, "pythia_body_bytes_total", "Bytes of them, on the wire.", in.bytes);
    write_counter(to, "pythia_feed_bytes_total", "Bytes read from files, rings, sockets and Redis.",
                  feeds.bytes);
    write_counter(to, "pythia_spans_total", "Spans taken in.", in.spans + feeds.spans);
    write_counter(to, "pythia_records_broken_total", "Records that could not be read.",
                  in.broken + feeds.broken);
    write_counter(to, "pythia_bodies_refused_total", "Bodies whose sender was told to come again.",
                  d->room.refused_bodies);
    write_counter(to, "pythia_body_bytes_refused_total", "Bytes of them.", d->room.refused_bytes);
    write_gauge(to, "pythia_body_bytes_held",
                "Bytes of bodies that are received, wait or are decoded.", (double)d->room.used);
    static const char *const whys[PYTHIA__REFUSALS] = {"waiting", "full", "no-memory"};
    write_metric_head(to, "pythia_spans_refused_total", "counter", "Spans of them, by reason.");
    for (int why = 0; why < PYTHIA__REFUSALS; why++)
        pythia_buf_printf(to, "pythia_spans_refused_total{reason=\"%s\"} %" PRIu64 "\n", whys[why],
                          in.refused_spans[why] +
                              (why == PYTHIA__REFUSED_WAITING ? d->room.refused_spans : 0));
    write_counter(to, "pythia_bodies_refused_uncounted_total",
                  "Those of them whose spans could not be counted: they were packed.",
                  in.refused_uncounted + d->room.uncounted);
    write_gauge(to, "pythia_recordings_failed",
                "Recordings that ended because they could not be written.",
                (double)(in.record_failed + feeds.record_failed));
    write_gauge(to, "pythia_bodies_waiting", "Bodies that are being decoded, or wait.",
                (double)pythia__intake_waiting(d->intake));
}

static void write_series(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__collecting_numbers n = pythia__collecting_numbers(d->collecting);
    write_counter(to, "pythia_series_files_total", "Files of series read, and removed.", n.files);
    write_counter(to, "pythia_series_files_refused_total", "Files put aside that are no series.",
                  n.refused);
    write_counter(to, "pythia_series_rows_total", "Rows of series read.", n.rows);
    write_metric_head(to, "pythia_series_rows_dropped_total", "counter",
                      "Rows left out, by reason.");
    pythia_buf_printf(to, "pythia_series_rows_dropped_total{reason=\"broken\"} %" PRIu64 "\n",
                      n.broken);
    pythia_buf_printf(to, "pythia_series_rows_dropped_total{reason=\"full\"} %" PRIu64 "\n",
                      n.dropped);
    write_counter(to, "pythia_series_values_joined_total", "Values that requests got.", n.joined);
    write_counter(to, "pythia_series_values_missing_total",
                  "Series that had no value for a request, young enough.", n.missing);
    write_gauge(to, "pythia_series", "Series that are known.", (double)n.series);
    write_counter(to, "pythia_series_failures_total",
                  "Files of series that could not be removed, and recordings of them that ended.",
                  n.failures);
}

static void write_limits(const struct pythia__daemon *d, struct pythia_buf *to)
{
    write_metric_head(to, "pythia_limit", "gauge", "Limits in force, by the name of the setting.");
    for (size_t i = 0; i < pythia__limit_count; i++)
        pythia_buf_printf(to, "pythia_limit{name=\"%s\"} %" PRId64 "\n", pythia__limits[i],
                          pythia__limit(&d->engine.s, i));
}

/* Names, and those that came when there was no room for more. */
static void write_names(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia_vocabulary_numbers v = pythia_vocabulary_numbers(d->engine.vocabulary);
    write_metric_head(to, "pythia_names", "gauge", "Names that are known, by kind.");
    pythia_buf_printf(to, "pythia_names{kind=\"string\"} %" PRIu32 "\n", v.strings);
    pythia_buf_printf(to, "pythia_names{kind=\"trace_point\"} %" PRIu32 "\n", v.tracepoints);
    pythia_buf_printf(to, "pythia_names{kind=\"resource\"} %" PRIu32 "\n", v.resources);
    write_metric_head(to, "pythia_names_beyond_limit_total", "counter",
                      "Times that a name did not get in and was taken for another, by kind.");
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"string\"} %" PRIu64 "\n",
                      v.other_strings);
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"trace_point\"} %" PRIu64 "\n",
                      v.other_tracepoints);
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"resource\"} %" PRIu64 "\n",
                      v.other_resources);
    write_gauge(to, "pythia_names_bytes", "Memory of names.", (double)v.bytes);
}

static void write_listeners(const struct pythia__daemon *d, struct pythia_buf *to)
{
    static const char *const names[PYTHIA__HTTP_SERVERS] = {"otlp-http", "zipkin", "control",
                                                            "control-socket"};
    write_metric_head(to, "pythia_answers_total", "counter",
                      "Answers, by listener and class of status.");
    for (size_t i = 0; i < PYTHIA__HTTP_SERVERS; i++)
        for (int class = 2; d->http[i] && class < 6; class ++)
            pythia_buf_printf(to,
                              "pythia_answers_total{listener=\"%s\",class=\"%dxx\"} %" PRIu64 "\n",
                              names[i], class, pythia__http_numbers(d->http[i]).by_class[class]);
    if (d->grpc) {
        struct pythia__grpc_numbers n = pythia__grpc_numbers(d->grpc);
        for (int status = 0; status < 17; status++)
            if (n.by_status[status])
                pythia_buf_printf(to,
                                  "pythia_answers_total{listener=\"otlp-grpc\",class=\"%d\"} "
                                  "%" PRIu64 "\n",
                                  status, n.by_status[status]);
    }
    struct pythia__grpc_numbers all = {0};
    if (d->grpc)
        all = pythia__grpc_numbers(d->grpc);
    uint64_t refused = all.refused_connections + pythia__feeding_refused(d),
             timed_out = all.timed_out, deferred = all.deferred;
    uint64_t too_large = all.too_large;
    for (size_t i = 0; i < PYTHIA__HTTP_SERVERS; i++)
        if (d->http[i]) {
            struct pythia__http_numbers n = pythia__http_numbers(d->http[i]);
            refused += n.refused_connections;
            timed_out += n.timed_out;
            too_large += n.too_large;
            deferred += n.deferred;
            for (int wait = 0; wait < PYTHIA__WAITS; wait++)
                all.evicted[wait] += n.evicted[wait];
        }
    write_counter(to, "pythia_grpc_header_lists_refused_total",
                  "Lists of headers above the limit, each of which ended its stream.",
                  all.too_long);
    write_counter(to, "pythia_grpc_connections_ended_total",
                  "Connections that were ended because another list of theirs was above the limit.",
                  all.calmed);
    write_counter(to, "pythia_reads_deferred_total",
                  "Times that bytes which had come waited for a later turn of the event loop.",
                  deferred);
    write_counter(to, "pythia_connections_refused_total",
                  "Connections beyond the limit, while all others delivered.", refused);
    write_metric_head(
        to, "pythia_connections_evicted_total", "counter",
        "Connections closed for a new one at the limit, by what they kept waiting for.");
    for (int wait = PYTHIA__WAIT_NONE + 1; wait < PYTHIA__WAITS; wait++)
        pythia_buf_printf(to, "pythia_connections_evicted_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia__wait_name((enum pythia__wait)wait), all.evicted[wait]);
    write_counter(to, "pythia_connections_timed_out_total", "Connections closed for being slow.",
                  timed_out);
    write_counter(to, "pythia_bodies_too_large_total", "Bodies above the limit.", too_large);
}

static void write_control(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia_controller_numbers c = pythia_controller_numbers(d->switching.controller);
    write_counter(to, "pythia_cycles_total",
                  "Cycles that have ended, also those that learnt or paused, which decide nothing.",
                  d->cycles);
    write_gauge(to, "pythia_cycle",
                "Number of the last cycle that decided, as in the log and the report.",
                (double)d->cycle);
    write_gauge(
        to, "pythia_problems_waiting",
        "Request types that waited for their turn in the last cycle, and others were looked at.",
        (double)pythia__engine_waiting(&d->engine));
    write_counter(to, "pythia_reports_total", "Reports made, because somebody asked for one.",
                  pythia__reporting_made(d->engine.reporting));
    struct pythia__event_numbers events = pythia__events_numbers(d->events);
    write_gauge(to, "pythia_event_clients", "Clients that listen to events.",
                (double)events.clients);
    write_counter(to, "pythia_event_clients_refused_total", "Clients above the limit of 32.",
                  events.refused);
    write_counter(to, "pythia_event_clients_dropped_total",
                  "Clients that did not read the events that they were sent.", events.dropped);
    write_counter(to, "pythia_switches_total", "Switches thrown.", c.switches);
    write_counter(to, "pythia_applies_failed_total", "Times a control plane could not be told.",
                  c.failed_applies);
    write_counter(
        to, "pythia_agent_points_refused_total",
        "Trace points that agents reported and that were not taken: too many of a service or "
        "of all, or no good.",
        pythia_control_http_numbers(d->switching.agents, pythia__engine_now(&d->engine))
            .refused_points);
    write_gauge(to, "pythia_points_known", "Trace points of the control planes.", (double)c.points);
    write_gauge(to, "pythia_points_quarantined", "Trace points that do not obey.",
                (double)c.in_quarantine);
    write_gauge(to, "pythia_points_mute",
                "Trace points that are open, and that no request passed of those that could have.",
                (double)c.mute);
    write_gauge(to, "pythia_targets_lost", "Targets that cannot be reached.",
                (double)c.lost_targets);
    write_gauge(to, "pythia_desired_version", "Version of the desired set.", (double)c.version);
    write_gauge(to, "pythia_desired_in_force", "1: the desired set is in force everywhere.",
                d->switching.in_force.now);
    write_gauge(to, "pythia_off", "1: everything is closed by hand.",
                pythia_controller_is_off(d->switching.controller));
}

static void write_notifications(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__notify_numbers n = pythia__notify_numbers(d->notify);
    write_counter(to, "pythia_notifications_sent_total", "Notifications that were taken.", n.sent);
    write_counter(to, "pythia_notifications_retried_total",
                  "Times that a notification was sent again.", n.tried_again);
    write_gauge(to, "pythia_notifications_waiting", "Notifications that wait to be sent.",
                (double)n.waiting);
    write_metric_head(to, "pythia_notifications_lost_total", "counter",
                      "Notifications lost, by reason.");
    for (int i = 0; i < PYTHIA__NOTIFY_LOSSES; i++)
        pythia_buf_printf(to, "pythia_notifications_lost_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia__notify_loss_name((enum pythia__notify_loss)i), n.lost[i]);
}

void pythia__metrics_write(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct rusage usage;
    write_intake(d, to);
    pythia__kafka_metrics(d->kafka, to);
    write_span_metrics(d, to);
    write_series(d, to);
    write_names(d, to);
    write_listeners(d, to);
    write_limits(d, to);
    write_control(d, to);
    write_notifications(d, to);
    pythia__budget_metrics(&d->switching, to);
    write_gauge(to, "pythia_state_degraded", "1: the state cannot be written.",
                pythia_state_is_degraded(d->engine.state));
    write_counter(to, "pythia_reloads_total", "Times the settings were read again.", d->reloads);
    write_counter(to, "pythia_reloads_failed_total",
                  "Times they had an error, and the old ones stayed.", d->failed_reloads);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
        double system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
        write_metric_head(to, "process_cpu_seconds_total", "counter", "CPU time, user and system.");
        pythia_buf_printf(to, "process_cpu_seconds_total %.6f\n", user + system);
        write_gauge(to, "process_resident_memory_max_bytes", "Peak of resident memory.",
                    (double)usage.ru_maxrss * 1024);
    }
    write_gauge(to, "process_start_time_seconds", "When it started.",
                (double)d->engine.started_ns / 1e9);
}
