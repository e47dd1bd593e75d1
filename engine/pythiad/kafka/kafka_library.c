#include "kafka_library.h"

#include "pythia/late_library.h"

struct pythia__kafka_library pythia__kafka_library;

bool pythia__kafka_library_load(void)
{
    static const struct pythia_late_function functions[] = {
#define X(name) {"rd_kafka_" #name, &pythia__kafka_library.name},
        PYTHIA__KAFKA_FUNCTIONS(X)
#undef X
    };
    return pythia__kafka_library.subscribe ||
           pythia_late_load(PYTHIA_RDKAFKA_LIBRARY, false, functions,
                            sizeof(functions) / sizeof(functions[0]));
}
