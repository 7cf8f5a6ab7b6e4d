"""Reads a `gnu` report line by line, as an editor's error parser does.

Has: path, line, column (characters from 1), severity, rule, message. A finding of the whole file has
neither line nor column. Control characters and line ends are pictures.
"""

import json
import re
import sys

LINE = re.compile(
    r"probity:(?P<path>.+?)(?::(?P<line>[1-9]\d*):(?P<column>[1-9]\d*))?:"
    r" (?P<severity>error|warning|info|style): (?P<message>.*) \[(?P<rule>[^\]]+)\]"
)

findings = []
lines = sys.stdin.read().split("\n")
assert lines.pop() == "", "the last line is not ended"
for line in lines:
    match = LINE.fullmatch(line)
    assert match, f"not a finding: {line!r}"
    finding = {key: text for key, text in match.groupdict().items() if text is not None}
    for key in ("line", "column"):
        if key in finding:
            finding[key] = int(finding[key])
    findings.append(finding)
json.dump(findings, sys.stdout)
