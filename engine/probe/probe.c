/* pythia-probe: the privileged helper of pythiad. It opens static probes of programs that root has
 * listed, for users that root has listed, and gives each client the rings that the probes write
 * into; what is in the rings it never reads. See pythia-probe(8). */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "pythia/log.h"
#include "pythia/option.h"
#include "pythia/status.h"
#include "trusted.h"

#define CLIENTS_MAX 4
#define TICK_MS     200                  /* how late a lease may be noticed */
#define PRICES_NS   UINT64_C(1000000000) /* between measurements */

struct settings {
    const char *allow, *socket;
    double lease_seconds, max_ns;
    bool force, help, version;
};

/* A single step was measured to cost .5, 5, 10, 17 and 37 us on different machines. The limit is
 * 1.5 times 17 and two thirds of 37, so that none of them is near it. */
static const struct pythia_option options[] = {
    {"allow", 'a', PYTHIA_OPTION_TEXT, "FILE", "/etc/pythia/probe.allow", NULL, 0, 0,
     offsetof(struct settings, allow), "Programs that may be probed, and users who may ask"},
    {"socket", 's', PYTHIA_OPTION_TEXT, "PATH", "/run/pythia-probe/socket", NULL, 0, 0,
     offsetof(struct settings, socket), "Socket that clients connect to"},
    {"lease", 'l', PYTHIA_OPTION_REAL, "SECONDS", "30", NULL, 0.1, 3600,
     offsetof(struct settings, lease_seconds), "Time after which a probe closes, unless renewed"},
    {"max-price", 'm', PYTHIA_OPTION_REAL, "NS", "25000", NULL, 0, 1e9,
     offsetof(struct settings, max_ns), "Highest cost of a hit; probes that cost more are refused"},
    PYTHIA_FLAG("force", 'f', offsetof(struct settings, force), "Open probes of any cost"),
    PYTHIA_FLAG("help", 'h', offsetof(struct settings, help), "Show this help"),
    PYTHIA_FLAG("version", 'V', offsetof(struct settings, version), "Show the version"),
    {0},
};

struct client {
    int socket; /* -1: this place is free */
    struct pythia__rings rings;
    struct pythia__session session;
};

struct probe {
    struct settings s;
    struct pythia_allow_list allowed;
    struct pythia__prices prices;
    double told_ns[PYTHIA_USDT_INSTRUCTIONS]; /* prices that clients know */
    uint64_t priced_ns;                       /* when they were measured */
    int listener;
    struct client clients[CLIENTS_MAX];
};

static uint64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void end_client(struct client *c)
{
    pythia__session_end(&c->session);
    pythia__rings_close(&c->rings);
    close(c->socket);
    c->socket = -1;
}

/* Measure prices while there are clients, and tell them what has changed. */
static void renew_prices(struct probe *p)
{
    char text[PYTHIA_PRICES_BYTES + 8] = "prices ";
    bool used = false;
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        used |= p->clients[i].socket >= 0;
    if (!used || read_clock() - p->priced_ns < PRICES_NS)
        return;
    pythia__prices_measure(&p->prices);
    p->priced_ns = read_clock();
    if (!pythia_prices_differ(p->prices.of_hits.ns, p->told_ns))
        return;
    memcpy(p->told_ns, p->prices.of_hits.ns, sizeof(p->told_ns));
    size_t size = strlen(text) + pythia_prices_write(p->told_ns, text + strlen(text));
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (p->clients[i].socket >= 0)
            (void)send(p->clients[i].socket, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Greet a client with the prices, and with its rings as descriptors. */
static bool send_rings(const struct probe *p, const struct client *c)
{
    char text[PYTHIA_PRICES_BYTES + 8] = "rings ";
    size_t size = strlen(text) + pythia_prices_write(p->told_ns, text + strlen(text));
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int) * PYTHIA__RINGS_MAX)];
    } control = {0};
    struct iovec part = {text, size};
    size_t bytes = sizeof(int) * c->rings.count;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = CMSG_SPACE(bytes)};
    control.head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(bytes)};
    memcpy(CMSG_DATA(&control.head), c->rings.rings, bytes);
    return sendmsg(c->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

static void refuse_client(int socket, const char *why, uid_t user)
{
    char text[512];
    int size = snprintf(text, sizeof(text), "refused : %s", why);
    (void)send(socket, text, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    pythia_log(PYTHIA_LOG_WARNING, "Refused a client: uid=%u, reason=%s", user, why);
    close(socket);
}

static void accept_client(struct probe *p)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof(peer);
    struct pythia_error why = {0};
    struct client *c = NULL;
    int socket = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0)
        return;
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (p->clients[i].socket < 0)
            c = &p->clients[i];
    bool known = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                 pythia_allow_list_has_user(&p->allowed, peer.uid);
    if (!known || !c) {
        refuse_client(socket,
                      known ? "there are too many clients" : "the user is not in the allow-list",
                      peer.uid);
        return;
    }
    *c = (struct client){.socket = socket,
                         .rings = {.opener = pythia__rings_opener, .prices = &p->prices.of_hits},
                         .session = {.allowed = &p->allowed,
                                     .opener = &c->rings.opener,
                                     .lease_ns = (uint64_t)(p->s.lease_seconds * 1e9)}};
    if (pythia__rings_open(&c->rings, &why) != PYTHIA_OK) {
        refuse_client(socket, why.sentence, peer.uid);
        c->socket = -1;
    } else if (!send_rings(p, c)) {
        end_client(c);
    }
}

