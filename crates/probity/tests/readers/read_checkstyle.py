"""Reads a `checkstyle` report with Python's XML parser.

Has: path, line, column (characters from 1), severity, rule, message. A finding of the whole file is
at line 1 and has no column. Control characters in messages are pictures.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree

root = ElementTree.parse(sys.stdin.buffer).getroot()
assert root.tag == "checkstyle" and root.get("version"), root.attrib
findings = []
for file in root:
    assert file.tag == "file", file.tag
    for error in file:
        assert error.tag == "error", error.tag
        finding = {
            "path": file.attrib["name"],
            "line": int(error.attrib["line"]),
            "severity": error.attrib["severity"],
            "rule": error.attrib["source"],
            "message": error.attrib["message"],
        }
        if "column" in error.attrib:
            finding["column"] = int(error.attrib["column"])
        findings.append(finding)
json.dump(findings, sys.stdout)
