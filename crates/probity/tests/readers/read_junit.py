"""Reads a `junit` report with junitparser.

Has: path, line, column (characters from 1), severity, rule, message. A finding of the whole file has
neither line nor column. Control characters and line ends in messages are pictures.
"""

import json
import sys

from junitparser import Attr, Failure, JUnitXml, TestCase


class PlacedCase(TestCase):
    """A case that says where it is."""

    file = Attr("file")
    line = Attr("line")
    column = Attr("column")


report = JUnitXml.fromstring(sys.stdin.buffer.read())
findings = []
tests = 0
for suite in report:
    cases = [PlacedCase.fromelem(case._elem) for case in suite]
    assert suite.tests == len(cases) > 0, suite.name
    assert suite.failures == sum(bool(case.result) for case in cases), suite.name
    tests += len(cases)
    for case in cases:
        if not case.result:
            assert len(cases) == 1, f"{suite.name} is clean and has findings"
            continue
        (failure,) = case.result
        assert isinstance(failure, Failure), failure
        assert case.file == case.classname == suite.name, case
        finding = {
            "path": case.file,
            "severity": failure.type,
            "rule": case.name.partition(" at ")[0],
            "message": failure.message,
        }
        if case.line is not None:
            finding["line"] = int(case.line)
            finding["column"] = int(case.column)
            assert case.name.endswith(f" at {case.line}:{case.column}"), case.name
        findings.append(finding)
assert (report.tests, report.failures) == (tests, len(findings)), report
json.dump(findings, sys.stdout)
