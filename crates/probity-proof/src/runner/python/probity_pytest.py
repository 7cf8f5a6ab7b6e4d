"""Tells the proof runner what pytest did, one JSON object a line, as it happens.

The process may be killed at any moment, so nothing waits for the end of the session. Hooks are of
the kind that pytest 6 knows as well.
"""

import argparse
import json
import os
import shlex

import pytest

ROOT = os.environ["PROBITY_ROOT"] + os.sep
# The test of a claim that is wanted; the existing tests if there is none.
WANTED = os.environ.get("PROBITY_TEST")
# Files and functions of the existing tests that are wanted; all of them if there is no list.
CHOSEN = os.environ.get("PROBITY_CHOSEN")
# Tests that passed on other code. The session ends at the first of them that fails.
PASSED = os.environ.get("PROBITY_PASSED")
if CHOSEN:
    with open(CHOSEN, encoding="utf-8") as file:
        CHOSEN = frozenset(json.load(file))
    with open(PASSED, encoding="utf-8") as file:
        PASSED = frozenset(json.load(file))
REPORT = os.open(os.environ["PROBITY_REPORT"], os.O_WRONLY | os.O_APPEND)
IS_NEW = int(pytest.__version__.split(".")[0]) >= 7
# Which files have tests, if the project does not say it otherwise.
USUAL = ["test_*.py", "*_test.py"]


def tell(event, **fields):
    os.write(REPORT, (json.dumps({"event": event, **fields}) + "\n").encode())


def below(path):
    path = str(path)
    return path[len(ROOT) :] if path.startswith(ROOT) else path


def path_of(node):
    return getattr(node, "path", None) or node.fspath


def name(item):
    """Its file below the repository, and its place there."""
    return "::".join([below(path_of(item)), *item.nodeid.split("::")[1:]])


def function(test):
    """Parameters may be others in each run."""
    file, colons, rest = test.partition("::")
    return file + colons + rest.split("[")[0]


def settings(config):
    """Options of everyday use in the project's own file, which are not applied: workers, coverage."""
    try:
        from _pytest.config.findpaths import load_config_dict_from_file

        options = (load_config_dict_from_file(config.inipath) or {}).get("addopts", "")
        options = getattr(options, "value", options)
        return shlex.split(options) if isinstance(options, str) else list(options)
    except Exception:
        # Without a file there is nothing to keep; one that cannot be read pytest complains about.
        return []


def pytest_configure(config):
    """Keeps those of the project's options that decide which tests there are."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-p", dest="plugins", action="append", default=[])
    parser.add_argument("--import-mode", dest="importmode")
    parser.add_argument("-m", dest="markexpr")
    parser.add_argument("-k", dest="keyword")
    parser.add_argument("--ignore", action="append")
    parser.add_argument("--ignore-glob", dest="ignore_glob", action="append")
    parser.add_argument("--deselect", action="append")
    parser.add_argument("--doctest-modules", dest="doctestmodules", action="store_true", default=None)
    parser.add_argument("--doctest-glob", dest="doctestglob", action="append")
    try:
        kept, _ = parser.parse_known_args(settings(config))
    except SystemExit:
        return
    for plugin in kept.plugins:
        if not plugin.startswith("no:"):
            config.pluginmanager.import_plugin(plugin)
    # The test of a claim is wanted whatever the others are.
    decides = ["importmode"] if WANTED else [key for key in vars(kept) if key != "plugins"]
    for key in decides:
        if getattr(kept, key) is not None:
            setattr(config.option, key, getattr(kept, key))
    if os.environ.get("PROBITY_FOLLOWS") == "1":
        import probity_touched

        config.pluginmanager.register(probity_touched.Follower(ROOT, name, tell))


def collect_unittest(path, parent):
    """Files that unittest would look at, and pytest not."""
    file = os.path.basename(str(path))
    if WANTED or not (file.startswith("test") and file.endswith(".py")):
        return None
    if file.startswith("test_") or file.endswith("_test.py"):
        return None
    if list(parent.config.getini("python_files")) != USUAL:
        return None
    with open(str(path), encoding="utf-8", errors="replace") as text:
        if "unittest" not in text.read():
            return None
    return pytest.Module.from_parent(parent, **{"path" if IS_NEW else "fspath": path})


if IS_NEW:

    def pytest_collect_file(file_path, parent):
        return collect_unittest(file_path, parent)

else:

    def pytest_collect_file(path, parent):
        return collect_unittest(path, parent)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    if outcome.get_result().failed:
        tell("unloaded", file=below(path_of(collector)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if WANTED:
        plain = WANTED.split("[")[0].replace(".", ":").rsplit(":", 1)[-1]
        wanted = [item for item in items if getattr(item, "originalname", item.name) == plain]
    elif CHOSEN is not None:
        # Files that are wanted as a whole are the nearest.
        wanted = [item for item in items if below(path_of(item)) in CHOSEN]
        nearest = set(wanted)
        others = (item for item in items if item not in nearest)
        wanted += [item for item in others if function(name(item)) in CHOSEN]
    else:
        wanted = list(items)
    kept = set(wanted)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = wanted
    tell("selected", tests=[name(item) for item in items])


def pytest_sessionfinish():
    tell("ended")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    tell("test", test=name(item), state="began")
    yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
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
    if report.failed and PASSED and name(item) in PASSED:
        item.session.shouldstop = "a test that passed before fails"
