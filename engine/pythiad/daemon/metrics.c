#include "metrics.h"

#include <inttypes.h>
#include <sys/resource.h>

#include "feeding.h"
#include "pythia/control_http.h"
#include "shared/metric_text.h"
#include "switching/budget.h"

/* Spans of all inputs: those that decoders and feeds counted, and those that the engine did. */
static struct pythia_counts sum_counts(const struct pythia__daemon *d)
{
    struct pythia_counts all = *pythia__intake_counts(d->intake);
    pythia_counts_add(&all, pythia__feeds_counts(d->feeds));
    pythia_counts_add(&all, pythia_live_counts(d->engine.live));
    return all;
}

static void write_losses(const struct pythia_counts *all, struct pythia_buf *to)
{
    pythia__metric_head(to, "pythia_spans_dropped_total", "counter",
                        "Spans and records left out, by reason.");
    for (int i = 0; i < PYTHIA_DROPS; i++)
        pythia_buf_printf(to, "pythia_spans_dropped_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia_drop_name((enum pythia_drop)i), all->dropped[i]);
    pythia__metric_head(to, "pythia_spans_repaired_total", "counter",
                        "Repairs made to spans, by kind.");
    for (int i = 0; i < PYTHIA_REPAIRS; i++)
        pythia_buf_printf(to, "pythia_spans_repaired_total{kind=\"%s\"} %" PRIu64 "\n",
                          pythia_repair_name((enum pythia_repair)i), all->repaired[i]);
    pythia__metric_head(
        to, "pythia_requests_incomplete_total", "counter",
        "Requests completed before all of their spans can have arrived, by reason.");
    for (int i = 0; i < PYTHIA_INCOMPLETES; i++)
        pythia_buf_printf(to, "pythia_requests_incomplete_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia_incomplete_name((enum pythia_incomplete)i), all->incomplete[i]);
}

static void write_signals(const struct pythia__receive *receive, struct pythia_buf *to)
{
    pythia__metric_head(to, "pythia_signals_dropped_total", "counter",
                        "Bodies of signals other than traces, which are answered and dropped.");
    for (int i = 0; i < PYTHIA__SIGNALS; i++)
        pythia_buf_printf(to, "pythia_signals_dropped_total{signal=\"%s\"} %" PRIu64 "\n",
                          pythia__signal_name((enum pythia__signal)i),
                          pythia__receive_dropped(receive, (enum pythia__signal)i));
}

static void write_values(const struct pythia_counts *all, struct pythia_buf *to)
{
    pythia__metric_head(to, "pythia_values_cut_total", "counter",
                        "Values of key-values that were truncated, by reason.");
    pythia_buf_printf(to, "pythia_values_cut_total{reason=\"length\"} %" PRIu64 "\n",
                      all->long_values);
    pythia_buf_printf(to, "pythia_values_cut_total{reason=\"source\"} %" PRIu64 "\n",
                      all->dropped[PYTHIA_DROP_CUT_TEXT]);
    pythia__metric_counter(to, "pythia_values_hashed_total", "Values replaced by a hash.",
                           all->hashed_values);
}

static void write_finished(const struct pythia_window_numbers *w, struct pythia_buf *to)
{
    pythia__metric_head(to, "pythia_requests_finished_total", "counter",
                        "Requests completed, by the condition that completed them.");
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"any\"} %" PRIu64 "\n", w->finished);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"rootless\"} %" PRIu64 "\n",
                      w->finished_rootless);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"age\"} %" PRIu64 "\n",
                      w->finished_by_age);
    pythia_buf_printf(to, "pythia_requests_finished_total{by=\"size\"} %" PRIu64 "\n",
                      w->finished_by_size);
}

