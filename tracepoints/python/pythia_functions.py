# SPDX-License-Identifier: MIT
# Copyright 2026 the Pythia developers
"""Trace points at the functions of a Python program that nobody changes: `pythia run --points FILE -- python3 app.py`.

A declaration whose "module" is a module of Python ("shop.db", or "__main__" for the script itself) names a function of it, or
with "class" a method. The function is replaced by one that looks at the point's switch: closed it calls the function and
nothing else, open it records a span through libpythia-tracepoints, which the shim of `pythia run` has brought along. Modules
get their hooks when they have been imported, the script while its lines run, as soon as a function is defined.

The plan and the report are those of tracepoints/preload (plan.h). Layouts of structures are those of tracepoints.h; the test
tracepoints/python_functions fails when they differ."""
import collections
import ctypes
import functools
import importlib
import importlib.util
import inspect
import os
import sys
import traceback

_LIBRARY = 'libpythia-tracepoints.so.0'
_VERSION = 1  # PYTHIA_TRACEPOINTS_VERSION
_HEAD = 'pythia-hooks 1\n'
_ALL = (1 << 64) - 1
_CALLS_MAX, _STACK_MAX = 32, 1024  # of a stack, calls and bytes
_ITEMS_MAX = 32  # of a value that is written out; of larger ones type and size are kept
_TEXT_MAX = 64  # bytes of a text that is kept, unless the declaration says otherwise
_NUMBERS = {'i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64'}


class _Context(ctypes.Structure):
    _fields_ = [('trace_high', ctypes.c_uint64), ('trace_low', ctypes.c_uint64), ('span', ctypes.c_uint64),
                ('type', ctypes.c_void_p), ('lamport', ctypes.c_uint32), ('request_type', ctypes.c_uint8), ('flags', ctypes.c_uint8),
                ('version', ctypes.c_uint16)]


class _Scope(ctypes.Structure):
    _fields_ = [('before', _Context), ('trace_high', ctypes.c_uint64), ('trace_low', ctypes.c_uint64), ('span', ctypes.c_uint64),
                ('ticks', ctypes.c_uint64), ('thread', ctypes.c_void_p), ('epoch', ctypes.c_uint64), ('reserved', ctypes.c_uint64),
                ('spent', ctypes.c_uint64), ('point', ctypes.c_uint32), ('error', ctypes.c_uint8), ('version', ctypes.c_uint8)]


class _Point(ctypes.Structure):
    _fields_ = [('switches', ctypes.c_void_p), ('name', ctypes.c_char_p), ('name_bytes', ctypes.c_uint32),
                ('number', ctypes.c_uint32), ('kind', ctypes.c_uint8), ('version', ctypes.c_uint8), ('near', ctypes.c_void_p)]


class _Request(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('name_bytes', ctypes.c_size_t), ('version', ctypes.c_uint64)]


_UNBOUND = ctypes.c_uint64(_ALL)  # a point's switches until its first hit


