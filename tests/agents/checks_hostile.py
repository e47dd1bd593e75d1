# SPDX-License-Identifier: MIT
"""Servers that are slow, broken or malicious, and numbers that nobody expects: the program must not notice."""
import socket
import time

from agent_program import shape
from checks_spans import chain, check, ids, spans_of
from fake_pythiad import head

RETRIES_MAX = 30  # in three seconds with polls of 20 ms: without back-off there are 150


def in_force(suite, program):
    return shape(spans_of(suite, program, chain('a', 'b'))[0])


def survive(suite, program, mode, raw=b''):
    """The list stays in force while the server misbehaves, and the next list is taken once it no longer does."""
    suite.set(open=ids('b'))
    with suite.server.lock:
        suite.server.mode, suite.server.raw = mode, raw
    suite.server.drop_connections()
    suite.await_polls(2)
    assert in_force(suite, program) == 'a b<a', f'{mode} {raw[:40]}: the list is gone before its lease is out'
    suite.server.mode = 'serve'
    suite.server.drop_connections()
    suite.set(open=[])
    assert in_force(suite, program) == 'a', f'{mode} {raw[:40]}'


@check
def servers_that_misbehave_change_nothing(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    for mode in ('hang', 'drip', 'half', 'cut', 'flap', 'refuse'):
        survive(suite, program, mode)


@check
def answers_that_are_none_change_nothing(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    for body in (b'', b'7', b'null', b'[', b'{', b'{"open":7}', b'{"open":[7]}', b'{"open":["a"]', b'{"closed":{}}',
                 b'{"open_for":[]}', b'{"open_for":{"a":"t"}}', b'{"open":["\\ud800"', b'\xff\xfe', b'[' * 100000,
                 b'{"open":' + b'[' * 100000, b'{"a":' * 100000, b'x' * (9 << 20), b'{"open":["' + b'x' * (9 << 20),
                 b'{"open":["shop:web:c"' + b' ' * (17 << 20) + b']}'):
        survive(suite, program, 'body', body)


@check
def answers_that_are_no_http_change_nothing(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    for raw in (b'\0' * 1000, b'SSH-2.0-x\r\n', b'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}',
                b'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}',
                b'HTTP/1.1 200 OK\r\n' + b'A: b\r\n' * 100000, b'HTTP/1.1 200 ' + b'x' * (1 << 20),
                b'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n',
                b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\nx'):
        survive(suite, program, 'raw', raw)


@check
def lists_with_another_status_change_nothing(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    body = b'{"lease_ms":600000,"poll_ms":20,"open":[],"default":"none"}'
    for status in (500, 401, 404, 206, 299):
        survive(suite, program, 'raw', head(status, len(body), 'ETag: "0123456789abcdef"') + body)


@check
def reports_that_are_never_answered_hold_no_list_up(suite):
    program = suite.start()
    suite.set(open=[])
    spans_of(suite, program, chain('a', 'b'))
    with suite.server.lock:
        suite.server.post_status = 0
        posts = suite.server.posts
    suite.server.want('shop', open=ids('b'))
    begun = time.monotonic()
    suite.until(lambda: in_force(suite, program) == 'a b<a', 'the list')
    suite.server.until(lambda: suite.server.posts > posts, 'a report', 60)
    suite.server.want('shop', open=[])
    suite.until(lambda: in_force(suite, program) == 'a', 'the next list')
    suite.within('two lists are in force', 1e3 * (time.monotonic() - begun), 8400)
    with suite.server.lock:
        suite.server.post_status = 200
    suite.set(open=ids('b'))
    assert in_force(suite, program) == 'a b<a'


@check
def a_server_that_cannot_be_reached_stops_nobody(suite):
    with socket.create_server(('127.0.0.1', 0), backlog=0) as listener:
        waiting = [socket.socket() for _ in range(4)]  # they fill the queue of connections that nobody accepts
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(listener.getsockname())
            for url in (f'http://127.0.0.1:{listener.getsockname()[1]}', 'http://pythiad.invalid:4318'):
                program = suite.start(PYTHIA_URL=url)
                late_ms = suite.do(program, 'pause', ms=1000)['late_ms']
                assert in_force(suite, program) == 'a', url
                begun = time.monotonic()
                assert program.end() == 0, program.errors
                suite.within(f'the program ends while {url} cannot be reached', 1e3 * (time.monotonic() - begun), 2000)
                suite.within('one of its threads waits at most', late_ms, 50)
        finally:
            for one in waiting:
                one.close()


@check
def a_list_in_chunks_is_a_list(suite):
    program = suite.start()
    suite.set(open=[])
    body = b'{"lease_ms":600000,"poll_ms":20,"open":["shop:web:b"]}'
    pieces = b''.join(b'%x\r\n%s\r\n' % (len(body[at:at + 10]), body[at:at + 10]) for at in range(0, len(body), 10))
    with suite.server.lock:
        suite.server.mode, suite.server.raw = 'raw', (b'HTTP/1.1 200 OK\r\nETag: "0123456789abcdef"\r\n'
                                                      b'Transfer-Encoding: chunked\r\n\r\n' + pieces + b'0\r\n\r\n')
    suite.until(lambda: in_force(suite, program) == 'a b<a', 'the list')
    suite.await_polls(2)
    last = [one for one in suite.server.requests if one.method == 'GET'][-1]
    assert last.headers.get('if-none-match') == '"0123456789abcdef"', last.headers


@check
def what_a_list_says_beside_is_passed_over(suite):
    program = suite.start()
    suite.set(open=ids('b'), future={'deep': [[1, {'x': None}]]}, lease='long', other=['\u20ac', 1e300, -1, True])
    assert in_force(suite, program) == 'a b<a'
    suite.server.want('shop', open=ids('b') + ['\u20ac \ud83d\ude00', 'a"b\\c\n'], poll_ms='often', lease_ms=None)
    suite.await_polls(3)
    assert in_force(suite, program) == 'a b<a'


@check
def a_failing_server_is_asked_less_often(suite):
    suite.start()
    suite.set(open=[])
    for mode in ('refuse', 'cut'):
        suite.server.mode = mode
        suite.await_polls(1)
        begun, before = time.monotonic(), suite.server.gets
        while time.monotonic() < begun + 3:
            time.sleep(.05)
        asked = suite.server.gets - before
        assert asked <= RETRIES_MAX, f'{mode}: {asked} requests in 3 s'
        suite.server.mode = 'serve'
        suite.await_polls(3)


@check
def a_list_of_8_mib_is_taken_and_stops_nobody(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    suite.set(open=[])
    many = [f'shop:web:point {i} ' + 'x' * 50 for i in range(100000)]
    quiet_ms = suite.do(program, 'pause', ms=1000)['late_ms']
    suite.server.want('shop', open=many + ids('b'), closed=ids('a'))
    late_ms = 0
    while suite.server.in_force and not holds_all(suite):
        late_ms = max(late_ms, suite.do(program, 'pause', ms=300)['late_ms'])
    assert in_force(suite, program) == 'b'
    suite.within('a thread of the program waits at most, while a list with 100 000 ids is taken', late_ms, 50)
    suite.notes.append(f'the same before: {quiet_ms:.3g} ms')


def holds_all(suite):
    with suite.server.lock:
        etag = suite.server.body_of('shop', False)[1]
        return etag in suite.server.in_force.values()


@check
def a_hundred_thousand_names_fill_no_memory(suite):
    program = suite.start()
    suite.set(open=[])
    assert suite.do(program, 'names', count=100000, scope='names')['recorded'] == 100000, 'by the default rule'
    before = suite.do(program, 'memory')['rss_bytes']
    for scope in ('names.more', 'names.many', 'names.still'):
        assert suite.do(program, 'names', count=100000, scope=scope)['recorded'] == 100000, 'by the default rule'
    grown = suite.do(program, 'memory')['rss_bytes'] - before
    assert grown < 100 << 20, f'{grown} bytes more for 300 000 names'
    suite.server.until(lambda: len(suite.server.points) >= 1000, 'points are reported', 60)
    suite.set(open=ids('b'))
    spans, _ = spans_of(suite, program, chain('a', 'b', kind='server'))
    assert shape(spans) == 'a b<a', 'points that there is no memory for run by the default rule: ' + shape(spans)
