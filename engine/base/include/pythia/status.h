#ifndef PYTHIA_STATUS_H
#define PYTHIA_STATUS_H

/* Every status, its code and its text, in one place. */
#define PYTHIA_STATUS_MAP(X)                                                                       \
    X(EINVAL, -1, "invalid argument")                                                              \
    X(ENOMEM, -2, "out of memory")                                                                 \
    X(EIO, -3, "input or output failed")                                                           \
    X(EFORMAT, -4, "malformed input")                                                              \
    X(ENOTFOUND, -5, "not found")                                                                  \
    X(ELIMIT, -6, "a limit was reached")                                                           \
    X(EUSAGE, -7, "wrong usage")                                                                   \
    X(ESTOPPED, -8, "stopped on request")

/* The status that a function returns if it can fail: PYTHIA_OK or one of the negative codes.
 * Iterators also return 1, at the end. */
enum pythia_status {
    PYTHIA_OK = 0,
#define X(name, code, text) PYTHIA_##name = (code),
    PYTHIA_STATUS_MAP(X)
#undef X
};

/* The text of a status, a static string that is never NULL. Thread-safe. */
const char *pythia_status_text(int status);

#endif
