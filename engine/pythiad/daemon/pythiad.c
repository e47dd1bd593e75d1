/* pythiad: attached to a live trace stream, it opens the few trace points that show why like
 * requests differ. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gsl/gsl_errno.h>
#include <jansson.h>
#include <uv.h>

#include "completion.h"
#include "daemon.h"
#include "manual.h"
#include "pythia/json.h"
#include "pythia/log.h"
#include "pythia/lttng_reader.h"
#include "pythia/mem.h"
#include "pythia/status.h"

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE };

extern char **environ;

/* ---- what systemd is told: sd_notify(3), whose protocol is a datagram ---- */

#define UNSENT_MAX 4
#define AGAIN_MS   100 /* between attempts to send what the manager had no place for */

/* What the manager has no place for waits here, in order: it may have stopped reading, and the loop
 * must not wait for it. */
struct manager {
    uv_timer_t again, watchdog;
    char unsent[UNSENT_MAX][64];
    size_t count;
};

/* False: the manager has no place for it now. */
static bool send_to_manager(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (!path || !*path || strlen(path) >= sizeof(name.sun_path))
        return true;
    memcpy(name.sun_path, path, strlen(path));
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@')
        name.sun_path[0] = '\0';
    int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return true;
    ssize_t sent = sendto(s, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&name, size);
    bool is_full = sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    close(s);
    return !is_full;
}

static void send_unsent(struct manager *m)
{
    size_t sent = 0;
    while (sent < m->count && send_to_manager(m->unsent[sent]))
        sent++;
    m->count -= sent;
    memmove(m->unsent[0], m->unsent[sent], m->count * sizeof(m->unsent[0]));
    if (m->count == 0)
        uv_timer_stop(&m->again);
}

static void on_again(uv_timer_t *timer)
{
    send_unsent(timer->data);
}

/* Of more than there is place for here, the oldest is out of date. */
static void notify_manager(struct manager *m, const char *text)
{
    if (m->count == UNSENT_MAX)
        memmove(m->unsent[0], m->unsent[1], --m->count * sizeof(m->unsent[0]));
    snprintf(m->unsent[m->count++], sizeof(m->unsent[0]), "%s", text);
    send_unsent(m);
    if (m->count > 0 && !uv_is_closing((uv_handle_t *)&m->again))
        uv_timer_start(&m->again, on_again, AGAIN_MS, AGAIN_MS);
}

/* The next one is as good as this. */
static void on_watchdog(uv_timer_t *timer)
{
    (void)timer;
    (void)send_to_manager("WATCHDOG=1");
}

static void begin_manager(struct manager *m, uv_loop_t *loop)
{
    const char *period = getenv("WATCHDOG_USEC");
    uint64_t ms = period ? strtoull(period, NULL, 10) / 2000 : 0;
    uv_timer_init(loop, &m->again);
    uv_timer_init(loop, &m->watchdog);
    m->again.data = m;
    if (ms > 0)
        uv_timer_start(&m->watchdog, on_watchdog, ms, ms);
}

static void end_manager(struct manager *m)
{
    uv_close((uv_handle_t *)&m->again, NULL);
    uv_close((uv_handle_t *)&m->watchdog, NULL);
}

/* ---- signals ---- */

/* The process ends although it still waits for something: a call of a library may never return, on
 * the loop's thread or on another, which exit() would wait for. So SIGALRM ends it, and not a timer
 * of the loop. What it has written is whole at any moment. */
#define STOP_S 20 /* after it was told to: for the input that has arrived, on a busy machine */
#define END_S  8  /* after that: for threads that send, and to free memory */

struct program {
    struct pythia__daemon *daemon;
    uv_async_t stop;
    uv_signal_t hangup;
    struct manager manager;
};

static uv_async_t *volatile on_signal_wakes; /* a handler gets nothing but the signal's number */
static const char *volatile too_late;        /* what has not been done in time */

/* Only what is safe in a handler. Nobody may be reading the log. */
static void end_at_once(int number)
{
    const char *text = too_late;
    struct pollfd log = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)number;
    if (poll(&log, 1, 0) != 1 || write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

static void begin_stop(int number)
{
    (void)number;
    alarm(STOP_S);
    uv_async_send(on_signal_wakes);
}

static void handle_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

static void close_handles(struct program *p)
{
    signal(SIGTERM, SIG_IGN); /* it ends by itself, within the deadline */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    uv_close((uv_handle_t *)&p->stop, NULL);
    uv_close((uv_handle_t *)&p->hangup, NULL);
    end_manager(&p->manager);
}

static void on_stop(uv_async_t *async)
{
    struct program *p = async->data;
    notify_manager(&p->manager, "STOPPING=1");
    pythia__daemon_drain(p->daemon);
    close_handles(p);
}

static void on_hangup(uv_signal_t *signal, int number)
{
    struct program *p = signal->data;
    char text[64];
    (void)number;
    snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, uv_hrtime() / 1000);
    notify_manager(&p->manager, text);
    pythia__daemon_reload(p->daemon);
    notify_manager(&p->manager, "READY=1");
}

static void handle_signals(struct program *p, uv_loop_t *loop)
{
    signal(SIGPIPE, SIG_IGN);
    uv_async_init(loop, &p->stop, on_stop);
    uv_signal_init(loop, &p->hangup);
    begin_manager(&p->manager, loop);
    p->stop.data = p->hangup.data = p;
    on_signal_wakes = &p->stop;
    too_late = "pythiad: error: Stopped before all input was processed: it took too long\n";
    handle_signal(SIGALRM, end_at_once);
    handle_signal(SIGTERM, begin_stop);
    handle_signal(SIGINT, begin_stop);
    uv_signal_start(&p->hangup, on_hangup, SIGHUP);
}

