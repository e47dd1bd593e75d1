# SPDX-License-Identifier: MIT
"""The program of README.md in Python: run with the folder of pythia_gate in PYTHONPATH."""
import contextvars
import json
import os
import resource
import sys
import threading
import time

from opentelemetry import baggage, propagate, trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

SERVICE = os.environ['OTEL_SERVICE_NAME']
providers = {}


def write(value):
    os.write(1, (json.dumps(value) + '\n').encode())


class StdoutExporter(SpanExporter):
    def export(self, spans):
        for span in spans:
            if not span.instrumentation_scope.name.startswith(('names', 'cost')):
                write({'span': describe_export(span)})
        return SpanExportResult.SUCCESS


def texts(context):
    return {'trace': f'{context.trace_id:032x}', 'id': f'{context.span_id:016x}'}


def describe_export(span):
    place = span.resource.attributes
    return {'service': place['service.name'], 'host': place.get('host.name'), 'pid': place.get('process.pid'), 'scope': span.instrumentation_scope.name, 'name': span.name,
            **texts(span.context), 'parent': f'{span.parent.span_id:016x}' if span.parent else '',
            'kind': span.kind.name.lower(), 'attributes': dict(span.attributes),
            'links': [texts(link.context) for link in span.links], 'events': [event.name for event in span.events],
            'status': span.status.status_code.name.lower(), 'state': span.context.trace_state.to_header()}


def tracer_of(service, scope):
    provider = providers.get(service)
    if provider is None:
        provider = providers[service] = TracerProvider(resource=Resource.create({'service.name': service}))
        provider.add_span_processor(SimpleSpanProcessor(StdoutExporter()))
        if len(providers) == 1:
            trace.set_tracer_provider(provider)
    return provider.get_tracer(scope)


def describe(name, span):
    context, headers = span.get_span_context(), {}
    propagate.inject(headers)
    return {'name': name, 'recording': span.is_recording(), **texts(context), 'sampled': context.trace_flags.sampled,
            'state': context.trace_state.to_header(), 'baggage': dict(baggage.get_all()), 'headers': headers}


def link_of(link):
    return trace.Link(trace.SpanContext(int(link['trace'], 16), int(link['id'], 16), True, trace.TraceFlags(1)))


def make_children(service, node, made):
    children = node.get('children', ())
    if not node.get('parallel'):
        for child in children:
            make_span(service, child, made)
        return
    threads = [threading.Thread(target=contextvars.copy_context().run, args=(make_span, service, child, made))
               for child in children]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fill_span(service, node, span, made, place):
    span.set_attributes(node.get('late', {}))
    if 'event' in node:
        span.add_event(node['event'])
    if 'rename' in node:
        span.update_name(node['rename'])
    within = get_current()
    for key, value in node.get('baggage', {}).items():
        within = baggage.set_baggage(key, value, within)
    token = attach(within)
    try:
        made[place] = describe(node['name'], span)
        make_children(service, node, made)
    finally:
        detach(token)
    if 'error' in node:
        raise RuntimeError(node['error'])


def make_span(service, node, made):
    tracer = tracer_of(service, node.get('scope', 'web'))
    made.append(None)
    place = len(made) - 1
    given = {'kind': trace.SpanKind[node.get('kind', 'internal').upper()], 'attributes': node.get('attributes'),
             'links': [link_of(one) for one in node.get('links', ())]}
    if node.get('root'):
        given['context'] = Context()
    try:
        if node.get('apart'):
            span = tracer.start_span(node['name'], **given)
            fill_span(service, node, span, made, place)
            span.end()
        else:
            with tracer.start_as_current_span(node['name'], **given) as span:
                fill_span(service, node, span, made, place)
    except RuntimeError as why:
        if str(why) != node.get('error'):
            raise


def make_tree(tree, service=SERVICE, headers=None):
    made = []
    token = attach(propagate.extract(headers or {}, Context()))
    try:
        for node in tree:
            make_span(service, node, made)
    finally:
        detach(token)
    return made


def run_spans(command):
    return {'made': make_tree(command['tree'], command.get('service', SERVICE), command.get('headers'))}


def run_repeat(command):
    share = [command['count'] // command['threads']] * command['threads']
    share[0] += command['count'] - sum(share)

    def work(count):
        for _ in range(count):
            make_tree(command['tree'])
    threads = [threading.Thread(target=work, args=(count,)) for count in share]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {'count': command['count']}


def run_names(command):
    tracer = tracer_of(SERVICE, command['scope'])
    recorded = 0
    for i in range(command['count']):
        span = tracer.start_span(f'name X{i}', Context(), trace.SpanKind[command.get('kind', 'internal').upper()])
        recorded += span.is_recording()
        span.end()
    return {'recorded': recorded}


def run_fork(command):
    child = os.fork()
    if child == 0:
        try:
            time.sleep(command.get('wait_ms', 0) / 1e3)
            make_tree(command['tree'])
        except BaseException:  # whatever it was, the child ends here
            os._exit(1)
        os._exit(0)
    return {'status': os.waitpid(child, 0)[1]}


def run_pause(command):
    late, end = 0, time.perf_counter() + command['ms'] / 1e3
    while (begun := time.perf_counter()) < end:
        time.sleep(.001)
        late = max(late, time.perf_counter() - begun - .001)
    return {'late_ms': 1e3 * late}


def run_memory(command):
    with open('/proc/self/statm', encoding='ascii') as file:
        return {'rss_bytes': int(file.read().split()[1]) * resource.getpagesize()}


def run_cost(command):
    tracer = tracer_of(SERVICE, 'cost')

    def passed(name):
        tracer.start_span(name).end()

    def passed_current(name):
        with tracer.start_as_current_span(name):
            pass

    def timed(run, name):
        best, count = None, command['count'] // 10
        for _ in range(20):
            begin = time.thread_time_ns()
            for _ in range(count):
                run(name)
            took = (time.thread_time_ns() - begin) / count
            best = took if best is None else min(best, took)
        return best
    with tracer.start_as_current_span('root'):
        return {f'{name}{kind}_ns': timed(run, name) for name in ('closed', 'open')
                for kind, run in (('', passed), ('_current', passed_current))}


COMMANDS = {'spans': run_spans, 'repeat': run_repeat, 'names': run_names, 'fork': run_fork, 'pause': run_pause,
            'memory': run_memory, 'cost': run_cost}


def main():
    tracer_of(SERVICE, 'web')
    write({'ready': True, 'agent': 'python'})
    for line in sys.stdin:
        command = json.loads(line)
        run = COMMANDS.get(command['do'])
        write({'done': command['do'], **run(command)} if run else {'cannot': command['do']})
    for provider in providers.values():
        provider.shutdown()


if __name__ == '__main__':
    main()
