/* Opens and closes a trace point so many times, with a pause after each, and leaves it open: flip
 * ID TIMES MICROSECONDS. */
#include <pythia/switchboard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct pythia_switchboard *board;
    char why[256] = "";
    if (argc < 4 || pythia_switchboard_open(NULL, 1, &board, why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    const struct timespec pause = {0, strtol(argv[3], NULL, 10) * 1000};
    for (long i = 0; i < 2 * strtol(argv[2], NULL, 10); i++) {
        pythia_switchboard_throw(board, argv[1], strlen(argv[1]), PYTHIA_SWITCHES_ALL,
                                 i % 2 ? PYTHIA_SWITCHES_ALL : 0);
        nanosleep(&pause, NULL);
    }
    pythia_switchboard_close(board);
    return 0;
}
