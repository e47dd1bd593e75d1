# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Switches for OSProfiler's trace points, in a service whose code nobody changes.

Loaded before the service: with this folder in PYTHONPATH (its sitecustomize.py does the rest), or as
`python3 -m pythia_osprofiler PROGRAM ARGUMENTS…`. What shall be open is read from a Redis, into which the process also
tells which points it has (pythia-control-osprofiler(7)). A closed point is transparent: it emits nothing, and what is
below it hangs on the nearest open one above. Whatever goes wrong here, the service runs on as without it.

Environment: PYTHIA_REDIS (redis://[:PASSWORD@]ADDRESS[:PORT][/DATABASE] or unix:PATH; redis://127.0.0.1:6379/0),
PYTHIA_PREFIX (pythia:), PYTHIA_SERVICE (<project>-<service> of OSProfiler), PYTHIA_OSPROFILER=0 (do nothing at all).
"""
# A thread of its own talks to the Redis. Services patch socket, time and threading for green threads; what is used here
# is taken before that, from the modules in C below, so that the thread is a real one and nobody waits for it.
import _socket
import _thread
import atexit
import json
import os
import re
import sys
from time import monotonic, sleep, thread_time_ns

POINTS_MAX = 10000  # known in one process; more run by the default rule
CACHE_MAX = 4000  # ids of texts, and roots of requests
ID_MAX = 512
REPORTS_MAX = 1000  # in the Redis, if nobody takes them
REPORT_S = 1.0  # between reports without news
TIMEOUT_S = 1.0  # of the thread's connection; of one in a request's path a twentieth
SAMPLE = 16  # every so many passes of an open point is timed, and each of its first PRICED
PRICED = 3  # costs that make a price
COSTS = 9  # of the last passes that were timed, of which the median is the price
ROOT_KEPT_MS = 600000
_start_thread, _allocate_lock = _thread.start_new_thread, _thread.allocate_lock

# ---- what a trace point is called: as adapters/traces/osprofiler does it ----

_WORD = re.compile(r'[A-Za-z0-9_]+')
_IDENTIFIER = re.compile(r'[0-9]+|[0-9A-Fa-f]{16,}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}')


def template(text):
    """A path with the identifiers in it replaced, and without its query."""
    if '/' not in text:
        return text
    path = text.partition('?')[0]
    first, *rest = path.split('/')
    out = '/'.join([first] + ['{id}' if _IDENTIFIER.fullmatch(element) else element for element in rest])
    return out or text


def describe_sql(statement):
    """The verb and the first table."""
    words = (match.group() for match in _WORD.finditer(statement))
    verb = next(words, '')
    due = verb.upper() == 'UPDATE'
    for word in words:
        upper = word.upper()
        if due and upper != 'SELECT':
            return verb, word
        due = upper in ('FROM', 'INTO', 'JOIN')
    return verb, ''


def _upper(text):
    """Letters of ASCII in upper case; others as they are."""
    return ''.join(c.upper() if 'a' <= c <= 'z' else c for c in text)


def _text(part, member):
    value = part.get(member) if isinstance(part, dict) else None
    return value if isinstance(value, str) else ''


def point_id(name, info, project):
    """The id that spans of this start have."""
    if not info or not isinstance(info, dict):
        return f'{name}:{project}'
    given = info.get('tracepoint_id')
    if isinstance(given, str) and given:
        return given
    function = _text(info.get('function'), 'name')
    if function:
        return f'{name}:{function}'
    request, requests = info.get('request'), info.get('requests')
    path = _text(requests, 'path') or _text(request, 'path')
    method = _text(requests, 'method') or _text(request, 'method')
    if path or method:
        peer = _text(requests, 'hostname')
        return f'{name}:{method}:{peer}:{template(path)}' if peer else f'{name}:{project}:{method}:{template(path)}'
    statement = _text(info.get('db'), 'statement')
    if statement:
        verb, table = describe_sql(statement)
        return f'{name}:{project}:{_upper(verb)}:{table}'
    return f'{name}:{project}'


# ---- Redis, as little of it as is needed ----


class Lost(Exception):
    """There is no answer, or none that can be read."""


class Redis:
    """One connection; commands go out together, and their answers come back together."""

    def __init__(self, url, timeout):
        self.url, self.timeout, self.socket, self.rest = url, timeout, None, b''

    def close(self):
        if self.socket is not None:
            try:
                self.socket.close()
            except OSError:
                pass
        self.socket, self.rest = None, b''

    def _connect(self):
        url, password, database = self.url, '', '0'
        if url.startswith('unix:'):
            self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            self.socket.settimeout(self.timeout)
            self.socket.connect(url[5:])
        else:
            place = url.removeprefix('redis://')
            place, _, database = place.partition('/')
            login, sign, place = place.rpartition('@')
            password = login.removeprefix(':') if sign else ''
            host, port = place, '6379'
            if place.startswith('['):
                host, _, port = place[1:].partition(']')
                port = port.removeprefix(':') or '6379'
            elif ':' in place:
                host, _, port = place.partition(':')
            family = _socket.AF_INET6 if ':' in host else _socket.AF_INET
            self.socket = _socket.socket(family, _socket.SOCK_STREAM)
            self.socket.settimeout(self.timeout)
            self.socket.connect(('127.0.0.1' if host == 'localhost' else host, int(port)))
        first = ([('AUTH', password)] if password else []) + ([('SELECT', database)] if database not in ('', '0') else [])
        if first:
            self._exchange(first)

    def _fill(self):
        more = self.socket.recv(65536)
        if not more:
            raise Lost('the connection was closed')
        self.rest += more

    def _line(self):
        while b'\r\n' not in self.rest:
            if len(self.rest) > 1 << 20:
                raise Lost('a line without an end')
            self._fill()
        line, _, self.rest = self.rest.partition(b'\r\n')
        return line

    def _answer(self):
        line = self._line()
        kind, text = line[:1], line[1:]
        if kind == b'+':
            return text
        if kind == b'-':
            raise Lost(text.decode('utf-8', 'replace'))
        if kind == b':':
            return int(text)
        if kind == b'*':
            return [self._answer() for _ in range(min(int(text), 100000))]
        if kind != b'$':
            raise Lost('an answer that cannot be read')
        size = int(text)
        if size < 0:
            return None
        if size > 1 << 26:
            raise Lost('an answer that is too large')
        while len(self.rest) < size + 2:
            self._fill()
        value, self.rest = self.rest[:size], self.rest[size + 2:]
        return value

    def _exchange(self, commands):
        out = []
        for words in commands:
            words = [word if isinstance(word, bytes) else str(word).encode('utf-8', 'replace') for word in words]
            out.append(b'*%d\r\n' % len(words) + b''.join(b'$%d\r\n%b\r\n' % (len(word), word) for word in words))
        self.socket.sendall(b''.join(out))
        return [self._answer() for _ in commands]

    def __call__(self, *commands):
        try:
            if self.socket is None:
                self._connect()
            return self._exchange(commands)
        except (OSError, ValueError, Lost) as why:
            self.close()
            raise Lost(str(why)) from None


# ---- what is open ----


class Table:
    """What a list says. Never changed: another list is another table."""

    def __init__(self, default='skeleton', open=(), open_for=None, closed=(), types=()):
        self.default = default
        self.open = frozenset(open)
        self.closed = frozenset(closed)
        # A type is named by the points of its roots, with " + " between them.
        self.open_for = {point: [frozenset(name.split(' + ')) for name in names]
                         for point, names in (open_for or {}).items()}
        # A point may be open for a type in another service only, which then learns the roots from this one.
        self.roots = frozenset().union(*(roots for of in self.open_for.values() for roots in of),
                                       *(name.split(' + ') for name in types))

    def is_open(self, point, is_entry, roots):
        if point in self.open:
            return True
        types = self.open_for.get(point)
        if types is not None:
            known = roots() & self.roots
            return bool(known) and any(known <= of for of in types)
        if point in self.closed or self.default == 'none':
            return False
        return is_entry


def parse_table(text):
    """The table of a list as JSON; ValueError if it is none. And its lease and its poll, in seconds."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError('is no object')

    def texts(of):
        if not isinstance(of, list) or not all(isinstance(one, str) for one in of):
            raise ValueError('is no list of ids')
        return of
    open_for = value.get('open_for', {})
    if not isinstance(open_for, dict):
        raise ValueError('is no object')
    table = Table('none' if value.get('default') == 'none' else 'skeleton', texts(value.get('open', [])),
                  {point: texts(names) for point, names in open_for.items()}, texts(value.get('closed', [])),
                  texts(value.get('types', [])))
    lease, poll = value.get('lease_ms', 30000), value.get('poll_ms', 200)
    return table, min(max(float(lease), 100), 86400000) / 1000, min(max(float(poll), 10), 60000) / 1000


DEFAULT = Table()
OFF = Table(default='none')


class Point:
    __slots__ = ('id', 'hits', 'told', 'costs', 'is_entry', 'news')

    def __init__(self, id):
        self.id, self.hits, self.told, self.costs, self.is_entry, self.news = id, 0, 0, (), False, True

    def is_timed(self):
        return len(self.costs) < PRICED or self.hits % SAMPLE == 1

    def add_cost(self, ns):
        self.costs = (*self.costs, ns)[-COSTS:]

    @property
    def price(self):
        """What a pass costs the program's thread in ns: not the time in which it waits for Redis or for a processor. The
        median, because another greenlet may have run meanwhile. None: too few are known."""
        return float(sorted(self.costs)[len(self.costs) // 2]) if len(self.costs) >= PRICED else None


class Agent:
    """What this process knows of its points and its switches."""

    def __init__(self):
        environment = os.environ.get
        self.url = environment('PYTHIA_REDIS') or 'redis://127.0.0.1:6379/0'
        self.prefix = environment('PYTHIA_PREFIX', 'pythia:')
        self.named = environment('PYTHIA_SERVICE', '')
        self.notifier, self.project, self.service = None, '', ''
        self.points, self.ids, self.request_roots = {}, {}, {}
        self.refused = 0
        self.fresh()
        atexit.register(self.end)

    def fresh(self):
        """The beginning of a process, also after a fork: nothing of the parent's is used on."""
        self.pid = os.getpid()
        self.instance = f'{os.uname().nodename[:60]}:{self.pid}:{os.urandom(4).hex()}'
        self.table, self.head, self.applied, self.epoch = DEFAULT, b'', '', ''
        self.lease_end, self.lease, self.poll = 0.0, 30.0, 0.2
        self.polled = self.reported = 0.0
        self.told_service = None
        self.thread = False
        self.redis = Redis(self.url, TIMEOUT_S)
        self.inline = Redis(self.url, TIMEOUT_S / 20)
        self.inline_again = 0.0
        self.lock = _allocate_lock()
        self.busy = _allocate_lock()
        self.begins = _allocate_lock()  # from when a thread is started until it runs

    # ---- names ----

    def see_notifier(self, notify):
        """Whose records these are is known to the driver that sends them."""
        driver = getattr(notify, '__self__', None)
        project, service = getattr(driver, 'project', None) or '', getattr(driver, 'service', None) or ''
        if not isinstance(project, str) or not isinstance(service, str):
            project, service = '', ''
        name = service if not project or service.startswith(project) else project + ('-' + service if service else '')
        self.service = self.named or name or os.path.basename(sys.argv[0] if sys.argv else '') or 'python'
        if project != self.project:
            self.project, self.ids = project, {}
        self.notifier = notify

    def id_of(self, name, info):
        """point_id, with a cache for SQL, whose texts are long and few."""
        statement = _text(info.get('db'), 'statement') if isinstance(info, dict) else ''
        if not statement or 'function' in info or 'tracepoint_id' in info or 'request' in info or 'requests' in info:
            return point_id(name, info, self.project)
        key = (name, statement)
        id = self.ids.get(key)
        if id is None:
            if len(self.ids) >= CACHE_MAX:
                self.ids = {}
            id = self.ids[key] = point_id(name, info, self.project)
        return id

    def point_of(self, id):
        point = self.points.get(id)
        if point is None:
            if len(self.points) >= POINTS_MAX or not id or len(id.encode('utf-8', 'replace')) > ID_MAX or \
                    any(c < ' ' or c == '\x7f' for c in id):
                self.refused += 1
                return None
            point = self.points[id] = Point(id)
        return point

    # ---- the roots of a request, for what is open for some types only ----

    def request(self, *commands):
        """In a request's path: a short wait, and none for a while after one was in vain."""
        if monotonic() < self.inline_again or not self.lock.acquire(False):
            raise Lost('not now')
        try:
            return self.inline(*commands)
        except Lost:
            self.inline_again = monotonic() + 1
            raise
        finally:
            self.lock.release()

    def add_root(self, base, id):
        roots = self.request_roots.get(base, frozenset()) | {id}
        self.keep_roots(base, roots)
        key = f'{self.prefix}type:{base}'
        try:
            self.request(('SADD', key, id), ('PEXPIRE', key, ROOT_KEPT_MS))
        except Lost:
            pass

    def keep_roots(self, base, roots):
        if len(self.request_roots) >= CACHE_MAX:
            self.request_roots = {}
        self.request_roots[base] = roots

    def roots_of(self, base):
        roots = self.request_roots.get(base)
        if roots is None:
            try:
                members, = self.request(('SMEMBERS', f'{self.prefix}type:{base}'))
                roots = frozenset(member.decode('utf-8', 'replace') for member in members)
            except (Lost, TypeError):
                return frozenset()
            self.keep_roots(base, roots)
        return roots

    # ---- one pass ----

    def decide(self, profiler, name, info, is_entry, notify):
        """Is this start to be seen? And its point, if it is one."""
        if os.getpid() != self.pid:
            self.fresh()
        if notify is not self.notifier:
            self.see_notifier(notify)
        now = monotonic()
        if not self.thread:
            self.thread = True
            self.begins.acquire(False)
            _start_thread(self.begin, (self.pid,))
        elif now - self.polled > 4 * self.poll + TIMEOUT_S and now - self.inline_again > 0:
            # Threads do not run here, as in a uWSGI without --enable-threads.
            self.inline_again = now + TIMEOUT_S
            self.look(self.inline)
        table = self.table
        if now > self.lease_end and table is not OFF:
            table = self.table = DEFAULT
        id = self.id_of(name, info)
        base = profiler.get_base_id()
        if table.roots and profiler.get_id() == base and id in table.roots:
            self.add_root(base, id)
        point = self.point_of(id)
        if point is None:
            return is_entry and table.default != 'none', None
        point.hits += 1
        if is_entry and not point.is_entry:
            point.is_entry = point.news = True
        return table.is_open(id, is_entry, lambda: self.roots_of(base)), point

    # ---- the thread ----

    def end(self):
        """Python is about to end: a thread that begins while it does crashes the process. Not for long, where no thread runs."""
        if self.pid == os.getpid():
            self.begins.acquire(True, 0.2)

    def begin(self, pid):
        self.begins.release()
        self.run(pid)

    def run(self, pid):
        backoff = 0.0
        while pid == self.pid == os.getpid():
            try:
                backoff = 0.0 if self.look(self.redis) else min(backoff + 0.5, 2.0)
            except Exception:  # nothing that happens here may end the thread, or be seen by the service
                backoff = 2.0
            sleep(max(self.poll, backoff))

    def look(self, redis):
        """Read what shall be open, and tell what there is. False: cannot reach Redis."""
        if not self.busy.acquire(False):
            return True
        try:
            self.polled = monotonic()
            self.take(redis)
            self.tell(redis)
            return True
        except Lost:
            if monotonic() > self.lease_end and self.table is not OFF:
                self.table = DEFAULT
            return False
        finally:
            self.busy.release()

    def take(self, redis):
        key = f'{self.prefix}switches:{self.service}'
        # The first line: an epoch and an etag, of 16 digits each.
        head, off = redis(('GETRANGE', key, 0, 32), ('EXISTS', f'{self.prefix}off'))
        if off:
            self.table, self.head, self.applied = OFF, b'', 'off'
            self.lease_end = monotonic() + self.lease
            return
        if not head:
            self.table, self.head, self.applied = DEFAULT, b'', ''
            return
        if head != self.head:
            text, = redis(('GET', key))
            first, _, rest = (text or b'').partition(b'\n')
            try:
                table, lease, poll = parse_table(rest)
            except (ValueError, TypeError, RecursionError):
                return  # what is in force stays, until its lease runs out
            epoch, _, etag = first.decode('ascii', 'replace').partition(' ')
            if epoch != self.epoch:
                self.told_service = None
            self.epoch, self.lease, self.poll = epoch, lease, poll
            self.table, self.head, self.applied = table, first, etag
            self.reported = 0.0
        self.lease_end = monotonic() + self.lease

    def tell(self, redis):
        now = monotonic()
        everything = self.told_service != self.service
        if not everything and now - self.reported < REPORT_S:
            return
        points, sent = [], []
        for point in list(self.points.values()):
            hits, price = point.hits, point.price
            if not (everything or point.news or hits != point.told):
                continue
            told = {'id': point.id, 'hits': hits - point.told, 'open_by_default': point.is_entry}
            if price is not None:
                told['price_ns'] = price
            points.append(told)
            sent.append((point, hits))
            if len(points) >= 2000:
                break
        for point, _ in sent:
            point.news = False
        report = json.dumps({'service': self.service, 'instance': self.instance, 'applied': self.applied,
                             'points': points})
        key = f'{self.prefix}reports'
        try:
            redis(('LPUSH', key, report), ('LTRIM', key, 0, REPORTS_MAX - 1))
        except Lost:
            for point, _ in sent:
                point.news = True
            raise
        for point, hits in sent:
            point.told = hits
        if len(sent) < 2000:
            self.told_service = self.service
            self.reported = now


# ---- OSProfiler ----

AGENT = None


def patch(profiler, notifier):
    """Put the switches in front of start and stop."""
    global AGENT
    Profiler = profiler._Profiler
    start, stop = Profiler.start, Profiler.stop
    if getattr(start, '__pythia__', False):
        return
    agent = AGENT = Agent()

    def gated_start(self, name, info=None):
        stack = self.__dict__.setdefault('_pythia', [])
        try:
            is_open, point = agent.decide(self, name, info, not stack, notifier.get())
        except Exception:  # better a span too many than a request that fails
            is_open, point = True, None
        if not is_open:
            stack.append(None)
            return None
        if point is None or not point.is_timed():
            stack.append(0)
            return start(self, name, info)
        begin = thread_time_ns()
        start(self, name, info)
        stack.append((point, thread_time_ns() - begin))
        return None

    def gated_stop(self, info=None):
        stack = self.__dict__.get('_pythia')
        top = stack.pop() if stack else 0
        if top is None:
            return None
        if top == 0:
            return stop(self, info)
        begin = thread_time_ns()
        stop(self, info)
        point, cost = top
        point.add_cost(cost + thread_time_ns() - begin)
        return None

    gated_start.__pythia__ = True
    Profiler.start, Profiler.stop = gated_start, gated_stop


class _Finder:
    """Patches osprofiler.profiler as soon as it has been imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != 'osprofiler.profiler':
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, 'find_spec'):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module):
                    execute(module)
                    _patch_module(module)
                spec.loader.exec_module = exec_module
                return spec
        return None


def _patch_module(module):
    try:
        patch(module, module.notifier)
    except Exception as why:
        print(f'pythia_osprofiler: trace points cannot be switched: {why}', file=sys.stderr)


def install():
    """Patch OSProfiler now if it is imported, else as soon as it is."""
    if os.environ.get('PYTHIA_OSPROFILER', '1') == '0' or _Finder in sys.meta_path:
        return
    if 'osprofiler.profiler' in sys.modules:
        _patch_module(sys.modules['osprofiler.profiler'])
    else:
        sys.meta_path.insert(0, _Finder)


def main():
    import runpy
    if len(sys.argv) < 2:
        sys.exit('usage: python3 -m pythia_osprofiler PROGRAM ARGUMENTS…')
    sys.argv.pop(0)
    sys.modules.setdefault('pythia_osprofiler', sys.modules['__main__'])
    install()
    runpy.run_path(sys.argv[0], run_name='__main__')


if __name__ == '__main__':
    main()