/* ---- the program ---- */

/* Print the output that the command line asked for; a partial write is an error, because the
 * rest is lost. */
static int print_text(struct pythia_buf *text)
{
    int code = EXIT_DONE;
    errno = pythia_buf_status(text) == PYTHIA_OK ? 0 : ENOMEM;
    if (errno || fwrite(text->bytes, 1, text->size, stdout) < text->size || fflush(stdout) != 0) {
        pythia_log(PYTHIA_LOG_ERROR, "standard output: cannot be written: %s", strerror(errno));
        code = EXIT_FAILED;
    }
    pythia_buf_free(text);
    return code;
}

static void write_help(struct pythia_buf *text)
{
    pythia_buf_puts(text,
                    "usage: pythiad [OPTION...]\n\n"
                    "Receives traces, explains why similar requests take different times, and "
                    "opens and closes trace\n"
                    "points to see more. Settings come from a YAML file (NAME: VALUE), the "
                    "environment (PYTHIAD_NAME)\n"
                    "and the command line; later ones override earlier ones.\n\n"
                    "Options\n");
    pythia_options_help(pythia__settings_table, text);
    pythia_buf_puts(text, "  -h, --help                Show this help\n"
                          "  -V, --version             Show the version\n\n"
                          "SIGHUP reads the settings again; SIGTERM and SIGINT process the input "
                          "that has already arrived,\n"
                          "and exit.\n"
                          "Exit status: 0 done, 1 failed, 2 wrong usage.\n");
}

/* Does the command line ask for a text? */
static bool wants_text(int argc, char **argv, struct pythia_buf *text)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            write_help(text);
        else if (strcmp(argv[i], "-V") == 0 || strcmp(argv[i], "--version") == 0)
            pythia_buf_puts(text, "pythiad " PYTHIA_BUILD "\n");
        else if (strcmp(argv[i], "--scdoc") == 0) /* for the build */
            pythia__manual_write(text);
        else if (!pythia__completion_write(argv[i], text)) /* for the build, too */
            continue;
        return true;
    }
    return false;
}

/* With what it limits, as that would be in force. */
static void tell_good(const struct pythia__settings *s)
{
    struct pythia_buf limits = {0};
    for (size_t i = 0; i < pythia__limit_count; i++) {
        pythia_buf_printf(&limits, "%s%s=", i ? ", " : "", pythia__limits[i]);
        pythia_option_show(pythia__setting(pythia__limits[i]), s, &limits);
    }
    pythia_log(PYTHIA_LOG_INFO, "The settings are valid: %s", limits.bytes ? limits.bytes : "");
    pythia_buf_free(&limits);
}

static int report_failure(const struct pythia_error *e, int status)
{
    char text[1024];
    bool usage = status == PYTHIA_EUSAGE || status == PYTHIA_EFORMAT;
    pythia_log(PYTHIA_LOG_ERROR, "%s%s", pythia_error_text(e, text, sizeof(text)),
               usage && !*e->source ? " (pythiad --help lists the options)" : "");
    return usage ? EXIT_USAGE : EXIT_FAILED;
}

static int run_daemon(struct pythia__settings *settings, struct pythia_config *config, int argc,
                      char **argv)
{
    struct pythia_error why = {0};
    struct program p = {0};
    uv_loop_t loop;
    if (uv_loop_init(&loop) != 0)
        return EXIT_FAILED;
    int status = pythia__daemon_create(&loop, settings, config, &p.daemon, &why);
    if (status != PYTHIA_OK) {
        uv_loop_close(&loop);
        return report_failure(&why, status);
    }
    p.daemon->argc = argc;
    p.daemon->argv = argv;
    p.daemon->environment = environ;
    handle_signals(&p, &loop);
    pythia__daemon_tell_addresses(p.daemon);
    notify_manager(&p.manager, "READY=1");
    uv_run(&loop, UV_RUN_DEFAULT);
    too_late = "pythiad: error: Stopped, although a thread still waits for an answer\n";
    alarm(END_S);
    uv_loop_close(&loop);
    pythia__daemon_destroy(p.daemon);
    pythia_log(PYTHIA_LOG_INFO, "Stopped");
    return EXIT_DONE;
}

/* pythia_free with the type that jansson wants. */
static void free_daemon_json(void *memory)
{
    pythia_free(memory);
}

int main(int argc, char **argv)
{
    struct pythia__settings settings;
    struct pythia_config *config = NULL;
    struct pythia_error why = {0};
    struct pythia_buf text = {0};
    pythia_log_setup("pythiad", PYTHIA_LOG_INFO);
    pythia_log_never_wait();
    pythia_lttng_reader_main(argc, argv);
    pythia__heap_setup();
    json_set_alloc_funcs(pythia_malloc, free_daemon_json); /* its failures are counted, too */
    gsl_set_error_handler_off(); /* its default ends the process; return codes are read instead */
    if (wants_text(argc, argv, &text))
        return print_text(&text);
    int status = pythia__settings_read(argc, argv, environ, &settings, &config, &why);
    if (status != PYTHIA_OK)
        return report_failure(&why, status);
    pythia__log_level(&settings);
    if (settings.check_config) {
        tell_good(&settings);
        pythia_config_destroy(config);
        return EXIT_DONE;
    }
    if (pythia_json_load() != PYTHIA_OK) {
        pythia_config_destroy(config);
        pythia_error_set(&why, PYTHIA_ENOMEM,
                         "cannot start: simdjson, which reads JSON, cannot be loaded");
        return report_failure(&why, PYTHIA_ENOMEM);
    }
    return run_daemon(&settings, config, argc, argv);
}
