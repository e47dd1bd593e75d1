# SPDX-License-Identifier: MIT
"""What a program's spans must be like while points are closed: everything but the closed spans as without an agent."""
from agent_program import shape

TRACE, SPAN = '1' * 32, '2' * 16
REMOTE = {'traceparent': f'00-{TRACE}-{SPAN}-01', 'tracestate': 'vendor=x'}
SWITCHES_MIN = 30


def check(function):
    function.is_check = True
    return function


def chain(*names, **of_all):
    """Nodes below each other, the first one being the root: chain('a', 'b', 'c')."""
    node = None
    for name in reversed(names):
        node = {'name': name, **of_all, 'children': [node] if node else []}
    return [node]


def ids(names):
    return [f'shop:web:{name}' for name in names.split()]


def spans_of(suite, program, tree, **arguments):
    made = suite.do(program, 'spans', tree=tree, **arguments)['made']
    return program.spans, made


@check
def only_entry_points_are_open_at_first(suite):
    program = suite.start()
    spans, _ = spans_of(suite, program, chain('a', 'b', 'c'))
    assert shape(spans) == 'a', shape(spans)
    spans, _ = spans_of(suite, program, chain('a', 'b', kind='server'), headers=REMOTE)
    assert shape(spans, SPAN) == 'a<remote b<a', shape(spans, SPAN)
    spans, _ = spans_of(suite, program, [{'name': 'a', 'kind': 'consumer'}], headers=REMOTE)
    assert shape(spans, SPAN) == 'a<remote', shape(spans, SPAN)
    spans, _ = spans_of(suite, program, chain('a', 'b'), headers=REMOTE)
    assert shape(spans, SPAN) == 'a<remote', 'below a remote parent each span is an entry: ' + shape(spans, SPAN)
    assert program.end() == 0 and not any('pythia' in line for line in program.errors), program.errors


@check
def what_is_below_a_closed_point_hangs_on_the_nearest_open_one(suite):
    program = suite.start()
    spans_of(suite, program, chain('a', 'b', 'c', 'd'))
    expected = {'': 'a', 'b': 'a b<a', 'c': 'a c<a', 'd': 'a d<a', 'b d': 'a b<a d<b', 'c d': 'a c<a d<c',
                'b c d': 'a b<a c<b d<c'}
    for opened, result in expected.items():
        suite.set(open=ids(opened))
        spans, _ = spans_of(suite, program, chain('a', 'b', 'c', 'd'))
        assert shape(spans) == result, f'open {opened}: {shape(spans)}, not {result}'


@check
def an_entry_point_can_be_closed(suite):
    program = suite.start()
    suite.set(open=ids('c'), closed=ids('a'))
    spans, _ = spans_of(suite, program, chain('a', 'b', 'c'))
    assert shape(spans) == 'c', f'b is no entry point because a is closed: {shape(spans)}'
    tree = [{'name': 'a', 'kind': 'server', 'children': chain('b', 'c')}]
    spans, _ = spans_of(suite, program, tree, headers=REMOTE)
    assert shape(spans, SPAN) == 'c<remote', shape(spans, SPAN)
    suite.set(default='none')
    spans, _ = spans_of(suite, program, chain('a', 'b', 'c'))
    assert shape(spans) == '', 'default none: ' + shape(spans)


@check
def parallel_children_hang_where_they_would_without_an_agent(suite):
    program = suite.start()
    suite.set(open=ids('c'))
    tree = [{'name': 'a', 'children': [{'name': 'b', 'parallel': True, 'children': chain('c') * 20}]}]
    spans, _ = spans_of(suite, program, tree)
    assert shape(spans) == 'a ' + ' '.join(['c<a'] * 20), shape(spans)


@check
def a_span_that_is_not_made_current_is_no_parent(suite):
    program = suite.start()
    suite.set(open=ids('b c'))
    tree = [{'name': 'a', 'children': [{'name': 'b', 'apart': True, 'children': chain('c')}]}]
    spans, _ = spans_of(suite, program, tree)
    assert shape(spans) == 'a b<a c<a', shape(spans)


@check
def a_span_without_a_parent_begins_a_trace(suite):
    program = suite.start()
    suite.set(open=ids('c'))
    tree = [{'name': 'a', 'children': [{'name': 'b', 'root': True, 'children': chain('c')}]}]
    spans, _ = spans_of(suite, program, tree)
    assert shape(spans) == 'a b c<b', shape(spans)
    assert len({span['trace'] for span in spans}) == 2


