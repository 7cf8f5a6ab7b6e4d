"""Reads a `codeclimate` report: JSON documents, each ended by a NUL character.

Has: path, line, severity (as Code Climate calls it), rule, message. A finding of the whole file is
at line 1.
"""

import json
import sys

sys.dont_write_bytecode = True
import quality  # noqa: E402

documents = sys.stdin.read().split("\0")
assert documents.pop() == "", "the last document is not ended"
json.dump([quality.finding(json.loads(document)) for document in documents], sys.stdout)