static void write_request_metrics(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia_live_numbers n = pythia_live_numbers(d->engine.live);
    pythia__metric_counter(to, "pythia_requests_grouped_total", "Requests of evaluated cycles.",
                           n.requests);
    pythia__metric_counter(
        to, "pythia_requests_apart_total",
        "Requests excluded from evidence: a switch was in progress, a target joined or lost its "
        "set, or memory was short.",
        n.under_way);
    pythia__metric_counter(
        to, "pythia_requests_elsewhere_total",
        "Requests excluded from evidence: they hit an instance where a trace point is "
        "closed that is open at another one.",
        n.elsewhere);
    pythia__metric_counter(to, "pythia_requests_hidden_total", "Requests whose root is ignored.",
                           n.hidden_requests);
    pythia__metric_counter(to, "pythia_requests_other_total", "Requests counted as type (other).",
                           n.other_requests);
    pythia__metric_counter(to, "pythia_requests_carried_total",
                           "Times a request of a rare type was evidence in a further cycle.",
                           n.carried_requests);
    pythia__metric_counter(to, "pythia_requests_not_carried_total",
                           "Requests of rare types that could not be kept for the next cycle.",
                           n.not_carried);
    pythia__metric_counter(to, "pythia_lessons_total",
                           "Times closed trace points were opened to learn new request types.",
                           n.lessons);
    pythia__metric_counter(to, "pythia_lessons_cut_total",
                           "Times some of them stayed closed, because no more may be open at once.",
                           n.lessons_cut);
    pythia__metric_counter(
        to, "pythia_new_points_sought_total",
        "Times new trace points were opened to see which known request types hit them.", n.seeks);
    pythia__metric_counter(
        to, "pythia_request_types_reviewed_total",
        "Times closed trace points were opened to see whether known request types hit "
        "others than before.",
        n.reviews);
    pythia__metric_counter(
        to, "pythia_request_types_renewed_total",
        "Times a known request type was learnt again, because it hit other trace points.",
        n.renewed);
    pythia__metric_gauge(to, "pythia_request_types_waiting",
                         "Request types that wait to be learnt, because of the limit per hour.",
                         (double)n.types_waiting);
    pythia__metric_counter(
        to, "pythia_request_types_merged_total",
        "Request types that were being learnt when a segment of their paths turned out to be a "
        "variable.",
        n.merged_types);
    pythia__metric_gauge(to, "pythia_points_unknown",
                         "Trace points of known request types that the search space lacks.",
                         (double)n.unknown_points);
    pythia__metric_counter(to, "pythia_spans_unknown_total",
                           "Spans of such trace points, which are left "
                           "out.",
                           n.unknown_spans);
}

static void write_window(const struct pythia_window_numbers *w, struct pythia_buf *to)
{
    pythia__metric_counter(to, "pythia_requests_shed_total",
                           "Requests shed above the hard limit of "
                           "memory.",
                           w->shed_traces);
    pythia__metric_gauge(to, "pythia_open_spans", "Spans of unfinished requests.",
                         (double)w->open_spans);
    pythia__metric_gauge(to, "pythia_open_requests", "Unfinished requests.",
                         (double)w->open_traces);
    pythia__metric_gauge(to, "pythia_window_bytes", "Memory of unfinished requests.",
                         (double)w->bytes);
}

static void write_span_metrics(const struct pythia__daemon *d, struct pythia_buf *to)
{
    const struct pythia_counts all = sum_counts(d);
    const struct pythia_window_numbers w = pythia_live_window(d->engine.live);
    write_losses(&all, to);
    write_signals(d->receive, to);
    write_values(&all, to);
    write_finished(&w, to);
    write_request_metrics(d, to);
    write_window(&w, to);
}