@check
def links_attributes_and_events_of_open_spans_are_complete(suite):
    program = suite.start()
    suite.set(open=ids('c'))
    link = {'trace': '3' * 32, 'id': '4' * 16}
    node = {'attributes': {'k': 1, 't': 'x'}, 'late': {'l': True}, 'links': [link], 'event': 'e'}
    tree = [{'name': 'a', **node, 'children': [{'name': 'b', **node, 'children': [{'name': 'c', **node}]}]}]
    spans, made = spans_of(suite, program, tree)
    assert shape(spans) == 'a c<a', shape(spans)
    for span in spans:
        assert span['attributes'] == {'k': 1, 't': 'x', 'l': True}, span
        assert span['links'] == [link] and span['events'] == ['e'], span
    assert [one['recording'] for one in made] == [True, False, True], made


@check
def a_link_to_a_closed_span_leads_to_the_open_one_above(suite):
    program = suite.start()
    suite.set(open=[])
    spans, made = spans_of(suite, program, chain('a', 'b', 'c'))
    contexts = {(one['trace'], one['id']) for one in made}
    assert contexts == {(spans[0]['trace'], spans[0]['id'])}, made


@check
def baggage_and_headers_pass_through_closed_points(suite):
    program = suite.start()
    suite.set(open=[])
    inner = {'name': 'c'}
    tree = [{'name': 'a', 'kind': 'server', 'baggage': {'k': 'v'}, 'children': [
        {'name': 'b', 'baggage': {'m': 'w'}, 'children': [inner]}]}]
    spans, made = spans_of(suite, program, tree, headers={**REMOTE, 'baggage': 'far=away'})
    assert made[2]['baggage'] == {'far': 'away', 'k': 'v', 'm': 'w'}, made[2]
    sent = made[2]['headers']
    assert sent['traceparent'] == f"00-{TRACE}-{spans[0]['id']}-01", sent
    assert sent['tracestate'] == 'vendor=x' and made[2]['state'] == 'vendor=x', made[2]
    assert sorted(sent['baggage'].split(',')) == ['far=away', 'k=v', 'm=w'], sent
    suite.set(open=[], closed=ids('a'))
    spans, made = spans_of(suite, program, tree, headers={**REMOTE, 'baggage': 'far=away'})
    assert spans == [] and made[2]['headers']['traceparent'] == f'00-{TRACE}-{SPAN}-01', made[2]
    spans, made = spans_of(suite, program, chain('a', 'b'))
    assert spans == [] and 'traceparent' not in made[1]['headers'], made[1]


@check
def an_exception_goes_through_a_closed_span_into_the_open_one_above(suite):
    program = suite.start()
    for opened, result in (('', {'a': 'error'}), ('b c', {'a': 'error', 'b': 'error', 'c': 'error'})):
        suite.set(open=ids(opened))
        tree = [{'name': 'a', 'error': 'above', 'children': [{'name': 'b', 'error': 'x', 'children': [
            {'name': 'c', 'error': 'y'}]}]}]
        spans, _ = spans_of(suite, program, tree)
        assert {span['name']: span['status'] for span in spans} == result, spans
        assert all(span['events'] == ['exception'] for span in spans), spans
    suite.set(open=[])
    spans, _ = spans_of(suite, program, [{'name': 'a', 'children': [{'name': 'b', 'error': 'x'}]}])
    assert [(span['status'], span['events']) for span in spans] == [('unset', [])], 'b was caught outside of itself'


@check
def a_closed_point_takes_nothing_from_the_span_above(suite):
    program = suite.start()
    suite.set(open=[])
    spans, _ = spans_of(suite, program, [{'name': 'a', 'children': [
        {'name': 'b', 'attributes': {'k': 1}, 'late': {'l': 2}, 'event': 'e', 'rename': 'x'}]}])
    assert [(span['name'], span['attributes'], span['events']) for span in spans] == [('a', {}, [])], spans


@check
def the_sampling_decision_is_that_without_the_agent(suite):
    tree = chain('a', 'b', 'c')
    for state, flag in (('01', True), ('00', False)):
        program = suite.start()
        for opened in ('', 'b', 'c', 'b c'):
            suite.set(open=ids(opened), closed=ids('a') if opened == 'c' else [])
            headers = {'traceparent': f'00-{TRACE}-{SPAN}-{state}'}
            spans, made = spans_of(suite, program, tree, headers=headers)
            assert bool(spans) == (flag and (opened != '' or True)), f'parent {state}, open {opened}: {spans}'
            assert all(one['sampled'] == flag for one in made), made
        program.end()
    never = suite.start(OTEL_TRACES_SAMPLER='always_off')
    suite.set(open=ids('b c'))
    spans, made = spans_of(suite, never, tree)
    assert spans == [] and not any(one['sampled'] for one in made), made


