"""Runs a failing test again and again while functions of the code return other values.

Tells the proof runner what each run shows, one JSON object a line. A function keeps its identity,
since tests may have imported it by name: only its code is exchanged.
"""

import ast
import builtins
import copy
import inspect
import json
import os
import re
import sys
import time
import types

import pytest
from _pytest.runner import runtestprotocol

FLAGGED = os.environ["PROBITY_FLAGGED"]
ROOT = os.environ["PROBITY_ROOT"] + os.sep
FIRST, LAST = (int(number) for number in os.environ["PROBITY_LINES"].split("-"))
END = time.monotonic() + float(os.environ["PROBITY_SECONDS"])
REPORT = os.open(os.environ.pop("PROBITY_REPORT"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

MOST_RUNS = 240
MOST_VALUES = 48
MOST_KINDS, MOST_TEXTS = 3, 4
SWITCHES = []
COMPARED = []
SIDES = []
FOUND = []


def tell(event, **fields):
    os.write(REPORT, (json.dumps({"event": event, **fields}) + "\n").encode())


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
            f"{kind} stub(*a, **k):\n    s = __import__({__name__!r}).SWITCHES[{number}]\n"
            f"    return s.value_of(a, k) if s.applies(a, k) else {wait}s.original(*a, **k)\n"
        )
        exec(source, names)
        self.stub = names["stub"].__code__
        if self.code.co_freevars:
            self.stub = self.stub.replace(co_freevars=self.code.co_freevars)

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


@pytest.hookimpl(tryfirst=True)
def pytest_assertrepr_compare(config, op, left, right):
    del COMPARED[4:]
    COMPARED[:0] = [right, left]
    SIDES[:] = [left, right] if op == "==" else []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    # Of a test with parameters, the first that fails is the one that the verdict rests on.
    first = None if FOUND else run_once(item)
    if first is None or first["outcome"] != "failed":
        return True
    FOUND.append(item)
    tell("same", **first)
    tell("same", **run_once(item))
    values = candidates(item)
    called = []
    for switch in switches(item):
        switch.turn_on()
        run_once(item)
        switch.turn_off()
        if len(switch.calls) > 1:
            tell("partial")
        if switch.calls:
            called.append((switch, switch.calls[-1] if len(set(switch.calls)) > 1 else None))
    runs = 0
    for like_last in (False, True):
        for switch, last in called:
            if like_last and last is None:
                continue
            is_init = switch.function.__name__ == "__init__"
            for value in [None] if is_init else values:
                runs += 1
                if runs > MOST_RUNS or time.monotonic() > END:
                    tell("partial")
                    return True
                switch.answers, switch.value, switch.like = True, value, last if like_last else None
                switch.turn_on()
                try:
                    seen = run_once(item)
                finally:
                    switch.turn_off()
                    switch.answers = False
                answer = "nothing" if is_init else "failure" if isinstance(value, Raised) else "value"
                tell("altered", function=switch.name, answer=answer, value=plain(repr(value))[:80], **seen)
                if seen["outcome"] == "passed":
                    return True
    return True


def run_once(item):
    item._initrequest()
    LAST_ERROR.clear()
    SIDES.clear()
    reports = runtestprotocol(item, nextitem=None, log=False)
    called = next((report for report in reports if report.when == "call"), None)
    if called is None or any(report.failed for report in reports if report.when != "call"):
        return {"outcome": "error", "lines": [], "kind": "", "message": ""}
    return {"outcome": called.outcome, "lines": [], "kind": "", "message": "", **LAST_ERROR}


LAST_ERROR = {}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
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
    return report


def shown(value):
    """What a side of a comparison is, of which the message may have only how it came to be."""
    try:
        return repr(value)[:200]
    except Exception:
        return "?"


def switches(item):
    """The functions around the flagged lines first, then those that the test names."""
    with open(item.path, encoding="utf-8") as source:
        named = set(re.findall(r"\w+", source.read()))
    found = []
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None) or ""
        if not path.startswith(ROOT) or "site-packages" in path or path == str(item.path):
            continue
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
