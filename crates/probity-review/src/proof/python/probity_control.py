"""Runs a failing test again and again while functions of the code return other values.

Tells the proof runner what each run shows, one JSON object a line. A function keeps its identity,
since tests may have imported it by name: only its code is exchanged.
"""

import ast
import builtins
import copy
import faulthandler
import importlib
import inspect
import os
import pickle
import re
import select
import signal
import sys
import threading
import time
import types

import pytest
from _pytest.runner import runtestprotocol

from .told import FIRST, FLAGGED, LAST, ROOT, tell

END = time.monotonic() + float(os.environ["PROBITY_SECONDS"])

MOST_RUNS = 240
MOST_VALUES = 48
MOST_ALONE = 6
MOST_KINDS, MOST_TEXTS = 3, 4
SWITCHES = []
COMPARED = []
SIDES = []
FOUND = []


class Raised:
    """Stands for an exception instead of a value."""

    def __init__(self, kind, text="probity"):
        self.kind, self.text = kind, text

    def __repr__(self):
        return "no value, but raises %s(%r)" % (self.kind.__name__, self.text)

    def error(self):
        """Whatever the class wants to be made of."""
        error = self.kind.__new__(self.kind, self.text)
        error.args = (self.text,)
        return error


class Anything:
    """Has whatever is asked of it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_, **__):
        return self

    def __getitem__(self, _):
        return self

    def __iter__(self):
        return iter(())

    def __repr__(self):
        return "anything"


class Switch:
    """A function whose calls can be answered by us."""

    def __init__(self, name, function):
        self.name, self.function, self.code = name, function, function.__code__
        self.original = types.FunctionType(
            self.code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        self.original.__kwdefaults__ = function.__kwdefaults__
        self.answers, self.value, self.like, self.calls = False, None, None, []
        number = len(SWITCHES)
        kind = "async def" if self.code.co_flags & inspect.CO_COROUTINE else "def"
        wait = "await " if kind != "def" else ""
        names = {}
        source = (
            f"{kind} stub(*a, **k):\n    s = __import__('sys').modules[{__name__!r}].SWITCHES[{number}]\n"
            f"    return s.value_of(a, k) if s.applies(a, k) else {wait}s.original(*a, **k)\n"
        )
        exec(source, names)
        same = ("co_name", "co_qualname", "co_filename", "co_firstlineno", "co_freevars")
        like = {name: getattr(self.code, name) for name in same if hasattr(self.code, name)}
        self.stub = names["stub"].__code__.replace(**like)

    def turn_on(self):
        self.function.__code__ = self.stub

    def turn_off(self):
        self.function.__code__ = self.code

    def applies(self, args, kwargs):
        key = plain(repr((args, kwargs)))
        self.calls.append(key)
        if not self.answers or self.like not in (None, key):
            return False
        try:
            inspect.signature(self.original).bind(*args, **kwargs)
        except TypeError:
            # A call that cannot be made is a mistake of the test, whatever would be returned.
            return False
        return True

    def value_of(self, _, __):
        if isinstance(self.value, Raised):
            raise self.value.error()
        try:
            return copy.deepcopy(self.value)
        except Exception:
            return self.value


def plain(text):
    return re.sub(r"0x[0-9a-f]{6,}", "0x", text)


def compare(op, left, right):
    del COMPARED[4:]
    COMPARED[:0] = [right, left]
    SIDES[:] = [left, right] if op == "==" else []


def control(item):
    """Of a test with parameters, the first that fails is the one that the verdict rests on."""
    if FOUND:
        return
    first, compared, loaded = apart(lambda: explored(item)) or (DIED, [], [])
    if first["outcome"] != "failed":
        tell("alone", **first)
        return
    FOUND.append(item)
    tell("same", **first)
    for value in compared:
        try:
            COMPARED.append(pickle.loads(value))
        except Exception:
            continue
    for name in loaded:
        try:
            importlib.import_module(name)
        except Exception:
            continue
    tell("same", **(apart(lambda: run_once(item)) or DIED))
    values = candidates(item)
    called = []
    for number, switch in enumerate(switches(item)):
        calls = apart(lambda: calls_of(switch, item)) or []
        if len(calls) > 1:
            tell("partial")
        if calls:
            called.append((number, calls[-1] if len(set(calls)) > 1 else None))
    plans = [
        (rank, number, value, last if like_last else None)
        for like_last in (False, True)
        for number, last in called
        if last is not None or not like_last
        for rank, value in enumerate([None] if is_init(SWITCHES[number]) else values)
    ]
    # Together they are quick, and each in a process of its own finds nothing that another has left.
    together = enumerate(plans[:MOST_RUNS])
    passed = apart(lambda: next((number for number, plan in together if passes(item, *plan)), None))
    passed = None if passed is None else plans[passed]
    if passed is None and not has_threads():
        alone = (plan for plan in plans if plan[0] < MOST_ALONE)
        passed = next((plan for plan in alone if apart(lambda: passes(item, *plan))), None)
    if len(plans) > MOST_RUNS or time.monotonic() > END:
        tell("partial")
    if passed is not None:
        # Only a test that looks for the switch passes by what is not altered. Not so one that loads
        # the code itself, which is there already.
        inert = apart(lambda: altered(SWITCHES[passed[1]], item, False)) or DIED
        tell("inert", loaded=bool(loaded), **inert)


def is_init(switch):
    return switch.function.__name__ == "__init__"


def passes(item, _, number, value, like):
    """Whether the test does while this function returns this."""
    if time.monotonic() > END:
        return False
    switch = SWITCHES[number]
    switch.value, switch.like = value, like
    seen = altered(switch, item, True)
    answer = "nothing" if is_init(switch) else "failure" if isinstance(value, Raised) else "value"
    tell("altered", function=switch.name, answer=answer, value=plain(repr(value))[:80], **seen)
    return seen["outcome"] == "passed"


def has_threads():
    return threading.active_count() > 1


def apart(work):
    """What this comes to in a process of its own, or nothing if that ends otherwise.

    A thread does not go along, so that where the code has some there is but one process.
    """
    if has_threads():
        return work()
    # Its watch is kept by a thread too, for which the child would wait.
    faulthandler.cancel_dump_traceback_later()
    there, here = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(there)
            with os.fdopen(here, "wb") as told:
                pickle.dump(work(), told)
        finally:
            os._exit(0)
    os.close(here)
    told = b""
    while select.select([there], [], [], max(END - time.monotonic(), 1))[0]:
        part = os.read(there, 1 << 16)
        if not part:
            break
        told += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(there)
    os.waitpid(child, 0)
    try:
        return pickle.loads(told)
    except Exception:
        return None


def explored(item):
    """The test as it is, what it compared as far as that can be handed on, and what it has loaded."""
    before = set(sys.modules)
    seen = run_once(item)
    compared = []
    for value in COMPARED:
        try:
            compared.append(pickle.dumps(value))
        except Exception:
            continue
    new = [name for name, module in list(sys.modules.items()) if name not in before and of_code(module, item)]
    return seen, compared, new


def calls_of(switch, item):
    switch.turn_on()
    run_once(item)
    switch.turn_off()
    return switch.calls


def altered(switch, item, answers):
    switch.answers = answers
    switch.turn_on()
    try:
        return run_once(item)
    finally:
        switch.turn_off()
        switch.answers = False


def run_once(item):
    item._initrequest()
    LAST_ERROR.clear()
    SIDES.clear()
    reports = runtestprotocol(item, nextitem=None, log=False)
    called = next((report for report in reports if report.when == "call"), None)
    if called is None or any(report.failed for report in reports if report.when != "call"):
        return DIED
    return {"outcome": called.outcome, "lines": [], "kind": "", "message": "", **LAST_ERROR}


DIED = {"outcome": "error", "lines": [], "kind": "", "message": ""}
LAST_ERROR = {}


def complain(item, call):
    if call.when == "call" and call.excinfo is not None:
        lines, trace = [], call.excinfo.tb
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(item.path):
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        # What an assertion says for itself comes behind what the test adds to it.
        message = str(call.excinfo.value)
        if "\nassert " in message:
            message = message[message.index("\nassert ") :]
        kind = call.excinfo.type.__name__
        if SIDES:
            message = message[:1500] + "\n" + " == ".join(shown(side) for side in SIDES)
        LAST_ERROR.update(lines=lines, kind=kind, message=plain(message)[:2000])


def shown(value):
    """What a side of a comparison is, of which the message may have only how it came to be."""
    try:
        return repr(value)[:200]
    except Exception:
        return "?"


def of_code(module, item):
    path = getattr(module, "__file__", None) or ""
    return path.startswith(ROOT) and "site-packages" not in path and path != str(item.path)


def switches(item):
    """The functions around the flagged lines first, then those that the test names."""
    with open(item.path, encoding="utf-8") as source:
        named = set(re.findall(r"\w+", source.read()))
    found = []
    for module in list(sys.modules.values()):
        if not of_code(module, item):
            continue
        path = module.__file__
        owners = [(module, "")] + [
            (value, value.__name__ + ".")
            for value in list(vars(module).values())
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        for owner, prefix in owners:
            for name, value in list(vars(owner).items()):
                value = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
                code = getattr(inspect.unwrap(value) if callable(value) else value, "__code__", None)
                if not isinstance(value, types.FunctionType) or code is None or code.co_filename != path:
                    continue
                lines = [line for *_, line in code.co_lines() if line] if hasattr(code, "co_lines") else []
                last = max(lines, default=code.co_firstlineno)
                around = path == FLAGGED and code.co_firstlineno <= LAST and FIRST <= last
                if around or name in named:
                    found.append((not around, path != FLAGGED, prefix + name, inspect.unwrap(value)))
    found.sort(key=lambda it: it[:2])
    for *_, name, function in found[:8]:
        try:
            SWITCHES.append(Switch(name, function))
        except (TypeError, ValueError):
            continue
    return SWITCHES


def candidates(item):
    """Values to return: what the test compared, what it writes down, and some that are always good."""
    with open(item.path, encoding="utf-8") as source:
        tree = ast.parse(source.read())
    values = list(COMPARED)
    kinds = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp)
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            try:
                values.append(ast.literal_eval(node))
            except (ValueError, TypeError, SyntaxError, MemoryError):
                continue
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        places = [item.module, builtins, *(it for it in vars(item.module).values() if inspect.ismodule(it))]
        for place in places if name else []:
            kind = getattr(place, name, None)
            if isinstance(kind, type) and issubclass(kind, Exception):
                values.append(Raised(kind))
                break
    # With the words that the test names, of which it may wait for some.
    texts = [value for value in values if isinstance(value, str) and 0 < len(value) < 200]
    kinds = list(dict.fromkeys(value.kind for value in values if isinstance(value, Raised)))[:MOST_KINDS]
    worded = [Raised(kind, text) for kind in kinds for text in [" ".join(texts), *texts[:MOST_TEXTS]] if text]
    values[:0] = [True, False, None, *worded]
    values += [Anything(), Raised(RuntimeError), 0, 1, 2, 7919, -1, "", "probity", [], {}, (), [1], object()]
    chosen, seen = [], set()
    for value in values:
        try:
            key = (type(value), plain(repr(value)))
        except Exception:
            continue
        if key not in seen:
            seen.add(key)
            chosen.append(value)
    return chosen[:MOST_VALUES]
