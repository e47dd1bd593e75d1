/* A program with static probes, written by hand as <sys/sdt.h> would write them. It fires each of
 * them as often as its first argument says, whenever a line comes; it answers with a line. After
 * the line "fork" a child of it does so, too; after "pause" it rests for a moment in between, after
 * "send" it sends what is lost, and after "connect" its attempt is. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOTE(site, semaphore, texts)                                                               \
    ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                 \
    ".balign 4\n .4byte 992f - 991f, 994f - 993f, 3\n"                                             \
    "991: .asciz \"stapsdt\"\n 992: .balign 4\n"                                                   \
    "993: .8byte " site ", _.stapsdt.base, " semaphore "\n" texts "\n"                             \
    "994: .balign 4\n .popsection\n"                                                               \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                    \
    ".weak _.stapsdt.base\n .hidden _.stapsdt.base\n"                                              \
    "_.stapsdt.base: .space 1\n .size _.stapsdt.base, 1\n .popsection\n .endif\n"

/* Counted up by the kernel while somebody looks. */
__attribute__((section(".probes"), used)) volatile unsigned short target_work_semaphore;

/* Sleep for a millisecond, and write to a page for the first time. */
static void rest(void)
{
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (page != MAP_FAILED) {
        *(volatile char *)page = 1;
        munmap(page, 4096);
    }
}

static int connect_to(const struct sockaddr_in *address, int flags)
{
    int connection = socket(AF_INET, SOCK_STREAM | flags, 0);
    (void)connect(connection, (const struct sockaddr *)address, sizeof(*address));
    return connection;
}

/* Lose a segment of TCP on the loopback device, and wait until the kernel has sent it once more: a
 * byte, which the filter of the other end drops, or the attempt to connect to a socket that has as
 * many connections waiting as it takes. */
static void lose(bool attempt)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog filter = {1, &nothing};
    const struct linger none = {.l_onoff = 1};
    struct tcp_info info = {0};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 0) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        exit(1);
    int first = connect_to(&address, 0), loser = first, other = -1;
    if (attempt) {
        loser = connect_to(&address, SOCK_NONBLOCK);
    } else {
        other = accept(listener, NULL, NULL);
        if (setsockopt(other, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) != 0 ||
            send(loser, "x", 1, 0) != 1)
            exit(1);
    }
    bool again = true; /* the kernel counts a segment just before it reports it */
    while (info.tcpi_total_retrans == 0 || again) {
        again = info.tcpi_total_retrans == 0;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        size = sizeof(info);
        if (getsockopt(loser, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
            exit(1);
    }
    (void)setsockopt(loser, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(loser);
    if (attempt)
        close(first);
    close(other);
    close(listener);
}

/* Called by this pointer, so that it is a function in every build. */
static void (*volatile call_lose)(bool attempt) = lose;

static void fire(uint64_t number, const char *text, const int32_t *places)
{
    __asm__ volatile("990: nop\n" NOTE("990b", "target_work_semaphore",
                                       ".asciz \"target\", \"work__start\", "
                                       "\"8@%%rdi 8@%%rsi -4@4(%%rdx) -4@(%%rdx,%%rcx,4) 1@%%al "
                                       "-4@$-17 8f@%%xmm0\"")
                     :
                     : "D"(number), "S"(text), "d"(places), "c"((uint64_t)2), "a"(0x1ff)
                     : "memory");
    __asm__ volatile("990: nop\n" NOTE("990b", "target_work_semaphore",
                                       ".asciz \"target\", \"work__done\", \"8@%%rdi\"")
                     :
                     : "D"(number)
                     : "memory");
}

/* Its instruction is one that the kernel cannot emulate. */
static void fire_step(uint64_t number)
{
    __asm__ volatile(
        "990: mov %%rdi, %%rax\n" NOTE("990b", "0", ".asciz \"target\", \"step\", \"8@%%rdi\"")
        :
        : "D"(number)
        : "rax", "memory");
}

/* A function that has no probe, and calls one of the C library. */
static uint64_t work(uint64_t number, const char *text)
{
    __asm__ volatile("" ::"r"(text) : "memory");
    (void)getppid();
    return number + 1000;
}

/* Called by this pointer, so that no compiler changes its name, its arguments or its result. */
static uint64_t (*volatile call_work)(uint64_t number, const char *text) = work;

int main(int argc, char **argv)
{
    static const int32_t places[] = {-1, -2, -3};
    long times = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    char line[512];
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        pid_t child = strcmp(line, "fork") == 0 ? fork() : -1;
        for (long i = 0; i < times; i++) {
            fire((uint64_t)i, line, places);
            if (strcmp(line, "pause") == 0)
                rest();
            if (strcmp(line, "send") == 0 || strcmp(line, "connect") == 0)
                call_lose(strcmp(line, "connect") == 0);
            fire_step((uint64_t)i);
            (void)call_work((uint64_t)i, line);
        }
        if (child == 0)
            _exit(0);
        if (child > 0)
            waitpid(child, NULL, 0);
        printf("%d\n", target_work_semaphore);
        fflush(stdout);
    }
    return 0;
}