@check
def the_share_of_sampled_traces_stays_whatever_is_closed(suite):
    program = suite.start(OTEL_TRACES_SAMPLER='parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG='0.5')
    for closed in ([], ids('b')):
        suite.set(open=[] if closed else ids('b'))
        traces = whole = 0
        for _ in range(10):
            spans, made = spans_of(suite, program, chain('a', 'b') * 40)
            traces += len({span['trace'] for span in spans})
            whole += len(spans)
            assert [one['sampled'] for one in made[0::2]] == [one['sampled'] for one in made[1::2]]
        assert 120 < traces < 280, f'{traces} of 400 at a ratio of one half'  # 8 standard deviations
        assert whole == traces * (1 if closed else 2)


@check
def a_renamed_span_counts_as_what_it_becomes(suite):
    program = suite.start()
    suite.set(open=[])
    tree = [{'name': 'GET', 'kind': 'server', 'rename': 'GET /users/12'}]
    spans, _ = spans_of(suite, program, tree)
    assert shape(spans) == 'GET /users/12', shape(spans)
    known = suite.server.points
    suite.server.until(lambda: 'shop:web:GET /users/{id}' in known, 'the new name is reported', 60)
    assert known['shop:web:GET /users/{id}']['open_by_default'] is True
    suite.set(open=[], closed=['shop:web:GET /users/{id}'])
    spans, _ = spans_of(suite, program, tree)
    assert spans == [], 'closed by the name that it gets'
    suite.set(open=[], closed=['shop:web:PUT /users/{id}'])
    tree = [{'name': 'PUT', 'kind': 'server', 'rename': 'PUT /users/12'}]
    assert shape(spans_of(suite, program, tree)[0]) == 'PUT /users/12', 'nobody knows yet what it becomes'
    assert spans_of(suite, program, tree)[0] == [], 'it is known now, and the list is the same'
    spans_of(suite, program, [{'name': 'a', 'children': [{'name': 'b', 'rename': 'x'}]}])
    suite.set(open=ids('b'))
    spans_of(suite, program, [{'name': 'a', 'children': [{'name': 'b', 'rename': 'x'}]}])
    suite.set(open=ids('x'))
    spans, _ = spans_of(suite, program, [{'name': 'a', 'children': [{'name': 'b', 'rename': 'x'}]}])
    assert shape(spans) == 'a x<a', 'opened by the name that it gets: ' + shape(spans)


@check
def names_have_their_identifiers_replaced(suite):
    program = suite.start()
    names = ['GET /a/17', 'GET /a/0123456789abcdef', 'GET /a/123e4567-e89b-12d3-a456-426614174000/b?q=1', 'SELECT 17']
    spans_of(suite, program, [{'name': name} for name in names])
    wanted = {'shop:web:GET /a/{id}', 'shop:web:GET /a/{id}/b', 'shop:web:SELECT 17'}
    suite.server.until(lambda: wanted <= set(suite.server.points), f'{wanted} are reported', 60)
    assert set(suite.server.points) == wanted, suite.server.points


@check
def two_sdks_in_one_process_have_switches_of_their_own(suite):
    program = suite.start()
    spans_of(suite, program, chain('a', 'b'))
    spans_of(suite, program, chain('a', 'b'), service='depot')
    suite.set(open=ids('b'))
    suite.set('depot', open=[])
    spans, _ = spans_of(suite, program, chain('a', 'b'))
    assert shape(spans) == 'a b<a', shape(spans)
    spans, _ = spans_of(suite, program, chain('a', 'b'), service='depot')
    assert shape(spans) == 'a' and spans[0]['service'] == 'depot', spans
    suite.set('depot', open=['depot:web:b'])
    spans, _ = spans_of(suite, program, chain('a', 'b'), service='depot')
    assert shape(spans) == 'a b<a', shape(spans)


@check
def no_span_is_orphaned_while_points_are_switched(suite):
    program = suite.start()
    names = [f'n{i}' for i in range(12)]
    tree = [{'name': 'a', 'children': chain(*names) + chain(*reversed(names))}]
    spans_of(suite, program, tree)
    switched = total = 0
    while switched < SWITCHES_MIN:  # a fast language needs many rounds for that
        program.spans = []
        program.send({'do': 'repeat', 'count': 1500, 'threads': 4, 'tree': tree})
        while program.answers.empty() and program.child.poll() is None:
            opened = [name for i, name in enumerate(names) if (i + switched) % 3 == 0]
            suite.server.want('shop', open=ids(' '.join(opened)))
            suite.await_polls(1)
            switched += 1
        answer = program.next_answer()
        assert answer == {'done': 'repeat', 'count': 1500}, answer
        spans = program.spans
        total += len(spans)
        assert shape(spans).count('orphan') == 0, 'orphans'
        assert sum(1 for span in spans if span['name'] == 'a') == 1500
    assert total > 3000, f'{total} spans while {switched} lists were in force'
    suite.notes.append(f'{total} spans, {switched} switches, 0 orphans')
