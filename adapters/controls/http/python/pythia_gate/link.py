# SPDX-License-Identifier: MIT
"""As much HTTP/1.1 as it takes to ask pythiad, on a bare socket, because programs have http.client and urllib instrumented.

An answer has to be complete within TIMEOUT_S, whatever comes in the meantime, and below ANSWER_MAX. While it is awaited
`tick` is called at least every TICK_S: leases end, and the off file counts, also while a server hangs.

A program that becomes a daemon closes all its file descriptors, and what it opens next has their numbers. So before a
descriptor is used or closed it is compared with what was opened; one that belongs to the program by now is left alone."""
import _socket
import os
import time

from . import native

TIMEOUT_S = 2
TICK_S = .25
ANSWER_MAX = 8 << 20
HEAD_MAX = 65536
PIECE = 65536


class LinkError(OSError):
    """There is no answer."""


class Link:
    def __init__(self, settings, tick):
        self.settings, self.tick = settings, tick
        self.socket, self.buffer, self.addresses, self.resolving = None, bytearray(), None, False
        self.identity = None  # of the socket's file

    def close(self):
        self.buffer = bytearray()
        connection, self.socket = self.socket, None
        if connection is not None:
            if identify(connection) == self.identity:
                connection.close()
            else:
                connection.detach()

    # ---- connections ----

    def resolve(self):
        """Find the addresses of the host; a thread of its own looks up a name, because that may take a minute."""
        host, port = self.settings.host, self.settings.port
        try:
            self.addresses = _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM, 0, _socket.AI_NUMERICHOST)
        except OSError:
            if not self.resolving:
                self.resolving = True
                native.start_new_thread(self.look_up_name, (host, port))
            raise LinkError('the name is not known yet') from None

    def look_up_name(self, host, port):
        try:
            self.addresses = _socket.getaddrinfo(host, port, 0, _socket.SOCK_STREAM)
        except OSError:
            native.sleep(TIMEOUT_S)  # before it may be tried again
        finally:
            self.resolving = False

    def connect(self, deadline):
        if not self.addresses:
            self.resolve()
        why = None
        for family, kind, protocol, _, address in self.addresses:
            self.close()
            connection = _socket.socket(family, kind, protocol)
            self.identity = identify(connection)
            self.socket = connection  # a child that is forked meanwhile has to close it
            try:
                connection.settimeout(max(.01, deadline - time.monotonic()))
                connection.connect(address)
                connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
                return
            except OSError as error:
                self.close()
                why = error
        self.addresses = None  # they may have changed
        raise why

    # ---- one exchange ----

    def ask(self, method, query='', fields=(), body=b''):
        """Return (status, header fields by lower-case name, body). Raises OSError or ValueError; the link is closed then."""
        deadline = time.monotonic() + TIMEOUT_S
        lines = [f'{method} {self.settings.path}/v1/trace-points{query} HTTP/1.1',
                 f'Host: {self.settings.host}:{self.settings.port}', *fields]
        if self.settings.token:
            lines.append(f'Authorization: Bearer {self.settings.token}')
        if body:
            lines += ['Content-Type: application/json', f'Content-Length: {len(body)}']
        request = ('\r\n'.join(lines) + '\r\n\r\n').encode() + body
        try:
            return self.exchange(request, deadline)
        except BaseException:
            self.close()
            raise

    def exchange(self, request, deadline):
        is_reused = self.socket is not None
        try:
            if not is_reused:
                self.connect(deadline)
            self.send(request, deadline)
            self.fill(deadline)
        except OSError:
            # The server may have closed an idle connection, which is no failure.
            if not is_reused or time.monotonic() > deadline:
                raise
            self.close()
            self.connect(deadline)
            self.send(request, deadline)
        return self.read_answer(deadline)

    def wait(self, deadline):
        """Set the socket's next timeout."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise LinkError('no answer in time')
        if identify(self.socket) != self.identity:
            raise LinkError('the program has closed the connection')
        self.socket.settimeout(min(left, TICK_S))

    def send(self, request, deadline):
        rest = memoryview(request)
        while rest:
            self.wait(deadline)
            try:
                rest = rest[self.socket.send(rest):]
            except _socket.timeout:
                self.tick()

    def fill(self, deadline):
        """Receive something; False at the end of the connection."""
        while True:
            self.wait(deadline)
            try:
                piece = self.socket.recv(PIECE)
                break
            except _socket.timeout:
                self.tick()
        if not piece and not self.buffer:
            raise LinkError('the server has closed the connection')
        self.buffer += piece
        return bool(piece)

    def read_answer(self, deadline):
        status, fields = self.read_head(deadline)
        if status in (204, 304):
            body = b''
        elif fields.get('transfer-encoding', '').lower() == 'chunked':
            body = self.read_chunks(deadline)
        elif 'content-length' in fields:
            body = self.read_bytes(length_of(fields['content-length'], 10), deadline)
        else:
            while self.fill(deadline) and len(self.buffer) <= ANSWER_MAX:
                pass
            body = self.read_bytes(len(self.buffer), deadline)
            fields['connection'] = 'close'
        if fields.get('connection', '').lower() == 'close':
            self.close()
        return status, fields, body

    def read_head(self, deadline):
        parts = self.read_line(deadline).split(None, 2)
        if len(parts) < 2 or not parts[0].startswith('HTTP/1.') or not (parts[1].isdigit() and len(parts[1]) == 3):
            raise LinkError('this is no HTTP')
        fields, size = {}, 0
        while line := self.read_line(deadline):
            size += len(line)
            if size > HEAD_MAX:
                raise LinkError('the head is too large')
            name, _, value = line.partition(':')
            fields[name.strip().lower()] = value.strip()
        if parts[0] == 'HTTP/1.0':
            fields.setdefault('connection', 'close')
        return int(parts[1]), fields

    def read_line(self, deadline):
        while (end := self.buffer.find(b'\n')) < 0:
            if len(self.buffer) > HEAD_MAX or not self.fill(deadline):
                raise LinkError('a line without an end')
        line = bytes(self.buffer[:end])
        del self.buffer[:end + 1]
        return line.decode('latin-1').rstrip('\r')

    def read_chunks(self, deadline):
        body = bytearray()
        while size := length_of(self.read_line(deadline).partition(';')[0], 16):
            if len(body) + size > ANSWER_MAX:
                raise LinkError('the answer is too large')
            body += self.read_bytes(size, deadline)
            self.read_line(deadline)
        while self.read_line(deadline):
            pass
        return bytes(body)

    def read_bytes(self, size, deadline):
        if size > ANSWER_MAX:
            raise LinkError('the answer is too large')
        while len(self.buffer) < size:
            if not self.fill(deadline):
                raise LinkError('the answer is cut')
        body = bytes(memoryview(self.buffer)[:size])
        del self.buffer[:size]
        return body


def identify(connection):
    """Return what its descriptor stands for; None: it is closed."""
    try:
        file = os.fstat(connection.fileno())
    except OSError:
        return None
    return file.st_dev, file.st_ino


def length_of(text, base):
    """Return a length in an answer; int() would also take signs and blanks."""
    text = text.strip()
    if not text or len(text) > 16 or not text.isalnum():
        raise LinkError('this is no length')
    return int(text, base)
