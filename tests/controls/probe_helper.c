#define _GNU_SOURCE
#include "probe_helper.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../adapters/elf_notes.h"
#include "check.h"
#include "plane.h"
#include "pythia/probe_hit.h"
#include "pythia/probe_rings.h"
#include "pythia/status.h"

static char folder[] = "/tmp/control_probe.XXXXXX", socket_path[64];
char program[64], library[64], rules[64], with_library[64];
struct pythia_control *plane;
int listener, helper, ring;
uint64_t now_ns;

void write_file(const char *path, const void *bytes, size_t size)
{
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
    assert_int_equal(write(file, bytes, size), size);
    close(file);
}

int begin_files(void **state)
{
    (void)state;
    struct elf_notes n;
    char text[512];
    assert_non_null(mkdtemp(folder));
    snprintf(program, sizeof(program), "%s/program", folder);
    snprintf(rules, sizeof(rules), "%s/rules", folder);
    snprintf(socket_path, sizeof(socket_path), "%s/socket", folder);
    elf_notes_begin(&n);
    memcpy(n.bytes + CODE + 0x40, "\x48\x89\xe5", 3); /* mov: a single step */
    ELF_NOTE(&n, 0x401020, 0, "p\0sell__start\0");
    ELF_NOTE(&n, 0x401030, 0, "p\0sell__done\0");
    ELF_NOTE(&n, 0x401040, 0, "p\0slow__start\0");
    ELF_NOTE(&n, 0x401050, 0, "p\0slow__done\0");
    ELF_NOTE(&n, 0x401060, 0, "p\0half__start\0");
    write_file(program, n.bytes, n.size);
    elf_notes_free(&n);
    int size = snprintf(text, sizeof(text),
                        "service: shop\nprovider: p\nprograms: [%s, /nowhere/shop]\npoints:\n"
                        "  sell: {request: true}\n  slow: {}\n  half: {}\n",
                        program);
    write_file(rules, text, (size_t)size);
    elf_notes_begin(&n);
    ELF_NOTE(&n, 0x401020, 0, "p\0wait__start\0");
    ELF_NOTE(&n, 0x401030, 0, "p\0wait__done\0");
    snprintf(library, sizeof(library), "%s/library", folder);
    snprintf(with_library, sizeof(with_library), "%s/with_library", folder);
    write_file(library, n.bytes, n.size);
    elf_notes_free(&n);
    size = snprintf(text, sizeof(text),
                    "service: shop\nprovider: p\nprograms: [%s, %s]\npoints:\n"
                    "  sell: {request: true}\n  wait: {}\n",
                    program, library);
    write_file(with_library, text, (size_t)size);
    return 0;
}

int end_files(void **state)
{
    (void)state;
    unlink(program);
    unlink(rules);
    unlink(library);
    unlink(with_library);
    unlink(socket_path);
    return rmdir(folder);
}

void listen_as_helper(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, socket_path, strlen(socket_path));
    unlink(socket_path);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 4), 0);
}

void begin_with(const char *file, const char *further)
{
    char a[80], b[80];
    snprintf(a, sizeof(a), "rules=%s", file);
    snprintf(b, sizeof(b), "socket=%s", socket_path);
    const char *settings[] = {a, b, further, NULL};
    listen_as_helper();
    helper = ring = -1;
    now_ns = 100 * S;
    plane = plane_make("probe", settings);
}

int begin(void **state)
{
    (void)state;
    begin_with(rules, NULL);
    return 0;
}

int end(void **state)
{
    (void)state;
    plane->ops->destroy(plane);
    close(listener);
    close(helper);
    close(ring);
    return 0;
}

void expect_observed(const char *expected)
{
    struct pythia_buf got = {0};
    now_ns += S;
    plane_observe(plane, now_ns, &got);
    assert_string_equal(got.size ? got.bytes : "", expected);
    pythia_buf_free(&got);
}

void greet(void)
{
    char text[] = "rings 1 nop5=600 nop=800 push=900 branch=950 step=20000";
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {text, sizeof(text) - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    helper = accept(listener, NULL, NULL);
    assert_true(helper >= 0);
    ring = memfd_create("ring", MFD_CLOEXEC);
    assert_int_equal(ftruncate(ring, (1 + PYTHIA_PROBE_RING_PAGES) * sysconf(_SC_PAGESIZE)), 0);
    control.head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(&control.head), &ring, sizeof(ring));
    assert_int_equal(sendmsg(helper, &message, 0), sizeof(text) - 1);
}

void serve_of(const char *verb, const char *probe, const char *path, const char *answer,
              const char *after)
{
    char got[512], expected[512];
    ssize_t size = recv(helper, got, sizeof(got) - 1, MSG_DONTWAIT);
    assert_true(size > 0);
    got[size] = '\0';
    snprintf(expected, sizeof(expected), "%s p:%s %s", verb, probe, path);
    assert_string_equal(got, expected);
    int bytes = snprintf(got, sizeof(got), "%s p:%s %s%s", answer, probe, path, after);
    assert_int_equal(send(helper, got, (size_t)bytes, 0), bytes);
}

void serve(const char *verb, const char *probe, const char *answer)
{
    serve_of(verb, probe, program, answer, "");
}

void expect_silence(void)
{
    char got[16];
    assert_int_equal(recv(helper, got, sizeof(got), MSG_DONTWAIT), -1);
}

void add_hit_of(uint64_t thread, uint64_t time_ns, uint32_t number)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_mmap_page *head =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    struct {
        struct perf_event_header head;
        uint32_t bytes;
        char hit[sizeof(struct pythia_probe_hit)];
        uint32_t zeros;
    } record = {.head = {.type = PERF_RECORD_SAMPLE, .size = sizeof(record)},
                .bytes = sizeof(record.hit) + 4};
    const struct pythia_probe_hit hit = {.time_ns = time_ns, .thread = thread, .number = number};
    memcpy(record.hit, &hit, sizeof(hit));
    memcpy((char *)head + page + head->data_head, &record, sizeof(record));
    head->data_head += sizeof(record);
    munmap(head, 2 * page);
}

void read_twice(struct pythia_probe_feed *feed, struct pythia_buf *frames)
{
    struct pythia_error e = {0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pythia_probe_feed_read(feed, frames, &e), PYTHIA_OK);
}

static int add_note(void *context, const struct pythia_control_point *point)
{
    if (point->note)
        pythia_buf_printf(context, "%.*s %s\n", (int)point->id.size, point->id.bytes, point->note);
    return PYTHIA_OK;
}

void expect_notes(const char *expected)
{
    struct pythia_buf got = {0};
    pythia_buf_puts(&got, "");
    assert_int_equal(plane->ops->inventory(plane, add_note, &got), PYTHIA_OK);
    assert_string_equal(got.size ? got.bytes : "", expected);
    pythia_buf_free(&got);
}