/* Answer one message. A client that does not read its answers is sent away. */
static void serve_client(struct client *c)
{
    char message[PYTHIA__MESSAGE_BYTES];
    struct pythia_buf answer = {0};
    ssize_t size = recv(c->socket, message, sizeof(message), MSG_TRUNC | MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size <= 0 || size > (ssize_t)sizeof(message)) {
        end_client(c);
        return;
    }
    struct pythia_text text = {message, (size_t)size};
    pythia__session_answer(&c->session, text, read_clock(), &answer);
    if (pythia_buf_status(&answer) != PYTHIA_OK ||
        send(c->socket, answer.bytes, answer.size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        end_client(c);
    pythia_buf_free(&answer);
}

/* Serve until a signal ends the process; the kernel then closes every probe. */
static _Noreturn void serve(struct probe *p)
{
    while (true) {
        struct pollfd polled[CLIENTS_MAX + 1] = {{p->listener, POLLIN, 0}};
        for (size_t i = 0; i < CLIENTS_MAX; i++)
            polled[i + 1] = (struct pollfd){p->clients[i].socket, POLLIN, 0};
        int ready = poll(polled, CLIENTS_MAX + 1, TICK_MS);
        for (size_t i = 0; i < CLIENTS_MAX; i++) {
            if (ready > 0 && polled[i + 1].revents)
                serve_client(&p->clients[i]);
            pythia__session_expire(&p->clients[i].session, read_clock());
        }
        renew_prices(p);
        if (ready > 0 && polled[0].revents)
            accept_client(p);
    }
}

static int listen_at(struct probe *p, struct pythia_error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(p->s.socket) >= sizeof(address.sun_path))
        return pythia_error_set(e, PYTHIA_EUSAGE, "the path of the socket is too long");
    memcpy(address.sun_path, p->s.socket, strlen(p->s.socket));
    p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    unlink(p->s.socket); /* of a helper that was killed */
    if (p->listener < 0 ||
        bind(p->listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        chmod(p->s.socket, 0666) != 0 || listen(p->listener, CLIENTS_MAX) != 0)
        return pythia_error_set(e, PYTHIA_EIO, "%s: %s", p->s.socket, strerror(errno));
    return PYTHIA_OK;
}

static int start(struct probe *p, struct pythia_error *e)
{
    int status = pythia__allow_list_read(&p->allowed, p->s.allow, e);
    p->prices.of_hits.max_ns = p->s.force ? HUGE_VAL : p->s.max_ns;
    if (status != PYTHIA_OK || (status = pythia__prices_open(&p->prices, e)) != PYTHIA_OK)
        return status;
    memcpy(p->told_ns, p->prices.of_hits.ns, sizeof(p->told_ns));
    return listen_at(p, e);
}

static int show_help(bool version)
{
    struct pythia_buf text = {0};
    pythia_buf_puts(&text, version ? "pythia-probe " PYTHIA_BUILD "\n"
                                   : "usage: pythia-probe [OPTION...]\n\n");
    if (!version)
        pythia_options_help(options, &text);
    fputs(text.bytes ? text.bytes : "", stdout);
    pythia_buf_free(&text);
    return 0;
}

int main(int argc, char **argv)
{
    static struct probe p;
    struct pythia_error why = {0};
    char text[640];
    int first;
    pythia_log_setup("pythia-probe", PYTHIA_LOG_INFO);
    pythia_options_default(options, &p.s);
    if (pythia_options_parse(options, &p.s, argc, argv, &first, &why) != PYTHIA_OK ||
        first < argc) {
        pythia_log(PYTHIA_LOG_ERROR, "%s (pythia-probe --help lists the options)",
                   why.status ? why.sentence : "pythia-probe takes no operands");
        return 2;
    }
    if (p.s.help || p.s.version)
        return show_help(p.s.version);
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        p.clients[i].socket = -1;
    if (start(&p, &why) != PYTHIA_OK) {
        pythia_log(PYTHIA_LOG_ERROR, "Cannot start: %s",
                   pythia_error_text(&why, text, sizeof(text)));
        return 1;
    }
    pythia_log(PYTHIA_LOG_INFO, "Serves probes: socket=%s, programs=%zu, nop-ns=%.0f, step-ns=%.0f",
               p.s.socket, p.allowed.line_count, p.told_ns[PYTHIA_USDT_NOP],
               p.told_ns[PYTHIA_USDT_STEP]);
    serve(&p);
}
