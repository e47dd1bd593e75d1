/* Throws a switch as a text says, "open" or "close", an id, and a kind of request; without
 * arguments, shows all of them. */
#include <inttypes.h>
#include <pythia/switchboard.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct pythia_switchboard *board;
    struct pythia_switchboard_point point;
    char why[256] = "", line[1024];
    if (pythia_switchboard_open(NULL, 1, &board, why) != 0) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (argc >= 3) {
        int size = snprintf(line, sizeof(line), "%s\t%s%s%s", argv[1], argv[2],
                            argc > 3 ? "\t" : "", argc > 3 ? argv[3] : "");
        int thrown = pythia_switchboard_apply(board, line, (size_t)size, why) == 1;
        pythia_switchboard_close(board);
        return !thrown;
    }
    for (uint32_t i = 0; i < pythia_switchboard_points(board); i++)
        if (pythia_switchboard_at(board, i, &point) == 0)
            printf("%s %" PRIx64 "\n", point.id, point.switches);
    pythia_switchboard_close(board);
    return 0;
}
