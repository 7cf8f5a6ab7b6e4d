"""Tells the proof runner what pytest did, one JSON object a line, as it happens.

The process may be killed at any moment, so nothing waits for the end of the session.
"""

import json
import os
import sys
import threading
import types

import pytest

ROOT = os.environ["PROBITY_ROOT"] + os.sep
# The test that is wanted; all of them if there is none.
WANTED = os.environ.get("PROBITY_TEST")
# Whether to tell which files each test runs code of.
FOLLOWS = os.environ.get("PROBITY_FOLLOWS") == "1"
REPORT = os.open(os.environ["PROBITY_REPORT"], os.O_WRONLY | os.O_APPEND)

touched = set()


def tell(event, **fields):
    os.write(REPORT, (json.dumps({"event": event, **fields}) + "\n").encode())


def name(item):
    """Its file below the repository, and its place there."""
    path = str(item.path)
    path = path[len(ROOT) :] if path.startswith(ROOT) else path
    return "::".join([path, *item.nodeid.split("::")[1:]])


def follow(frame, event, _):
    touched.add(frame.f_code.co_filename)


def imported(module):
    """The files of what a test's module has imported."""
    for value in list(vars(module).values()):
        owner = value if isinstance(value, types.ModuleType) else None
        if owner is None:
            owner = sys.modules.get(getattr(value, "__module__", None) or "")
        file = getattr(owner, "__file__", None)
        if file:
            yield file


def pytest_collectreport(report):
    if report.failed:
        tell("unloaded")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if not WANTED:
        return
    plain = WANTED.split("[")[0].replace(".", ":").rsplit(":", 1)[-1]
    wanted = [item for item in items if getattr(item, "originalname", item.name) == plain]
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = wanted


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    test = name(item)
    tell("test", test=test, state="began")
    if not FOLLOWS:
        return (yield)
    touched.clear()
    threading.settrace(follow)
    sys.settrace(follow)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        touched.update(imported(item.module) if hasattr(item, "module") else ())
        files = sorted(file[len(ROOT) :] for file in touched if file.startswith(ROOT))
        tell("touched", test=test, files=files)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    told = item.__dict__.setdefault("probity", {"state": "passed", "seconds": 0})
    told["seconds"] += report.duration
    if report.failed and told["state"] != "failed":
        told["state"] = "failed" if report.when == "call" else report.when + "-failed"
        told["kind"] = call.excinfo.type.__name__ if call.excinfo else None
        told["message"] = call.excinfo.exconly()[:2000] if call.excinfo else ""
    elif report.skipped:
        told["state"] = "expected-failure" if hasattr(report, "wasxfail") else "skipped"
    # One that passes may still fail while it is torn down.
    if told["state"] != "passed" or report.when == "teardown":
        tell("test", test=name(item), **told)
    return report
