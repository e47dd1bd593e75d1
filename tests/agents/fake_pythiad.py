# SPDX-License-Identifier: MIT
"""The server's side of pythia-control-http(7), as a test wants it: lists that the test sets, and every way to misbehave.

It counts what it is asked and keeps what it is told. `mode` is what it does with a GET:

    serve    answers as pythiad does, 304 to an agent that has the list in force
    hang     accepts, reads, and never answers
    drip     answers, one byte every 50 ms, so that a whole answer takes minutes
    half     sends a head that promises more bytes than come, then waits
    cut      the same, then closes
    flap     closes every other connection at once, and answers 503 to every other request
    raw      sends `raw` as it is
    body     answers 200 with `raw` as the body
    refuse   answers 503

`post_status` is what it answers to a report; 0: it takes reports and never answers.
"""
import hashlib
import json
import socket
import threading
import urllib.parse


class Request:
    def __init__(self, method, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        self.method, self.path, self.headers, self.body = method, parts.path, headers, body
        self.query = dict(urllib.parse.parse_qsl(parts.query))


class FakePythiad:
    """Listens on a free port of the loopback from `start` on; all members are guarded by `lock`."""

    def __init__(self):
        self.lock = threading.Condition()
        self.list, self.services, self.mode, self.raw, self.post_status = {}, {}, 'serve', b'', 200
        self.lease_ms, self.poll_ms = 5000, 20
        self.gets, self.posts, self.reports, self.requests = 0, 0, [], []
        self.points, self.in_force, self.instances, self.connections = {}, {}, {}, set()
        self.connection_of = {}  # of each instance, the one by which it asked last
        self.answers = {}  # by service: (the list, its ETag, the list as text) as it was answered last
        self.listener, self.port = None, 0

    # ---- its life ----

    def start(self):
        """Listen; on the same port as before if it was stopped."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(('127.0.0.1', self.port))
        listener.listen(64)
        self.listener, self.port = listener, listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()

    def stop(self):
        """As if it were killed: no connection is left, and none is accepted."""
        listener, self.listener = self.listener, None
        # Closing alone does not wake the thread that accepts.
        try:
            listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        listener.close()
        self.drop_connections()

    def drop_connections(self):
        with self.lock:
            connections = list(self.connections)
        for one in connections:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @property
    def url(self):
        return f'http://127.0.0.1:{self.port}'

    def accept(self, listener):
        for number in range(1 << 30):
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                flapping = self.mode == 'flap' and number % 2
                if not flapping:
                    self.connections.add(connection)
            if flapping:
                connection.close()
            else:
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    # ---- one connection ----

    def serve(self, connection):
        stream = connection.makefile('rb')
        try:
            while request := read_request(stream):
                if not self.answer(connection, request):
                    break
        except (OSError, ValueError):
            pass  # the agent has gone, or this server was stopped
        finally:
            with self.lock:
                self.connections.discard(connection)
                self.lock.notify_all()
            stream.close()
            connection.close()

    def answer(self, connection, request):
        """False: the connection is done with."""
        with self.lock:
            self.requests.append(request)
            del self.requests[:-200]
            self.connection_of[request.query.get('instance', '')] = connection
            self.lock.notify_all()
        if request.method == 'POST':
            return self.take_report(connection, request)
        with self.lock:
            self.gets += 1
            mode, raw, gets = self.mode, self.raw, self.gets
        if mode == 'refuse' or (mode == 'flap' and gets % 2):
            connection.sendall(head(503, 0))
        elif mode == 'raw':
            connection.sendall(raw)
        elif mode == 'body':
            connection.sendall(head(200, len(raw), 'ETag: "0123456789abcdef"') + raw)
        elif mode in ('hang', 'drip', 'half', 'cut'):
            return self.misbehave(connection, mode)
        else:
            connection.sendall(self.list_answer(request))
        return True

    def misbehave(self, connection, mode):
        promised = head(200, 100000, 'ETag: "0123456789abcdef"') + b'{"open":['
        if mode in ('half', 'cut'):
            connection.sendall(promised)
        pause = threading.Event()
        for byte in promised if mode == 'drip' else b'':
            connection.sendall(bytes([byte]))
            pause.wait(.05)
        while mode != 'cut' and connection in self.connections and not has_ended(connection):
            with self.lock:
                if self.mode != mode:
                    break
            pause.wait(.05)
        return False

    def body_of(self, service, wanted_report):
        lists = self.services.get(service, self.list)
        value = {'lease_ms': self.lease_ms, 'poll_ms': self.poll_ms, 'default': 'skeleton', **lists}
        known, etag, text = self.answers.get(service, (None, '', ''))
        if known != value:  # writing one of 100 000 ids takes a busy machine longer than an agent waits
            text = json.dumps(value, sort_keys=True)
            etag = hashlib.sha256(text.encode()).hexdigest()[:16]
            self.answers[service] = value, etag, text
        return text[:-1] + ', "report": true}' if wanted_report else text, etag

    def etag_of(self, service):
        with self.lock:
            return self.body_of(service, False)[1]

    def list_answer(self, request):
        service, instance = request.query.get('service', ''), request.query.get('instance', '')
        with self.lock:
            fresh = instance not in self.instances
            self.instances[instance] = service
            text, etag = self.body_of(service, fresh)
            held = request.headers.get('if-none-match', '').strip('"')
            self.in_force[instance] = held
            self.lock.notify_all()
        if held == etag and not fresh:
            return head(304, 0, f'ETag: "{etag}"')
        body = text.encode()
        return head(200, len(body), f'ETag: "{etag}"') + body

    def take_report(self, connection, request):
        with self.lock:
            self.posts += 1
            status = self.post_status
            if status in (200, 0):
                report = json.loads(request.body)
                self.reports.append((report, len(request.body)))
                del self.reports[:-200]
                self.instances.setdefault(report['instance'], report['service'])
                self.in_force[report['instance']] = report.get('applied', '')
                for point in report.get('points', []):
                    self.note_point(point)
            self.lock.notify_all()
        while status == self.post_status == 0 and not has_ended(connection):
            threading.Event().wait(.05)
        if status:
            connection.sendall(head(status, 2) + b'{}')
        return status != 0

    def note_point(self, point):
        known = self.points.setdefault(point['id'], {'hits': 0})
        known.update(point, hits=known['hits'] + point.get('hits', 0))

    # ---- what tests ask of it ----

    def instances_of(self, pid):
        """The instances of one process, as the agents name them."""
        return [one for one in self.instances if one.split(':')[1] == str(pid)]

    def instances_asking(self, pid):
        """The instances of one process whose connection some process holds."""
        return [one for one, connection in self.connection_of.items() if one.split(':')[1:2] == [str(pid)] and connection in self.connections]

    def await_gone(self, pid, seconds):
        """Wait until no process holds a connection by which the instances of a process have asked."""
        self.until(lambda: not self.instances_asking(pid), f'the connection of process {pid} ends', seconds)

    def until(self, holds, what, seconds):
        """Wait until holds(), which is asked with the lock held, and after every request."""
        with self.lock:
            if not self.lock.wait_for(holds, seconds):
                raise AssertionError(f'not within {seconds} s: {what}')

    def want(self, service='', **lists):
        """Set the list, of one service or of all."""
        with self.lock:
            if service:
                self.services[service] = lists
            else:
                self.list = lists


def has_ended(connection):
    """Has every process closed the other end?"""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b''
    except BlockingIOError:
        return False


def read_request(stream):
    """None at the end of the connection."""
    line = stream.readline(65536)
    if not line:
        return None
    method, target, _ = line.decode().split(' ', 2)
    headers = {}
    while field := stream.readline(65536).strip():
        name, _, value = field.decode().partition(':')
        headers[name.lower()] = value.strip()
    is_chunked = headers.get('transfer-encoding', '').lower() == 'chunked'
    body = read_chunks(stream) if is_chunked else stream.read(int(headers.get('content-length', 0)))
    return Request(method, target, headers, body)


def read_chunks(stream):
    """The body of a request whose sender does not know its length, as OpenTelemetry's exporter for Node.js."""
    body = b''
    while size := int(stream.readline(65536).partition(b';')[0], 16):
        body += stream.read(size)
        stream.readline(65536)
    while stream.readline(65536).strip():
        pass
    return body


def head(status, length, *fields):
    reason = {200: 'OK', 304: 'Not Modified', 503: 'Service Unavailable'}.get(status, 'Status')
    lines = [f'HTTP/1.1 {status} {reason}', 'Content-Type: application/json', *fields]
    if status != 304:
        lines.append(f'Content-Length: {length}')
    return ('\r\n'.join(lines) + '\r\n\r\n').encode()
