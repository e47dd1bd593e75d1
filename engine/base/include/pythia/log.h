#ifndef PYTHIA_LOG_H
#define PYTHIA_LOG_H

/* Messages for people, on stderr: a sentence, then, where there are any, a colon and name=value
 * fields. Each line is written by one call, so lines of several threads do not mix; control
 * characters become '?'. */
enum pythia_log_level {
    PYTHIA_LOG_ERROR,   /* what was asked for could not be done */
    PYTHIA_LOG_WARNING, /* something was lost or repaired; the rest goes on */
    PYTHIA_LOG_INFO,    /* what a run did */
    PYTHIA_LOG_DEBUG,   /* for the developer */
};

/* Which levels are written (up to and with `level`; INFO at the start) and the name before each
 * line. Not thread-safe: call it at the start of main. `program` is borrowed for good. */
void pythia_log_setup(const char *program, enum pythia_log_level level);

/* From now on leave a line out where writing it would wait, because nobody reads the pipe or the
 * socket that stderr is: a daemon must go on. The next line that is written comes after one that
 * says how many were left out. Not thread-safe: call it at the start of main. */
void pythia_log_never_wait(void);

/* Write one line to stderr if the level is written. Any thread. */
void pythia_log(enum pythia_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Write an error, with its place, in one line. Any thread. */
struct pythia_error;
void pythia_log_error(enum pythia_log_level level, const struct pythia_error *e);

#endif
