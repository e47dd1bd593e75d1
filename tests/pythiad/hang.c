/* Loaded into pythiad before the C library (LD_PRELOAD): a name that ends with ".hangs.test" is
 * looked up for good. A server of names that does not answer takes minutes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int look_up(const char *name, const char *service, const struct addrinfo *req,
                    struct addrinfo **pai);
__attribute__((visibility("default"))) look_up getaddrinfo;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *req,
                struct addrinfo **pai)
{
    union {
        void *object;
        look_up *function;
    } next = {.object = dlsym(RTLD_NEXT, "getaddrinfo")};
    static const char end[] = ".hangs.test";
    size_t size = name ? strlen(name) : 0;
    while (size >= sizeof(end) && strcmp(name + size - (sizeof(end) - 1), end) == 0)
        pause();
    return next.function(name, service, req, pai);
}
