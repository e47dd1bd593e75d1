/* The first line of messages of the topic of evidence: whoever may write to the topic writes what
 * it likes. What is read has the fields that others rely on, and the orders in it are kept or
 * passed over. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "kafka/kafka_shared.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct pythia__kafka_shared shared;
    static struct pythia__kafka k;
    static char group[] = "g", topic[] = "evidence";
    char *copy = malloc(size + 1);
    MUST(copy);
    memcpy(copy, bytes, size);
    rd_kafka_message_t m = {.payload = copy, .len = size};
    struct pythia_text rest = {0};
    const json_t *order;
    size_t i;
    bool other = false;
    k.shared = &shared;
    k.url.group = group;
    k.url.evidence = topic;
    json_t *head = pythia__kafka_log_head(&k, &m, &rest, &other);
    MUST(!head || !other);
    if (head) {
        MUST(json_is_string(json_object_get(head, "name")));
        MUST(rest.size < size && rest.bytes + rest.size == copy + size);
        json_array_foreach (json_object_get(head, "orders"), i, order)
            pythia__kafka_snapshot_order(&shared, order);
    }
    json_decref(head);
    json_decref(shared.snapshot.orders);
    shared.snapshot.orders = NULL;
    free(copy);
    return 0;
}
