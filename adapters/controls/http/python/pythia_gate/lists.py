# SPDX-License-Identifier: MIT
"""Lists of what is open. One may have 8 MiB, and json.loads() would stop all threads of the program while it reads it: it does
not give up the interpreter's lock. So the members with ids are read string by string, with a pause after each millisecond."""
import json
import re
import time
from json.decoder import scanstring

VALUE_MAX = 65536  # characters of a member that has no ids
WORK_S, REST_S = .001, .001
STRINGS_AT_ONCE = 64  # a few microseconds

_BLANKS = re.compile(r'[ \t\r\n]*')
_decode_value = json.JSONDecoder().raw_decode


class Table:
    """The content of a list. A table never changes: each list has one of its own."""
    __slots__ = ('open', 'open_for', 'closed', 'default', 'type_key')

    def __init__(self, open_=frozenset(), open_for=None, closed=frozenset(), default='skeleton', type_key=None):
        self.open, self.open_for, self.closed = open_, open_for or {}, closed
        self.default, self.type_key = default, type_key  # None: nobody asks for types

    def is_open(self, id_, is_entry):
        """Return whether the point is open, at least for some types."""
        if id_ in self.open or id_ in self.open_for:
            return True
        return is_entry and self.default != 'none' and id_ not in self.closed


DEFAULT = Table()
OFF = Table(default='none')


class ListReader:
    """Reads one list; `pause` is called with seconds, to let other threads run."""

    def __init__(self, text, pause=time.sleep):
        self.text, self.at, self.pause = text, 0, pause
        self.strings, self.since = 0, time.monotonic()

    def take_turn(self):
        self.strings += 1
        if self.strings % STRINGS_AT_ONCE == 0 and time.monotonic() - self.since > WORK_S:
            self.pause(REST_S)
            self.since = time.monotonic()

    def peek(self):
        """Return the next character that is no blank; "" at the end."""
        self.at = _BLANKS.match(self.text, self.at).end()
        return self.text[self.at:self.at + 1]

    def accept(self, character):
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def expect(self, character):
        if not self.accept(character):
            raise ValueError(f'no {character} at character {self.at} of the list')

    def read_string(self):
        self.expect('"')
        value, self.at = scanstring(self.text, self.at, True)
        self.take_turn()
        return value

    def read_strings(self):
        """Read an array of strings into a set."""
        values = set()
        self.expect('[')
        if self.accept(']'):
            return values
        while True:
            values.add(self.read_string())
            if self.accept(']'):
                return values
            self.expect(',')

    def read_members(self, read_value):
        """Read an object; read_value(key) reads the value of each member."""
        members = {}
        self.expect('{')
        if self.accept('}'):
            return members
        while True:
            key = self.read_string()
            self.expect(':')
            members[key] = read_value(key)
            if self.accept('}'):
                return members
            self.expect(',')

    def read_any(self):
        self.peek()
        value, end = _decode_value(self.text[self.at:self.at + VALUE_MAX])
        self.at += end
        return value

    def read_member(self, key):
        if key in ('open', 'closed'):
            return self.read_strings()
        if key == 'open_for':
            return self.read_members(lambda id_: self.read_strings())
        return self.read_any()

    def read_list(self):
        members = self.read_members(self.read_member)
        if self.peek():
            raise ValueError('there is something after the list')
        return members


def number_within(value, low, high, otherwise):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return otherwise
    return min(max(value, low), high)


def parse_list(body, pause=time.sleep):
    """Return (Table, lease in s, poll in s, is a report wanted?). Raises ValueError or RecursionError if `body` is no list."""
    members = ListReader(body.decode(), pause).read_list()
    type_key = members.get('type_key')
    table = Table(members.get('open', frozenset()), members.get('open_for'), members.get('closed', frozenset()),
                  'none' if members.get('default') == 'none' else 'skeleton', type_key if isinstance(type_key, str) else None)
    return (table, number_within(members.get('lease_ms'), 100, 86400000, 30000) / 1e3,
            number_within(members.get('poll_ms'), 10, 60000, 250) / 1e3, members.get('report') is True)
