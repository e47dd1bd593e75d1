# SPDX-License-Identifier: MIT
"""Asks pythiad what is open, and reports what there is, for one service of this process: a thread per service."""
import json
import os
import random
import re
import sys
import time
import urllib.parse

from . import native
from .ids import is_sound_id
from .link import TICK_S, Link
from .lists import DEFAULT, OFF, parse_list
from .version import __version__

POINTS_MAX = 5000  # of one service in this process; more run by the default rule
REPORT_POINTS = 1000  # in one report
REPORT_S = 1  # between reports of new points
NEWS_S = 10  # between reports of nothing but hits and prices, and after a report that was refused
BACKOFF_MAX_S = 2
# From one question to the next pass .55 to .75 of the time that the list names: a switch shall be in force within that time, and
# on a busy machine the answer and the report take up to 50 ms of it.
EARLIEST, JITTER = .55, .2
MEASURE_S = 60  # between measurements of a closed hit
BUSY_SHARE = 20  # a list that took a second to read is followed by so many seconds of rest

_ETAG = re.compile(r'"([0-9a-f]{16})"\Z')


class Point:
    """A trace point as it is reported."""
    __slots__ = ('id', 'hits', 'entries', 'left', 'reported_hits', 'reported_entry', 'is_known', 'price_ns')

    def __init__(self, id_):
        self.id, self.price_ns = id_, None
        self.begin()

    def begin(self):
        self.hits = self.entries = self.reported_hits = 0
        self.left = 0  # spans that were given another name
        self.is_known = self.reported_entry = False

    def is_entry(self):
        """Return whether at least half of its hits were entries; spans that are renamed later do not count as entries."""
        return self.entries * 2 >= self.hits and self.entries > 0 and self.entries * 2 >= self.left


