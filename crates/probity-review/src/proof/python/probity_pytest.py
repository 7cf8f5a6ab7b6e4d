"""Tells the proof runner what pytest did, one JSON object a line, as it happens.

The process may be killed at any moment, so that nothing waits for the end of the session.
"""

import ast
import builtins
import errno
import os
import socket
import sys
import tempfile
import threading
import unittest.case

import pytest

from . import control, values
from .told import ALTERS, FIRST, FLAGGED, LAST, ROOT, tell


def has_functions(path, first, last):
    """Whether one of the lines belongs to a function, whose body an import does not run."""
    try:
        with open(path, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return True
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            begin = min([node.lineno, *(line.lineno for line in getattr(node, "decorator_list", []))])
            if begin <= last and first <= node.end_lineno:
                return True
    return False


class Reach:
    """Follows calls into the flagged file, while a test is set up and run."""

    def __init__(self):
        self.testing = False
        self.test = None
        self.reached = False
        self.lines = False
        self.of_module = not has_functions(FLAGGED, FIRST, LAST)

    def hit(self, line):
        if not self.reached:
            self.reached = True
            tell("reached")
        if not self.lines and FIRST <= line <= LAST:
            self.lines = True
            tell("lines")

    def trace(self, frame, event, _):
        code = frame.f_code
        if code.co_filename != FLAGGED:
            own = self.testing and code.co_name in values.OPERATORS and code.co_filename == self.test
            return values.follow(frame) if own and frame.f_back.f_code.co_filename == FLAGGED else None
        # The body of a module or a class runs when it is imported, which says nothing.
        if not code.co_flags & 0x2:
            return self.module_line if self.of_module else None
        if self.testing:
            self.hit(code.co_firstlineno if event == "call" else frame.f_lineno)
            return self.line
        return None

    def line(self, frame, event, _):
        if event == "line":
            self.hit(frame.f_lineno)
        return None if self.lines else self.line

    def module_line(self, frame, event, _):
        if event == "line" and FIRST <= frame.f_lineno <= LAST:
            self.hit(frame.f_lineno)
        return self.module_line


reach = Reach()


def pytest_configure(config):
    # Many runs are made while the code is altered, and following them takes most of their time.
    if ALTERS:
        return
    threading.settrace(reach.trace)
    sys.settrace(reach.trace)


def pytest_collectreport(report):
    if report.failed:
        tell("collect-error")


if ALTERS:

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        control.control(item)
        return True

else:

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        tell("start", test=item.nodeid)
        reach.testing, reach.test = True, str(item.path)
        sys.settrace(reach.trace)
        try:
            return (yield)
        finally:
            reach.testing = False


@pytest.hookimpl(tryfirst=True)
def pytest_assertrepr_compare(config, op, left, right):
    control.compare(op, left, right)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    control.complain(item, call)
    if ALTERS:
        return report
    exception, frames = None, []
    if call.excinfo is not None:
        exception = [kind.__name__ for kind in call.excinfo.type.__mro__]
        trace = call.excinfo.tb
        while trace is not None:
            frames.append([trace.tb_frame.f_code.co_filename, trace.tb_lineno])
            trace = trace.tb_next
    tell(
        "phase",
        when=report.when,
        outcome=report.outcome,
        xfail=hasattr(report, "wasxfail"),
        exception=exception or [],
        frames=frames,
        message=control.LAST_ERROR.get("message", ""),
        lie=values.LIES[0] if values.LIES else None,
        of_nothing=call.excinfo is not None and of_nothing(call.excinfo.value),
        replaced=replaced() if report.when == "call" else None,
        environment=environment(item, call.excinfo.value, frames) if call.excinfo else None,
        constant=constant(item, frames) if report.outcome == "failed" else None,
    )
    return report


def of_nothing(error):
    """Whether something was asked of a value that is not there, which the code may have returned."""
    return isinstance(error, AttributeError) and str(error).startswith("'NoneType' object has no attribute")


def replaced():
    """The flagged function, or one that the language has, if its module has something else now."""
    module = next((it for it in list(sys.modules.values()) if getattr(it, "__file__", None) == FLAGGED), None)
    try:
        with open(FLAGGED, encoding="utf-8") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError):
        return None
    if module is None:
        return None
    # What the language has for everybody, and the module has not bound itself.
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in ast.walk(tree) if hasattr(node, "name")}
    bound |= {(node.asname or node.name).split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.alias)}
    stars = any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree))
    for name in vars(module):
        if hasattr(builtins, name) and not name.startswith("__") and name not in bound and not stars:
            return name
    for owner, body in [(module, tree.body)] + [
        (getattr(module, node.name, None), node.body) for node in tree.body if isinstance(node, ast.ClassDef)
    ]:
        for node in body:
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
            if not isinstance(node, kinds) or node.decorator_list or owner is None:
                continue
            if node.lineno <= LAST and FIRST <= node.end_lineno:
                now = vars(owner).get(node.name)
                code = getattr(now, "__code__", None)
                if code is None or code.co_filename != FLAGGED:
                    return node.name
    return None


