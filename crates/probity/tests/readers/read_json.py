"""Reads a `json` report with Python's json.

Has: path, line, column, severity, rule, message. Lines count from 1, columns are bytes from 0;
a finding of the whole file has neither.
"""

import json
import sys

report = json.load(sys.stdin)
findings = []
for file in report["files"]:
    for violation in file["violations"]:
        location = violation["location"]
        assert location["file"] == file["file"], location
        finding = {
            "path": file["file"],
            "severity": violation["severity"],
            "rule": violation["rule"],
            "message": violation["message"],
        }
        start = location["start"]
        if start["line"] == -1:
            assert start == location["end"] == {"line": -1, "column": -1}, location
        else:
            finding["line"] = start["line"]
            finding["column"] = start["column"]
        findings.append(finding)

summary = report["summary"]
kinds = {"error": "errors", "warning": "warnings", "info": "info", "style": "style"}
for severity, key in kinds.items():
    assert summary[key] == sum(f["severity"] == severity for f in findings), summary
assert summary["total"] == len(findings), summary
assert summary["files"] == len(report["files"]) <= report["files_scanned"], summary
assert isinstance(report["rules_enabled"], int), report["rules_enabled"]
json.dump(findings, sys.stdout)
