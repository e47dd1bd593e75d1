#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "pythia/status.h"

#define BACKLOG 512
#define UNIX    "unix:"
#define IN_USE  "another program listens there; is another pythiad running?"

static bool is_unix(const char *address)
{
    return strncmp(address, UNIX, sizeof(UNIX) - 1) == 0;
}

static int fail_address(struct pythia_error *e, int status, const char *address, const char *why)
{
    return pythia_error_set(e, status, "cannot listen at %s: %s", address, why);
}

/* Host and port, which is behind the last colon; brackets around an IPv6 address. */
static bool split_address(const char *address, char host[256], char port[16])
{
    const char *colon = strrchr(address, ':');
    if (!colon || !colon[1] || strlen(colon + 1) > 5 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1) || strtol(colon + 1, NULL, 10) > 65535)
        return false;
    size_t size = (size_t)(colon - address);
    if (size >= 2 && address[0] == '[' && address[size - 1] == ']') {
        address++;
        size -= 2;
    } else if (memchr(address, ':', size)) {
        return false;
    }
    if (size == 0 || size > 255)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';
    snprintf(port, 16, "%.5s", colon + 1);
    return true;
}

bool pythia__address_is_one(const char *address, struct pythia_error *e)
{
    char host[256], port[16];
    if (is_unix(address) ? address[sizeof(UNIX) - 1] != '\0' : split_address(address, host, port))
        return true;
    pythia_error_set(e, PYTHIA_EUSAGE,
                     "%s is not an address: expected HOST:PORT, [IPv6]:PORT, *:PORT (up to 65535) "
                     "or unix:PATH",
                     address);
    return false;
}

static int resolve_address(const char *address, struct addrinfo **out, struct pythia_error *e)
{
    char host[256], port[16];
    struct addrinfo want = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    if (!pythia__address_is_one(address, e) || !split_address(address, host, port))
        return PYTHIA_EUSAGE;
    int status = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &want, out);
    return status == 0 ? PYTHIA_OK : fail_address(e, PYTHIA_EIO, address, gai_strerror(status));
}

/* A socket is left behind by a daemon that had no time to remove it. One at which somebody listens
 * takes the connection, or has no room for it just now. */
static bool is_dead_socket(const struct sockaddr_un *name)
{
    struct stat about;
    if (lstat(name->sun_path, &about) != 0 || !S_ISSOCK(about.st_mode))
        return false;
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead = s >= 0 && connect(s, (const struct sockaddr *)name, sizeof(*name)) != 0 &&
                errno == ECONNREFUSED;
    if (s >= 0)
        close(s);
    return dead;
}

static const char *why_not(const char *path, int number)
{
    struct stat about;
    if (number != EADDRINUSE)
        return strerror(number);
    return lstat(path, &about) == 0 && !S_ISSOCK(about.st_mode)
               ? "a file that is not a socket exists there and was left alone"
               : IN_USE;
}

/* The socket is created with mode 0600 by the umask, because chmod afterwards would leave a
 * moment in which anyone can connect. */
static int listen_unix(const char *address, int *out, struct pythia__socket_file *file,
                       struct pythia_error *e)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const char *path = address + sizeof(UNIX) - 1;
    if (!*path || strlen(path) >= sizeof(name.sun_path))
        return fail_address(e, PYTHIA_EUSAGE, address,
                            "the path is empty, or too long for a socket");
    memcpy(name.sun_path, path, strlen(path) + 1);
    if (is_dead_socket(&name))
        unlink(path);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0177);
    bool bound = s >= 0 && bind(s, (struct sockaddr *)&name, sizeof(name)) == 0;
    int number = errno;
    umask(before);
    struct stat about;
    if (bound && lstat(path, &about) == 0)
        *file = (struct pythia__socket_file){path, about.st_dev, about.st_ino};
    if (!bound || listen(s, BACKLOG) != 0) {
        number = bound ? errno : number;
        pythia__socket_file_remove(file);
        if (s >= 0)
            close(s);
        return fail_address(e, PYTHIA_EIO, address, why_not(path, number));
    }
    *out = s;
    return PYTHIA_OK;
}

void pythia__socket_file_remove(struct pythia__socket_file *file)
{
    struct stat about;
    if (file->path && lstat(file->path, &about) == 0 && about.st_dev == file->device &&
        about.st_ino == file->inode)
        unlink(file->path);
    file->path = NULL;
}

/* The first address of a name that can be bound is used; IPv6 sockets accept IPv4 too, so that
 * one listener serves both. */
int pythia__listen(const char *address, int *out, struct pythia__socket_file *file,
                   struct pythia_error *e)
{
    struct addrinfo *found = NULL;
    *file = (struct pythia__socket_file){.path = NULL};
    if (is_unix(address))
        return listen_unix(address, out, file, e);
    int status = resolve_address(address, &found, e), number = 0;
    if (status != PYTHIA_OK)
        return status;
    int s = -1;
    for (struct addrinfo *at = found; at && s < 0; at = at->ai_next) {
        int yes = 1, no = 0;
        s = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s >= 0) {
            setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
            if (at->ai_family == AF_INET6)
                setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
            if (bind(s, at->ai_addr, at->ai_addrlen) == 0 && listen(s, BACKLOG) == 0)
                break;
            number = errno;
            close(s);
            s = -1;
        } else {
            number = errno;
        }
    }
    freeaddrinfo(found);
    if (s < 0)
        return fail_address(e, PYTHIA_EIO, address,
                            number == EADDRINUSE ? IN_USE : strerror(number));
    *out = s;
    return PYTHIA_OK;
}

/* A name counts as local only if all of its addresses are: which one is bound is decided later. */
bool pythia__address_is_local(const char *address)
{
    struct addrinfo *found = NULL;
    struct pythia_error unused = {0};
    if (is_unix(address))
        return true;
    if (resolve_address(address, &found, &unused) != PYTHIA_OK)
        return false;
    bool local = true;
    for (struct addrinfo *at = found; at; at = at->ai_next) {
        if (at->ai_family == AF_INET) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)at->ai_addr;
            local = local && (ntohl(in->sin_addr.s_addr) >> 24) == 127;
        } else if (at->ai_family == AF_INET6) {
            const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)at->ai_addr;
            local = local && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
        } else {
            local = false;
        }
    }
    freeaddrinfo(found);
    return local;
}

unsigned pythia__socket_port(int s)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    if (getsockname(s, (struct sockaddr *)&name, &size) != 0)
        return 0;
    if (name.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&name)->sin_port);
    return name.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&name)->sin6_port) : 0;
}
