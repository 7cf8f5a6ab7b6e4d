"""Reads a `sarif` report with sarif-pydantic.

Has: path, line, column (UTF-16 units from 1), severity (`note` is info, or style where the properties
say so), rule, message (its first paragraph). A finding of the whole file has neither line nor column.
"""

import json
import sys
from urllib.parse import unquote

from sarif_pydantic import Sarif

report = Sarif.model_validate_json(sys.stdin.read())
assert str(report.version.value if hasattr(report.version, "value") else report.version) == "2.1.0"
(run,) = report.runs
rules = run.tool.driver.rules or []
assert len({rule.id for rule in rules}) == len(rules), "a rule is listed twice"
findings = []
for result in run.results or []:
    assert rules[result.rule_index].id == result.rule_id, result
    (location,) = result.locations
    place = location.physical_location
    level = getattr(result.level, "value", result.level)
    severity = {"note": "info"}.get(level, level)
    if result.properties:
        severity = dict(result.properties).get("severity", severity)
    uri = place.artifact_location.uri
    assert not set(uri) & set(' "<>\\^`{|}') and uri.isascii(), uri
    finding = {
        "path": unquote(uri.removeprefix("file://"), errors="strict"),
        "severity": severity,
        "rule": result.rule_id,
        "message": result.message.text.partition("\n\n")[0],
    }
    if place.region is not None:
        region = place.region
        finding["line"] = region.start_line
        finding["column"] = region.start_column
        start = (region.start_line, region.start_column)
        assert start <= (region.end_line, region.end_column), region
    findings.append(finding)
json.dump(findings, sys.stdout)