/* The mean says the same as the sum and the count, for who reads and does not scrape. */
static void write_own_work(const struct pythia__daemon *d, struct pythia_buf *to)
{
    const struct pythia__intake_numbers in = pythia__intake_numbers(d->intake);
    const struct {
        const char *name;
        struct pythia__own_work work;
    } all[] = {{"decode", in.decoding},
               {"group", in.grouping},
               {"report", pythia__reporting_work(d->engine.reporting)}};
    static const struct {
        const char *name, *type, *help;
    } columns[] = {
        {"pythia_work_calls_total", "counter", "How often pythiad did a piece of its own work."},
        {"pythia_work_seconds_total", "counter", "How long it took in all."},
        {"pythia_work_seconds_mean", "gauge", "How long it took once, in the mean."},
        {"pythia_work_seconds_max", "gauge", "The longest time that it took."},
        {"pythia_work_seconds_min", "gauge", "The shortest time that it took."}};
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
        pythia__metric_head(to, columns[c].name, columns[c].type, columns[c].help);
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
            const struct pythia__own_work *w = &all[i].work;
            const double values[] = {(double)w->calls, (double)w->ns / 1e9,
                                     w->calls > 0 ? (double)w->ns / 1e9 / (double)w->calls : 0,
                                     (double)w->longest_ns / 1e9, (double)w->shortest_ns / 1e9};
            pythia_buf_printf(to, "%s{work=\"%s\"} %.17g\n", columns[c].name, all[i].name,
                              values[c]);
        }
    }
}

static void write_intake(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__intake_numbers in = pythia__intake_numbers(d->intake);
    struct pythia__feeds_numbers feeds = pythia__feeds_numbers(d->feeds);
    pythia__metric_counter(to, "pythia_bodies_total", "Bodies received.", in.bodies);
    pythia__metric_counter(to, "pythia_body_bytes_total", "Bytes of received bodies, on the wire.",
                           in.bytes);
    pythia__metric_counter(to, "pythia_feed_bytes_total",
                           "Bytes read from files, rings, sockets and Redis.", feeds.bytes);
    pythia__metric_counter(to, "pythia_spans_total", "Spans received.", in.spans + feeds.spans);
    pythia__metric_counter(to, "pythia_records_broken_total", "Records that could not be read.",
                           in.broken + feeds.broken);
    pythia__metric_counter(to, "pythia_bodies_refused_total",
                           "Bodies whose sender was asked to retry.", d->room.refused_bodies);
    pythia__metric_counter(to, "pythia_body_bytes_refused_total", "Bytes of such bodies.",
                           d->room.refused_bytes);
    pythia__metric_gauge(to, "pythia_body_bytes_held",
                         "Bytes of bodies that are being received, waiting or being decoded.",
                         (double)(d->room.used + d->decoding.used));
    static const char *const whys[PYTHIA__REFUSALS] = {"waiting", "full", "no-memory"};
    pythia__metric_head(to, "pythia_spans_refused_total", "counter",
                        "Spans of such bodies, by "
                        "reason.");
    for (int why = 0; why < PYTHIA__REFUSALS; why++)
        pythia_buf_printf(to, "pythia_spans_refused_total{reason=\"%s\"} %" PRIu64 "\n", whys[why],
                          in.refused_spans[why] +
                              (why == PYTHIA__REFUSED_WAITING ? d->room.refused_spans : 0));
    pythia__metric_counter(
        to, "pythia_bodies_refused_uncounted_total",
        "Such bodies whose spans could not be counted, because they were compressed.",
        in.refused_uncounted + d->room.uncounted);
    pythia__metric_gauge(to, "pythia_recordings_failed",
                         "Recordings that ended because they could not be written.",
                         (double)(in.record_failed + feeds.record_failed));
    pythia__metric_gauge(to, "pythia_bodies_waiting", "Bodies that are being decoded or waiting.",
                         (double)pythia__intake_waiting(d->intake));
}

