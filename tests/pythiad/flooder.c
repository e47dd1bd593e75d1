/* A flood of bytes for tests, which costs little itself: flooder PORT CONNECTIONS HELLO PIECE
 * COUNTER
 *
 * Sends the bytes of file HELLO, and then those of file PIECE again and again, over so many
 * connections to the loopback at once. A connection that ends is made anew, as is one that has
 * nothing more to send (PIECE is empty). COUNTER is a file of 8 bytes, in which the bytes that
 * were sent are counted. Whoever started it ends it. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define READ_BYTES      65536

struct content {
    const char *bytes;
    size_t size;
};

struct link {
    int socket;
    const struct content *content; /* what is being sent: hello, or piece */
    size_t at;
};

struct flood {
    struct sockaddr_in to;
    int poll;
    struct content hello, piece;
    _Atomic uint64_t *sent;
    struct link links[CONNECTIONS_MAX];
};

static void die(const char *what)
{
    fprintf(stderr, "flooder: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *map_file(const char *path, int how, int protection, size_t *size)
{
    struct stat about;
    int file = open(path, how | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) != 0)
        die(path);
    *size = (size_t)about.st_size;
    void *bytes = *size ? mmap(NULL, *size, protection, MAP_SHARED, file, 0) : NULL;
    if (bytes == MAP_FAILED)
        die(path);
    close(file);
    return bytes;
}

static void begin_link(struct flood *f, struct link *l)
{
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = l};
    l->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    l->content = &f->hello;
    l->at = 0;
    if (l->socket < 0)
        die("socket");
    (void)!connect(l->socket, (const struct sockaddr *)&f->to, sizeof(f->to));
    if (epoll_ctl(f->poll, EPOLL_CTL_ADD, l->socket, &event) != 0)
        die("epoll");
}

/* 0: it has ended, or there is nothing more to send. */
static int turn_link(struct flood *f, struct link *l)
{
    static char answers[READ_BYTES];
    if (l->at == l->content->size) {
        if (f->piece.size == 0)
            return 0;
        l->content = &f->piece;
        l->at = 0;
    }
    ssize_t sent =
        send(l->socket, l->content->bytes + l->at, l->content->size - l->at, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == ENOTCONN;
    l->at += (size_t)sent;
    *f->sent += (uint64_t)sent;
    ssize_t got = recv(l->socket, answers, sizeof(answers), 0); /* the other side can write, too */
    return got > 0 || (got < 0 && errno == EAGAIN);
}

int main(int argc, char **argv)
{
    static struct flood f;
    size_t count = argc == 6 ? strtoul(argv[2], NULL, 10) : 0, size;
    if (count == 0 || count > CONNECTIONS_MAX) {
        fprintf(stderr, "usage: flooder PORT CONNECTIONS HELLO PIECE COUNTER\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    f.to.sin_family = AF_INET;
    f.to.sin_port = htons((uint16_t)strtoul(argv[1], NULL, 10));
    f.to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    f.hello.bytes = map_file(argv[3], O_RDONLY, PROT_READ, &f.hello.size);
    f.piece.bytes = map_file(argv[4], O_RDONLY, PROT_READ, &f.piece.size);
    f.sent = map_file(argv[5], O_RDWR, PROT_READ | PROT_WRITE, &size);
    if (size != sizeof(*f.sent) || (f.poll = epoll_create1(EPOLL_CLOEXEC)) < 0)
        die(argv[5]);
    for (size_t i = 0; i < count; i++)
        begin_link(&f, &f.links[i]);
    for (;;) {
        struct epoll_event ready[64];
        int some = epoll_wait(f.poll, ready, 64, -1);
        for (int i = 0; i < some; i++) {
            struct link *l = ready[i].data.ptr;
            if (turn_link(&f, l))
                continue;
            close(l->socket);
            begin_link(&f, l);
        }
    }
}
