/* A program with trace points: orders, of which those of one tenant in twenty are slow. With
 * "returns" every second request is of that type, and does the same. usage:
 * traced_orders COUNT [returns] */
#define _GNU_SOURCE
#include <pythia/tracepoints.h>
#include <pythia/variable.h>
#include <stdlib.h>
#include <time.h>

static void nap(int us)
{
    struct timespec time = {0, us * 1000L};
    nanosleep(&time, NULL);
}

static void query(int order)
{
    PYTHIA_SPAN_AS(span, "query");
    PYTHIA_SET(span, "order", order);
    nap(100);
}

static void pay(int order)
{
    PYTHIA_SPAN_AS(span, "pay");
    PYTHIA_SET(span, "tenant", order % 20 == 7 ? "bad" : "good");
    if (order % 20 == 7)
        nap(5000);
    query(order);
}

static void parse(int order)
{
    PYTHIA_SPAN("parse");
    query(order);
}

static void handle(int order, int tries)
{
    PYTHIA_SPAN_OF(span, PYTHIA_POINT_SERVER, "handle");
    parse(order);
    pythia_variable_add(tries, order % 3);
    pay(order);
    nap(200);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    static long workers = 1;
    const struct pythia_variable_source source = PYTHIA_SOURCE_LONG(&workers);
    pythia_variable_define("workers", PYTHIA_CLASS_SIZE, PYTHIA_BIND_PROCESS, &source);
    int tries = pythia_variable_define("tries", PYTHIA_CLASS_COUNTER, PYTHIA_BIND_REQUEST, NULL);
    for (int order = 0; order < count; order++) {
        if (argc > 2 && order % 2) {
            PYTHIA_REQUEST("return");
            handle(order, tries);
        } else {
            PYTHIA_REQUEST("order");
            handle(order, tries);
        }
    }
    return 0;
}
