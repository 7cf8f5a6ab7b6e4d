"""Reads a `markdown` report with markdown-it, tables on, and looks at what a browser would show.

Has: path, line, severity, rule, message. A finding of the whole file has no line. Control characters
and line ends in messages are pictures.
"""

import json
import re
import sys

from markdown_it import MarkdownIt


def shown(inline):
    """The text that is left when the markup is gone; there must be no markup but a link."""
    text = ""
    for token in inline.children:
        assert token.type in {"text", "text_special", "code_inline", "link_open", "link_close"}, token
        text += token.content
    return text


tokens = iter(MarkdownIt("commonmark").enable("table").parse(sys.stdin.read()))
findings = []
path = row = total = None
for token in tokens:
    if token.type == "heading_open":
        heading = next(tokens)
        code = heading.children[0]
        assert code.type == "code_inline", heading
        path = code.content
    elif token.type == "paragraph_open":
        total = re.match(r"\*\*(No|\d+) findings?\*\* in ", next(tokens).content)
    elif token.type == "tr_open":
        row = []
    elif token.type == "td_open":
        row.append(shown(next(tokens)))
    elif token.type == "tr_close" and row:
        severity, line, rule, message = row
        finding = {"path": path, "severity": severity, "rule": rule, "message": message}
        if line:
            finding["line"] = int(line)
        findings.append(finding)
    else:
        assert not token.type.startswith(("html", "fence", "code_block", "blockquote")), token
assert total and total[1] == str(len(findings) or "No"), "the summary is missing or wrong"
json.dump(findings, sys.stdout)