class Shim:
    """libpythia-tracepoints, as it is loaded already or beside."""

    def __init__(self):
        self.c = ctypes.CDLL(_LIBRARY)
        for name, result, *arguments in (
                ('pythia_enter', ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p), ('pythia_exit', None, ctypes.c_void_p),
                ('pythia_begin', ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p), ('pythia_end', None, ctypes.c_void_p),
                ('pythia_request_begin', None, ctypes.c_void_p, ctypes.c_void_p), ('pythia_request_end', None, ctypes.c_void_p),
                ('pythia_set_text', None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t),
                ('pythia_set_integer', None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64),
                ('pythia_set_real', None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_double),
                ('pythia_set_bool', None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int),
                ('pythia_switchboard_open', ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p),
                ('pythia_switchboard_type', ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
                ('pythia_switchboard_throw', ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint64),
                ('pythia_switchboard_close', None, ctypes.c_void_p)):
            function = getattr(self.c, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def service(self):
        """The program's name in ids, as the library finds it."""
        short = ctypes.c_char_p.in_dll(ctypes.CDLL(None), 'program_invocation_short_name').value.decode(errors='replace')
        return os.environ.get('PYTHIA_SERVICE') or os.environ.get('OTEL_SERVICE_NAME') or short

    def set(self, scope, key, value):
        """A key-value of a span; values that are no numbers are kept as text."""
        if isinstance(value, bool):
            self.pythia_set_bool(scope, key, len(key), value)
        elif isinstance(value, int) and -1 << 63 <= value < 1 << 63:
            self.pythia_set_integer(scope, key, len(key), value)
        elif isinstance(value, float):
            self.pythia_set_real(scope, key, len(key), value)
        else:
            self.set_text(scope, key, value, _TEXT_MAX)

    def set_text(self, scope, key, value, most):
        text = summarize(value)[:most].encode(errors='replace')[:most].decode(errors='ignore').encode()
        self.pythia_set_text(scope, key, len(key), text, len(text))


def summarize(value):
    """A value as text. str() of a large one would take longer than the call."""
    if not isinstance(value, str) and hasattr(value, '__len__') and len(value) > _ITEMS_MAX:
        return f'{type(value).__name__} of {len(value)}'
    return str(value)


def describe_stack(why):
    """The calls from a hooked function to where the exception was raised, the innermost first: "db.py:12 get < shop.py:3 look"."""
    innermost = collections.deque(traceback.walk_tb(why.__traceback__), maxlen=_CALLS_MAX)
    return ' < '.join(f'{os.path.basename(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}'
                      for frame, line in reversed(innermost) if frame.f_code.co_filename != __file__)


class Key:
    """A key-value that a declaration asks for: "name=arg1:str8", "ret", "rss". A source that Python does not have gives none."""

    def __init__(self, text):
        name, equals, source = text.rpartition('=')
        self.source, _, self.type = (source if equals else text).partition(':')
        is_metric = self.source in _METRICS
        self.name = (name or ('metric.' + self.source if is_metric else self.source)).encode()
        self.is_return, self.metric = self.source == 'ret', _METRICS.get(self.source)
        word, number = self.source.rstrip('0123456789'), self.source.lstrip('farg')
        self.argument = int(number) if word in ('arg', 'farg') else None

    def put(self, shim, scope, value):
        try:
            if self.type.startswith('str'):
                shim.set_text(scope, self.name, value, int(self.type[3:] or _TEXT_MAX))
            elif self.type == 'bool':
                shim.set(scope, self.name, bool(value))
            elif self.type in ('f32', 'f64'):
                shim.set(scope, self.name, float(value))
            elif self.type in _NUMBERS:
                shim.set(scope, self.name, int(value))
            else:
                shim.set(scope, self.name, value)
        except Exception:
            shim.set_text(scope, self.name, '(unreadable)', _TEXT_MAX)


def _rss():
    with open('/proc/self/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def _io(name):
    def read():
        with open('/proc/thread-self/io', encoding='ascii') as file:
            return next(int(line.split()[1]) for line in file if line.startswith(name + ':'))
    return read


_METRICS = {'rss': _rss, 'read_bytes': _io('read_bytes'), 'write_bytes': _io('write_bytes')}


class Declared:
    """A point of the plan, and the functions that it hooks."""

    def __init__(self, index, fields):
        self.index = index
        name, self.module, self.class_name, self.function, flags, _, types, keys, callback = ['' if one == '-' else one for one in fields]
        self.name = name
        flags = flags.split(',')
        self.is_open, self.is_request = flags[0] == 'open', any(flag.startswith('request') for flag in flags[1:])
        self.types = [one for one in types.split('\x1f') if one]
        self.keys = [Key(one) for one in keys.split(',') if one]
        module, _, function = callback.rpartition(':')
        self.callback = None if '/' in module or not module else (module, function)
        self.hooked = 0
        text = name.encode()
        self.point = _Point(ctypes.addressof(_UNBOUND), text, len(text), 0, 0, _VERSION, None)
        self.request = _Request(text, len(text), _VERSION)

    def switches(self):
        """The 64 switches of the point, as a sequence of one number."""
        return memoryview((ctypes.c_uint64 * 1).from_address(self.point.switches)).cast('B').cast('Q')


class Room:
    """Place for a span, used again and again."""
    __slots__ = ('scope', 'address', 'metrics')

    def __init__(self):
        self.scope = _Scope()
        self.address = ctypes.addressof(self.scope)


def load_callback(declared):
    """The function of the user that a declaration names, or one that says why there is none."""
    module, function = declared.callback
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as why:
        message = f'{type(why).__name__}: {why}'
        return lambda *_: {'callback.error': message}


class Call:
    """One function: what its hook does while the point is open."""

    def __init__(self, declared, shim, function):
        self.declared, self.shim, self.function = declared, shim, function
        self.point = ctypes.addressof(declared.point)
        self.arguments = [key for key in declared.keys if key.argument is not None]
        self.results = [key for key in declared.keys if key.is_return]
        self.metrics = [key for key in declared.keys if key.metric]
        self.parameters = ()
        if self.arguments:
            try:
                self.parameters = tuple(inspect.signature(function).parameters)
            except (TypeError, ValueError):
                pass
        self.callback = load_callback(declared) if declared.callback else None
        self.rooms = []  # that are not in use
        self.switches, self.is_bound = declared.switches(), False
        self.begin_keys = bool(self.arguments or self.metrics or self.callback)
        self.end_keys = bool(self.results or self.metrics or self.callback)
        self.pythia_enter, self.pythia_exit = shim.pythia_enter, shim.pythia_exit

    def enter(self, begin, args, kwargs):
        """The room of a span, or None where the point is closed for this request."""
        room = self.rooms.pop() if self.rooms else Room()
        is_begun = begin(self.point, room.address)
        if not self.is_bound:  # the first hit has found the point's place on the switchboard
            self.switches, self.is_bound = self.declared.switches(), True
        if not is_begun:
            self.rooms.append(room)
            return None
        if self.begin_keys:
            self.put_arguments(room, args, kwargs)
        return room

    def put_arguments(self, room, args, kwargs):
        for key in self.arguments:
            if key.argument < len(args):
                key.put(self.shim, room.address, args[key.argument])
            elif key.argument < len(self.parameters) and self.parameters[key.argument] in kwargs:
                key.put(self.shim, room.address, kwargs[self.parameters[key.argument]])
        room.metrics = [key.metric() for key in self.metrics]
        if self.callback:
            self.call_back(room, 'enter', args, kwargs, None)

    def put_results(self, room, result, args, kwargs):
        for key in self.results:
            key.put(self.shim, room.address, result)
        self.put_metrics(room)
        if self.callback:
            self.call_back(room, 'return', args, kwargs, result)

    def call_back(self, room, event, args, kwargs, result):
        """Key-values by a function of the user. What it raises is kept, and does not reach the program."""
        try:
            for key, value in (self.callback(event, args, kwargs, result) or {}).items():
                self.shim.set(room.address, str(key).encode(), value)
        except Exception as why:
            self.shim.set_text(room.address, b'callback.error', f'{type(why).__name__}: {why}', 2 * _TEXT_MAX)

    def put_metrics(self, room):
        for key, before in zip(self.metrics, room.metrics if self.metrics else ()):
            self.shim.set(room.address, key.name, key.metric() - before)

    def fail(self, room, why, args, kwargs):
        room.scope.error = 1
        self.shim.set_text(room.address, b'exception.type', type(why).__name__, _TEXT_MAX)
        self.shim.set_text(room.address, b'exception.stacktrace', describe_stack(why), _STACK_MAX)
        try:
            message = str(why)
        except Exception:  # the program's own exception has to arrive, not this one
            message = '(unreadable)'
        self.shim.set_text(room.address, b'exception.message', message, 2 * _TEXT_MAX)
        self.put_metrics(room)
        if self.callback:
            self.call_back(room, 'failed', args, kwargs, why)

    def run(self, args, kwargs):
        room = self.enter(self.pythia_enter, args, kwargs)
        if room is None:
            return self.function(*args, **kwargs)
        try:
            result = self.function(*args, **kwargs)
            if self.end_keys:
                self.put_results(room, result, args, kwargs)
            return result
        except BaseException as why:
            self.fail(room, why, args, kwargs)
            raise
        finally:
            self.pythia_exit(room.address)
            self.rooms.append(room)

    def run_request(self, args, kwargs):
        """The same for a function with which a request begins."""
        before = _Context()
        self.shim.pythia_request_begin(ctypes.addressof(self.declared.request), ctypes.addressof(before))
        try:
            return self.run(args, kwargs)
        finally:
            self.shim.pythia_request_end(ctypes.addressof(before))

    async def run_task(self, args, kwargs):
        """The same for a coroutine, between whose parts the thread does other work."""
        room = self.enter(self.shim.pythia_begin, args, kwargs)
        if room is None:
            return await self.function(*args, **kwargs)
        try:
            result = await self.function(*args, **kwargs)
            if self.end_keys:
                self.put_results(room, result, args, kwargs)
            return result
        except BaseException as why:
            self.fail(room, why, args, kwargs)
            raise
        finally:
            self.shim.pythia_end(room.address)
            self.rooms.append(room)


def hook(declared, shim, function):
    """What takes the function's place."""
    call = Call(declared, shim, function)
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def hooked(*args, **kwargs):
            return await (call.run_task(args, kwargs) if call.switches[0] else function(*args, **kwargs))
    elif declared.is_request:
        @functools.wraps(function)
        def hooked(*args, **kwargs):
            return call.run_request(args, kwargs)
    else:
        @functools.wraps(function)
        def hooked(*args, **kwargs):
            if call.switches[0]:
                return call.run(args, kwargs)
            # Copying keywords that are not there would be an eighth of what a closed point costs.
            return function(*args, **kwargs) if kwargs else function(*args)
    hooked._pythia_point = declared
    return hooked


class Hooks:
    """All points of the plan, by the modules that they are of."""

    def __init__(self, path, declarations):
        self.shim, self.report_path = Shim(), path + '.report'
        self.by_module = {}
        for declared in declarations:
            self.by_module.setdefault(declared.module, []).append(declared)

    def report(self, *fields):
        with open(self.report_path, 'a', encoding='utf-8') as file:
            file.write('\t'.join(str(field) for field in fields) + '\n')

    def hook_module(self, name, namespace):
        """Hook what is declared and defined by now; True: everything is."""
        waiting = False
        for declared in self.by_module.get(name, ()):
            if not declared.hooked:
                waiting |= not self.hook_one(declared, namespace)
        return not waiting

    def hook_one(self, declared, namespace):
        owner = namespace.get(declared.class_name) if declared.class_name else None
        if declared.class_name and not isinstance(owner, type):
            return False
        function = (vars(owner) if owner else namespace).get(declared.function)
        kind = type(function) if isinstance(function, (staticmethod, classmethod)) else None
        inner = function.__func__ if kind else function
        if not callable(inner) or isinstance(inner, type):
            return False
        replaced = hook(declared, self.shim, inner)
        replaced = kind(replaced) if kind else replaced
        if owner:
            setattr(owner, declared.function, replaced)
        else:
            namespace[declared.function] = replaced
        declared.hooked = 1
        self.report('hooked', declared.index, 1, 0)
        if declared.is_open:
            self.open(declared)
        return True

    def open(self, declared):
        board, why = ctypes.c_void_p(), ctypes.create_string_buffer(256)
        id_ = f'{self.shim.service()}:{declared.name}'.encode()
        if self.shim.pythia_switchboard_open(None, 1, ctypes.addressof(board), why):
            self.report('problem', why.value.decode(errors='replace'))
            return
        bits = 0
        for one in declared.types:
            bits |= 1 << self.shim.pythia_switchboard_type(board, one.encode(), len(one.encode()))
        bits = bits or _ALL
        self.report('opened', declared.index, f'{bits:016x}', id_.decode())
        if self.shim.pythia_switchboard_throw(board, id_, len(id_), bits, bits):
            self.report('problem', f'the switchboard has no place for {id_.decode()}')
        self.shim.pythia_switchboard_close(board)


def read_plan(path):
    with open(path, encoding='utf-8') as file:
        if file.readline() != _HEAD:
            raise ValueError(f'{path} is no plan')
        for index, line in enumerate(file):
            yield Declared(index, line.rstrip('\n').split('\t')[1:])


class ModuleWatch:
    """A finder of modules that finds nothing, but hooks declared functions of those that the others find."""

    def __init__(self, hooks):
        self.hooks, self.busy = hooks, set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.hooks.by_module or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy.discard(name)
        if spec is None or not hasattr(spec.loader, 'exec_module'):
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            self.hooks.hook_module(name, vars(module))
        spec.loader.exec_module = exec_module
        return spec


def watch_script(hooks):
    """Hook functions of the script as its lines define them. Tracing ends with the last of them."""

    def trace_lines(frame, event, argument):
        if hooks.hook_module('__main__', frame.f_globals) or event == 'return':
            sys.settrace(None)
            return None
        return trace_lines

    def trace_calls(frame, event, argument):
        is_script = frame.f_code.co_name == '<module>' and frame.f_globals.get('__name__') == '__main__'
        return trace_lines if is_script else None
    sys.settrace(trace_calls)


def install(path):
    """Hook what the plan of this path declares of Python; other modules are the shim's."""
    declarations = [one for one in read_plan(path) if one.function and all(word.isidentifier() for word in one.module.split('.'))]
    if not declarations:
        return
    hooks = Hooks(path, declarations)
    if '__main__' in hooks.by_module:
        watch_script(hooks)
    sys.meta_path.insert(0, ModuleWatch(hooks))
    for name, module in list(sys.modules.items()):
        if name in hooks.by_module and name != '__main__':
            hooks.hook_module(name, vars(module))
