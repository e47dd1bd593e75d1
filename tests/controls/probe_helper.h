/* The plane "probe" with a pythia-probe that the test plays: its end of the socket, and a ring that
 * is a file. Its program and a library are written as elf_notes.h writes them. */
#ifndef PROBE_HELPER_H
#define PROBE_HELPER_H

#include <stdint.h>

#include "pythia/buf.h"
#include "pythia/control.h"
#include "pythia/control_probe.h"

extern char program[64], library[64], rules[64], with_library[64]; /* paths of files */
extern struct pythia_control *plane;
extern int listener, helper,
    ring;               /* descriptors; helper and ring: -1 before the plane is greeted */
extern uint64_t now_ns; /* the plane's */

/* Before and after all tests of a program. */
int begin_files(void **state);
int end_files(void **state);
void write_file(const char *path, const void *bytes, size_t size);

/* Make the plane with a file of rules and one more setting, or NULL; and end it. */
void begin_with(const char *file, const char *further);
int begin(void **state); /* with `rules` */
int end(void **state);

void listen_as_helper(void);
void greet(void); /* take the plane's connection, and give it a ring and prices */

/* The plane has sent this about a probe, and is answered; `after` stands after the id. */
void serve_of(const char *verb, const char *probe, const char *path, const char *answer,
              const char *after);
void serve(const char *verb, const char *probe, const char *answer); /* of `program` */
void expect_silence(void);

/* What a second later is observed, and the notes of the inventory, a line each. */
void expect_observed(const char *expected);
void expect_notes(const char *expected);

/* A record of the ring, as the kernel would write it; and what comes of it. */
void add_hit_of(uint64_t thread, uint64_t time_ns, uint32_t number);
void read_twice(struct pythia_probe_feed *feed, struct pythia_buf *frames);

#endif
