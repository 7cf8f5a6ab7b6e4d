"""Reads a `github-actions` report by GitHub's documented rules for workflow commands.

Has: path, line, column (characters from 1), severity (error, warning or notice), rule, message. A
finding of the whole file has neither line nor column; one of several lines has no column. Control
characters in messages are pictures.
"""

import json
import re
import sys

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def data(text):
    # The percent sign comes last, as in GitHub's runner: `%250A` means `%0A`, not a line end.
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def value(text):
    return (
        text.replace("%0D", "\r")
        .replace("%0A", "\n")
        .replace("%3A", ":")
        .replace("%2C", ",")
        .replace("%25", "%")
    )


findings = []
lines = sys.stdin.read().split("\n")
assert lines.pop() == "", "the last line is not ended"
for line in lines:
    command = COMMAND.fullmatch(line)
    assert command, f"not a command: {line!r}"
    severity, properties, message = command.groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    finding = {
        "path": value(pairs["file"]),
        "severity": severity,
        "rule": value(pairs["title"]),
        "message": data(message),
    }
    if "line" in pairs:
        finding["line"] = int(pairs["line"])
        assert int(pairs["endLine"]) >= finding["line"], pairs
    if "col" in pairs:
        finding["column"] = int(pairs["col"])
        # GitHub drops columns that do not belong to one line.
        assert pairs["line"] == pairs["endLine"], pairs
        assert int(pairs["endColumn"]) >= finding["column"], pairs
    findings.append(finding)
json.dump(findings, sys.stdout)
