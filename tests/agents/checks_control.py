# SPDX-License-Identifier: MIT
"""What an agent asks, confirms and reports; when a list holds and when it no longer does; types of requests."""
import os
import re
import socket
import time

from agent_program import shape
from checks_spans import REMOTE, chain, check, ids, spans_of

LIST_KEY = {'type_key': ''}


@check
def a_list_is_confirmed_by_its_etag_and_at_once(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    etag = suite.server.etag_of('shop')
    suite.server.until(lambda: any(report.get('applied') == etag for report, _ in suite.server.reports), 'it is reported', 60)
    suite.await_polls(3)
    last = [one for one in suite.server.requests if one.method == 'GET'][-1]
    assert last.headers['if-none-match'] == f'"{etag}"', last.headers
    assert last.path == '/v1/trace-points' and last.query['service'] == 'shop', last.query
    assert program.end() == 0


@check
def points_are_reported_with_hits_and_prices(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    suite.do(program, 'repeat', count=100, threads=1, tree=[{'name': 'a', 'kind': 'server', 'children': chain('b', 'c')}])
    points = suite.server.points
    suite.server.until(lambda: all(points.get(id, {}).get('hits', 0) == 100 for id in ids('a b c')),
                       f'100 hits each, open or closed: {points}', 60)
    assert [points[id]['open_by_default'] for id in ids('a b c')] == [True, False, False], points
    suite.server.until(lambda: all(points[id].get('price_ns') for id in ids('a b')), f'prices of open points: {points}', 60)
    assert all(100 < points[id]['price_ns'] < 1e7 for id in ids('a b')), points
    assert not points[ids('c')[0]].get('price_ns'), 'c was never open'
    report, _ = suite.server.reports[-1]
    assert report['service'] == 'shop' and 0 < len(report['instance'].encode()) <= 128, report


@check
def the_agent_names_itself_and_what_a_closed_pass_costs(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    suite.do(program, 'repeat', count=2000, threads=1, tree=chain('a', 'c'))
    reports = suite.server.reports

    def told():
        return any(report.get('agent') and report.get('closed_ns') for report, _ in reports)
    suite.server.until(told, 'agent and closed_ns are in a report', 30)
    report = next(report for report, _ in reports if report.get('closed_ns'))
    assert re.fullmatch(r'[\w.-]+ \d+(\.\d+)+\S*', report['agent']), report['agent']
    assert 0 < report['closed_ns'] < 1e6, report['closed_ns']


@check
def everything_is_reported_again_when_the_server_asks(suite):
    program = suite.start()
    suite.set(open=[])
    spans_of(suite, program, chain('a', 'b'))
    points = suite.server.points
    suite.server.until(lambda: set(ids('a b')) <= set(points), 'both points', 60)
    suite.server.want('shop', open=[], report=True)  # as pythiad that was started again
    with suite.server.lock:
        points.clear()
    suite.server.until(lambda: set(ids('a b')) <= set(points), 'both points again', 60)


@check
def reports_stay_below_what_the_server_takes(suite):
    program = suite.start()
    suite.set(open=[])
    tree = [{'name': 'é' * 200 + f'{i:04d}'} for i in range(4000)]
    suite.do(program, 'spans', tree=tree)
    suite.server.until(lambda: len(suite.server.points) == 4000, '4000 points with long names', 120)
    assert max(size for _, size in suite.server.reports) <= 1 << 20
    suite.do(program, 'spans', tree=[{'name': 'x' * 600}, {'name': 'y\n'}, {'name': 'z'}])
    suite.server.until(lambda: 'shop:web:z' in suite.server.points, 'z', 60)
    assert len(suite.server.points) == 4001, 'ids that are too long or have control characters are no points'


@check
def a_refused_report_is_not_repeated_at_once(suite):
    program = suite.start()
    suite.set(open=[])
    suite.server.until(lambda: suite.server.posts > 0, 'a report', 60)
    with suite.server.lock:
        suite.server.post_status = 429
        posts = suite.server.posts
    spans_of(suite, program, chain('a', 'b'))
    suite.server.want('shop', open=ids('b'))
    suite.server.until(lambda: suite.server.posts > posts, 'the report that is refused', 60)
    suite.await_polls(20)
    assert suite.server.posts == posts + 1, f'{suite.server.posts - posts} reports while they are refused'
    spans, _ = spans_of(suite, program, chain('a', 'b'))
    assert shape(spans) == 'a b<a', 'lists count all the same'


@check
def the_default_set_returns_when_the_lease_is_out_and_goes_again(suite):
    program = suite.start()
    spans_of(suite, program, chain('a', 'b'))
    suite.server.lease_ms = 1000
    for mode in ('refuse', 'hang'):
        suite.set(open=ids('b'), closed=ids('a'))
        assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'b'
        suite.server.mode = mode
        suite.server.drop_connections()
        suite.until(lambda: shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a', f'the default set, by {mode}')
        suite.server.mode = 'serve'
        suite.server.drop_connections()
        suite.until(lambda: shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'b', 'the list again')


@check
def a_list_holds_as_long_as_its_lease(suite):
    program = suite.start()
    suite.server.lease_ms = 600000
    suite.set(open=ids('b'))
    suite.server.mode = 'refuse'
    suite.await_polls(5)
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'


@check
def a_server_that_was_killed_is_found_again(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    suite.server.stop()
    spans_of(suite, program, chain('a', 'b'))
    with suite.server.lock:
        suite.server.points.clear()
        suite.server.instances.clear()
        suite.server.in_force.clear()
    suite.server.start()
    suite.await_force('shop')
    suite.server.until(lambda: set(ids('a b')) <= set(suite.server.points), 'the inventory, for it has lost it', 60)
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'


@check
def an_agent_may_be_started_before_its_server(suite):
    suite.server.stop()
    program = suite.start()
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a'
    suite.server.start()
    suite.set(open=ids('b'))
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'


@check
def everything_is_closed_while_the_off_file_is_there(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'
    with open(suite.off_file, 'w', encoding='ascii'):
        pass
    suite.until(lambda: spans_of(suite, program, chain('a', 'b'))[0] == [], 'off')
    posts = suite.server.posts
    suite.await_polls(10)
    assert spans_of(suite, program, chain('a', 'b'))[0] == [], 'it stays off whatever the server says'
    assert suite.server.posts <= posts + 2, 'a list that is not taken is not confirmed again and again'
    suite.server.mode = 'refuse'
    suite.await_polls(2)
    assert spans_of(suite, program, chain('a', 'b'))[0] == [], 'and without a server'
    suite.server.mode = 'serve'
    os.remove(suite.off_file)
    suite.until(lambda: shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a', 'on')


@check
def off_works_while_the_server_hangs(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    suite.server.mode = 'hang'
    suite.server.drop_connections()
    with open(suite.off_file, 'w', encoding='ascii'):
        pass
    begin = time.monotonic()
    suite.until(lambda: spans_of(suite, program, chain('a', 'b'))[0] == [], 'off')
    suite.within('off while the server hangs', 1e3 * (time.monotonic() - begin), 4200)


@check
def the_token_is_sent(suite):
    path = os.path.join(suite.folder, 'token')
    with open(path, 'w', encoding='ascii') as file:
        file.write('sesame\n')
    suite.start(PYTHIA_TOKEN_FILE=path)
    suite.set(open=[])
    assert all(one.headers.get('authorization') == 'Bearer sesame' for one in suite.server.requests)


@check
def an_agent_that_is_told_to_do_nothing_does_nothing(suite):
    program = suite.start(PYTHIA_GATE='0')
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'
    assert suite.server.gets == 0


@check
def a_service_may_be_named_in_the_environment(suite):
    program = suite.start(PYTHIA_SERVICE='depot')
    suite.set('depot', open=['depot:web:b'])
    assert shape(spans_of(suite, program, chain('a', 'b'))[0]) == 'a b<a'


def places(spans):
    return {(span['host'], span['pid']) for span in spans}


def host_and_pid(instance):
    host, pid, _ = instance.split(':')
    return host, int(pid)


@check
def spans_name_the_host_and_the_process_of_the_instance(suite):
    program = suite.start()
    suite.set(open=ids('b'))
    spans, _ = spans_of(suite, program, chain('a', 'b'))
    here = socket.gethostname(), program.child.pid
    assert places(spans) == {here}, f'{places(spans)}, not {here}'
    assert [host_and_pid(one) for one in suite.server.instances] == [here], suite.server.instances
    spans, _ = spans_of(suite, program, chain('a'), service='other')
    assert places(spans) == {here} and spans[0]['service'] == 'other', spans


@check
def what_a_program_says_of_its_host_and_process_stays(suite):
    for given, host in (('shop-7.example', 'shop-7.example'), ('[2001:db8::7]', socket.gethostname())):
        program = suite.start(OTEL_RESOURCE_ATTRIBUTES=f'host.name={given},process.pid=seven')
        suite.await_polls()
        spans, _ = spans_of(suite, program, chain('a'))
        assert places(spans) == {(given, 'seven')}, spans
        instance = [*suite.server.instances][-1]
        assert host_and_pid(instance) == (host, program.child.pid), f'{given}: {instance}, whose host has no colon'
        assert program.end() == 0
    program = suite.start(OTEL_RESOURCE_ATTRIBUTES='host.name=shop-7')
    spans, _ = spans_of(suite, program, chain('a'))
    assert places(spans) == {('shop-7', program.child.pid)}, spans


@check
def a_child_that_was_forked_is_an_instance_of_its_own(suite):
    program = suite.start()
    spans_of(suite, program, chain('a', 'b'))
    suite.set(open=ids('b'))
    spans_of(suite, program, chain('a', 'b') * 20)
    answer = suite.do(program, 'fork', tree=chain('a', 'b') * 3, wait_ms=1000)
    assert answer['status'] == 0, answer
    assert shape(program.spans) == 'a a a b<a b<a b<a', shape(program.spans)
    assert len(suite.server.instances) == 2, suite.server.instances
    assert places(program.spans) == {host_and_pid([*suite.server.instances][-1])}, 'spans of the child name the child'
    spans, _ = spans_of(suite, program, chain('a', 'b'))
    assert shape(spans) == 'a b<a', shape(spans)
    child = [one for one in suite.server.instances][-1]
    own = [point for report, _ in suite.server.reports if report['instance'] == child for point in report['points']]
    assert sum(point['hits'] for point in own) <= 9, f'the child reports hits of its parent: {own}'
    assert suite.server.in_force[child] == suite.server.etag_of('shop'), 'the child has the list in force'


def open_of(made, name):
    return [one['recording'] for one in made if one['name'] == name]


def serve(route, tail=(), **node):
    return [{'name': f'GET {route}', 'kind': 'server', 'attributes': {'http.request.method': 'GET', 'http.route': route}, **node,
             'children': [{'name': 'c'}, *tail]}]


@check
def a_point_is_open_for_some_types_only(suite):
    program = suite.start()
    spans_of(suite, program, serve('/list'))
    suite.set(open_for={'shop:web:c': ['shop GET /list', 'shop:web:job']}, **LIST_KEY)
    for route, recorded in (('/list', True), ('/order', False)):
        _, made = spans_of(suite, program, serve(route))
        assert open_of(made, 'c') == [recorded], f'{route}: {made}'
    for job, recorded in (('job', True), ('other', False)):
        _, made = spans_of(suite, program, chain(job, 'c'))
        assert open_of(made, 'c') == [recorded], f'{job}: {made}'
    _, made = spans_of(suite, program, serve('/order', attributes={'request_type': 'shop:web:job'}))
    assert open_of(made, 'c') == [True], 'request_type names the type'
    suite.set(open=ids('c'), open_for={'shop:web:d': ['nothing']}, **LIST_KEY)
    _, made = spans_of(suite, program, serve('/order', [{'name': 'd'}]))
    assert open_of(made, 'c') + open_of(made, 'd') == [True, False], made


@check
def the_type_may_be_an_attribute(suite):
    program = suite.start()
    suite.set(open_for={'shop:web:c': ['gold']}, type_key='tier')
    for attributes, recorded in (({'tier': 'gold'}, True), ({'tier': 'tin'}, False), ({}, True)):
        _, made = spans_of(suite, program, [{'name': 'job', 'attributes': attributes, 'children': chain('c')}])
        assert open_of(made, 'c') == [recorded], f'{attributes}: {made}'


@check
def the_type_is_sent_to_those_that_are_called_and_heard(suite):
    program = suite.start()
    suite.set(open_for={'shop:web:c': ['shop GET /list']}, **LIST_KEY)
    sent = {}
    for route in ('/list', '/order'):
        for _ in range(2):  # a router's route is known once a request has ended with it
            _, made = spans_of(suite, program, serve(route, [{'name': 'd'}]))
        sent[route] = made[-1]['headers']
    assert sent['/list'].get('pythia-request-type') == 'shop%20GET%20%2Flist', sent
    for route, recorded in (('/list', True), ('/order', False)):
        _, made = spans_of(suite, program, serve('/inner'), headers=sent[route])
        assert open_of(made, 'c') == [recorded], f'{route}: {made}'
    for wrong in ('', '%', 'x' * 2000):
        _, made = spans_of(suite, program, serve('/inner'), headers={**REMOTE, 'pythia-request-type': wrong})
        assert open_of(made, 'c') == [True], 'what is no type is none'
    suite.set(open=ids('c'))
    _, made = spans_of(suite, program, serve('/list'))
    assert 'pythia-request-type' not in made[1]['headers'], 'nobody asks for types'


@check
def a_switch_is_in_force_within_one_poll(suite):
    suite.start()
    suite.server.poll_ms = 250
    suite.set(open=[])
    took = []
    for i in range(40):
        begin = time.monotonic()
        suite.set(open=ids('b') if i % 2 else [])
        took.append(1e3 * (time.monotonic() - begin))
    took.sort()
    # The poll has a tenth of jitter; the answer is confirmed by the report that follows it.
    suite.within('a switch is in force, slowest of 40', took[-1], 350)


@check
def a_program_that_is_done_ends(suite):
    program = suite.start()
    spans_of(suite, program, chain('a', 'b'))
    assert program.end() == 0
    for mode in ('hang', 'drip', 'half'):
        suite.server.mode = mode
        program = suite.start()
        spans_of(suite, program, chain('a', 'b'))
        suite.await_polls(1)
        begin = time.monotonic()
        assert program.end() == 0
        suite.within(f'the program ends while the server is in mode {mode}', 1e3 * (time.monotonic() - begin), 2000)
    for url in ('http://127.0.0.1:9', 'http://name.invalid', 'ftp://127.0.0.1', 'nonsense'):
        program = suite.start(PYTHIA_URL=url)
        spans_of(suite, program, chain('a', 'b'))
        assert program.end() == 0, url
        assert len(program.errors) <= 2, f'{url}: {program.errors}'


@check
def passes_cost_what_they_may(suite):
    program = suite.start()
    suite.set(open=['shop:cost:open'])
    suite.server.poll_ms = 250
    suite.await_polls(2)
    cost = suite.do(program, 'cost', count=20000)
    suite.notes.append(', '.join(f'{name} {value:.0f}' for name, value in sorted(cost.items()) if name.endswith('_ns')))