class Agent:
    """`table` is what is in force; everything else is its thread's."""

    def __init__(self, service, host, settings, measure_closed):
        self.service, self.host, self.settings, self.measure_closed = service, host, settings, measure_closed
        self.points, self.table, self.lease_until = {}, DEFAULT, 0.0
        self.scopes = {}  # for those who ask it what is open
        self.on_types = None  # is called while types are asked for
        self.on_process = None  # is called in the child of a fork
        self.pid, self.begun, self.etag, self.link = None, {}, '', None
        if not native.is_uwsgi():
            self.begin()

    def follow_process(self):
        """Begin unless that is done in this process. uWSGI forks its workers without Python's hooks, so that an agent there begins
        with the first request of a worker; a thread that ran while uWSGI forks could leave its workers a GIL that nobody holds."""
        pid, mine = os.getpid(), object()
        if self.begun.setdefault(pid, mine) is mine:  # one of the threads that come here is the first
            self.begin()
            if native.lacks_threads():
                sys.stderr.write('pythia-gate: uWSGI runs without threads, so that spans are switched late or never: '
                                 'start it with --enable-threads\n')

    def begin(self):
        """Become an instance with a thread: at the start, and in the child of a fork, which inherits its parent's counts but not
        its thread. The parent's list stays in force as long as its lease."""
        self.pid = os.getpid()
        self.begun = {self.pid: None}
        if self.link is not None:
            self.link.close()  # in a child: the server has to see when the parent is gone
        if self.on_process:
            self.on_process()
        self.instance = f'{self.host}:{os.getpid()}:{random.SystemRandom().getrandbits(32):08x}'
        self.etag, self.poll_s, self.lease_s, self.failures, self.busy_s = '', .25, 30, 0, 0
        self.reported = self.quiet_until = -1e9
        self.closed_ns, self.measured = None, -1e9
        self.is_unconfirmed = False
        for point in self.points.values():
            point.begin()
        self.link = Link(self.settings, self.tick)
        native.start_new_thread(self.run, ())

    def point(self, id_):
        """Return the point of an id. None: there are too many points, or pythiad would refuse the id."""
        point = self.points.get(id_)
        if point is None and len(self.points) < POINTS_MAX and is_sound_id(id_):
            point = self.points.setdefault(id_, Point(id_))
        return point

    # ---- the thread ----

    def run(self):
        while True:
            begun, asked = time.thread_time(), time.monotonic()
            try:
                self.poll()
                self.failures = 0
            except Exception:  # no answer, or none that can be read: the lease runs on
                self.failures += 1
            self.busy_s = time.thread_time() - begun
            self.rest(self.delay_s(time.monotonic() - asked))

    def delay_s(self, took_s):
        """Return how long to wait after a question that took so long."""
        share = EARLIEST + JITTER * random.random()
        wait = max(self.poll_s * share - took_s, self.poll_s / 4)
        if self.failures:
            wait = min(self.poll_s * 2 ** min(self.failures, 10), BACKOFF_MAX_S) * share
        return max(wait, min(BUSY_SHARE * self.busy_s, BACKOFF_MAX_S))

    def rest(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.tick()
            native.sleep(min(left, TICK_S, max(.001, self.lease_left_s())))
        self.tick()

    def lease_left_s(self):
        if self.table is DEFAULT or self.table is OFF:
            return TICK_S
        return self.lease_until - time.monotonic()

    def tick(self):
        """Follow the off file and the lease, which hold whether the server answers or not."""
        if self.settings.off_file and os.path.exists(self.settings.off_file):
            self.use(OFF, '')
        elif self.table is OFF:
            self.use(DEFAULT, '')
        elif self.lease_left_s() <= 0:
            self.use(DEFAULT, '')

    def use(self, table, etag):
        self.etag, self.table = etag, table

    def poll(self):
        self.tick()
        query = urllib.parse.urlencode({'service': self.service, 'instance': self.instance}, quote_via=urllib.parse.quote)
        fields = [f'If-None-Match: "{self.etag}"'] if self.etag else []
        status, answer, body = self.link.ask('GET', '?' + query, fields)
        is_report_wanted = False
        if status == 200:
            table, self.lease_s, self.poll_s, is_report_wanted = parse_list(body, native.sleep)
            etag = _ETAG.match(answer.get('etag', ''))
            self.take(table, etag.group(1) if etag else '')
        elif status != 304:
            raise ValueError(f'answer {status}')
        self.lease_until = time.monotonic() + self.lease_s
        if self.table.type_key is not None and self.on_types:
            self.on_types()
        self.report(is_report_wanted)

    def take(self, table, etag):
        if self.table is OFF:  # the off file is stronger than any list
            return
        self.is_unconfirmed |= etag != self.etag
        self.lease_until = time.monotonic() + self.lease_s
        self.use(table, etag)

    # ---- reports ----

    def report(self, everything):
        now = time.monotonic()
        if now < self.quiet_until:
            return
        points = list(self.points.values())
        if everything:
            for point in points:
                point.is_known = False
        if not (self.is_unconfirmed or everything or now - self.reported > REPORT_S):
            return
        news = self.find_news(points, now - self.reported > NEWS_S)
        if not news and not self.is_unconfirmed and not everything:
            return
        self.measure(now)
        applied = self.etag
        if self.link.ask('POST', '', (), self.encode_report(news, applied))[0] != 200:
            self.quiet_until = now + NEWS_S
            return
        for point, hits, is_entry in news:
            point.is_known, point.reported_hits, point.reported_entry = True, hits, is_entry
        self.is_unconfirmed &= self.etag != applied
        self.reported = -1e9 if len(news) == REPORT_POINTS else now  # there may be more

    def find_news(self, points, with_counts):
        """Return (point, hits, is it an entry?) of each point that is new or has changed."""
        news = []
        for point in points:
            is_entry = point.is_entry()
            if point.is_known:
                is_new = is_entry != point.reported_entry or (with_counts and point.hits != point.reported_hits)
            else:
                is_new = point.hits > 0
            if is_new:
                news.append((point, point.hits, is_entry))
                if len(news) == REPORT_POINTS:
                    break
        return news

    def encode_report(self, news, applied):
        points = []
        for point, hits, is_entry in news:
            one = {'id': point.id, 'hits': max(0, hits - point.reported_hits), 'open_by_default': is_entry}
            if point.price_ns is not None:
                one['price_ns'] = round(point.price_ns, 1)
            points.append(one)
        report = {'service': self.service, 'instance': self.instance, 'agent': f'pythia-gate-python {__version__}',
                  'applied': applied, 'points': points}
        if self.closed_ns is not None:
            report['closed_ns'] = round(self.closed_ns, 1)
        return json.dumps(report, ensure_ascii=False).encode()

    def measure(self, now):
        if now - self.measured > MEASURE_S:
            self.measured = now
            self.closed_ns = self.measure_closed()
