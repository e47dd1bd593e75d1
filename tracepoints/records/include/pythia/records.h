/* SPDX-License-Identifier: MIT */
#ifndef PYTHIA_RECORDS_H
#define PYTHIA_RECORDS_H

#include <stdint.h>

/* The format of what trace points write, and of what a reader of their rings passes on: records, in
 * frames. A file of records is frames one after the other; pythia-records(5) is the same in words.
 * All numbers are little-endian; names and texts may hold any byte and have no NUL after them.
 *
 *     frame     | header, 128 bytes | payload: records, each a multiple of 8 bytes |
 *
 *     stream 0  PROCESS POINT POINT …    definitions: who writes, and what trace points are called
 *     stream n  ENTER VALUE EXIT …       ring n - 1 of that process
 *
 * A record stands by itself: which trace and span it is about is in it. So a frame that is lost
 * costs what is in it and nothing else. */

/* 8 bytes: not text, and broken where text is mended. */
#define PYTHIA_FRAME_MAGIC   "\x89PYREC\r\n"
#define PYTHIA_FRAME_VERSION 1

/* Bytes at most. A name or a service that is longer is cut, with "...#" and a hash of all of it at
 * the end, so that it still differs from others; a key or a text is cut and marked as such. */
#define PYTHIA_SERVICE_BYTES 64
#define PYTHIA_NAME_BYTES    200
#define PYTHIA_KEY_BYTES     128
#define PYTHIA_TEXT_BYTES    4096
#define PYTHIA_RECORD_BYTES  4352
#define PYTHIA_PAYLOAD_BYTES 4194304 /* 4 MiB */

enum pythia_frame_flag {
    PYTHIA_FRAME_CLOCK_STEP = 1, /* the clock was set, or the machine slept, since the last frame:
                                    times in this one may be off by as much */
    PYTHIA_FRAME_LAST = 2,       /* of what its process had committed at one moment; frames of one
                                    moment have the same anchor */
};

/* The header of a frame. What was lost is counted from the beginning of the stream. */
struct pythia_frame {
    unsigned char magic[8];             /*   0  PYTHIA_FRAME_MAGIC */
    uint16_t version;                   /*   8 */
    uint16_t header_bytes;              /*  10  128; more in a later version */
    uint32_t payload_bytes;             /*  12  0 to PYTHIA_PAYLOAD_BYTES, a multiple of 8 */
    uint64_t process_high, process_low; /*  16  a random id of the process */
    uint32_t stream;                    /*  32  0: definitions */
    uint32_t flags;                     /*  36  enum pythia_frame_flag */
    uint64_t position;                  /*  40  bytes of the stream before this payload */
    uint64_t anchor_ticks;              /*  48  the clock of the records, and … */
    uint64_t anchor_ns;                 /*  56  … CLOCK_MONOTONIC, at one moment */
    int64_t epoch_ns;                   /*  64  what CLOCK_REALTIME was ahead of it */
    double ns_per_tick;                 /*  72 */
    uint64_t lost_spans;                /*  80  not recorded: no room, or no ring */
    uint64_t lost_ends;                 /*  88  of spans that are recorded and stay unfinished */
    uint64_t lost_annotations;          /*  96 */
    uint64_t lost_values;               /* 104 */
    uint64_t zero;                      /* 112 */
    uint64_t check;                     /* 120  FNV-1a, 64 bits, of the 120 bytes before */
};

/* When a record was made: anchor_ns + (ticks - anchor_ticks) * ns_per_tick of CLOCK_MONOTONIC. */

enum pythia_record_kind {
    PYTHIA_RECORD_PROCESS = 1,
    PYTHIA_RECORD_POINT = 2,
    PYTHIA_RECORD_VARIABLE = 3,
    PYTHIA_RECORD_ENTER = 16,
    PYTHIA_RECORD_EXIT = 17,
    PYTHIA_RECORD_ANNOTATION = 18,
    PYTHIA_RECORD_VALUE = 19,
    PYTHIA_RECORD_COST = 20,
    PYTHIA_RECORD_DROPPED = 21,
};

/* The beginning of each record. A reader passes over kinds that it does not know. */
struct pythia_record {
    uint16_t bytes;  /* 0  of all of it: 8 to PYTHIA_RECORD_BYTES, a multiple of 8 */
    uint8_t kind;    /* 2  enum pythia_record_kind */
    uint8_t flags;   /* 3  enum pythia_record_flag */
    uint32_t number; /* 4  of a point: which one, from 1; of an EXIT: its Lamport count */
};