static void write_series(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__collecting_numbers n = pythia__collecting_numbers(d->collecting);
    pythia__metric_counter(to, "pythia_series_files_total", "Files of series read, and removed.",
                           n.files);
    pythia__metric_counter(to, "pythia_series_files_refused_total",
                           "Files renamed because they are not "
                           "series.",
                           n.refused);
    pythia__metric_counter(to, "pythia_series_rows_total", "Rows of series read.", n.rows);
    pythia__metric_head(to, "pythia_series_rows_dropped_total", "counter",
                        "Rows of series left out, by reason.");
    pythia_buf_printf(to, "pythia_series_rows_dropped_total{reason=\"broken\"} %" PRIu64 "\n",
                      n.broken);
    pythia_buf_printf(to, "pythia_series_rows_dropped_total{reason=\"full\"} %" PRIu64 "\n",
                      n.dropped);
    pythia__metric_counter(to, "pythia_series_values_joined_total", "Values joined to requests.",
                           n.joined);
    pythia__metric_counter(to, "pythia_series_values_missing_total",
                           "Times a series had no recent enough value for a request.", n.missing);
    pythia__metric_gauge(to, "pythia_series", "Known series.", (double)n.series);
    pythia__metric_counter(
        to, "pythia_series_failures_total",
        "Files of series that could not be removed, and recordings of them that ended.",
        n.failures);
}

static void write_limits(const struct pythia__daemon *d, struct pythia_buf *to)
{
    pythia__metric_head(to, "pythia_limit", "gauge",
                        "Limits in force, by the name of the setting.");
    for (size_t i = 0; i < pythia__limit_count; i++)
        pythia_buf_printf(to, "pythia_limit{name=\"%s\"} %" PRId64 "\n", pythia__limits[i],
                          pythia__limit(&d->engine.s, i));
}

/* Names, and how many were refused at the limit. */
static void write_names(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia_vocabulary_numbers v = pythia_vocabulary_numbers(d->engine.vocabulary);
    pythia__metric_head(to, "pythia_names", "gauge", "Known names, by kind.");
    pythia_buf_printf(to, "pythia_names{kind=\"string\"} %" PRIu32 "\n", v.strings);
    pythia_buf_printf(to, "pythia_names{kind=\"trace_point\"} %" PRIu32 "\n", v.tracepoints);
    pythia_buf_printf(to, "pythia_names{kind=\"resource\"} %" PRIu32 "\n", v.resources);
    pythia__metric_head(to, "pythia_names_beyond_limit_total", "counter",
                        "Times a new name was counted as another because the limit was reached, by "
                        "kind.");
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"string\"} %" PRIu64 "\n",
                      v.other_strings);
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"trace_point\"} %" PRIu64 "\n",
                      v.other_tracepoints);
    pythia_buf_printf(to, "pythia_names_beyond_limit_total{kind=\"resource\"} %" PRIu64 "\n",
                      v.other_resources);
    pythia__metric_gauge(to, "pythia_names_bytes", "Memory of names.", (double)v.bytes);
}

