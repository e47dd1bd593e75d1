# Requests of a server as OTLP/JSON, one a line, each of which says how many events of the network it read at once: as many as there
# were, 0 to 31, but -v limit=… at most. Its time is 1 ms and 0.1 ms for each event.
BEGIN {
    for (i = 0; i < 640; i++) {
        events = i * 7 % 32
        read = events < limit ? events : limit
        printf "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"sdskv\"}}]}," \
            "\"scopeSpans\":[{\"spans\":[{\"traceId\":\"%032x\",\"spanId\":\"0000000000000001\",\"name\":\"put\",\"kind\":2," \
            "\"startTimeUnixNano\":\"%d000000000\",\"endTimeUnixNano\":\"%d%09d\",\"attributes\":[{\"key\":\"variable.num_ofi_events_read\"," \
            "\"value\":{\"intValue\":\"%d\"}}]}]}]}]}\n", i + 1, 1763700000 + i, 1763700000 + i, 1000000 + events * 100000, read
    }
}
