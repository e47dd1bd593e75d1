/* SPDX-License-Identifier: MIT */
/* Instructions for the shim on static probes (USDT): a plan, which `pythia run` writes and the shim
 * reads in the program. Everything that is difficult is done before the program starts: the notes
 * of ELF files are read, instructions are decoded and relocated. The shim has neither a reader of
 * ELF files nor a disassembler; it compares bytes, copies code, and fills in addresses.
 *
 *     | head | points | objects | sites |
 *
 * Both are of one build, and on one machine. */
#ifndef PYTHIA_SITE_PLAN_H
#define PYTHIA_SITE_PLAN_H

#include <stdint.h>

#define PYTHIA__SITES_MAGIC "pythia-sites 1\n" /* 16 bytes with its NUL */

#define PYTHIA__SITE_POINTS_MAX   65536
#define PYTHIA__SITE_OBJECTS_MAX  1024
#define PYTHIA__SITES_MAX         65536
#define PYTHIA__SITE_KEYS         12
#define PYTHIA__SITE_NAME         248 /* bytes with the NUL */
#define PYTHIA__SITE_KEY          124
#define PYTHIA__SITE_OPERANDS     12
#define PYTHIA__SITE_JUMP         5  /* bytes of a jump */
#define PYTHIA__SITE_ORIGINAL_MAX 24 /* bytes that a jump may take the place of */
#define PYTHIA__SITE_MOVED_MAX    96
#define PYTHIA__SITE_FIXUPS_MAX   12

struct pythia__sites_head {
    char magic[16];
    uint32_t points, objects, sites;
    uint32_t anywhere; /* 1: spans need no request around them */
    uint64_t filters;  /* of seccomp, in the process that wrote the plan */
};

/* A key-value of a span: an argument of the probe that begins it, or ends it. */
struct pythia__site_key {
    char name[PYTHIA__SITE_KEY];
    char only[PYTHIA__SITE_KEY]; /* the text that it must be; "": any */
    uint8_t argument, done, text, is_int;
    uint32_t name_bytes;
};

enum pythia__site_flag {
    PYTHIA__SITE_OPEN = 1,    /* to be opened when it is found */
    PYTHIA__SITE_REQUEST = 2, /* a request begins with it */
    PYTHIA__SITE_EVENT = 4,   /* the probe is all there is: a span without a duration */
};

/* A trace point: a pair of probes, or a single one. */
struct pythia__site_point {
    char name[PYTHIA__SITE_NAME];
    uint32_t flags;
    int32_t type; /* the key that has the type of the request, or -1 */
    uint32_t key_count;
    struct pythia__site_key keys[PYTHIA__SITE_KEYS];
};

/* A program or library, by its file. */
struct pythia__site_object {
    uint64_t device, inode;
};

/* As struct pythia_usdt_operand: where an argument is. */
struct pythia__site_operand {
    uint8_t kind, bytes, is_signed, high, base, index, scale, zero;
    int64_t value;
};

/* An address in moved code that depends on where things are. Addresses of the plan are relative to
 * the base of the object. */
enum pythia__fixup_kind {
    PYTHIA__FIXUP_RELATIVE, /* 32 bits: the distance from `end` to the target */
    PYTHIA__FIXUP_LOW,      /* the lower 32 bits of the target's address */
    PYTHIA__FIXUP_HIGH,     /* the upper 32 bits */
};
struct pythia__site_fixup {
    uint8_t kind, at, end, zero; /* bytes from the begin of the moved code */
    uint32_t zero2;
    uint64_t target;
};

/* Instructions that a jump has taken the place of, as they run elsewhere. */
struct pythia__site_code {
    uint8_t bytes[PYTHIA__SITE_MOVED_MAX];
    uint8_t size;     /* may be 0: a nop has nothing to do elsewhere */
    uint8_t original; /* bytes that were moved, at least PYTHIA__SITE_JUMP; 0: only int3 fits */
    uint8_t fixup_count;
    /* For each of the bytes that the jump overwrites: 0, or 1 + where the instruction that began
     * there is in `bytes`. */
    uint8_t begins[PYTHIA__SITE_JUMP];
    struct pythia__site_fixup fixups[PYTHIA__SITE_FIXUPS_MAX];
};

struct pythia__site {
    uint64_t address, semaphore; /* relative to the base of the object; semaphore 0: none */
    uint32_t object, point;
    uint8_t done; /* it ends the span */
    uint8_t nop;  /* bytes of the nop at the site */
    uint8_t operand_count;
    uint8_t zero[5];
    uint8_t original[PYTHIA__SITE_ORIGINAL_MAX]; /* what the file has there */
    struct pythia__site_operand operands[PYTHIA__SITE_OPERANDS];
    struct pythia__site_code code;
};

#endif