static void write_listeners(const struct pythia__daemon *d, struct pythia_buf *to)
{
    static const char *const names[PYTHIA__HTTP_SERVERS] = {"otlp-http", "zipkin", "control",
                                                            "control-socket"};
    pythia__metric_head(to, "pythia_answers_total", "counter",
                        "Responses, by listener and class of status.");
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
    pythia__metric_counter(to, "pythia_grpc_header_lists_refused_total",
                           "Header lists above the limit, each of which ended its stream.",
                           all.too_long);
    pythia__metric_counter(
        to, "pythia_grpc_connections_ended_total",
        "Connections closed because of a second header list above the limit, or of too "
        "many frames without content.",
        all.calmed);
    pythia__metric_counter(to, "pythia_reads_deferred_total",
                           "Times received bytes waited for a later turn of the event loop.",
                           deferred);
    pythia__metric_counter(to, "pythia_connections_refused_total",
                           "Connections refused at the limit, while all others were active.",
                           refused);
    pythia__metric_head(
        to, "pythia_connections_evicted_total", "counter",
        "Connections closed for a new one at the limit, by what they were waiting for.");
    for (int wait = PYTHIA__WAIT_NONE + 1; wait < PYTHIA__WAITS; wait++)
        pythia_buf_printf(to, "pythia_connections_evicted_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia__wait_name((enum pythia__wait)wait), all.evicted[wait]);
    pythia__metric_counter(to, "pythia_connections_timed_out_total",
                           "Connections closed for being slow.", timed_out);
    pythia__metric_counter(to, "pythia_bodies_too_large_total", "Bodies above the limit.",
                           too_large);
}

static void write_control(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia_controller_numbers c = pythia_controller_numbers(d->switching.controller);
    pythia__metric_counter(
        to, "pythia_cycles_total",
        "Completed cycles, including learning and paused ones, which make no decisions.",
        d->cycles);
    pythia__metric_gauge(
        to, "pythia_cycle",
        "Number of the last cycle that made decisions, as in the log and the report.",
        (double)d->cycle);
    pythia__metric_gauge(to, "pythia_problems_waiting",
                         "Request types that waited in the last cycle while others were searched.",
                         (double)pythia__engine_waiting(&d->engine));
    pythia__metric_counter(to, "pythia_reports_total", "Reports made on request.",
                           pythia__reporting_made(d->engine.reporting));
    struct pythia__event_numbers events = pythia__events_numbers(d->events);
    pythia__metric_gauge(to, "pythia_event_clients", "Clients that listen to events.",
                         (double)events.clients);
    pythia__metric_counter(to, "pythia_event_clients_refused_total",
                           "Clients refused above the limit of "
                           "32.",
                           events.refused);
    pythia__metric_counter(to, "pythia_event_clients_dropped_total",
                           "Clients disconnected because they did not read their events.",
                           events.dropped);
    pythia__metric_counter(to, "pythia_switches_total", "Trace points switched.", c.switches);
    pythia__metric_counter(to, "pythia_applies_failed_total",
                           "Times a control plane could not be reached.", c.failed_applies);
    pythia__metric_counter(
        to, "pythia_agent_points_refused_total",
        "Trace points that agents reported but that were refused: too many of a service or in "
        "total, or invalid.",
        pythia_control_http_numbers(d->switching.agents, pythia__engine_now(&d->engine))
            .refused_points);
    pythia__metric_gauge(to, "pythia_points_known", "Trace points of the control planes.",
                         (double)c.points);
    pythia__metric_gauge(to, "pythia_points_quarantined",
                         "Trace points that do not respond to orders and "
                         "are quarantined.",
                         (double)c.in_quarantine);
    pythia__metric_gauge(to, "pythia_points_mute",
                         "Open trace points that none of the requests hit that could have.",
                         (double)c.silent);
    pythia__metric_gauge(to, "pythia_targets_lost", "Targets that cannot be reached.",
                         (double)c.lost_targets);
    pythia__metric_gauge(to, "pythia_desired_version", "Version of the desired set.",
                         (double)c.version);
    pythia__metric_gauge(to, "pythia_desired_in_force",
                         "1: the desired set is in force everywhere.", d->switching.in_force.now);
    pythia__metric_gauge(to, "pythia_off", "1: everything was closed by hand.",
                         pythia_controller_is_off(d->switching.controller));
}

static void write_forwarding(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__forward_numbers n = pythia__forward_numbers(d->forward);
    pythia__metric_counter(to, "pythia_forward_sent_total", "Bodies that the collector has taken.",
                           n.sent);
    pythia__metric_counter(to, "pythia_forward_sent_bytes_total", "Bytes of them, on the wire.",
                           n.sent_bytes);
    pythia__metric_counter(to, "pythia_forward_retried_total", "Times that a body was sent again.",
                           n.tried_again);
    pythia__metric_counter(to, "pythia_forward_lost_total",
                           "Bodies that the collector has refused for good.", n.refused);
    pythia__metric_counter(to, "pythia_forward_not_taken_total",
                           "Bodies whose sender was told to come again, because too many wait.",
                           n.not_taken);
    pythia__metric_counter(
        to, "pythia_forward_unseen_total",
        "Bodies of traces that were sent on and not looked at: pythiad was overloaded.",
        pythia__receive_unseen(d->receive));
    pythia__metric_gauge(to, "pythia_forward_waiting", "Bodies that wait to be sent on.",
                         (double)n.waiting);
    pythia__metric_gauge(to, "pythia_forward_waiting_bytes", "Bytes of them.",
                         (double)n.waiting_bytes);
}

static void write_span_log(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__span_log_numbers n = pythia__span_log_numbers(d->span_log);
    pythia__metric_counter(to, "pythia_span_log_lines_total", "Lines of the log of spans.",
                           n.lines);
    pythia__metric_counter(to, "pythia_span_log_lost_total", "Those that could not be written.",
                           n.lost);
    pythia__metric_counter(to, "pythia_span_log_rotations_total",
                           "Times that a new file was begun.", n.rotations);
}

static void write_notifications(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct pythia__notify_numbers n = pythia__notify_numbers(d->notify);
    pythia__metric_counter(to, "pythia_notifications_sent_total", "Notifications delivered.",
                           n.sent);
    pythia__metric_counter(to, "pythia_notifications_retried_total", "Retries of notifications.",
                           n.tried_again);
    pythia__metric_gauge(to, "pythia_notifications_waiting", "Notifications waiting to be sent.",
                         (double)n.waiting);
    pythia__metric_head(to, "pythia_notifications_lost_total", "counter",
                        "Notifications lost, by reason.");
    for (int i = 0; i < PYTHIA__NOTIFY_LOSSES; i++)
        pythia_buf_printf(to, "pythia_notifications_lost_total{reason=\"%s\"} %" PRIu64 "\n",
                          pythia__notify_loss_name((enum pythia__notify_loss)i), n.lost[i]);
}

static void write_saved_search(const struct pythia__saved_search *s, struct pythia_buf *to)
{
    pythia__metric_counter(to, "pythia_search_saves_total", "Times that the state got the search.",
                           s->writes);
    pythia__metric_counter(to, "pythia_search_saves_failed_total",
                           "Times that it did not, because it is too large or cannot be written.",
                           s->failures);
    pythia__metric_gauge(to, "pythia_search_saved_bytes", "Bytes of the search in the state.",
                         (double)s->bytes);
}

void pythia__metrics_write(const struct pythia__daemon *d, struct pythia_buf *to)
{
    struct rusage usage;
    write_intake(d, to);
    pythia__kafka_metrics(d->kafka, to);
    write_own_work(d, to);
    write_span_metrics(d, to);
    write_series(d, to);
    write_names(d, to);
    write_listeners(d, to);
    write_limits(d, to);
    write_control(d, to);
    if (d->forward)
        write_forwarding(d, to);
    if (d->span_log)
        write_span_log(d, to);
    write_notifications(d, to);
    pythia__budget_metrics(&d->switching, to);
    pythia__metric_gauge(to, "pythia_state_degraded", "1: the state cannot be written.",
                         pythia_state_is_degraded(d->engine.state));
    write_saved_search(&d->switching.saved, to);
    pythia__metric_counter(to, "pythia_reloads_total", "Times the settings were reloaded.",
                           d->reloads);
    pythia__metric_counter(to, "pythia_reloads_failed_total",
                           "Times reloaded settings had an error and the previous ones were kept.",
                           d->failed_reloads);
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        double user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
        double system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
        pythia__metric_head(to, "process_cpu_seconds_total", "counter",
                            "CPU time, user and system.");
        pythia_buf_printf(to, "process_cpu_seconds_total %.6f\n", user + system);
        pythia__metric_gauge(to, "process_resident_memory_max_bytes", "Peak of resident memory.",
                             (double)usage.ru_maxrss * 1024);
    }
    pythia__metric_gauge(to, "process_start_time_seconds", "Start time.",
                         (double)d->engine.started_ns / 1e9);
}
