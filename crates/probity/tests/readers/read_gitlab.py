"""Reads a `gitlab` report: one JSON array, in which no two issues share a fingerprint.

Has: path, line, severity (as Code Climate calls it), rule, message. A finding of the whole file is
at line 1.
"""

import json
import sys

sys.dont_write_bytecode = True
import quality  # noqa: E402

issues = json.load(sys.stdin)
fingerprints = {issue["fingerprint"] for issue in issues}
assert len(fingerprints) == len(issues), "two issues share a fingerprint"
json.dump([quality.finding(issue) for issue in issues], sys.stdout)