def environment(item, error, frames):
    """What the machine lacks that the test itself, and not the code, asked it for."""
    own = [number for number, (path, _) in enumerate(frames) if path == str(item.path)]
    if not own or not isinstance(error, OSError):
        return None
    behind = [path for path, _ in frames[own[-1] + 1 :]]
    if any(path.startswith(ROOT) and "site-packages" not in path for path in behind):
        return None
    # A name that cannot be resolved, a network or a host out of reach: never this machine.
    unreachable = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ETIMEDOUT)
    if isinstance(error, socket.gaierror) or error.errno in unreachable:
        return "there is no network"
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, str):
        if any(path.endswith("subprocess.py") for path in behind):
            return "there is no program " + error.filename[:100]
        outside = (ROOT, tempfile.gettempdir() + os.sep)
        if os.path.isabs(error.filename) and not error.filename.startswith(outside):
            return "there is no file " + error.filename[:100]
    return None


def constant(item, frames):
    """The failing statement, if it fails whatever the code under test does."""
    own = [line for path, line in frames if path == str(item.path)]
    failing = (str(item.path), sys.modules[pytest.fail.__module__].__file__, unittest.case.__file__)
    # What a helper does depends on whether it is called, which a control with runs finds out.
    if len(own) != 1 or frames[-1][0] not in failing:
        return None
    try:
        tree = ast.parse(item.path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    line = own[-1]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    for function in (node for node in ast.walk(tree) if isinstance(node, kinds)):
        for statement in ast.walk(function):
            if isinstance(statement, ast.Assert) and covers(statement, line):
                if not depends(statement.test, literals(function, tree)):
                    return ast.unparse(statement)
            if is_assertion(statement) and covers(statement, line):
                arguments = [*statement.value.args, *(it.value for it in statement.value.keywords)]
                known = literals(function, tree)
                if arguments and not any(depends(it, known) for it in arguments):
                    return ast.unparse(statement)
        returns = False
        for statement in unconditional(function.body):
            fails = isinstance(statement, ast.Raise) or (
                isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Call)
                and ast.unparse(statement.value.func) in ("pytest.fail", "self.fail")
            )
            if fails and covers(statement, line) and not returns:
                return ast.unparse(statement)
            returns = returns or any(leaves(node) for node in ast.walk(statement))
    return None


def covers(node, line):
    return node.lineno <= line <= node.end_lineno


def unconditional(body):
    """The statements of a block, and of those in it that run in any case."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from unconditional(statement.body)
        elif isinstance(statement, ast.Try):
            yield from unconditional(statement.finalbody)


def leaves(node):
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func).rsplit(".", 1)[-1]
        return called in ("skip", "skipTest", "importorskip", "xfail", "exit")
    return isinstance(node, ast.Return)


def is_assertion(statement):
    call = statement.value if isinstance(statement, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    return isinstance(function, ast.Attribute) and ast.unparse(function).startswith("self.assert")


def literals(function, tree):
    """Names that are bound once, and to a value that depends on nothing."""
    bound, values = {}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 2
    for node in [*tree.body, *function.body]:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    # What holds others can be changed without being bound again.
    plain = {name for name, value in values.items() if isinstance(value, ast.Constant)}
    return {name for name in plain if bound.get(name) == 1}


def depends(expression, known=frozenset()):
    kinds = (ast.Call, ast.Attribute, ast.Subscript, ast.Await)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Name) and node.id not in known)
        for node in ast.walk(expression)
    )
