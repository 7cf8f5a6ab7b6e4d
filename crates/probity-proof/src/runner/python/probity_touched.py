"""Tells which files of the repository each test ran code of.

Code that runs when a module is imported runs once, whichever test comes first; so does that of a
fixture which several tests share. It belongs to each test that imports the module, directly or
through others, or has the fixture.
"""

import ast
import os
import sys
import threading
import types

import pytest


class Monitored:
    """Of Python 3.12 and later: the interpreter tells of each function once, until it is asked again."""

    def __init__(self):
        self.files = set()
        monitoring = sys.monitoring
        tool = next(tool for tool in (4, 3, 5, 2) if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(tool, "probity")
        started = monitoring.events.PY_START
        monitoring.register_callback(tool, started, self.started)
        monitoring.set_events(tool, started)

    def started(self, code, _):
        self.files.add(code.co_filename)
        return sys.monitoring.DISABLE

    def take(self):
        files, self.files = self.files, set()
        sys.monitoring.restart_events()
        return files


class Profiled:
    """Of older ones: the profiler that is written in C, as it is quicker than a function of ours."""

    def __init__(self):
        import _lsprof

        self.files = set()
        self.profiler = _lsprof.Profiler()
        threading.setprofile(self.called)
        self.begin()

    def begin(self):
        self.profiler.enable(subcalls=False, builtins=False)

    def called(self, frame, event, _):
        if event == "call":
            self.files.add(frame.f_code.co_filename)

    def take(self):
        self.profiler.disable()
        codes = [entry.code for entry in self.profiler.getstats()]
        self.profiler.clear()
        files, self.files = self.files, set()
        files.update(code.co_filename for code in codes if isinstance(code, types.CodeType))
        self.begin()
        return files


class Imports:
    """Which modules of the repository a module imports, directly or through others."""

    def __init__(self, root):
        self.root = root
        self.written = {}

    def of(self, modules):
        """The files of these modules and of all that they import."""
        seen, pending = {}, list(modules)
        while pending:
            module = pending.pop()
            file = getattr(module, "__file__", None)
            if not isinstance(file, str) or not file.startswith(self.root) or file in seen:
                continue
            seen[file] = module
            names = self.named_in(module, file) | self.owners(module)
            pending.extend(sys.modules[name] for name in names if name in sys.modules)
        return set(seen)

    def owners(self, module):
        """The modules that its values are, or come from."""
        found = set()
        for value in list(vars(module).values()):
            is_module = isinstance(value, types.ModuleType)
            owner = value.__name__ if is_module else getattr(value, "__module__", None)
            if isinstance(owner, str):
                found.add(owner)
        return found

    def named_in(self, module, file):
        """The names in the import statements of its source, and of the packages that they are in."""
        if file in self.written:
            return self.written[file]
        found = set()
        try:
            with open(file, "rb") as source:
                tree = ast.parse(source.read())
        except (OSError, SyntaxError, ValueError):
            tree = ast.Module(body=[], type_ignores=[])
        package = (getattr(module, "__package__", None) or "").split(".")
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                found.add(base)
                found.update(base + "." + alias.name for alias in node.names)
        for name in list(found):
            parts = name.split(".")
            found.update(".".join(parts[:count]) for count in range(1, len(parts)))
        self.written[file] = found
        return found


class Follower:
    def __init__(self, root, name, tell):
        self.root, self.name, self.tell = root, name, tell
        self.calls = Monitored() if hasattr(sys, "monitoring") else Profiled()
        self.imports = Imports(root)
        self.touched = set()
        # By the identity of a fixture, which is kept beside its files so that it stays the same.
        self.fixtures = {}
        self.groups = {}

    def below(self, files):
        files = (os.path.abspath(file) for file in files if not file.startswith("<"))
        return sorted({file[len(self.root) :] for file in files if file.startswith(self.root)})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        self.touched |= self.calls.take()
        yield
        files = self.calls.take()
        self.touched |= files
        _, known = self.fixtures.setdefault(id(fixturedef), (fixturedef, set()))
        known |= files

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self.calls.take()
        self.touched = set()
        yield
        files = self.touched | self.calls.take()
        information = getattr(item, "_fixtureinfo", None)
        for definitions in getattr(information, "name2fixturedefs", {}).values():
            for definition in definitions:
                files |= self.fixtures.get(id(definition), (None, set()))[1]
        group = self.group(item)
        self.tell("touched", test=self.name(item), files=self.below(files), groups=[group])

    def group(self, item):
        """The name for the files that are imported where a test is."""
        path = str(getattr(item, "path", None) or item.fspath)
        known = (path, len(sys.modules))
        if known not in self.groups:
            modules = [getattr(item, "module", None)]
            for module in list(sys.modules.values()):
                file = getattr(module, "__file__", None)
                if isinstance(file, str) and os.path.basename(file) == "conftest.py":
                    if path.startswith(os.path.dirname(file) + os.sep):
                        modules.append(module)
            files = self.below(self.imports.of(modules))
            self.groups[known] = str(len(self.groups))
            self.tell("group", name=self.groups[known], files=files)
        return self.groups[known]
