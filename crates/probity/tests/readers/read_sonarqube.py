"""Reads a `sonarqube` report as SonarQube's own importer checks it.

Has: path, line, column (UTF-16 units from 0), severity (that of the rule), rule, message. A finding
of the whole file has neither line nor column; an empty range has no column.
"""

import json
import sys

report = json.load(sys.stdin)
rules = {}
for rule in report["rules"]:
    assert rule["id"] not in rules, f"duplicate rule {rule['id']}"
    for key in ("name", "engineId", "cleanCodeAttribute", "impacts"):
        assert rule[key], rule
    for impact in rule["impacts"]:
        assert impact["softwareQuality"] in {"MAINTAINABILITY", "RELIABILITY", "SECURITY"}, rule
        assert impact["severity"] in {"HIGH", "MEDIUM", "LOW"}, rule
    assert rule["type"] in {"BUG", "VULNERABILITY", "CODE_SMELL"}, rule
    rules[rule["id"]] = rule["severity"]

findings = []
for issue in report["issues"]:
    # The importer refuses what belongs to the older form.
    assert not {"severity", "type", "engineId"} & issue.keys(), issue
    location = issue["primaryLocation"]
    finding = {
        "path": location["filePath"],
        "severity": rules[issue["ruleId"]],
        "rule": issue["ruleId"],
        "message": location["message"],
    }
    if "textRange" in location:
        text_range = location["textRange"]
        finding["line"] = text_range["startLine"]
        if "startColumn" in text_range:
            finding["column"] = text_range["startColumn"]
            start = (text_range["startLine"], text_range["startColumn"])
            assert start < (text_range["endLine"], text_range["endColumn"]), issue
    for secondary in issue.get("secondaryLocations", []):
        assert secondary["filePath"] and secondary["textRange"]["startLine"], issue
    findings.append(finding)
json.dump(findings, sys.stdout)