enum pythia_record_flag {
    PYTHIA_RECORD_LOCAL_ROOT = 1, /* ENTER: no span of this process is above it */
    PYTHIA_RECORD_ERROR = 2,      /* EXIT: it failed */
    PYTHIA_RECORD_CLOCK_BACK = 4, /* EXIT: the clock stood before its ENTER */
    PYTHIA_RECORD_KEY_CUT = 8,    /* VALUE */
    PYTHIA_RECORD_TEXT_CUT = 16,  /* VALUE, POINT, PROCESS */
    PYTHIA_RECORD_LOSSY = 32,     /* ENTER, ANNOTATION, EXIT: for others of the trace there was no
                                     room: before it in the same context, or, at an EXIT, in it */
};

/* The first record of stream 0. */
struct pythia_record_process {
    struct pythia_record head;
    uint32_t pid;           /*  8 */
    uint16_t service_bytes; /* 12 */
    uint16_t host_bytes;    /* 14 */
    /* 16: the service, the host, zeros */
};

/* Numbers go up by one. */
struct pythia_record_point {
    struct pythia_record head;
    uint16_t name_bytes; /*  8 */
    uint16_t zero[3];    /* 10 */
    /* 16: the name, zeros */
};

/* A variable of the process (variable.h), of stream 0. Its values are key-values of spans. */
struct pythia_record_variable {
    struct pythia_record head; /* number: of the variable, from 1 */
    uint8_t of_class;          /*  8  enum pythia_variable_class */
    uint8_t binding;           /*  9  enum pythia_variable_binding */
    uint8_t type;              /* 10  enum pythia_variable_type */
    uint8_t name_bytes;        /* 11 */
    uint32_t zero;             /* 12 */
    /* 16: the name, zeros */
};

/* A span begins, or an annotation is made: then `span` is its own. Behind it are the values of some
 * variables of the process, as they were then: 8 bytes each, IEEE 754, and then the numbers of
 * these variables, a byte each, and zeros; behind these is the name of the request's kind, if no
 * span of this process is above, and zeros. */
struct pythia_record_enter {
    struct pythia_record head;
    uint64_t ticks;                 /*  8 */
    uint64_t trace_high, trace_low; /* 16 */
    uint64_t span;                  /* 32  never 0 */
    uint64_t parent;                /* 40  0: none */
    uint32_t lamport;               /* 48 */
    uint8_t point_kind;             /* 52  enum pythia_point_kind */
    uint8_t request_type;           /* 53  its bit in the switches */
    uint8_t values;                 /* 54  how many are behind it */
    uint8_t type_bytes;             /* 55  of the name behind them; 0: there is none */
    /* 56: the values, their variables, zeros, the name, zeros */
};

struct pythia_record_exit {
    struct pythia_record head;
    uint64_t ticks;                 /*  8 */
    uint64_t trace_high, trace_low; /* 16 */
    uint64_t span;                  /* 32 */
};

enum pythia_value_kind {
    PYTHIA_VALUE_TEXT,    /* any bytes */
    PYTHIA_VALUE_INTEGER, /* 8 bytes, signed */
    PYTHIA_VALUE_REAL,    /* 8 bytes, IEEE 754 */
    PYTHIA_VALUE_BOOL,    /* 1 byte, 0 or 1 */
};

/* A key-value of a span. */
struct pythia_record_value {
    struct pythia_record head;      /* number: 0, or the variable that is the key; then the value is
                                       a real */
    uint64_t trace_high, trace_low; /*  8 */
    uint64_t span;                  /* 24 */
    uint8_t value_kind;             /* 32  enum pythia_value_kind */
    uint8_t key_bytes;              /* 33 */
    uint16_t value_bytes;           /* 34 */
    uint32_t zero;                  /* 36 */
    /* 40: the key, the value, zeros */
};

/* The cost of one hit of a point for its thread, including its key-values: of about one
 * in a thousand, so that the mean is what each has cost. Number 0, in stream 0: what a span without
 * key-values costs in a loop, measured when the process began to record, for points that are seldom
 * passed. */
struct pythia_record_cost {
    struct pythia_record head; /* number: the point */
    uint64_t ticks;            /* 8 */
};

/* Why spans are not recorded though there was room for them. */
enum pythia_dropped_reason {
    PYTHIA_DROPPED_SWITCHED = 1,  /* trace points were switched during their request, which has no
                                     end */
    PYTHIA_DROPPED_ABANDONED = 2, /* their request has no end: its program, its thread or the
                                     session ended, or an error left it */
    PYTHIA_DROPPED_OVERSIZE = 3,  /* their request is too large */
};

/* Spans that were dropped since the last such record, for a reason other than a full ring. */
struct pythia_record_dropped {
    struct pythia_record head; /* number: enum pythia_dropped_reason */
    uint64_t spans;            /* 8 */
};

#endif
