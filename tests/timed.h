/* Bounds on times that a test measures. No such bound holds on a machine that other programs use,
 * so a missed one is only printed. With PYTHIA_TIMED in the environment, as in `./dev bench times`,
 * it fails the test. */
#ifndef TIMED_H
#define TIMED_H

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define check_time(holds, ...) check_time_at((holds), #holds, __FILE__, __LINE__, __VA_ARGS__)

/* The text after `line` says what was measured, as for printf. */
__attribute__((format(printf, 5, 6))) static inline void
check_time_at(int holds, const char *what, const char *file, int line, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    print_message("%s, asked for: %s%s\n", text, what, holds ? "" : ": MISSED");
    if (!holds && getenv("PYTHIA_TIMED"))
        _fail(file, line);
}

#endif
