# Traces of SYMBIOSYS of three processes, in files of their own (-v dir=…): a client calls mobject_write_op, which calls sdskv_put_rpc
# on another server, -v puts=… times, one after the other. -v requests=N, the first of which has the number -v first=…, and begins in
# that second. The clock of that other server is 5 ms ahead. Times are in us: the client's call lasts 5 200 and 400 for each put;
# mobject's span 2 000 less, from 1 000 on; puts 400 each from 2 000 on; and sdskv's spans 200 in the middle of them.
function event(file, us, rpc, kind, order, events) {
    printf "%d, %d.%06d000, %d, %d, 2, 5, 1, %d, 1, 20000, %d, 0.000000000, 0.000000000, 0.000000000\n", r, r, us, rpc, kind, order,
        events > (dir "/" file)
}

function head(file, host, pid) {
    printf "%s\n%d\n2\n40001, mobject_write_op\n40002, sdskv_put_rpc\n", host, pid > (dir "/" file)
}

BEGIN {
    head("client.trace", "node1", 1)
    head("mobject.trace", "node2", 2)
    head("sdskv.trace", "node3", 3)
    for (r = first; r < first + requests; r++) {
        event("client.trace", 0, 40001, 0, 0, 0)
        event("mobject.trace", 1000, 40001, 1, 1, 0)
        for (p = 0; p < puts; p++) {
            event("mobject.trace", 2000 + p * 400, 40002, 0, 2 + 4 * p, 0)
            event("sdskv.trace", 7100 + p * 400, 40002, 1, 3 + 4 * p, 0)
            event("sdskv.trace", 7300 + p * 400, 40002, 2, 4 + 4 * p, 0)
            event("mobject.trace", 2400 + p * 400, 40002, 3, 5 + 4 * p, 8 + r % 16)
        }
        event("mobject.trace", 4200 + puts * 400, 40001, 2, 2 + 4 * puts, 0)
        event("client.trace", 5200 + puts * 400, 40001, 3, 3 + 4 * puts, r % 4)
    }
}
